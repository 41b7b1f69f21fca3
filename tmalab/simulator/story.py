"""The story of a run: what happened, in order, with all that a figure says of it. Told by running it once more.

The trace of a run is a ring of bare numbers. A story has names and lines, the waits that had to wait, and, of every
hazard, the moment at which each of its accesses was made.

    [moment.what for moment in Story.of(run).moments]
    ['mbarrier_init', 'mbarrier_arrive_expect_tx', 'load', 'waits_mbarrier', 'load_lands', 'mbarrier_wait']
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.simulator.context import now
from tmalab.simulator.naming import part_name
from tmalab.simulator.source import Place, Source
from tmalab.simulator.waits import GroupWait, MbarrierWait
from tmalab.simulator.warpgroup import WgmmaWait
from tmalab.texts import text

if TYPE_CHECKING:
    from types import FrameType

    from tmalab.launch import Launch
    from tmalab.run import Run
    from tmalab.simulator.copies import Copy
    from tmalab.simulator.hazards import Hazard
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.scheduler import Scheduler
    from tmalab.simulator.threads import SimThread

MOST = 50_000  # moments that are kept
AFTER = 5_000  # moments that are told after all hazards of a run were met; before the last of them
WAITS = {MbarrierWait: "waits_mbarrier", GroupWait: "waits_group", WgmmaWait: "waits_wgmma"}  # that are told


class State(NamedTuple):
    """An mbarrier after something happened: bytes and arrivals are of the current phase."""

    phase: int
    pending: int
    expected: int
    tx: int
    promised: int
    delivered: int


NO_BARRIER = State(0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Moment:
    """Something that happened.

    what       as in the trace, or "waits_mbarrier", "waits_group", "waits_wgmma": the thread has to wait
    thread     number in the grid of the thread that did it, or that issued the copy; `cta`: that of its CTA
    operand    the instruction's number: bytes, arrivals, parity, ...
    copy       number of the copy, or 0
    barrier    (number of the CTA, address) of the mbarrier, or None; `state`: what it came to
    line       the learner's line, or None
    """

    step: int
    what: str
    thread: int
    cta: int
    operand: Any = None
    copy: int = 0
    barrier: tuple[int, int] | None = None
    state: State = NO_BARRIER
    line: int | None = None

    @property
    def place(self) -> tuple[int, int]:
        """`barrier` of what happened to one."""
        assert self.barrier is not None
        return self.barrier


@dataclass(frozen=True)
class CopyTold:
    """A copy: what it is called in reports ("load", "store", ...), the place in shared memory (name, address, bytes
    there), bytes that it moves, who issued it, at which line, the barrier that it credits, a multicast's mask, and the
    numbers of the CTAs of its cluster, by rank."""

    role: str
    name: str
    address: int
    bytes: int
    thread: int
    cta: int
    line: int | None
    barrier: tuple[int, int] | None = None
    mask: int | None = None
    cluster: tuple[int, ...] = ()


@dataclass
class Story:
    """What happened in a run.

    moments   in order; `before`: how many earlier ones were not kept, `cut`: whether it was not told to its end
    copies    by number
    barriers  names of the mbarriers, by (number of the CTA, address)
    found     of each hazard that was met: the hazard, and how many moments had passed when each of its accesses was
              made (None: not known)
    threads   of a CTA
    """

    threads: int
    moments: list[Moment] = field(default_factory=list)
    copies: dict[int, CopyTold] = field(default_factory=dict)
    barriers: dict[tuple[int, int], str] = field(default_factory=dict)
    found: list[tuple[Hazard, list[int | None]]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)  # of threads
    before: int = 0
    cut: bool = False

    @classmethod
    def of(cls, told: Run | Hazard, to_the_end: bool | None = None) -> Story:
        """The story of a simulated run, or of the run in which a hazard was found. ValueError where it cannot be told.

        A long run in which nothing went wrong is told from its beginning; one with hazards until a while after all of
        them were met, or a long while after the last of them; one that broke off to its end.
        """
        again: Any = told.replaying
        if again is None:
            raise ValueError(text("kernel.shows-simulated"))
        clean = not getattr(told, "deadlock", None) and not getattr(told, "hazards", True)
        ends = not clean if to_the_end is None else to_the_end
        if ends not in again.stories:
            expected = {"expected": 0 if again.broke_off else again.hazards}
            again.stories[ends] = again(type("Telling", (Telling,), expected) if ends else TellingTheBeginning).story()
        return again.stories[ends]


class Telling:
    """Mixed into a simulation: it tells its story. `expected`: how many hazards it waits for, 0: it goes to its end."""

    to_the_end = True
    expected = 0
    launch: Launch  # as the simulation has them
    scheduler: Scheduler
    source: Source
    hazards: Any

    @property
    def source_type(self) -> Any:
        """The source also hears of every access."""
        return lambda: Heard(self)

    def __init__(self, *args: Any, **named: Any):
        self._moments: deque[Moment] = deque(maxlen=MOST)
        self._told, self._cut = 0, False
        self._last_wanted = inf  # moment
        self._last: dict[tuple[int, ...], int] = {}  # by thread, line and segment: moments before its last access
        self._story = Story(0)
        super().__init__(*args, **named)
        x, y, z = self.launch.block
        self._story.threads = x * y * z
        self.scheduler.leave = self._heard_waiting(self.scheduler.leave)  # type: ignore[method-assign]
        collector = self.hazards
        while hasattr(collector, "_hazards") and hasattr(collector, "_turns"):  # of turns: the collector within
            collector = collector._hazards
        collector.first_met = self._met

    def note(
        self, thread: SimThread, what: str, barrier: Barrier | None, operand: Any = None, copy: Copy | None = None
    ) -> None:
        """An event for the trace, and for the story."""
        super().note(thread, what, barrier, operand, copy)  # type: ignore[misc]  # the simulation has it
        if copy is not None and copy.number not in self._story.copies:
            self._story.copies[copy.number] = _told(copy, self.source)
        line = (
            copy.place
            if copy is not None and what in ("load_lands", "store_read", "store_written", "wgmma_done")
            else 0
        )
        place = self.source.places[line] if line else self.source.place()
        self._add(thread, what, barrier, operand, copy.number if copy is not None else 0, place)

    def story(self) -> Story:
        """Once it is over."""
        self._story.moments, self._story.before = list(self._moments), self._told - len(self._moments)
        self._story.cut = self._cut
        return self._story

    def heard(self, number: int) -> None:
        """The running thread makes an access at the line of this number."""
        thread = now.thread
        if thread is not None:
            segment = thread.cta.clocks.segment(thread.row)
            self._last[thread.number, number] = self._last[thread.number, number, segment] = self._told

    def _add(
        self, thread: SimThread, what: str, barrier: Barrier | None, operand: Any, copy: int, place: Place | None
    ) -> None:
        key, state = None, NO_BARRIER
        if barrier is not None:
            machine, key = barrier.machine, (barrier.cta.number, barrier.address)
            if key not in self._story.barriers:
                self._story.barriers[key] = barrier.title
            counts = machine.phase, machine.pending_count, machine.expected_count, machine.tx_count
            state = State(*counts, barrier.promised, barrier.delivered)
        if thread.number not in self._story.names:
            self._story.names[thread.number] = str(thread)
        if self._told == (self._last_wanted if self.to_the_end else MOST):
            self._cut = self.scheduler.stopping = True
            return
        line = place.line if place is not None else None
        at = self.scheduler.steps, what, thread.number, thread.cta.number
        self._moments.append(Moment(*at, operand, copy, key, state, line))
        self._told += 1

    def _heard_waiting(self, leave: Any) -> Any:
        """`leave` of the scheduler: a thread has to wait."""

        def waits(thread: SimThread) -> Any:
            what = WAITS.get(type(thread.waiting))
            if what is not None:
                barrier, operand = getattr(thread.waiting, "barrier", None), getattr(thread.waiting, "what", None)
                if barrier is not None:
                    operand = thread.waiting.parity
                self._add(thread, what, barrier, operand, 0, self.source.place())
            return leave(thread)

        return waits

    def _met(self, hazard: Hazard) -> None:
        """A hazard is met for the first time: when were its accesses made?"""
        numbers: dict[Any, int] = {place: number for number, place in enumerate(self.source.places)}
        at: list[int | None] = []
        for access in hazard.accesses:
            key: Any = access.thread, numbers.get((access.file, access.line))
            at.append(self._last.get((*key, access.segment), self._last.get(key)))
        self._story.found.append((hazard, at))
        if self.expected:  # what was met is kept, with some of what was before
            all_met = len(self._story.found) >= self.expected
            self._last_wanted = self._told + (AFTER if all_met else MOST - AFTER)


class TellingTheBeginning(Telling):
    """Ends the run when it has told as much as is kept."""

    to_the_end = False


class Heard(Source):
    """The learner's source, which tells a simulation of every access."""

    def __init__(self, simulation: Telling):
        super().__init__()
        self._simulation = simulation

    def number(self, frame: FrameType) -> int:
        number = super().number(frame)
        self._simulation.heard(number)
        return number


def _told(copy: Copy, source: Source) -> CopyTold:
    place = source.places[copy.place]
    barrier = getattr(copy, "barrier", None)
    address = getattr(copy, "address", 0)
    return CopyTold(
        role=copy.role,
        name=part_name(copy.cta.memory, address),
        address=address,
        bytes=getattr(copy, "bytes", 0),
        thread=copy.thread.number,
        cta=copy.cta.number,
        line=place.line if place is not None else None,
        barrier=(barrier.cta.number, barrier.address) if barrier is not None else None,
        mask=getattr(copy, "mask", None),
        cluster=tuple(cta.number for cta in copy.cta.cluster.ctas),
    )
