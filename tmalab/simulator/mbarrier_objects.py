"""One live mbarrier: the state machine of tmalab.mbarrier, and what threads and copies make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tmalab.mbarrier import MBarrier

if TYPE_CHECKING:
    from tmalab.simulator.copies import Load
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

SIZE = 8  # bytes of an mbarrier, and its alignment


class Barrier:
    """One live mbarrier object.

    machine      its state
    dimension    in the clocks: a tick is a completed phase
    collecting, published    rows of the clocks: what the current phase has been given, what the completed ones have
    promised, delivered, arrivals    bytes and arrivals of the current phase so far
    loads        copies in flight that credit it; `credited`: those that have credited the current phase
    waiting      threads that wait for the current phase
    woken        threads that waited for the last phase by parity and have not yet seen that it is complete
    parity_waits those that have: the thread, its segment then, the line
    made_by, made_in, made_at    who initialised it: row, segment, line
    over_arrived whether it was told that too many arrived
    """

    def __init__(self, cta: Cta, address: int, count: int, thread: SimThread):
        clocks = cta.clocks
        self.cta, self.address = cta, address
        self.machine = MBarrier(count)
        self.dimension = clocks.new_dimension()
        self.collecting, self.published = clocks.new_row(), clocks.new_row()
        self.made_by, self.made_in = thread.row, clocks.segment(thread.row)
        self.made_at = thread.run.place_number()
        self.promised = self.delivered = self.arrivals = 0
        self.over_arrived = False
        self.loads: list[Load] = []
        self.credited: list[Load] = []
        self.waiting: list[SimThread] = []
        self.woken: set[SimThread] = set()
        self.parity_waits: list[tuple[SimThread, int, int]] = []

    @property
    def name(self) -> str:
        return self.cta.name_of(self.address)

    @property
    def at_rest(self) -> bool:
        """Whether nothing has happened in the current phase."""
        machine = self.machine
        return machine.pending_count == machine.expected_count and not (
            self.promised or self.delivered or machine.tx_count
        )


class Waited(NamedTuple):
    """A successful wait: what was asked, the barrier's phase then, whether the thread learned anything, and where."""

    parity: int | None
    phase: int
    news: bool
    place: int
