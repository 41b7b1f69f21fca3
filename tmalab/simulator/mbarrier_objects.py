"""One live mbarrier: the state machine of tmalab.mbarrier, and what threads and copies make of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.mbarrier import MBarrier
from tmalab.mbarrier_word import STATE_BITS

if TYPE_CHECKING:
    import numpy as np

    from tmalab.simulator.cta import Cta
    from tmalab.simulator.loads import Load
    from tmalab.simulator.mbarrier_rules import Use
    from tmalab.simulator.threads import SimThread

SIZE = 8  # bytes of an mbarrier, and its alignment
PHASE_BITS = 20  # of the phase's number, in a state; the rest of its undefined half tells barriers apart
_MARK = (1 << STATE_BITS) - (1 << PHASE_BITS)


class Rows(NamedTuple):
    """Rows of the clocks: what the current phase has been given, what the completed ones have."""

    collecting: int
    published: int


class Barrier:
    """One live mbarrier object.

    machine      its state
    dimension    in the clocks: a tick is a completed phase
    collecting, published    rows of the clocks: what the current phase has been given, what the completed ones have
    from_peers   the same of what threads of other CTAs have given at cluster scope; None where nobody has
    promised, delivered, arrivals    bytes and arrivals of the current phase so far
    arrived_from, came_from    arrivals by the rank of the CTA that made them, in the current phase and in the last one
    arrived_by, came_by        the same by thread
    loads        copies in flight that credit it; `credited`: those that have credited the current phase
    loaded_by, loaded_at    who issued those that credited the last one, where they landed; `was_promised`: its bytes
    credited_after    clocks of threads, as they credited the current phase by hand
    waiting      threads that wait for the current phase
    woken        threads that waited for the last phase by parity and have not yet seen that it is complete
    parity_waits those that have: the thread, its segment then, the line
    made_by, made_in, made_at    who initialised it: row, segment, line
    bytes_from_peers whether copies of other CTAs credited the last phase
    over_arrived, came_short    whether it was told that too many arrived, that more bytes came than were promised
    last_state   what the last arrive returned
    promises     by expect_tx, in the current phase; `users`: the last use by each thread, by row
    no_completes arrives in the current phase which must not complete it
    """

    def __init__(self, cta: Cta, address: int, count: int, thread: SimThread):
        clocks = cta.clocks
        self.cta, self.address = cta, address
        self.machine = MBarrier(count)
        self.dimension = clocks.new_dimension()
        self.collecting, self.published = clocks.new_row(), clocks.new_row()
        self.made_by, self.made_in = thread.row, clocks.segment(thread.row)
        self.made_at = thread.run.place_number()
        self.from_peers: Rows | None = None
        self.promised = self.delivered = self.arrivals = 0
        self.arrived_from: Counter[int] = Counter()
        self.came_from: Counter[int] = Counter()
        self.arrived_by: Counter[SimThread] = Counter()
        self.came_by: Counter[SimThread] = Counter()
        self.bytes_from_peers = False
        self.over_arrived = self.came_short = False
        self.last_state = 0
        self.loads: list[Load] = []
        self.credited: list[Load] = []
        self.loaded_by: set[SimThread] = set()
        self.loaded_at: set[int] = set()
        self.was_promised = 0
        self.credited_after: list[np.ndarray] = []
        self.waiting: list[SimThread] = []
        self.woken: set[SimThread] = set()
        self.parity_waits: list[tuple[SimThread, int, int]] = []
        self.promises: list[Use] = []
        self.no_completes: list[Use] = []
        self.users: dict[int, Use] = {}

    @property
    def name(self) -> str:
        """As the source has it: `full[1]`"""
        return self.cta.name_of(self.address)

    @property
    def title(self) -> str:
        """The name, with its CTA where there are several: `full[1] of CTA 2`"""
        return self.cta.titled(self.name)

    def stamped(self, state: int) -> int:
        """A state that an arrive on this barrier returns, with a mark of the barrier in its undefined half."""
        return state & ~_MARK | self._mark

    def is_of(self, state: int) -> bool:
        """Whether an arrive on this barrier, since its init, has returned a state."""
        return state & _MARK == self._mark

    def unstamped(self, state: int) -> int:
        """A state of this barrier without the mark: as MBarrier knows it, with the whole number of its phase."""
        phase = self.machine.phase
        behind = phase - state & (1 << PHASE_BITS) - 1
        return state >> STATE_BITS << STATE_BITS | phase - behind & (1 << STATE_BITS) - 1

    @property
    def _mark(self) -> int:
        return self.dimension << PHASE_BITS & _MARK

    def rows_for_peers(self) -> Rows:
        """The rows for what other CTAs give."""
        if self.from_peers is None:
            self.from_peers = Rows(self.cta.clocks.new_row(), self.cta.clocks.new_row())
        return self.from_peers

    def begin_phase(self) -> None:
        """Nothing has come for the current phase yet."""
        self.was_promised = self.promised
        self.promised = self.delivered = self.arrivals = 0
        self.came_from, self.arrived_from = self.arrived_from, Counter()
        self.came_by, self.arrived_by = self.arrived_by, Counter()
        self.parity_waits.clear()
        self.bytes_from_peers = any(copy.thread.cta is not self.cta for copy in self.credited)
        self.loaded_by = {copy.thread for copy in self.credited}
        self.loaded_at = {copy.address for copy in self.credited}
        self.credited.clear()

    def copies_came_after(self, thread: SimThread, segment: int) -> bool:
        """Whether a copy that credits the phase was issued after a segment of a thread, as far as copies note that."""
        known = (copy.knew for copy in self.credited)
        return any(knew is not None and knew[thread.row] >= segment for knew in known)

    @property
    def at_rest(self) -> bool:
        """Whether nothing has happened in the current phase."""
        machine = self.machine
        return machine.pending_count == machine.expected_count and not (
            self.promised or self.delivered or machine.tx_count
        )


class Waited(NamedTuple):
    """A successful wait: what was asked, the barrier's phase then, whether the thread learned anything, and where: at
    which line, in which of its segments; whether phases had passed by that it did not wait for; and whether it was told
    that the current phase is not over, and gave up waiting for it."""

    parity: int | None
    phase: int
    news: bool
    place: int
    segment: int
    skipped: bool = False
    gave_up: bool = False


class Refused(NamedTuple):
    """Failing tests and tries of a thread on one barrier that returned False at once: in which phase, how many, what
    the thread looked like at the last one (None at the first), and whether it hurries on after each."""

    phase: int
    count: int  # type: ignore[assignment]
    look: Any
    hasty: bool
