"""Short ways to an element of an array: by tables where it is small, by arithmetic where it is large.

A kernel spends most of its time in these few lines, so each stands on its own: a call between them would cost as much
as what they do (50 ns of 150). What they do not know, slices, parts, and all that is wrong, goes the general way.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tmalab.simulator.arrays import WRITE, Array

SMALL = 1 << 15  # elements of an array that has tables: 2 ms to make at most
ROWS_KEPT = 2048  # of tables, for arrays that come to the same place again
ELSEWHERE = (TypeError, ValueError, IndexError, OverflowError)  # what the short way meets where it does not lead on


class SmallVector(Array):
    """One dimension. For each index, a table has the log entry of a read and the number of the element."""

    __slots__ = ()

    def _shorten(self) -> None:
        self._line: Any = None

    def __getitem__(self, index: Any) -> Any:
        try:
            if index < 0:
                raise IndexError
            entry, place = self._line[index]
            self._log.append(entry)
            value = self._values[place]
            if value is not None:
                return value
        except ELSEWHERE:
            return self[index] if self._made() else Array.__getitem__(self, index)
        return self._fetched(place)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            if index < 0 or not self.writable:
                raise IndexError
            entry, place = self._line[index]
            self._words[place] = value
        except ELSEWHERE:
            if self._made():
                self[index] = value
            else:
                Array.__setitem__(self, index, value)
            return
        if self._scalar is not None:
            self._values[place] = value if type(value) is self._scalar else None
        self._log.append(entry + WRITE)

    def _made(self) -> bool:
        """Make the table; False where it had been made."""
        if self._line is not None:
            return False
        self._line = _row(self._origin, *self.shape, *self._steps, self._step, self._read)
        return True


class SmallMatrix(Array):
    """Two dimensions: a table for each row, made when it is first asked for."""

    __slots__ = ()

    def _shorten(self) -> None:
        self._rows: Any = [None] * self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        try:
            i, j = index
            if i < 0 or j < 0:
                raise IndexError
            entry, place = self._rows[i][j]
            self._log.append(entry)
            value = self._values[place]
            if value is not None:
                return value
        except ELSEWHERE:
            return self[index] if self._made(index) else Array.__getitem__(self, index)
        return self._fetched(place)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            i, j = index
            if i < 0 or j < 0 or not self.writable:
                raise IndexError
            entry, place = self._rows[i][j]
            self._words[place] = value
        except ELSEWHERE:
            if self._made(index):
                self[index] = value
            else:
                Array.__setitem__(self, index, value)
            return
        if self._scalar is not None:
            self._values[place] = value if type(value) is self._scalar else None
        self._log.append(entry + WRITE)

    def _made(self, index: Any) -> bool:
        """Make the table of a row; False where it had been made, or there is no such row."""
        try:
            i, _ = index
            if i < 0 or self._rows[i] is not None:
                return False
        except ELSEWHERE:
            return False
        down, across = self._steps
        self._rows[i] = _row(self._origin + i * down, self.shape[1], across, self._step, self._read)
        return True


class SmallCube(Array):
    """Three dimensions: a table for each row of each layer, made when it is first asked for."""

    __slots__ = ()

    def _shorten(self) -> None:
        self._layers: Any = [[None] * self.shape[1] for _ in range(self.shape[0])]

    def __getitem__(self, index: Any) -> Any:
        try:
            h, i, j = index
            if h < 0 or i < 0 or j < 0:
                raise IndexError
            entry, place = self._layers[h][i][j]
            self._log.append(entry)
            value = self._values[place]
            if value is not None:
                return value
        except ELSEWHERE:
            return self[index] if self._made(index) else Array.__getitem__(self, index)
        return self._fetched(place)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            h, i, j = index
            if h < 0 or i < 0 or j < 0 or not self.writable:
                raise IndexError
            entry, place = self._layers[h][i][j]
            self._words[place] = value
        except ELSEWHERE:
            if self._made(index):
                self[index] = value
            else:
                Array.__setitem__(self, index, value)
            return
        if self._scalar is not None:
            self._values[place] = value if type(value) is self._scalar else None
        self._log.append(entry + WRITE)

    def _made(self, index: Any) -> bool:
        """Make the table of a row; False where it had been made, or there is no such row."""
        try:
            h, i, _ = index
            if h < 0 or i < 0 or self._layers[h][i] is not None:
                return False
        except ELSEWHERE:
            return False
        up, down, across = self._steps
        self._layers[h][i] = _row(self._origin + h * up + i * down, self.shape[2], across, self._step, self._read)
        return True


class Vector(Array):
    """One dimension, and large."""

    __slots__ = ()

    def _shorten(self) -> None:
        self._lengths = self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        try:
            if 0 <= index < self._lengths:
                place = self._origin + index * self._steps[0]
                value = self._words[place]
                self._log.append(place * self._step + self._read)
                return value
        except ELSEWHERE:
            pass
        return Array.__getitem__(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            if 0 <= index < self._lengths and self.writable and self._scalar is None:
                place = self._origin + index * self._steps[0]
                self._words[place] = value
                self._log.append(place * self._step + self._read + WRITE)
                return
        except ELSEWHERE:
            pass
        Array.__setitem__(self, index, value)


class Window(Vector):
    """A stretch of memory, beside the arrays that lie there: what is written through it they must read again."""

    __slots__ = ()

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        start = self.address - self.memory.base + index * self.itemsize
        self.memory.changed(start, start + self.itemsize)


class Matrix(Array):
    """Two dimensions, and large."""

    __slots__ = ()

    def _shorten(self) -> None:
        self._lengths = self.shape

    def __getitem__(self, index: Any) -> Any:
        try:
            i, j = index
            rows, columns = self._lengths
            if 0 <= i < rows and 0 <= j < columns:
                down, across = self._steps
                place = self._origin + i * down + j * across
                value = self._words[place]
                self._log.append(place * self._step + self._read)
                return value
        except ELSEWHERE:
            pass
        return Array.__getitem__(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            i, j = index
            rows, columns = self._lengths
            if 0 <= i < rows and 0 <= j < columns and self.writable and self._scalar is None:
                down, across = self._steps
                place = self._origin + i * down + j * across
                self._words[place] = value
                self._log.append(place * self._step + self._read + WRITE)
                return
        except ELSEWHERE:
            pass
        Array.__setitem__(self, index, value)


def class_for(shape: tuple[int, ...], dtype: np.dtype) -> type[Array]:
    """The class with the shortest way to the elements of such an array."""
    if dtype == np.uint64 and shape[-1:] == (1,):  # barriers: their places are asked for, never their values
        return Array
    small = {1: SmallVector, 2: SmallMatrix, 3: SmallCube}
    return (small if 0 < prod(shape) <= SMALL else {1: Vector, 2: Matrix}).get(len(shape), Array)


@lru_cache(maxsize=ROWS_KEPT)
def _row(origin: int, length: int, across: int, step: int, read: int) -> list[tuple[int, int]]:
    """For each element of a row the log entry of a read, and its number. Arrays of the same place share it."""
    places = [origin + across * i for i in range(length)]
    return [(place * step + read, place) for place in places]
