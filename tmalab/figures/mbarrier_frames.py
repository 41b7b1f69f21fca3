"""The life of an mbarrier, as frames: after each thing that happened, its state, who waits, and all that in words.

>>> frames = frames_of(*two_loads())
>>> frames[6].says
'The load of b lands 2,048 bytes. Nothing is pending and no byte is missing: phase 0 is complete, phase 1 begins.'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tmalab.figures.words import capital
from tmalab.mbarrier import MBarrier
from tmalab.simulator.story import NO_BARRIER, CopyTold, Moment, State, Story
from tmalab.texts import text

Key = tuple[int, int]  # of a barrier: number of its CTA, address
PLAIN = ("mbarrier_inval", "cp_async_mbarrier_arrive")
COUNTED = ("mbarrier_arrive", "mbarrier_arrive_drop", "mbarrier_arrive_no_complete")
BYTES = ("mbarrier_arrive_expect_tx", "mbarrier_expect_tx", "mbarrier_complete_tx")


@dataclass(frozen=True)
class Waiting:
    """Threads that wait, for a phase, at a line."""

    who: str
    phase: int
    line: int | None


@dataclass(frozen=True)
class Frame:
    """Who did what, where; the state that it left; who waits; whether a phase was completed; the sentence."""

    who: str
    did: str
    line: int | None
    state: State
    waits: tuple[Waiting, ...]
    completes: bool
    says: str


def happened(story: Story) -> dict[Key, list[list[Moment]]]:
    """What happened to each barrier: threads that do the same one after the other, waiting or going on, together."""
    found: dict[Key, list[Moment]] = {}
    for moment in story.moments:
        if moment.barrier is not None:
            found.setdefault(moment.barrier, []).append(moment)
    return {key: _together(moments) for key, moments in found.items()}


def frames_of(story: Story, key: Key) -> list[Frame]:
    """The frames of one barrier."""
    return frames_in(story, happened(story).get(key, []))


def frames_in(story: Story, every: Sequence[list[Moment]], most: int | None = None) -> list[Frame]:
    """The frames of what happened to a barrier: the first `most`, or the last where somebody waits for ever."""
    hangs = not story.cut and bool(_still_waiting(every))
    first = len(every) - most if hangs and most is not None else 0
    last = len(every) if hangs or most is None else most
    frames: list[Frame] = []
    state = NO_BARRIER
    waiting: dict[int, Any] = {}
    landed: dict[int, int] = {}
    for at, moments in enumerate(every[:last]):
        moment, numbers = moments[-1], [moment.thread for moment in moments]
        before, state = state, moment.state
        if moment.what == "waits_mbarrier":
            waiting |= dict.fromkeys(numbers, (before.phase, moment.line))
        elif moment.what == "mbarrier_wait":
            for number in numbers:
                waiting.pop(number, None)
        bytes = moment.operand
        if moment.what == "load_lands":
            bytes, landed[moment.copy] = moment.operand - landed.get(moment.copy, 0), moment.operand
        if at < first:
            continue
        who, did = _said(story, moment, numbers, bytes)
        completes = state.phase > before.phase and moment.what != "mbarrier_init"
        waits = _waits(story, waiting, state.phase)
        says = " ".join(filter(None, (f"{capital(who)} {did}.", _outcome(moment, before, state), _who_waits(waits))))
        frames.append(Frame(who, did, moment.line, state, waits, completes, says))
    if frames and hangs:
        waits = frames[-1].waits
        says = f"{text('clock.for-ever')} {_missing(state)} {_who_waits(waits)}"
        frames.append(Frame(text("clock.nobody"), text("clock.did-end"), None, state, waits, False, says))
    return frames


def lives_of(story: Story) -> list[tuple[Key, list[list[Moment]]]]:
    """The barriers of a story, and what happened to each: those at which somebody waits for ever first, then in the
    order of their first use."""
    every = happened(story)
    lives = [(key, every.get(key, [])) for key in story.barriers]
    return sorted(lives, key=lambda life: not _still_waiting(life[1]))


def _still_waiting(every: Iterable[list[Moment]]) -> set[int]:
    """The threads that wait in the end."""
    waiting: set[int] = set()
    for moments in every:
        if moments[-1].what == "waits_mbarrier":
            waiting.update(moment.thread for moment in moments)
        elif moments[-1].what == "mbarrier_wait":
            waiting.difference_update(moment.thread for moment in moments)
    return waiting


def people(story: Story, numbers: Iterable[int]) -> str:
    """`thread 3`, `threads 0 to 127`, or `4 threads (thread 0 to thread 96)`."""
    numbers = sorted(numbers)
    ends = numbers[0], numbers[-1]
    first, last = (story.names[number] for number in ends)
    if len(numbers) == 1:
        return first
    if len(numbers) == ends[1] - ends[0] + 1 and [first, last] == [text("steps.thread", number=end) for end in ends]:
        return text("steps.thread-range", first=ends[0], last=ends[1])
    return text("steps.threads", count=len(numbers), first=first, last=last)


def two_loads() -> tuple[Story, Key]:
    """The fixed example: a promise of 4,096 bytes, two loads of 2,048 bytes each, 128 threads that wait for them."""
    key, machine, story = (0, 0), MBarrier(1), Story(128)
    story.barriers[key] = "full"
    story.names = {number: text("steps.thread", number=number) for number in range(128)}
    for number, name in ((1, "a"), (2, "b")):
        story.copies[number] = CopyTold("load", name, 2048 * (number - 1), 2048, 0, 0, None, key)
    promised = delivered = 0

    def happens(what: str, operand: int, thread: int = 0, copy: int = 0) -> None:
        counts = machine.phase, machine.pending_count, machine.expected_count, machine.tx_count
        left = (promised, delivered) if machine.phase == 0 else (0, 0)
        story.moments.append(Moment(len(story.moments), what, thread, 0, operand, copy, key, State(*counts, *left)))

    happens("mbarrier_init", 1)
    machine.arrive_expect_tx(promised := 4096)
    happens("mbarrier_arrive_expect_tx", 4096)
    for copy in story.copies:
        happens("load", 2048, copy=copy)
    for thread in range(128):
        happens("waits_mbarrier", 0, thread)
    for copy in story.copies:
        machine.complete_tx(2048)
        delivered += 2048
        happens("load_lands", 2048, copy=copy)
    for thread in range(128):
        happens("mbarrier_wait", 0, thread)
    return story, key


def _together(moments: Iterable[Moment]) -> list[list[Moment]]:
    """Waits of several threads, and their ends, that follow each other at one line; anything else by itself."""

    def alike(pair: tuple[int, Moment]) -> tuple:
        number, moment = pair
        same = moment.what in ("waits_mbarrier", "mbarrier_wait")
        return (moment.what, moment.line, moment.operand, moment.state) if same else (number,)

    return [[moment for _, moment in group] for _, group in groupby(enumerate(moments), key=alike)]


def _said(story: Story, moment: Moment, numbers: list[int], bytes: int) -> tuple[str, str]:
    """Who, and what they did."""
    what, who = moment.what, people(story, numbers)
    many = len(numbers) > 1
    if what in ("load", "load_lands"):
        name = story.copies[moment.copy].name
        if what == "load_lands":
            return text("clock.load", name=name), text("clock.lands", bytes=f"{bytes:,}")
        return who, text("clock.issues", name=name, bytes=f"{bytes:,}")
    if what == "waits_mbarrier":
        return who, text("clock.wait" if many else "clock.waits", phase=moment.state.phase)
    if what == "mbarrier_wait":
        if moment.state.phase == 0:
            return who, text("clock.go-on-fresh" if many else "clock.goes-on-fresh")
        return who, text("clock.go-on" if many else "clock.goes-on", phase=moment.state.phase - 1)
    if what in BYTES:
        return who, text(f"clock.{what.replace('_', '-')}", bytes=f"{bytes:,}")
    if what in COUNTED:
        return who, text(f"clock.{what.replace('_', '-')}", times=_times(moment.operand))
    if what == "mbarrier_init":
        return who, text("clock.mbarrier-init", arrivals=_arrivals(bytes))
    assert what in PLAIN, what
    return who, text(f"clock.{what.replace('_', '-')}")


def _times(count: int) -> str:
    return text("clock.once") if count == 1 else text("clock.times", count=f"{count:,}")


def _arrivals(count: int) -> str:
    return text("clock.arrival-one") if count == 1 else text("clock.arrival-many", count=f"{count:,}")


def _outcome(moment: Moment, before: State, state: State) -> str:
    """What came of it."""
    if moment.what in ("mbarrier_wait", "mbarrier_inval"):
        return ""
    if state.phase > before.phase and moment.what != "mbarrier_init":
        return text("clock.completes", before=before.phase, phase=state.phase)
    return _missing(state)


def _missing(state: State) -> str:
    """What the current phase still needs."""
    parts = []
    if state.pending:
        pending = text("clock.pending-one") if state.pending == 1 else text("clock.pending", count=state.pending)
        parts.append(pending)
    if state.tx > 0:
        parts.append(text("clock.missing-bytes", bytes=f"{state.tx:,}"))
    if state.tx < 0:
        parts.append(text("clock.ahead", bytes=f"{-state.tx:,}"))
    return text("clock.goes-on-phase", phase=state.phase, missing=text("clock.and").join(parts))


def _waits(story: Story, waiting: dict[int, tuple[int, int | None]], phase: int) -> tuple[Waiting, ...]:
    """Who waits: those whose phase's parity is the current one's, so that they would be told False."""
    groups: dict[tuple[int, int | None], list[int]] = {}
    for number, wait in waiting.items():
        if (phase - wait[0]) % 2 == 0:
            groups.setdefault(wait, []).append(number)
    return tuple(Waiting(people(story, numbers), *wait) for wait, numbers in groups.items())


def _who_waits(waits: tuple[Waiting, ...]) -> str:
    if not waits:
        return ""
    each = (
        text("clock.waiter-line", who=wait.who, phase=wait.phase, line=wait.line)
        if wait.line is not None
        else text("clock.waiter", who=wait.who, phase=wait.phase)
        for wait in waits
    )
    return text("clock.who-waits", waiters="; ".join(each))
