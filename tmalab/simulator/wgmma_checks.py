"""What is looked at when a wgmma is issued: its descriptors, and whether operands lie as they were loaded.

A load says where it puts each 16-byte chunk of its box; a descriptor says which chunk the tensor core takes for which
row and column. The two agree where, for each load, a column of chunks of the operand comes from one column of the box,
from a different row of it in each row, and neighbouring columns keep their distance in all rows. So nothing is asked
about how a kernel cuts a matrix into boxes, but a swizzle or a pitch that differs is found by any 8 rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tmalab.simulator.tiles import Tile
from tmalab.swizzle import PATTERNS, SECTOR
from tmalab.wgmma_descriptor import UNIT, WgmmaDescriptor, pattern_phase
from tmalab.wgmma_fragments import ROWS
from tmalab.wgmma_layout import operand_chunks

if TYPE_CHECKING:
    from tmalab.simulator.threads import SimThread
    from tmalab.simulator.wgmma_operation import Wgmma


def look_at_place(thread: SimThread, made: WgmmaDescriptor) -> None:
    """A descriptor is made of byte counts that it cannot hold."""
    if made.address % UNIT:
        thread.tell("misaligned", address=made.address, size=UNIT)
    for name in ("stride_bytes", "leading_bytes"):
        value = getattr(made, name)
        if value % UNIT:
            thread.tell("misaligned", offset=name, value=value, size=UNIT)


def look_at_operands(thread: SimThread, operation: Wgmma) -> None:
    """The operands in shared memory of a wgmma that is being issued."""
    operands = operation.operands
    for name, descriptor, length, k_major in (
        ("A", operation.a, ROWS, not operands.trans_a),
        ("B", operation.b, operands.n, not operands.trans_b),
    ):
        if descriptor is None:
            continue
        if descriptor.unused:
            thread.tell("layout-mismatch", copy=operation, operand=name, descriptor=descriptor)
        elif pattern_phase(descriptor.address, descriptor.swizzle) or descriptor.base_offset:
            period = PATTERNS[descriptor.swizzle].period
            thread.tell("misaligned", address=descriptor.address, size=period, operand=name)
        chunks = operand_chunks(descriptor, length, k_major)
        first, last = int(chunks.min()), int(chunks.max()) + SECTOR
        if last > thread.cta.memory.top:
            thread.tell("out-of-bounds", operation=operation, operand=name, first=first, last=last)
        elif thread.run.log.tracking:
            _look_at_layout(thread, operation, name, descriptor, chunks)


def _look_at_layout(
    thread: SimThread, operation: Wgmma, name: str, descriptor: WgmmaDescriptor, chunks: np.ndarray
) -> None:
    """Whether the chunks of an operand, rows by columns, lie as they were loaded."""
    loads, tiles = thread.cta.tiles.of(chunks)
    for number, tile in tiles.items():
        if _disagrees(tile, chunks, loads == number):
            thread.tell("layout-mismatch", copy=operation, operand=name, descriptor=descriptor, tile=tile, load=number)
            return
    if _columns_disagree(tiles, loads):
        tile = next(iter(tiles.values()))
        thread.tell("layout-mismatch", copy=operation, operand=name, descriptor=descriptor, tile=tile, strides=True)


def _disagrees(tile: Tile, chunks: np.ndarray, mine: np.ndarray) -> bool:
    """Whether the chunks that are of one load, where `mine`, are not where a tile of its layout would have them."""
    rows, columns = tile.places(np.where(mine, chunks, tile.address))
    if _spread(columns, mine, axis=0).any():
        return True
    for column in range(chunks.shape[1]):
        used = np.sort(rows[mine[:, column], column])
        if (used[1:] == used[:-1]).any():
            return True
    beside = mine & mine[:, :1]
    return bool(_spread(rows - rows[:, :1], beside, axis=0).any())


def _columns_disagree(tiles: dict[int, Tile], loads: np.ndarray) -> bool:
    """Whether boxes that are one chunk wide, of one map, stand in for each other in a column of the operand."""
    narrow = {number: tile for number, tile in tiles.items() if tile.tensor_map.row_bytes == SECTOR}
    if len(narrow) < 2 or len({tile.tensor_map.global_address for tile in narrow.values()}) > 1:
        return False
    first = np.zeros(loads.shape, np.int64)
    for number, tile in narrow.items():
        first[loads == number] = tile.x
    return bool(_spread(first, np.isin(loads, list(narrow)), axis=0).any())


def _spread(values: np.ndarray, counted: np.ndarray, axis: int) -> np.ndarray:
    """Along an axis the largest difference between the values that count."""
    low = np.where(counted, values, np.iinfo(np.int64).max).min(axis=axis)
    high = np.where(counted, values, np.iinfo(np.int64).min).max(axis=axis)
    return np.where(counted.any(axis=axis), high - low, 0)
