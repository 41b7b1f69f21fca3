"""Tensor loads: the copy engine fetches one box of a tensor into shared memory.

One thread issues the copy and goes on; the bytes come later and are credited to the mbarrier, those out of bounds
included. The destination is 128-byte aligned, coordinates count elements, innermost first, and may be negative.

>>> from tmalab import ptx
>>> ptx.cp_async_bulk_tensor_3d
<instruction cp_async_bulk_tensor_3d(dst: Shared, tensor_map: Map, x: I32, y: I32, z: I32, bar: Shared) -> None>
"""

from __future__ import annotations

from typing import Any

from tmalab.ptx.instruction import Instruction, instruction
from tmalab.ptx.operands import I32, Map, Shared

COORDINATES = "xyzwv"  # innermost first

_LOAD = """Load the box at ({coordinates}) of a {rank}-D map into shared memory at `dst`, 128-byte aligned.

Credits `bar` with every byte of the box; a wait on it makes the bytes visible. Orders nothing by itself.
coordinates[0] times the element size must be a multiple of 16 bytes. Source: PTX ISA, cp.async.bulk.tensor."""

_PREFETCH = """Fetch the box at ({coordinates}) of a {rank}-D map into the L2 cache; a hint that changes no data.

Orders nothing. Source: PTX ISA, cp.async.bulk.prefetch.tensor."""


def _load(thread: Any, dst: int, tensor_map: Any, *rest: int) -> None:
    *coordinates, bar = rest
    thread.copies.load(dst, tensor_map, tuple(coordinates), bar)


def _prefetch(thread: Any, tensor_map: Any, *coordinates: int) -> None:
    thread.copies.prefetch(tensor_map, coordinates)


for rank in range(1, 6):
    names = COORDINATES[:rank]
    words = {"rank": rank, "coordinates": ", ".join(names)}
    box = f"[$tensor_map, {{{', '.join('$' + name for name in names)}}}]"
    at = dict.fromkeys(names, I32)
    globals()[f"cp_async_bulk_tensor_{rank}d"] = Instruction(
        f"cp_async_bulk_tensor_{rank}d",
        f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes [$dst], {box}, [$bar];",
        {"dst": Shared, "tensor_map": Map, **at, "bar": Shared},
        _load,
        _LOAD.format(**words),
    )
    globals()[f"cp_async_bulk_prefetch_tensor_{rank}d"] = Instruction(
        f"cp_async_bulk_prefetch_tensor_{rank}d",
        f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global {box};",
        {"tensor_map": Map, **at},
        _prefetch,
        _PREFETCH.format(**words),
    )


@instruction("prefetch.tensormap [$tensor_map];")
def prefetch_tensormap(thread, tensor_map: Map) -> None:
    """Fetch the 128 bytes of a map into the copy engine's cache, before the first copy needs them; a hint.

    Orders nothing. Source: PTX ISA, prefetch.
    """
    thread.copies.prefetch_map(tensor_map)
