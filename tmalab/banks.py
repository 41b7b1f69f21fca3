"""Banks: how many turns shared memory needs for one access of a warp.

Shared memory has 32 banks; the 4-byte word at address a lies in bank a / 4 % 32, so a line of 128 bytes goes once
through all of them. A bank hands out one word in a turn. Lanes that ask for the same word share it (broadcast); lanes
that ask for different words of one bank wait for each other: n of them are an n-way conflict and cost n turns.

A turn carries 128 bytes. Where the lanes take 4 bytes or fewer, the warp goes in one phase; with 8 bytes a lane its
two halves go one after the other, with 16 bytes its four quarters, and only lanes of one phase can be in each other's
way. Try it on a column of a float32 tile with 32 words to a row, and with one word of padding:

>>> conflicts([128 * lane for lane in range(32)]).ways
32
>>> conflicts([132 * lane for lane in range(32)]).ways
1

The same with 16-byte accesses down eight rows of a swizzled tile:

>>> from tmalab import DataType, Swizzle, TensorMap
>>> tm = TensorMap(DataType.FLOAT16, 0, (64, 8), (128,), (64, 8), swizzle=Swizzle.B128)
>>> print(conflicts(tile_addresses(tm, range(8), 0), size=16))
8 lanes of 16 bytes: no conflict (turns: 1)

Source: CUDA C++ Programming Guide, shared memory, for the banks and the broadcast; the halves and quarters are how
NVIDIA's profilers count turns ("wavefronts"). Hardware may do better: it can merge halves that read the same words.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tmalab.swizzle import SECTOR, shared_layout
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.figures.banks import BanksFigure
    from tmalab.tensor_map import TensorMap

BANKS = 32
WORD = 4  # bytes of a bank
LANES = 32  # of a warp
PHASE_LANES = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}  # bytes that a lane takes: lanes that go together


class Phase(NamedTuple):
    """Lanes that go together, and the words they ask for."""

    lanes: tuple[int, ...]
    words: dict[int, tuple[int, ...]]  # by bank: byte addresses of the distinct words asked of it, sorted

    @property
    def ways(self) -> int:
        """Turns that this phase takes: the most words that one bank has to hand out."""
        return max(map(len, self.words.values()))


class Conflicts(NamedTuple):
    """One access of a warp, phase by phase."""

    addresses: tuple[int, ...]  # bytes, by lane
    size: int  # bytes a lane
    phases: tuple[Phase, ...]

    @property
    def ways(self) -> int:
        """The worst conflict: 1 where no lane waits for another, 32 where all of them do."""
        return max(phase.ways for phase in self.phases)

    @property
    def wavefronts(self) -> int:
        """Turns in all: each phase's ways, added."""
        return sum(phase.ways for phase in self.phases)

    @property
    def by_bank(self) -> tuple[int, ...]:
        """For each of the 32 banks, the most words that one phase asks of it."""
        return tuple(max(len(phase.words.get(bank, ())) for phase in self.phases) for bank in range(BANKS))

    def __str__(self) -> str:
        values = {"lanes": len(self.addresses), "size": self.size, "turns": self.wavefronts}
        conflict = text("banks.none") if self.ways == 1 else text("banks.ways", ways=self.ways)
        if len(self.phases) == 1:
            return text("banks.summary", conflict=conflict, **values)
        return text("banks.summary-in-parts", conflict=conflict, parts=len(self.phases), **values)

    def show(self) -> BanksFigure:
        """The figure of this access: its sectors, the banks, and who waits; see tmalab.figures.BanksFigure."""
        from tmalab.figures import BanksFigure

        return BanksFigure(self)


def conflicts(addresses: Iterable[int], size: int = WORD) -> Conflicts:
    """What one access of a warp costs: lane i takes `size` bytes (1, 2, 4, 8 or 16) at addresses[i] of shared memory.

    `addresses`: 1 to 32 byte addresses, each a multiple of `size`, or ValueError: hardware faults on any other.

    >>> found = conflicts([0, 4, 128, 132])                # two lines: banks 0 and 1 are asked for two words each
    >>> found.ways, found.wavefronts, found.by_bank[:3]
    (2, 2, (2, 2, 0))
    >>> found.phases[0].words[1]
    (4, 132)
    """
    if size not in PHASE_LANES:
        raise ValueError(text("banks.size", size=size, sizes=", ".join(map(str, PHASE_LANES))))
    addresses = tuple(map(index, addresses))
    if not 1 <= len(addresses) <= LANES:
        raise ValueError(text("banks.lanes", lanes=len(addresses), most=LANES))
    for lane, address in enumerate(addresses):
        if address < 0 or address % size:
            nearest = max(address - address % size, 0)
            raise ValueError(
                text("banks.aligned", lane=lane, address=f"{address:#x}", size=size, nearest=f"{nearest:#x}")
            )
    together = PHASE_LANES[size]
    groups = (range(first, min(first + together, len(addresses))) for first in range(0, len(addresses), together))
    return Conflicts(addresses, size, tuple(_phase(group, addresses, size) for group in groups))


def _phase(lanes: Iterable[int], addresses: tuple[int, ...], size: int) -> Phase:
    words = {word for lane in lanes for word in range(addresses[lane] // WORD * WORD, addresses[lane] + size, WORD)}
    by_bank: dict[int, list[int]] = {}
    for word in sorted(words):
        by_bank.setdefault(bank_of(word), []).append(word)
    return Phase(tuple(lanes), {bank: tuple(by_bank[bank]) for bank in sorted(by_bank)})


def bank_of(address: int) -> int:
    """The bank, 0 to 31, of a byte address of shared memory.

    >>> bank_of(0), bank_of(127), bank_of(128)
    (0, 31, 0)
    """
    return address // WORD % BANKS


def tile_addresses(tensor_map: TensorMap, *place: object, shared_address: int = 0) -> list[int]:
    """Where elements of a tile lie that a copy has brought to `shared_address` (bytes), swizzle and pitch included.

    `place`: an index of the tile in NumPy's order, outermost first, as in tile[row, column]; each an int or a sequence
    of them, one for each lane. Returns byte addresses by lane, for `conflicts`. IndexError outside the tile.

    >>> from tmalab import DataType, Swizzle, TensorMap
    >>> tm = TensorMap(DataType.FLOAT16, 0, (64, 8), (128,), (64, 8), swizzle=Swizzle.B128)
    >>> tile_addresses(tm, [0, 1, 2], 0)               # column 0 of three rows: a sector further in each
    [0, 144, 288]
    """
    shape = tensor_map.delivered_dim[::-1]
    if len(place) != len(shape):
        raise ValueError(text("banks.place", given=len(place), rank=len(shape), shape=shape))
    *outer, column = np.broadcast_arrays(*(np.atleast_1d(np.asarray(axis, np.int64)) for axis in place))
    for axis, (asked, length) in enumerate(zip((*outer, column), shape, strict=True)):
        if asked.min() < 0 or asked.max() >= length:
            worst = asked.max() if asked.max() >= length else asked.min()
            raise IndexError(text("banks.outside", axis=axis, worst=worst, last=length - 1, shape=shape))
    row = np.ravel_multi_index(tuple(outer), shape[:-1]) if outer else np.zeros_like(column)
    offset = column * tensor_map.innermost_bytes
    chunks = shared_layout(tensor_map, shared_address)
    return (chunks[row, offset // SECTOR] + offset % SECTOR).ravel().tolist()
