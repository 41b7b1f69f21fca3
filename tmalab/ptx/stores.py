"""Tensor stores: the copy engine writes one box from shared memory to a tensor.

The source must be in the asynchronous proxy's sight: the threads that wrote it execute fence_proxy_async before they
hand over to the thread that issues. That thread commits its stores into a group and waits for it: nobody else can.

`_im2col` stores through an im2col map, which knows no offsets then; `_cache_hint` takes a cache policy.

>>> from tmalab import ptx
>>> ptx.cp_async_bulk_tensor_2d_store.text
'cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$tensor_map, {$x, $y}], [$src];'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tmalab.ptx.boxes import IM2COL, TILED, Box
from tmalab.ptx.cache_policies import hinted
from tmalab.ptx.instruction import Instruction
from tmalab.ptx.operands import Map, Shared

_STORE = """Store the box at `src` in shared memory, 128-byte aligned, to {box}.

Elements past the upper edges are dropped, in the innermost dimension only from the next multiple of 16 bytes on.
Negative coordinates fault. Done when its bulk group is waited for: cp_async_bulk_commit_group, then
cp_async_bulk_wait_group. Source: PTX ISA, cp.async.bulk.tensor; the clip and the fault: measured, H200."""


def _store(box: Box) -> Callable[..., None]:
    def body(thread: Any, tensor_map: Any, *rest: int) -> None:
        thread.copies.store(tensor_map, rest[: box.rank], rest[box.rank], im2col=box.im2col)

    return body


def _stores(box: Box) -> dict[str, Instruction]:
    """A store and its form with a cache hint."""
    mode = ".im2col_no_offs" if box.im2col else ""
    return hinted(
        f"cp_async_bulk_tensor_{box.rank}d_store{box.suffix}",
        f"cp.async.bulk.tensor.{box.rank}d.global.shared::cta{mode}.bulk_group<hint> {box.place}, [$src];",
        {"tensor_map": Map, **box.operands, "src": Shared},
        _store(box),
        _STORE.format(box=box.words),
    )


for _box in (*TILED, *IM2COL):
    globals().update(_stores(_box))
