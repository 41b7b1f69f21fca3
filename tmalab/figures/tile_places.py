"""Where each 16-byte sector of a tile lies in shared memory, mode by mode: what figure 1 draws.

A sector's place depends on the map and the tile's base, never on the coordinates; so one table for each swizzle mode is
all that a figure needs to answer while the box is dragged. A mode that the map's rules refuse comes with the
library's own reason, and with the widest box that the mode takes.

>>> from tmalab import DataType, Swizzle, TensorMap
>>> tm = TensorMap(DataType.FLOAT16, 0x1000, (128, 16), (256,), (64, 8), swizzle=Swizzle.B128)
>>> hex(Places.of(tm).logical[3][5]), hex(Places.of(tm).physical[3][5])         # row 3, sector 5
('0x1d0', '0x1e0')
>>> modes_of(tm)[Swizzle.B32].narrowed.tensor_map.box_dim
(16, 8)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from tmalab.data_types import Swizzle
from tmalab.swizzle import LINE, PATTERNS, SECTOR, shared_layout, swizzle_address
from tmalab.tensor_map import TensorMap
from tmalab.tensor_map_rules import TensorMapError


class Places(NamedTuple):
    """The tile of one legal map in shared memory: addresses in bytes, by [row][sector] in the order of delivery."""

    tensor_map: TensorMap
    shared_address: int  # where the tile begins: a multiple of 128, else the copy would fault
    lines: int  # 128-byte lines that the tile touches
    logical: list[list[int]]  # without the swizzle's XOR
    physical: list[list[int]]
    note: str = ""  # what else has to be said of it

    @classmethod
    def of(cls, tensor_map: TensorMap, shared_address: int = 0, note: str = "") -> Places:
        """The places of every sector of the tile that a copy to `shared_address` (bytes) delivers."""
        physical = shared_layout(tensor_map, shared_address)
        logical = swizzle_address(physical, tensor_map.swizzle)  # its own inverse
        lines = -(-tensor_map.shared_bytes // LINE)
        return cls(tensor_map, shared_address, lines, logical.tolist(), physical.tolist(), note)

    @property
    def sectors(self) -> int:
        """16-byte sectors in one row of the tile."""
        return len(self.physical[0])

    @property
    def by_address(self) -> dict[int, tuple[int, int]]:
        """(row, sector) of the tile by physical address; what a copy leaves unwritten is missing."""
        return {address: (row, sector) for row, line in enumerate(self.physical) for sector, address in enumerate(line)}

    def addresses(self, line: int) -> range:
        """Of the sectors of one 128-byte line, counted from the tile's first."""
        first = self.shared_address + line * LINE
        return range(first, first + LINE, SECTOR)


class Mode(NamedTuple):
    """One position of the figure's switch."""

    swizzle: Swizzle
    given: Places | None  # of the map as it was given; None where the rules refuse it
    reason: str  # why they do, in the library's words; empty where they don't
    narrowed: Places | None  # where they do: of the same map with rows as wide as the mode takes, if that is legal


def modes_of(tensor_map: TensorMap, shared_address: int = 0, note: str = "") -> list[Mode]:
    """The four modes of a map's tile, by Swizzle's numbers. `note`: what is said of each."""
    return [_mode_of(tensor_map, swizzle, shared_address, note) for swizzle in Swizzle]


def _mode_of(tensor_map: TensorMap, swizzle: Swizzle, shared_address: int, note: str) -> Mode:
    given, reason = _attempt(tensor_map, shared_address, note, swizzle=swizzle)
    narrowed = None
    if given is None:
        columns = PATTERNS[swizzle].span // tensor_map.element_size
        box = (columns, *tensor_map.box_dim[1:])
        narrowed, _ = _attempt(tensor_map, shared_address, note, swizzle=swizzle, box_dim=box)
    return Mode(swizzle, given, reason, narrowed)


def _attempt(tensor_map: TensorMap, shared_address: int, note: str, **changes: Any) -> tuple[Places | None, str]:
    """The places of `tensor_map` with other arguments, or why there is no such map."""
    try:
        return Places.of(replace(tensor_map, **changes), shared_address, note), ""
    except TensorMapError as error:
        return None, str(error)
