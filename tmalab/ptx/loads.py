"""Tensor loads: the copy engine fetches one box of a tensor into shared memory.

One thread issues the copy and goes on; the bytes come later and are credited to the mbarrier, those out of bounds
included. The destination is 128-byte aligned, coordinates count elements, innermost first, and may be negative.

`_multicast` gives the box to several CTAs of the cluster, `_im2col` loads through an im2col map, `_cache_hint` takes a
cache policy; the forms combine in this order.

>>> from tmalab import ptx
>>> ptx.cp_async_bulk_tensor_3d
<instruction cp_async_bulk_tensor_3d(dst: Shared, tensor_map: Map, x: I32, y: I32, z: I32, bar: Shared) -> None>
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tmalab.ptx.boxes import IM2COL, TILED, Box, registers
from tmalab.ptx.cache_policies import hinted
from tmalab.ptx.instruction import Instruction, instruction
from tmalab.ptx.operands import U16, Map, Shared

_TO_ONE = "Load the box at {box} into shared memory at `dst`, 128-byte aligned."
_TO_MANY = "Load the box at {box} into the shared memory of every CTA of the cluster that `cta_mask` names."
_CREDIT = """Credits `bar` with every byte of the box; a wait on it makes the bytes visible. Orders nothing by itself.
The first coordinate times the element size must be a multiple of 16 bytes. Source: PTX ISA, cp.async.bulk.tensor."""
_MULTICAST = """Bit i of the mask is the CTA of rank i. In each the bytes land at the place that `dst` has in this CTA
and are credited to the barrier at the place of `bar`: every CTA promises the bytes to its own."""
_OFFSETS = """The offsets, in pixels, are the place in the filter: they are added to the place of every pixel. The first
pixel must lie in the map's bounding box, before they are added, or the kernel faults (measured, H200)."""
_PREFETCH = """Fetch the box at {box} into the L2 cache; a hint that changes no data.

Orders nothing. Source: PTX ISA, cp.async.bulk.prefetch.tensor."""


def _loads(box: Box, multicast: bool) -> dict[str, Instruction]:
    """A load and its form with a cache hint."""
    mode, cast = (".im2col" if box.im2col else ""), (".multicast::cluster" if multicast else "")
    more = [registers(box.offsets)] if box.im2col else []
    more += ["$cta_mask"] if multicast else []
    operands = {"dst": Shared, "tensor_map": Map, **box.operands, "bar": Shared, **box.offset_operands}
    return hinted(
        f"cp_async_bulk_tensor_{box.rank}d{box.suffix}{'_multicast' if multicast else ''}",
        f"cp.async.bulk.tensor.{box.rank}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes{cast}<hint> "
        f"{', '.join(['[$dst]', box.place, '[$bar]', *more])};",
        operands | ({"cta_mask": U16} if multicast else {}),
        _load(box, multicast),
        _description(box, multicast),
    )


def _description(box: Box, multicast: bool) -> str:
    summary = (_TO_MANY if multicast else _TO_ONE).format(box=box.words)
    notes = ([_MULTICAST] if multicast else []) + ([_OFFSETS] if box.im2col else [])
    return "\n\n".join([summary, *notes, _CREDIT])


def _load(box: Box, multicast: bool) -> Callable[..., None]:
    def body(thread: Any, dst: int, tensor_map: Any, *rest: int) -> None:
        coordinates, (bar, *more) = rest[: box.rank], rest[box.rank :]
        modifiers: dict[str, Any] = {"mask": more.pop()} if multicast else {}
        if box.im2col:
            modifiers["offsets"] = tuple(more)
        thread.copies.load(dst, tensor_map, coordinates, bar, **modifiers)

    return body


def _prefetches(box: Box) -> dict[str, Instruction]:
    """A prefetch and its form with a cache hint."""

    def body(thread: Any, tensor_map: Any, *rest: int) -> None:
        modifiers = {"offsets": rest[box.rank :]} if box.im2col else {}
        thread.copies.prefetch(tensor_map, rest[: box.rank], **modifiers)

    mode, offsets = (".im2col", f", {registers(box.offsets)}") if box.im2col else ("", "")
    return hinted(
        f"cp_async_bulk_prefetch_tensor_{box.rank}d{box.suffix}",
        f"cp.async.bulk.prefetch.tensor.{box.rank}d.L2.global{mode}<hint> {box.place}{offsets};",
        {"tensor_map": Map, **box.operands, **box.offset_operands},
        body,
        _PREFETCH.format(box=box.words),
    )


for _box in (*TILED, *IM2COL):
    globals().update(_loads(_box, multicast=False) | _loads(_box, multicast=True) | _prefetches(_box))


@instruction("prefetch.tensormap [$tensor_map];")
def prefetch_tensormap(thread, tensor_map: Map) -> None:
    """Fetch the 128 bytes of a map into the copy engine's cache, before the first copy needs them; a hint.

    Orders nothing. Source: PTX ISA, prefetch.
    """
    thread.copies.prefetch_map(tensor_map)
