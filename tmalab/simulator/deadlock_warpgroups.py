"""Deadlocks of warpgroups: operations that a warp never issues, registers that nobody gives up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tmalab.simulator.register_pool import RegisterWait
from tmalab.simulator.waits import GroupWait, MbarrierWait
from tmalab.simulator.warpgroup import WgmmaWait
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.source import Place
    from tmalab.simulator.threads import SimThread

Causes = list[tuple[str, dict[str, Any]]]


def in_words(
    wait: WgmmaWait | RegisterWait, thread: SimThread, who: str, place: Place | None
) -> tuple[str, int, str, Causes]:
    """What is waited for, how many of it are missing, the sentence, and what is behind it, with the facts."""
    at = "" if place is None else str(place)
    if isinstance(wait, WgmmaWait):
        sentence = text("simulator.deadlock-wgmma", who=who, missing=wait.missing, place=at)
        facts = {"thread": thread, "operation": "wgmma", "warps": wait.missing, "place": place}
        return "wgmma", wait.missing, sentence, [] if _are_held_up(wait) else [("partial-warp", facts)]
    pool, held = wait.pool, wait.pool.held(wait.warp)
    numbers = {"count": wait.wanted, "held": held, "free": pool.free, "wanted": (wait.wanted - held) * 32}
    sentence = text("simulator.deadlock-registers", who=who, place=at, **numbers)
    facts = {"thread": thread, "place": place, "launched": pool.launched, **numbers}
    return "registers", numbers["wanted"] - pool.free, sentence, [("register-pool", facts)]


def _are_held_up(wait: WgmmaWait) -> bool:
    """Whether the warps that have not issued the operation wait for something on the way to it, and are not past it."""
    oldest = wait.group.operations.get(wait.group.done + 1)
    if oldest is None:
        return False
    missing = [warp for warp in wait.group.warps if warp.place not in oldest.warps]
    if any(warp.groups > oldest.of_group for warp in missing):
        return False
    lanes = [lane for warp in missing for lane in wait.group.lanes(warp)]
    return any(isinstance(lane.waiting, (MbarrierWait, GroupWait, RegisterWait)) for lane in lanes)
