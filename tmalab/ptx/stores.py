"""Tensor stores: the copy engine writes one box from shared memory to a tensor.

The source must be in the asynchronous proxy's sight: the threads that wrote it execute fence_proxy_async before they
hand over to the thread that issues. That thread commits its stores into a group and waits for it: nobody else can.

>>> from tmalab import ptx
>>> ptx.cp_async_bulk_tensor_2d_store.text
'cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$tensor_map, {$x, $y}], [$src];'
"""

from __future__ import annotations

from typing import Any

from tmalab.ptx.instruction import Instruction
from tmalab.ptx.loads import COORDINATES
from tmalab.ptx.operands import I32, Map, Shared

_STORE = """Store the box at `src` in shared memory, 128-byte aligned, to ({coordinates}) of a {rank}-D map.

Elements past the upper edges are dropped, in the innermost dimension only from the next multiple of 16 bytes on.
Negative coordinates fault. Done when its bulk group is waited for: cp_async_bulk_commit_group, then
cp_async_bulk_wait_group. Source: PTX ISA, cp.async.bulk.tensor; the clip and the fault: measured, H200."""


def _store(thread: Any, tensor_map: Any, *rest: int) -> None:
    *coordinates, src = rest
    thread.copies.store(tensor_map, tuple(coordinates), src)


for rank in range(1, 6):
    names = COORDINATES[:rank]
    globals()[f"cp_async_bulk_tensor_{rank}d_store"] = Instruction(
        f"cp_async_bulk_tensor_{rank}d_store",
        f"cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group "
        f"[$tensor_map, {{{', '.join('$' + name for name in names)}}}], [$src];",
        {"tensor_map": Map, **dict.fromkeys(names, I32), "src": Shared},
        _store,
        _STORE.format(rank=rank, coordinates=", ".join(names)),
    )
