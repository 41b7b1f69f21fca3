"""Where each 16-byte chunk of shared memory came from: which row, and which chunk of the row, of which loaded box.

The shadow memory knows the load that wrote a byte; here is kept how that load laid out its box. Only loads through maps
have a layout: what threads write, and bulk copies, lies as the kernel says.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tmalab.data_types import Interleave
from tmalab.swizzle import PATTERNS, SECTOR, chunk_order

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.tensor_map import TensorMap

KEPT = 256  # loads, before it is looked which of them still have bytes in shared memory


class Tile(NamedTuple):
    """A loaded box: its map, where it lies, and the first coordinate (elements)."""

    tensor_map: TensorMap
    address: int
    x: int

    def places(self, chunks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row of the box, and the chunk in it, that each physical chunk (address) holds."""
        tm = self.tensor_map
        phase = self.address % PATTERNS[tm.swizzle].period
        rows, columns = _places(tm.shared_bytes // SECTOR, tm.pitch // SECTOR, int(tm.swizzle), phase)
        numbers = (chunks - self.address) // SECTOR
        return rows[numbers], columns[numbers]


@lru_cache(maxsize=64)
def _places(chunks: int, pitch: int, swizzle: int, phase: int) -> tuple[np.ndarray, np.ndarray]:
    """All in chunks, but for the swizzle and its phase (bytes)."""
    return np.divmod(chunk_order(chunks, swizzle, phase), pitch)


class Tiles:
    """The boxes that were loaded into the shared memory of one CTA."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._tiles: dict[int, Tile] = {}  # by the number of the load
        self._most = KEPT

    def loaded(self, load: Any) -> None:
        """A load is on its way."""
        tensor_map = getattr(load, "tensor_map", None)
        if tensor_map is None or tensor_map.interleave != Interleave.NONE:
            return
        self._tiles[load.number] = Tile(tensor_map, load.address, load.coordinates[0])
        if len(self._tiles) > self._most:
            self._forget_overwritten()

    def of(self, chunks: np.ndarray) -> tuple[np.ndarray, dict[int, Tile]]:
        """The number of the load that wrote each chunk (by its first byte; 0: no load), and the boxes by number."""
        shadow = self._cta.cluster.shadow
        loads = shadow.writers["copy"][(chunks + self._cta.note_offset) // shadow.grain]
        return loads, {
            number: self._tiles[number] for number in sorted(set(loads.ravel().tolist())) if number in self._tiles
        }

    def _forget_overwritten(self) -> None:
        alive = set(np.unique(self._cta.cluster.shadow.writers["copy"]).tolist())
        self._tiles = {number: tile for number, tile in self._tiles.items() if number in alive}
        self._most = KEPT + len(self._tiles)
