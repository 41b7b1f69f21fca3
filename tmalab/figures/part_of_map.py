"""What figures 1 and 2 draw of a map whose rank is neither 2 nor 3: a part of it, and a sentence that says which.

A map of rank 1 is a matrix of one row. Of ranks 4 and 5 the innermost three dimensions are drawn, at the outer
coordinates: the box's first slice, which lies first in shared memory.

>>> from tmalab import TensorMap
>>> tm = TensorMap(6, 0x1000, (64, 16, 4, 2), (128, 2048, 8192), (64, 8, 2, 2))
>>> drawn, coordinates, note = part_of(tm, (0, 8, 0, 1))
>>> drawn.rank, hex(drawn.global_address), coordinates
(3, '0x3000', (0, 8, 0))
>>> note
'Drawn in part: slice w = 1 of this map of rank 4, the first of 2 slices of its box.'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tmalab import reference
from tmalab.data_types import Interleave
from tmalab.im2col_map import Im2colMap
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

INNER = 3  # dimensions of which a figure draws the rest
AXES = "xyzwv"


def part_of(tensor_map: TensorMap, coordinates: Sequence[int]) -> tuple[TensorMap, tuple[int, ...], str]:
    """The map that is drawn, where its box lies, and what has to be said of it: empty where the map is whole.

    ValueError for im2col and interleaved maps, and for a slice that lies outside the tensor.
    """
    tm = tensor_map
    if isinstance(tm, Im2colMap):
        raise ValueError(text("figures.not-tiled", kind="im2col"))
    if tm.interleave:
        raise ValueError(text("figures.not-tiled", kind=f"INTERLEAVE_{Interleave(tm.interleave).name.lstrip('B')}B"))
    at = reference.check_load(tm, coordinates, 0)
    if tm.rank == 1:
        row = -(-tm.global_dim[0] * tm.element_size // 16) * 16
        return _tiled(tm, tm.global_address, (*tm.global_dim, 1), (row,), 1), (*at, 0), ""
    if tm.rank <= INNER:
        return tm, at, ""
    outer = list(zip(AXES[INNER:], at[INNER:], tm.global_dim[INNER:], tm.global_strides[INNER - 1 :]))
    for axis, place, count, _ in outer:
        if not 0 <= place < count:
            raise ValueError(text("figures.no-slice", axis=axis, at=place, count=count))
    address = tm.global_address + sum(place * stride for _, place, _, stride in outer)
    drawn = _tiled(tm, address, tm.global_dim[:INNER], tm.global_strides[: INNER - 1])
    slices = math.prod(tm.box_dim[INNER:])
    where = ", ".join(f"{axis} = {place}" for axis, place, *_ in outer)
    key = "figures.one-slice" if slices == 1 else "figures.part-of-rank"
    return drawn, at[:INNER], text(key, at=where, rank=tm.rank, slices=slices)


def _tiled(tm: TensorMap, address: int, dim: Sequence[int], strides: Sequence[int], *more: int) -> TensorMap:
    """A map like `tm` of other dimensions; `more`: what its box and steps have that those of `tm` have not."""
    box, steps = ((*values, *more)[: len(dim)] for values in (tm.box_dim, tm.element_strides))
    kind: dict[str, Any] = {"swizzle": tm.swizzle, "l2_promotion": tm.l2_promotion, "oob_fill": tm.oob_fill}
    return TensorMap(tm.data_type, address, dim, strides, box, steps, **kind)
