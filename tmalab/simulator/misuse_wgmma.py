"""Misuse of wgmma and of the registers of a warpgroup, put into words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tmalab.simulator.conflicts import copy_name
from tmalab.simulator.hazards import Access
from tmalab.simulator.misuse_clusters import copy_access
from tmalab.simulator.naming import part_name
from tmalab.simulator.told import Told, access_by
from tmalab.swizzle import PATTERNS, SECTOR
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.source import Place
    from tmalab.simulator.threads import SimThread
    from tmalab.simulator.tiles import Tile
    from tmalab.simulator.wgmma_operation import Wgmma
    from tmalab.wgmma_descriptor import WgmmaDescriptor


def no_fence(
    run: Simulation, thread: SimThread, copy: Wgmma, place: Place | None, loaded: bool = False, first: bool = False
) -> Told:
    """A wgmma uses registers that were touched after the last fence, or there was none."""
    issue = access_by(thread, "wgmma", text("hazards.does-issues", wgmma=copy_name(copy)), place)
    return [issue], {"variant": "first" if first else "loaded" if loaded else "touched"}


def registers(run: Simulation, thread: SimThread, copy: Wgmma, committed: bool) -> Told:
    """A thread touches registers that a wgmma may still be filling."""
    touch = access_by(thread, "read", text("hazards.does-reads-register"))
    fills = copy_access(run, copy, text("hazards.does-fills"))
    return [touch, fills], {"variant": "waited" if committed else "committed", "earlier_line": fills.line or "?"}


def layout(
    run: Simulation,
    thread: SimThread,
    copy: Wgmma,
    operand: str,
    descriptor: WgmmaDescriptor,
    tile: Tile | None = None,
    load: int = 0,
    strides: bool = False,
) -> Told:
    """An operand lies otherwise than its descriptor says, or the descriptor holds what cannot be meant."""
    words: dict[str, Any] = {"operand": operand, "swizzle": descriptor.swizzle.name, "variant": "bits"}
    words["stride"], words["leading"] = f"{descriptor.stride_bytes:,}", f"{descriptor.leading_bytes:,}"
    reads = copy_access(run, copy, text("hazards.does-reads-as", **words))
    words["bits"] = hex(descriptor.encode() & (1 << 64) - 1)
    if tile is None:
        return [reads], words
    tensor_map = tile.tensor_map
    words |= {"loaded": tensor_map.swizzle.name, "pitch": f"{tensor_map.pitch:,}", "row": SECTOR}
    words["rows"] = f"{8 * tensor_map.pitch:,}"
    words["variant"] = "strides" if strides else _difference(tile, descriptor)
    wrote = run.copies.get(load)
    name = part_name(copy.cta.memory, tile.address)
    does = text("hazards.does-laid", loaded=words["loaded"], pitch=words["pitch"])
    earlier = [copy_access(run, wrote, does)] if wrote is not None else [Access(name, does, "load", thread.number)]
    return [reads, *earlier], words


def _difference(tile: Tile, descriptor: WgmmaDescriptor) -> str:
    """What differs between the map and the descriptor."""
    if tile.tensor_map.swizzle != descriptor.swizzle:
        return "swizzle"
    return "pitch" if tile.tensor_map.pitch != (PATTERNS[descriptor.swizzle].span or SECTOR) else "rows"


def operand_out_of_bounds(
    run: Simulation, thread: SimThread, operation: Wgmma, operand: str, first: int, last: int
) -> Told:
    """A descriptor reaches past the CTA's shared arrays."""
    end = operation.cta.memory.top
    words = {"operand": operand, "first": hex(first), "last": hex(last), "end": hex(end), "variant": "wgmma"}
    return [copy_access(run, operation, text("hazards.does-reads-operand", operand=operand))], words


def offset_misaligned(run: Simulation, thread: SimThread, offset: str, value: int, size: int) -> Told:
    """A byte count that a descriptor cannot hold."""
    access = access_by(thread, "wgmma", text("hazards.does-describes"))
    return [access], {
        "offset": offset,
        "given": value,
        "size": size,
        "below": value - value % size,
        "variant": "offset",
    }


def at_exit(run: Simulation, copy: Wgmma) -> Told:
    """A warp ends before it has waited for its wgmmas."""
    access = copy_access(run, copy, text("hazards.does-multiplies-at-exit"))
    return [access], {"line": access.line or "?", "variant": "wgmma"}


def part_of_warpgroup(
    run: Simulation,
    thread: SimThread,
    operation: str,
    place: Place | None = None,
    copy: Wgmma | None = None,
    warps: int = 0,
    differs: bool = False,
) -> Told:
    """Warps of a warpgroup that do not issue a wgmma, or threads that issue another one."""
    does = text("hazards.does-warp", operation=operation)
    if copy is not None:
        return [copy_access(run, copy, does)], {"operation": operation, "warps": warps, "variant": "warpgroup"}
    variant = "differs" if differs else "warpgroup"
    return [access_by(thread, "wgmma", does, place)], {"operation": operation, "warps": warps, "variant": variant}


def register_pool(run: Simulation, thread: SimThread, place: Place | None = None, **facts: Any) -> Told:
    """Registers that never come, in a number that is no more or no fewer, or for a part of a warpgroup."""
    if "part" in facts:
        does = text("hazards.does-group", group=facts["group"])
        return [access_by(thread, "wait", does, place)], {"group": facts["group"], "variant": "part"}
    does = text("hazards.does-registers", count=facts["count"])
    variant = facts.get("way", "never")
    return [access_by(thread, "wait", does, place)], {**facts, "variant": variant}
