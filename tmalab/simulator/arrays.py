"""Arrays as a simulated kernel sees them: an element is a value, anything less is a place.

`tile[i, j]` reads an element as numba would give it: a NumPy scalar of a float array, a plain int of an integer array
(np.uint64 of a uint64 array, so that a barrier's value is never taken for its place). `ring[stage]` and `a[stage, 64:]`
are smaller arrays, which stand for the address of their first element. Assignment narrows.

Every access is logged by one number, so that races can be looked for in bulk:

    byte address << 5 | log2(bytes) << 2 | kind            kind: READ, WRITE or ATOMIC

Here is the general form; `quick_arrays` has the short ways to an element.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.simulator.context import now
from tmalab.simulator.errors import KernelError
from tmalab.simulator.indexing import indices_of, narrowed, shown
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.memory import Memory

READ, WRITE, ATOMIC, SAME = range(4)  # kinds of access; SAME: a write of the value that was there
MOST_PARTS = 256  # of an array that are kept
FETCH = 64  # elements that are read again together
KIND_BITS, SIZE_SHIFT, ADDRESS_SHIFT = 0b11, 2, 5


class Array:
    """An array in simulated memory.

    shape, ndim, size, dtype, itemsize, nbytes, strides   as NumPy's (strides in bytes)
    address     of the first element, in bytes, in the CTA's shared window or in flat global memory
    space       "shared", "global" or "local"
    name        the variable or parameter that it came from, where known
    """

    # _words holds the elements, from the first one of the root array on. _values is where they are read: the same, or,
    # in memory that nobody else changes unseen, a list that keeps what was read or written: a NumPy scalar that is
    # there takes 5 ns, to make one takes 60. None stands for an element that must be read again.
    __slots__ = (
        "_layers", "_lengths", "_line", "_log", "_origin", "_parts", "_read", "_rows", "_scalar", "_step", "_steps",
        "_values", "_words", "address", "dtype", "memory", "name", "shape", "writable",
    )  # fmt: skip

    def __init__(self, parent: Array | None, origin: int, shape: tuple[int, ...], steps: tuple[int, ...]):
        """A view of `parent` from element `origin` on; `steps` in elements."""
        self.shape, self._steps, self._origin = shape, steps, origin
        self._parts: dict[Any, Array] = {}  # by index: a part is one object, so that its short ways are kept
        if parent is not None:
            self._adopt(parent)

    def _adopt(self, parent: Array) -> None:
        self.memory, self.dtype, self.name, self.writable = parent.memory, parent.dtype, parent.name, parent.writable
        self._words, self._values, self._scalar = parent._words, parent._values, parent._scalar
        self._log, self._step, self._read = parent._log, parent._step, parent._read
        self.address = parent.address + (self._origin - parent._origin) * self.dtype.itemsize
        self._shorten()

    def _shorten(self) -> None:
        """What a subclass keeps at hand."""

    @property
    def space(self) -> str:
        return self.memory.space

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(step * self.itemsize for step in self._steps)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{self.space} array {self.name or ''} {self.shape} {self.dtype} at {self.address:#x}>"

    def __getitem__(self, index: Any) -> Any:
        try:
            return self._parts[index]
        except (KeyError, TypeError):  # slices have no hash before Python 3.12
            place = self._locate(index, READ)
        if isinstance(place, Array):
            return self._kept(index, place)
        if place is None:
            return self._garbage()
        self._log.append(place * self._step + self._read)
        value = self._values[place]
        return self._fetched(place) if value is None else value

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._locate(index, WRITE)
        if isinstance(place, Array):
            place._fill(value)
        elif place is not None:
            self._store(place, value)

    def update(self, index: Any, change: Callable[[Any], Any]) -> Any:
        """Replace an element by `change` of it, as one atomic access; returns the element before."""
        place = self._locate(index, ATOMIC)
        if isinstance(place, Array):
            raise KernelError(text("simulator.atomic-place", array=self.name, index=shown(index)))
        if place is None:
            return self._garbage()
        before = self._words[place]
        self._assign(place, change(before))
        self._log.append(place * self._step + self._read + ATOMIC)
        return before

    def _kept(self, index: Any, part: Array) -> Array:
        """A part, the same object at the next time."""
        with suppress(TypeError):
            if len(self._parts) < MOST_PARTS:
                self._parts[index] = part
        return part

    def _store(self, place: int, value: Any) -> None:
        self._assign(place, value)
        self._log.append(place * self._step + self._read + WRITE)

    def _assign(self, place: int, value: Any) -> None:
        """Put a value into an element, cast as numba casts it."""
        if not self.writable:
            raise KernelError(text("simulator.read-only", array=self.name))
        try:
            self._words[place] = value
        except (TypeError, ValueError, OverflowError):
            self._words[place] = narrowed(value, self.dtype, self.name)
        if self._scalar is not None:
            self._values[place] = self._words[place]

    def _fetched(self, place: int) -> Any:
        """An element that must be read again; where its neighbour must be as well, the whole stretch: 64 at once take
        2 us, one alone 0.1."""
        values, words, start = self._values, self._words, place - place % FETCH
        if values[place + 1 - len(values)] is None:
            values[start : start + FETCH] = list(words[start : start + FETCH])
        else:
            values[place] = words[place]
        return values[place]

    def _fill(self, value: Any) -> None:
        """Assign to every element: one value, or those of an array of the same shape."""
        source = value if isinstance(value, Array) else None
        if source is not None and source.shape != self.shape:
            raise KernelError(text("simulator.fill-shape", array=self.name, shape=self.shape, given=source.shape))
        for index in product(*map(range, self.shape)):
            self._store(self._place(index), value if source is None else source[index])

    def _place(self, index: tuple[int, ...]) -> int:
        return self._origin + sum(i * step for i, step in zip(index, self._steps))

    def _locate(self, index: Any, kind: int) -> int | Array | None:
        """The number of an element, or the part that an index stands for; None for an element outside the array."""
        indices = indices_of(index, self)
        origin, shape, steps, inside = self._origin, [], [], True
        for axis, (i, length, step) in enumerate(zip(indices, self.shape, self._steps)):
            if isinstance(i, slice):
                start, stop, stride = i.indices(length)
                origin += start * step
                shape.append(len(range(start, stop, stride)))
                steps.append(step * stride)
                continue
            if not 0 <= i < length:
                now.thread.out_of_bounds(self, indices, axis, kind)
                i = i + length if i < 0 else i  # numba wraps negative indices
                inside = inside and 0 <= i < length
            origin += i * step
        if shape or len(indices) < self.ndim:
            rest = slice(len(indices), None)
            return make_view(self, origin, (*shape, *self.shape[rest]), (*steps, *self._steps[rest]))
        return origin if inside else None

    def _garbage(self) -> Any:
        """What is read outside an array: the pattern of shared memory that nobody has written."""
        from tmalab.simulator.memory import POISON

        value = np.full(self.itemsize, POISON, np.uint8).view(self.dtype)[0]
        return value if isinstance(self._words, np.ndarray) else value.item()


class Heard:
    """A log that somebody hears of each access first."""

    def __init__(self, note: Callable[[int], None]):
        self.append = note


def log_behind(note: Callable[[int], None]) -> Any:
    """What `note` appends to: the list itself where it is one's method, since the interpreter appends to a list in 5 ns
    and calls anything else in 20."""
    log = getattr(note, "__self__", None)
    return log if isinstance(log, (list, deque)) and note == log.append else Heard(note)


def make_array(
    memory: Memory,
    start: int,
    shape: tuple[int, ...],
    dtype: np.dtype,
    note: Callable[[int], None],
    note_offset: int = 0,
    name: str | None = None,
    steps: tuple[int, ...] | None = None,
    writable: bool = True,
    kind: type[Array] | None = None,
) -> Array:
    """The array at byte `start` of a memory; `note` logs its accesses, `note_offset` bytes further. `kind`: the class,
    if not the one with the shortest ways."""
    if dtype.kind not in "iufbc" or not dtype.isnative:
        raise KernelError(text("simulator.array-type", given=repr(dtype)))
    if steps is None:
        steps = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
    words, origin, values = memory.elements(dtype, start, prod(shape), keeps=kind is None)
    array = (kind or _class_for(shape, dtype))(None, origin, shape, steps)
    array.memory, array.dtype, array.name, array.writable = memory, dtype, name, writable
    array._words, array._log = words, log_behind(note)
    array._values, array._scalar = (words, None) if values is None else (values, dtype.type)
    size = dtype.itemsize
    array._step = size << ADDRESS_SHIFT
    first = start - origin * size + note_offset
    array._read = first << ADDRESS_SHIFT | (size.bit_length() - 1) << SIZE_SHIFT | READ
    array.address = memory.base + start
    array._shorten()
    return array


def make_view(parent: Array, origin: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> Array:
    """A part of an array, from element number `origin` of its memory on."""
    return _class_for(shape, parent.dtype)(parent, origin, shape, steps)


def _class_for(shape: tuple[int, ...], dtype: np.dtype) -> type[Array]:
    from tmalab.simulator.quick_arrays import class_for

    return class_for(shape, dtype)
