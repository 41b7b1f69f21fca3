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
    loads        copies in flight that credit it
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
        self.credited: list[Load] = []  # that have credited the current phase
        self.waiting: list[SimThread] = []
        self.woken: set[SimThread] = (
            set()
        )  # who waited for the last phase by parity and has not yet seen that it is complete
        self.parity_waits: list[
            tuple[SimThread, int, int]
        ] = []  # who saw the last phase complete, its segment, its line

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
