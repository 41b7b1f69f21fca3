"""Memory of the simulated GPU: the shared window of each CTA, and global memory as one flat space.

Both are plain bytes. Shared memory starts as garbage that shows in every type, and arrays are placed no better aligned
than was asked for, so that a missing `alignment=` faults here for certain.
"""

from __future__ import annotations

from collections import deque
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tmalab.buffers import GlobalLayout
from tmalab.simulator.arrays import Array, make_array
from tmalab.simulator.errors import KernelError
from tmalab.simulator.quick_arrays import Window
from tmalab.texts import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tmalab.simulator.access_log import Track

POISON = 0xFA  # float16 -57152, float32 -6.5e35, int32 -84215046: finite, and garbage at a glance
SHARED_START = 1024  # bytes: the system's part of the shared window on sm_90 (CUDA reserves 1 KiB a CTA)
SHARED_LIMIT = 227 * 1024  # bytes that one CTA can have
WINDOW = 320 * 1024  # bytes of the simulated window: more than a CTA has, for what poor alignment leaves unused
GLOBAL_SLACK = 256  # bytes behind the last buffer: where a store's clip at 16 bytes can reach


unlogged: Callable[[int], None] = deque[int](maxlen=0).append  # logs an access that nobody else sees


class Allocation(NamedTuple):
    """An array that has a name: where it lies (bytes from the start of its memory), and the array."""

    start: int
    stop: int
    array: Array


class Memory:
    """Bytes and the arrays in them. `base` is the address of the first byte; `note` logs an access."""

    def __init__(self, data: np.ndarray, base: int, space: str):
        self.bytes, self.base, self.space = data, base, space
        self.allocations: list[Allocation] = []
        self._note: Callable[[int], None] = unlogged
        self._note_offset = 0
        self.values_seen: np.ndarray | None = None  # the bytes as the log last saw them, where it looks at values
        self._words: dict[tuple[np.dtype, int], Any] = {}

    def words(self, dtype: np.dtype, start: int) -> tuple[Any, int]:
        """All of the memory as elements of a type, and the number of the one at byte `start`.

        Integers of up to 64 bits come out as plain ints (through a memoryview); floats, and uint64, whose values a
        barrier array must be told from, as NumPy scalars.
        """
        phase = start % dtype.itemsize
        if (dtype, phase) not in self._words:
            whole = (self.bytes.size - phase) // dtype.itemsize * dtype.itemsize
            self._words[dtype, phase] = readable(self.bytes[phase : phase + whole].view(dtype))
        return self._words[dtype, phase], start // dtype.itemsize

    def elements(self, dtype: np.dtype, start: int, count: int, keeps: bool) -> tuple[Any, int, list[Any] | None]:
        """What holds the `count` elements of a type from byte `start` on; the number of the first; and a list to keep
        their values in, if that is wanted, where nobody else changes them unseen."""
        return *self.words(dtype, start), None

    def part(self, address: int, dtype: np.dtype, count: int) -> Array:
        """`count` elements from an address on (bytes): accesses to them are logged as those of an array."""
        return make_array(self, address - self.base, (count,), dtype, self._note, self._note_offset, kind=Window)

    def put(self, addresses: np.ndarray, data: np.ndarray) -> None:
        """Bytes that a copy brings (addresses from the start of the memory)."""
        self.bytes[addresses] = data
        if self.values_seen is not None:
            self.values_seen[addresses] = data

    def changed(self, first: int, end: int) -> None:
        """These bytes have changed: nothing is kept of them."""

    def look_again(self) -> None:
        """A copy has changed bytes here and there."""
        if self.values_seen is not None:
            self.values_seen[:] = self.bytes

    def allocation(self, address: int) -> Allocation | None:
        """The named array that holds an address (bytes)."""
        for found in self.allocations:
            if found.start <= address - self.base < found.stop:
                return found
        return None


