"""Bulk copies: `bytes` contiguous bytes, without a map, so without coordinates, swizzle or clip at an edge.

Both addresses and the size are multiples of 16: a wrong address faults, of a wrong size the low 4 bits are ignored, and
so are those from bit 20 on (measured, H200). A copy to shared memory credits its mbarrier with its size; one to
global memory belongs to the bulk groups of the thread that issued it, as a tensor store does.

>>> from tmalab import ptx
>>> ptx.cp_async_bulk
<instruction cp_async_bulk(dst: Shared, src: Global, bytes: U32, bar: Shared) -> None>
"""

from __future__ import annotations

from typing import Any

from tmalab.ptx.cache_policies import hinted
from tmalab.ptx.instruction import instruction
from tmalab.ptx.operands import U16, U32, Global, Shared

_LOAD = """Copy `bytes` bytes from global memory at `src` to shared memory at `dst`.

Both addresses and `bytes` are multiples of 16. Credits `bar` with `bytes`; a wait on it makes them visible.
Source: PTX ISA, cp.async.bulk."""
_MULTICAST = """Copy `bytes` bytes from global memory at `src` to every CTA of the cluster that `cta_mask` names.

Bit i of the mask is the CTA of rank i. In each the bytes land at the place that `dst` has in this CTA, and are
credited to the barrier at the place of `bar`: every CTA promises the bytes to its own.
Source: PTX ISA, cp.async.bulk."""
_STORE = """Copy `bytes` bytes from shared memory at `src` to global memory at `dst`.

Both addresses and `bytes` are multiples of 16. What threads wrote to `src` needs fence_proxy_async first. Done when its
bulk group is waited for: cp_async_bulk_commit_group, then cp_async_bulk_wait_group. Source: PTX ISA, cp.async.bulk."""
_PREFETCH = """Fetch `bytes` bytes of global memory at `src` into the L2 cache; a hint that changes no data.

The address and `bytes` are multiples of 16. Orders nothing. Source: PTX ISA, cp.async.bulk.prefetch."""


def _load(thread: Any, dst: int, src: int, bytes: int, bar: int) -> None:
    thread.copies.bulk_load(dst, src, bytes, bar)


def _multicast(thread: Any, dst: int, src: int, bytes: int, bar: int, cta_mask: int) -> None:
    thread.copies.bulk_load(dst, src, bytes, bar, mask=cta_mask)


def _store(thread: Any, dst: int, src: int, bytes: int) -> None:
    thread.copies.bulk_store(dst, src, bytes)


def _prefetch(thread: Any, src: int, bytes: int) -> None:
    thread.copies.bulk_prefetch(src, bytes)


_TO_SHARED = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
_IN = {"dst": Shared, "src": Global, "bytes": U32, "bar": Shared}
for _row in (
    ("cp_async_bulk", f"{_TO_SHARED}<hint> [$dst], [$src], $bytes, [$bar];", _IN, _load, _LOAD),
    (
        "cp_async_bulk_multicast",
        f"{_TO_SHARED}.multicast::cluster<hint> [$dst], [$src], $bytes, [$bar], $cta_mask;",
        {**_IN, "cta_mask": U16},
        _multicast,
        _MULTICAST,
    ),
    (
        "cp_async_bulk_store",
        "cp.async.bulk.global.shared::cta.bulk_group<hint> [$dst], [$src], $bytes;",
        {"dst": Global, "src": Shared, "bytes": U32},
        _store,
        _STORE,
    ),
    (
        "cp_async_bulk_prefetch",
        "cp.async.bulk.prefetch.L2.global<hint> [$src], $bytes;",
        {"src": Global, "bytes": U32},
        _prefetch,
        _PREFETCH,
    ),
):
    globals().update(hinted(*_row))


@instruction(
    "{ .reg .b32 to, full; mapa.shared::cluster.u32 to, $dst, $cta_rank; mapa.shared::cluster.u32 full, $bar, "
    "$cta_rank; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [$src], $bytes, [full]; }"
)
def cp_async_bulk_cluster(thread, dst: Shared, cta_rank: U32, src: Shared, bytes: U32, bar: Shared) -> None:
    """Copy `bytes` bytes from this CTA's shared memory at `src` to that of the CTA of rank `cta_rank` in the cluster.

    `dst` and `bar` are places as this CTA has them; the copy writes and credits the same places of the other CTA. All
    addresses of data and `bytes` are multiples of 16. What threads wrote to `src` needs fence_proxy_async first, and
    `src` may be overwritten only once the other CTA says that the bytes are there. Faults in a launch without clusters
    (measured, H200). Source: PTX ISA, cp.async.bulk.
    """
    thread.copies.bulk_to_peer(dst, cta_rank, src, bytes, bar)
