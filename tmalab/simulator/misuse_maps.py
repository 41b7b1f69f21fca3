"""Misuse of maps, put into words: edits that copies need not see, and stores that write past the map's tensor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.descriptor import SIZE
from tmalab.simulator.conflicts import copy_name
from tmalab.simulator.hazards import Access
from tmalab.simulator.misuse_clusters import copy_access
from tmalab.simulator.naming import part_name, row_name
from tmalab.simulator.told import Told, access_at, access_by
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.threads import SimThread


def edited(run: Simulation, thread: SimThread, place: int, copy: Any, edit: np.ndarray) -> Told:
    """A copy uses a map that another thread may be editing."""
    use, name = _use(run, thread, place, copy)
    words = {"map": name, "earlier": run.thread_name(int(edit["thread"])), "variant": "use"}
    return [use, _edit(run, name, edit)], words


def not_acquired(
    run: Simulation, thread: SimThread, place: int, copy: Any, edit: np.ndarray | None, variant: str
) -> Told:
    """A copy uses a map that its CTA has not acquired since it was written."""
    use, name = _use(run, thread, place, copy)
    words = {"map": name, "line": use.line, "variant": variant, "earlier": "", "earlier_line": "?"}
    if edit is None:
        return [use], words
    access = _edit(run, name, edit)
    return [use, access], {**words, "earlier": access.who, "earlier_line": access.line}


def clip(run: Simulation, thread: SimThread, copy: Any, row: int, over: int) -> Told:
    """A store or reduction across the edge of a tensor whose rows are no multiple of 16 bytes."""
    tensor_map = copy.tensor_map
    target = int(copy.footprint.global_stops[0]) - over
    where = part_name(run.memory, target)
    access = copy_access(run, copy, text("hazards.does-overwrites", where=where, bytes=over))
    size = tensor_map.element_size
    words = {"row": row, "rest": row % 16, "over": over, "dim": tensor_map.global_dim[0], "size": size, "where": where}
    return [access], {**words, "nearest": (row + over) // size, "below": (row - row % 16) // size}


def _use(run: Simulation, thread: SimThread, place: int, copy: Any) -> tuple[Access, str]:
    name = row_name(run.memory, place)
    does = text("hazards.does-uses-map", map=name)
    access = access_by(thread, "copy" if copy is None else copy.role, does, space="global", array=name, address=place)
    if copy is None:
        return access, name
    return replace(access, who=copy_name(copy), bytes=SIZE), name


def _edit(run: Simulation, name: str, edit: np.ndarray) -> Access:
    who, (file, line) = run.thread_name(int(edit["thread"])), access_at(run, int(edit["place"]))
    return Access(who, text("hazards.does-edits", map=name), "write", int(edit["thread"]), file, line, "global", name)
