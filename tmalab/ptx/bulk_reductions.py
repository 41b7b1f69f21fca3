"""Bulk reductions: `bytes` contiguous bytes of shared memory are combined with as many elsewhere, without a map.

The element type is in the name, since no map tells it. To global memory they belong to the bulk groups of the thread
that issued them; to a peer's shared memory (`_cluster_`) they credit its mbarrier.

>>> from tmalab import ptx
>>> ptx.cp_reduce_async_bulk_add_u32.text
'cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [$dst], [$src], $bytes;'
"""

from __future__ import annotations

from typing import Any

from tmalab.bulk import OPERATIONS as TO_GLOBAL
from tmalab.ptx.cache_policies import hinted
from tmalab.ptx.instruction import Instruction
from tmalab.ptx.operands import U32, Global, Shared
from tmalab.reductions import OPERATIONS

TO_PEER = {  # operation: the types that it has there
    "add": ("u32", "s32", "u64"),
    **dict.fromkeys(("min", "max"), ("u32", "s32")),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
    **dict.fromkeys(("and", "or", "xor"), ("b32",)),
}

_GLOBAL = """Replace every {type} element d of `bytes` bytes of global memory at `dst` by {meaning}.

s is the element at `src` in shared memory. Both addresses and `bytes` are multiples of 16. Elements are combined in any
order, each by itself. Done when its bulk group is waited for, as a store. Source: PTX ISA, cp.reduce.async.bulk."""
_PEER = """Replace every {type} element d of `bytes` bytes at `dst` in the CTA of rank `cta_rank` by {meaning}.

s is the element at `src` in this CTA's shared memory; `dst` and `bar` are places as this CTA has them, and the same
places of the other CTA are written and credited. Addresses of data and `bytes` are multiples of 16.
Source: PTX ISA, cp.reduce.async.bulk."""


def _to_global(operation: str, element: str) -> dict[str, Instruction]:
    """A reduction to global memory and its form with a cache hint."""

    def body(thread: Any, dst: int, src: int, bytes: int) -> None:
        thread.copies.bulk_reduce(operation, element, dst, src, bytes)

    subnormals = ".noftz" if operation == "add" and element in ("f16", "bf16") else ""  # the only form that PTX has
    return hinted(
        f"cp_reduce_async_bulk_{operation}_{element}",
        f"cp.reduce.async.bulk.global.shared::cta.bulk_group<hint>.{operation}{subnormals}.{element} "
        "[$dst], [$src], $bytes;",
        {"dst": Global, "src": Shared, "bytes": U32},
        body,
        _GLOBAL.format(type=element, meaning=OPERATIONS[operation]),
    )


def _to_peer(operation: str, element: str) -> Instruction:
    """A reduction to a peer's shared memory."""

    def body(thread: Any, dst: int, cta_rank: int, src: int, bytes: int, bar: int) -> None:
        thread.copies.bulk_reduce_to_peer(operation, element, dst, cta_rank, src, bytes, bar)

    return Instruction(
        f"cp_reduce_async_bulk_cluster_{operation}_{element}",
        "{ .reg .b32 to, full; mapa.shared::cluster.u32 to, $dst, $cta_rank; mapa.shared::cluster.u32 full, $bar, "
        "$cta_rank; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
        f"{operation}.{element} [to], [$src], $bytes, [full]; }}",
        {"dst": Shared, "cta_rank": U32, "src": Shared, "bytes": U32, "bar": Shared},
        body,
        _PEER.format(type=element, meaning=OPERATIONS[operation]),
    )


for _operation, _types in TO_GLOBAL.items():
    for _type in _types:
        globals().update(_to_global(_operation, _type))
for _operation, _types in TO_PEER.items():
    for _type in _types:
        globals()[f"cp_reduce_async_bulk_cluster_{_operation}_{_type}"] = _to_peer(_operation, _type)