class PrivateMemory(Memory):
    """Memory that only its arrays and `put` change; `bytes` cannot be written. So arrays may keep what they read."""

    def __init__(self, size: int, space: str):
        self._data = np.full(size, POISON, np.uint8)
        super().__init__(self._data.view(), 0, space)
        self.bytes.flags.writeable = False
        self._kept: list[tuple[int, int, int, list[Any]]] = []  # first and last byte, bytes of an element, values

    def elements(self, dtype: np.dtype, start: int, count: int, keeps: bool) -> tuple[Any, int, list[Any] | None]:
        stop = start + count * dtype.itemsize
        words = self._data[start:stop].view(dtype)
        if not keeps or dtype.kind not in "fc":
            return readable(words), 0, None
        values: list[Any] = [None] * count
        self._kept.append((start, stop, dtype.itemsize, values))
        return words, 0, values

    def fill(self, byte: int) -> None:
        """All of it is this byte now."""
        self._data[:] = byte
        self.changed(0, self._data.size)

    def put(self, addresses: np.ndarray, data: np.ndarray) -> None:
        self._data[addresses] = data
        if self.values_seen is not None:
            self.values_seen[addresses] = data
        self.changed(int(addresses.min()), int(addresses.max()) + 1)

    def changed(self, first: int, end: int) -> None:
        """These bytes have changed, from one to before another: what was kept of them is old."""
        for start, stop, size, values in self._kept:
            if first < stop and start < end:
                part = slice(max(0, first - start) // size, -(-(min(end, stop) - start) // size))
                values[part] = [None] * (part.stop - part.start)


class SharedPlace(NamedTuple):
    """Where a shared array lies in every CTA, and what it is."""

    start: int  # bytes
    shape: tuple[int, ...]
    dtype: np.dtype
    name: str | None


class SharedLayout:
    """The shared arrays of a kernel: one for each place in the source that asks, at the same address in every CTA.

    top   where the last array ends (bytes)
    """

    def __init__(self):
        self.top = SHARED_START
        self._used = 0
        self.places: dict[Any, SharedPlace] = {}  # by place in the source

    def place(
        self, site: Any, shape: Any, dtype: Any, alignment: int | None, name: Callable[[], str | None]
    ) -> SharedPlace:
        """The array of one place in the source, whichever thread of whichever CTA asks first."""
        if site not in self.places:
            self.places[site] = self._placed(checked_shape(shape), element_type(dtype), alignment, name())
        return self.places[site]

    def _placed(self, shape: tuple[int, ...], dtype: np.dtype, alignment: int | None, name: str | None) -> SharedPlace:
        size = prod(shape) * dtype.itemsize
        self._used += size
        if self._used > SHARED_LIMIT:
            raise KernelError(text("simulator.shared-limit", used=self._used, size=size, limit=SHARED_LIMIT))
        start = self._free(_alignment(alignment, dtype), size)
        self.top = start + size
        return SharedPlace(start, shape, dtype, name)

    def _free(self, alignment: int, size: int) -> int:
        """An aligned address that is no multiple of more, or any aligned one where memory is short."""
        aligned = self.top + -self.top % alignment
        start = aligned if aligned % (2 * alignment) else aligned + alignment
        start = start if start + size <= WINDOW else aligned
        if start + size > WINDOW:
            raise KernelError(text("simulator.shared-limit", used=start + size, size=size, limit=SHARED_LIMIT))
        return start


class SharedMemory(PrivateMemory):
    """The shared window of one CTA, its arrays where the layout has them. `arrays`: by place in the source."""

    def __init__(self, track: Track, layout: SharedLayout, note_offset: int = 0):
        super().__init__(WINDOW, "shared")
        self.layout = layout
        self._note, self._note_offset = track.note_for(self), note_offset
        self.arrays: dict[Any, Array] = {}

    @property
    def top(self) -> int:
        """Where the last array ends (bytes)."""
        return self.layout.top

    def array_of_site(
        self, site: Any, shape: Any, dtype: Any, alignment: int | None, name: Callable[[], str | None]
    ) -> Array:
        """The array of one place in the source: made and named at the first call, the same afterwards."""
        if site not in self.arrays:
            self._make(site, self.layout.place(site, shape, dtype, alignment, name))
        return self.arrays[site]

    def allocation(self, address: int) -> Allocation | None:
        """The named array that holds an address, whether or not a thread of this CTA has asked for it yet."""
        for site, place in self.layout.places.items():
            if site not in self.arrays:
                self._make(site, place)
        return super().allocation(address)

    def _make(self, site: Any, place: SharedPlace) -> None:
        start, shape, dtype, name = place
        array = make_array(self, start, shape, dtype, self._note, self._note_offset, name)
        self.arrays[site] = array
        self.allocations.append(Allocation(start, start + array.nbytes, array))


class GlobalMemory(Memory):
    """Global memory during one launch: every buffer behind its arguments."""

    def __init__(self, layout: GlobalLayout):
        super().__init__(np.zeros(layout.size + GLOBAL_SLACK, np.uint8), layout.base, "global")
        self.layout = layout
        layout.upload(self.bytes)

    def array(self, host: np.ndarray, note: Callable[[int], None], name: str) -> Array:
        """The proxy of a NumPy argument; reports call its memory by its name."""
        self._note = note
        start = self.layout.address_of(host) - self.base if host.size else 0
        steps = tuple(stride // host.itemsize for stride in host.strides)
        array = make_array(self, start, host.shape, host.dtype, note, 0, name, steps, host.flags.writeable)
        ends = [(length - 1) * stride for length, stride in zip(host.shape, host.strides)]
        first, last = start + sum(end for end in ends if end < 0), start + sum(end for end in ends if end > 0)
        self.allocations.append(Allocation(first, last + host.itemsize if host.size else first, array))
        return array

    def buffer_stop(self, address: int) -> int | None:
        """Where the buffer that holds an address ends (bytes)."""
        for buffer in self.layout.buffers:
            if buffer.address <= address < buffer.address + buffer.size:
                return buffer.address + buffer.size
        return None


def readable(words: np.ndarray) -> Any:
    """Words as they are read one by one: integers through a memoryview, which makes plain ints of them."""
    return words.data if words.dtype.kind in "iub" and words.dtype != np.uint64 else words


def element_type(dtype: Any) -> np.dtype:
    """The NumPy type of an array's elements, given as NumPy's or numba's type."""
    try:
        return np.dtype(dtype if not type(dtype).__module__.startswith("numba") else str(dtype))
    except TypeError:
        raise KernelError(text("simulator.array-type", given=repr(dtype))) from None


def checked_shape(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of positive ints."""
    lengths = shape if isinstance(shape, tuple) else (shape,)
    if not lengths or not all(isinstance(n, (int, np.integer)) and n > 0 for n in lengths):
        raise KernelError(text("simulator.array-shape", given=repr(shape)))
    return tuple(map(int, lengths))


def _alignment(alignment: int | None, dtype: np.dtype) -> int:
    if alignment is None:
        return dtype.itemsize
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise KernelError(text("simulator.array-alignment", given=repr(alignment)))
    return max(alignment, dtype.itemsize)
