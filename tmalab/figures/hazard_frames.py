"""A hazard as a picture of events: one lane for each agent, the accesses of the report, and the edge that is missing.

The columns are the order of this run, and no time. Only what happened near the accesses is kept.

>>> scene = scene_of(*without_wait())
>>> [(frame.letter, frame.who, frame.did) for frame in scene.frames][2:4]
[('B', 'the load of tile', 'issues the load of tile'), ('A', 'thread 37', 'reads tile[3, 8]')]
>>> scene.edge                      # from the end of the load to the read: columns
(4, 3)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tmalab.figures.words import at_line, capital
from tmalab.simulator.hazards import Access, Hazard
from tmalab.simulator.story import CopyTold, Moment, State, Story
from tmalab.texts import text

EDGED = frozenset(  # hazards that are two accesses without an order
    (
        "read-before-wait",
        "overwrite-in-use",
        "missing-proxy-fence",
        "proxy-fence-space",
        "store-source-reuse",
        "store-not-waited",
        "scope-too-narrow",
        "wrong-parity",
        "wgmma-fence",
        "map-edited",
        "map-not-acquired",
        "data-race",
    )
)
THREADS = ("read", "write", "arrive", "wait", "init")  # kinds of accesses that a thread makes itself
ENDS = ("load_lands", "store_read", "store_written", "wgmma_done")
ARMS = ("mbarrier_init", "mbarrier_arrive_expect_tx", "mbarrier_expect_tx")  # of others, on the barrier in question
BEFORE, AFTER = 3, 2  # events of a lane that are kept around its accesses
MOST = 16  # columns


@dataclass(frozen=True)
class Frame:
    """An event: who did what, where; the sentence; its lane; the letter of the access that it is, or that it belongs
    to; whether it only ends that access."""

    who: str
    did: str
    line: int | None
    says: str
    lane: int
    letter: str = ""
    ends: bool = False


@dataclass
class Scene:
    """All that is drawn of a hazard.

    lanes     names of the agents
    frames    the events, a column each
    spans     of each access (by letter) its first and its last column
    edge      the missing one: from which column to which, or None
    places    of each access with a place in shared or global memory: letter, address, bytes, what it is called
    space     which memory that is, or None
    """

    hazard: Hazard
    lanes: list[str]
    frames: list[Frame]
    spans: dict[str, tuple[int, int]]
    edge: tuple[int, int] | None
    places: list[tuple[str, int, int, str]]
    space: str | None
    notes: list[str] = field(default_factory=list)

    @property
    def why(self) -> str:
        """What is missing, in the words of the report."""
        lines = self.hazard.message.splitlines()[1 + len(self.hazard.accesses) :]
        return " ".join(line.strip() for line in lines)


@dataclass
class _Event:
    """An event before it has a column: what orders it, its lane, what it says."""

    at: float
    lane: str
    did: str
    line: int | None
    letter: str = ""
    ends: bool = False


def scene_of(hazard: Hazard, story: Story) -> Scene:
    """Lay out a hazard of a story."""
    at = next((at for found, at in story.found if found == hazard), [None] * len(hazard.accesses))
    letters = "ABCDEFGH"[: len(hazard.accesses)]
    events: list[_Event] = []
    places = []
    for letter, access, when in zip(letters, hazard.accesses, at):
        copy = _copy_of(access, story)
        events += _copy_events(letter, access, copy, story) if copy else [_own_event(letter, access, when, story)]
        if access.address is not None and access.space:
            told = story.copies.get(copy or 0)
            if told is not None and access.space == "shared" and told.bytes:
                places.append((letter, told.address, told.bytes, told.name))
            else:
                places.append((letter, access.address, max(1, access.bytes), _place_name(access)))
    events += _neighbours(hazard, events, story)
    events = _kept(sorted(events, key=lambda event: event.at))
    lanes = list(dict.fromkeys([access.who for access in hazard.accesses] + [event.lane for event in events]))
    frames = [_frame(event, lanes, story) for event in events]
    spans = {letter: _span(frames, letter) for letter in letters}
    spaces = {access.space for access in hazard.accesses if access.address is not None}
    edge = None
    if hazard.name in EDGED and len(letters) > 1:
        edge = spans[letters[-1]][1], spans[letters[-2]][0]
    space = spaces.pop() if len(spaces) == 1 else None
    return Scene(hazard, lanes, frames, spans, edge, places if space else [], space)


def without_wait() -> tuple[Hazard, Story]:
    """The fixed example: a tile that thread 37 reads without a wait for its load."""
    key, story = (0, 2048), Story(128, names={0: text("steps.thread", number=0)})
    names = {"barrier": "full[0]", "phase": 0, "parity": 0, "line": 14}
    tile: dict[str, Any] = {"space": "shared", "array": "tile", "index": (3, 8), "address": 1024 + 400, "bytes": 2}
    does = text("hazards.does-reads", where="tile[3, 8]"), text("hazards.does-earlier-writes", where="tile[3, 8]")
    accesses = [
        Access(text("steps.thread", number=37), does[0], "read", 37, "copy.py", 14, **tile),
        Access(text("clock.load", name="tile"), does[1], "load", 0, "copy.py", 12, **tile, copy=1),
    ]
    why = text("hazards.read-before-wait-load-why", **names)
    lines = [text("hazards.read-before-wait"), *(f"  {a.who} {a.does}" for a in accesses), f"  {why}"]
    fix = text("hazards.read-before-wait-load-fix", **names)
    hazard = Hazard("read-before-wait", "\n".join(lines), accesses, fix, details={"barrier": "full[0]"})
    story.barriers[key] = "full[0]"
    story.copies[1] = CopyTold("load", "tile", 1024, 1024, 0, 0, 12, key)
    armed, over = State(0, 0, 1, 1024, 1024, 0), State(1, 1, 1, 0, 0, 0)
    story.moments = [
        Moment(0, "mbarrier_init", 0, 0, 1, 0, key, State(0, 1, 1, 0, 0, 0), 8),
        Moment(1, "mbarrier_arrive_expect_tx", 0, 0, 1024, 0, key, armed, 11),
        Moment(2, "load", 0, 0, 1024, 1, key, armed, 12),
        Moment(3, "load_lands", 0, 0, 1024, 1, key, over, 12),
    ]
    story.found = [(hazard, [3, 2])]
    return hazard, story


def _copy_of(access: Access, story: Story) -> int | None:
    """The number of the copy that made an access, if the story has it."""
    if access.kind in THREADS:
        return None
    if access.copy in story.copies and any(moment.copy == access.copy for moment in story.moments):
        return access.copy
    issued = [m for m in story.moments if m.copy and (m.thread, m.line) == (access.thread, access.line)]
    return issued[-1].copy if issued else None


def _copy_events(letter: str, access: Access, copy: int, story: Story) -> list[_Event]:
    """A copy's issue, and its last event: of a store that is about shared memory, that it has read it."""
    mine = [(at + story.before, moment) for at, moment in enumerate(story.moments) if moment.copy == copy]
    if access.space == "shared":
        mine = [(at, moment) for at, moment in mine if moment.what != "store_written"]
    (first, issue), (last, end) = mine[0], mine[-1]
    events = [_Event(first, access.who, _did(issue, story), issue.line, letter)]
    if last != first:
        events.append(_Event(last, access.who, _did(end, story), end.line, letter, ends=True))
    return events


