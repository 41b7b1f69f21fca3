"""Buffers: the memory behind a kernel's arguments, laid out in one flat global space.

Several arrays and maps may be views of one buffer: then they must stay one memory, and keep their offsets. Every
buffer starts at a multiple of 256 bytes, as an allocation of the driver does. The simulator and the GPU lay out alike,
so that a store that is clipped past an array's end meets the same neighbour in both.

>>> import numpy as np
>>> a, b = np.zeros(100, np.uint8), np.zeros(8, np.uint8)
>>> layout = GlobalLayout([a[10:20], b, a], 0x1000)
>>> [hex(layout.address_of(array)) for array in (a, a[10:20], b)], layout.size
(['0x1000', '0x100a', '0x1100'], 264)
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tmalab.data_types import NOMINAL_ADDRESS

ALIGNMENT = 256  # bytes


class Buffer(NamedTuple):
    """One buffer: its address and size in the global space (bytes), and its bytes in this process."""

    address: int
    size: int
    data: np.ndarray  # uint8, shared with the arrays; read-only where every array that has it is


class GlobalLayout:
    """Where the buffers behind some arrays lie from `base` on, in the arrays' order. Addresses and sizes in bytes."""

    def __init__(self, arrays: Iterable[np.ndarray], base: int = NOMINAL_ADDRESS):
        self.base = base
        self._roots = [root_of(array) for array in arrays]  # they keep the memory alive
        self._hosts = _merged(map(_extent, self._roots))
        self.buffers: list[Buffer] = []
        end = base
        for first, last in self._hosts:
            address = end + -end % ALIGNMENT
            self.buffers.append(Buffer(address, last - first, self._bytes(first, last)))
            end = address + last - first
        self.size = end - base

    def address_of(self, array: np.ndarray) -> int:
        """The address of an array's first element; the array is one of those laid out, or a view of one."""
        host = array.__array_interface__["data"][0]
        for (first, last), buffer in zip(self._hosts, self.buffers, strict=True):
            if first <= host < last or first == host == last:
                return buffer.address + host - first
        raise KeyError("the array is not in this layout")

    def upload(self, memory: np.ndarray) -> None:
        """Copy every buffer into `memory`, uint8, whose first byte lies at `base`."""
        for address, size, data in self.buffers:
            memory[address - self.base : address - self.base + size] = data

    def download(self, memory: np.ndarray) -> None:
        """Copy every buffer that may be written back from `memory` to the arrays, in place."""
        for address, size, data in self.buffers:
            if data.flags.writeable:
                data[:] = memory[address - self.base : address - self.base + size]

    def _bytes(self, first: int, last: int) -> np.ndarray:
        """The memory of this process from `first` to `last`, which no copy must write that the arrays forbid."""
        if first == last:
            return np.empty(0, np.uint8)
        there: Any = (ctypes.c_uint8 * (last - first)).from_address(first)
        data = np.frombuffer(there, np.uint8)
        inside = [root for root in self._roots if first <= _extent(root)[0] < last]
        data.flags.writeable = any(root.flags.writeable for root in inside)
        return data


def root_of(array: np.ndarray) -> np.ndarray:
    """The outermost array whose memory a view shares, through NumPy's as_strided as well.

    >>> whole = np.zeros(64)
    >>> root_of(np.lib.stride_tricks.as_strided(whole[1:], (4, 8), (64, 8))) is whole
    True
    """
    while array.base is not None:
        owner = array.base if isinstance(array.base, np.ndarray) else getattr(array.base, "base", None)
        if not isinstance(owner, np.ndarray):
            break
        array = owner
    return array


def _extent(array: np.ndarray) -> tuple[int, int]:
    """The first byte of an array in this process, and the one past its last."""
    start = array.__array_interface__["data"][0]
    if array.size == 0:
        return start, start
    steps = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    return start + sum(s for s in steps if s < 0), start + sum(s for s in steps if s > 0) + array.itemsize


def _merged(extents: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The extents in the order of their first appearance, those that share a byte made one."""
    merged: list[tuple[int, int]] = []
    for first, last in extents:
        shared = [other for other in merged if (first < other[1] and other[0] < last) or (first, last) == other]
        whole = min([first, *(start for start, _ in shared)]), max([last, *(stop for _, stop in shared)])
        if shared:
            merged[merged.index(shared[0])] = whole
            merged = [other for other in merged if other not in shared[1:]]
        else:
            merged.append(whole)
    return merged
