"""Tensor reductions: the copy engine combines a box in shared memory with what the tensor holds, element by element.

They are stores in all else: the same fence before them, the same groups behind them, the same clip at the edges. The
operation works in the map's element type; the elements of one box, and of several boxes, are combined in any order.

>>> from tmalab import ptx
>>> ptx.cp_reduce_async_bulk_tensor_2d_add.text
'cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [$tensor_map, {$x, $y}], [$src];'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tmalab.ptx.boxes import IM2COL, TILED, Box
from tmalab.ptx.cache_policies import hinted
from tmalab.ptx.instruction import Instruction
from tmalab.ptx.operands import Map, Shared
from tmalab.reductions import OPERATIONS

_REDUCE = """Replace every element d of the box at {box} by {meaning}.

s is the element at `src` in shared memory, 128-byte aligned. Elements past the upper edges are left out, in the
innermost dimension only from the next multiple of 16 bytes on; negative coordinates fault. Done when its bulk group is
waited for, as a store. Source: PTX ISA, cp.reduce.async.bulk.tensor; the clip and the fault: measured, H200."""


def _reduce(operation: str, box: Box) -> Callable[..., None]:
    def body(thread: Any, tensor_map: Any, *rest: int) -> None:
        thread.copies.reduce(operation, tensor_map, rest[: box.rank], rest[box.rank], im2col=box.im2col)

    return body


def _reductions(operation: str, box: Box) -> dict[str, Instruction]:
    """A reduction and its form with a cache hint."""
    mode = ".im2col_no_offs" if box.im2col else ""
    return hinted(
        f"cp_reduce_async_bulk_tensor_{box.rank}d_{operation}{box.suffix}",
        f"cp.reduce.async.bulk.tensor.{box.rank}d.global.shared::cta.{operation}{mode}.bulk_group<hint> "
        f"{box.place}, [$src];",
        {"tensor_map": Map, **box.operands, "src": Shared},
        _reduce(operation, box),
        _REDUCE.format(box=box.words, meaning=OPERATIONS[operation]),
    )


for _operation in OPERATIONS:
    for _box in (*TILED, *IM2COL):
        globals().update(_reductions(_operation, _box))