def _own_event(letter: str, access: Access, when: int | None, story: Story) -> _Event:
    """What a thread did itself."""
    if when is None:
        mine = [
            at + story.before
            for at, moment in enumerate(story.moments)
            if (moment.thread, moment.line) == (access.thread, access.line)
        ]
        when = mine[-1] if mine else story.before + len(story.moments)
    return _Event(when - 0.5, access.who, access.does, access.line, letter)


def _neighbours(hazard: Hazard, accesses: list[_Event], story: Story) -> list[_Event]:
    """What else the threads of the accesses did around them, and what became of the barrier that is in question."""
    threads = {access.thread: access.who for access in hazard.accesses if access.kind in THREADS}
    own = {(access.thread, access.line) for access in hazard.accesses}
    barrier, phase = hazard.details.get("barrier") or "", 0
    found: dict[str, list[_Event]] = {}
    for at, moment in enumerate(story.moments, story.before):
        of_barrier = moment.barrier is not None and story.barriers.get(moment.barrier) == barrier
        if moment.what not in ENDS and moment.thread in threads:
            if (moment.thread, moment.line) not in own:
                lane = threads[moment.thread]
                found.setdefault(lane, []).append(_Event(at, lane, _did(moment, story), moment.line))
        elif of_barrier and moment.what in ARMS:
            did = f"{story.names[moment.thread]} {_did(moment, story)}"
            found.setdefault(barrier, []).append(_Event(at, barrier, did, moment.line))
        if of_barrier and moment.state.phase > phase:
            done = text("view.completes", phase=moment.state.phase - 1)
            found.setdefault(barrier, []).append(_Event(at + 0.25, barrier, done, None))
        phase = moment.state.phase if of_barrier else phase
    first, last = min(event.at for event in accesses), max(event.at for event in accesses)
    kept = []
    for events in found.values():
        kept += [event for event in events if event.at < first][-BEFORE:]
        kept += [event for event in events if first <= event.at <= last][: BEFORE + AFTER]
        kept += [event for event in events if event.at > last][:AFTER]
    return kept


def _kept(events: list[_Event]) -> list[_Event]:
    """As many as there are columns for; the accesses for certain."""
    spare = MOST - sum(bool(event.letter) for event in events)
    others = [event for event in events if not event.letter][-max(0, spare) :] if spare > 0 else []
    return [event for event in events if event.letter or event in others]


def _frame(event: _Event, lanes: list[str], story: Story) -> Frame:
    where = at_line(event.did, event.line)
    of_barrier = event.lane in story.barriers.values()
    says = f"{event.lane}: {where}." if of_barrier else f"{event.lane} {where}."
    if event.letter:
        says = text("view.ends" if event.ends else "view.access", letter=event.letter, says=says)
    return Frame(event.lane, event.did, event.line, capital(says), lanes.index(event.lane), event.letter, event.ends)


def _span(frames: list[Frame], letter: str) -> tuple[int, int]:
    columns = [column for column, frame in enumerate(frames) if frame.letter == letter]
    return columns[0], columns[-1]


def _place_name(access: Access) -> str:
    index = "" if access.index is None else f"[{', '.join(map(str, access.index))}]"
    return f"{access.array}{index}" if access.array else f"{access.address:#x}"


def _did(moment: Moment, story: Story) -> str:
    """What happened, in few words."""
    copy = story.copies.get(moment.copy)
    name = copy.name if copy else ""
    return text(f"view.{moment.what.replace('_', '-')}", operand=_number(moment.operand), name=name)


def _number(operand: object) -> str:
    return f"{operand:,}" if isinstance(operand, int) else str(operand)
