"""What happens in a turn, as operations of the partial order: on which object, in which of its phases, to what end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from tmalab.simulator.operations import Operation, Role, Step
from tmalab.simulator.register_pool import RegisterWait
from tmalab.simulator.waits import ClusterBarrierWait, CtaBarrierWait, GroupWait, MbarrierWait, WarpWait
from tmalab.simulator.warpgroup import WgmmaWait

if TYPE_CHECKING:
    from tmalab.simulator.copies import Copy
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread

COUNTED = {  # events of the trace: what they count for, of an operand n: arrivals and bytes
    "mbarrier_arrive": (lambda n: n, lambda n: 0),
    "mbarrier_arrive_drop": (lambda n: n, lambda n: 0),
    "mbarrier_arrive_no_complete": (lambda n: n, lambda n: 0),
    "mbarrier_arrive_expect_tx": (lambda n: 1, lambda n: n),
    "mbarrier_expect_tx": (lambda n: 0, lambda n: n),
    "mbarrier_complete_tx": (lambda n: 0, lambda n: -n),
    "cp_async_mbarrier_arrive": (lambda n: -1, lambda n: 0),
    "late_arrive": (lambda n: n, lambda n: 0),
}
# What a thread waits for that comes when its own copies, the other warps of its warpgroup or all the cluster have done
# their part, whoever of them did it last.
NO_CHOICE = (GroupWait, WgmmaWait, RegisterWait, ClusterBarrierWait)
COMMUTING = {"add": "sum", "sub": "sum", **{name: name for name in ("and_", "or_", "xor", "min", "max")}}  # of ints


class Happenings:
    """Turns what a run tells into the operations of its steps. It knows each object's phase; phases of a barrier that
    is initialised again are other ones."""

    def __init__(self, counts_seen: bool):
        self._counts_seen = counts_seen  # whether the kernel looks at pending counts: then arrivals do not commute
        self._phases: dict[Hashable, int] = {}
        self._base: dict[Hashable, int] = {}  # of an mbarrier: its phase 0
        self._pending: dict[Hashable, int] = {}
        self._landed: dict[int, int] = {}  # bytes, by copy
        self._cluster_phases: Counter[int] = Counter()  # arrivals at the cluster barrier, by thread
        self._groups: dict[Hashable, Hashable] = {}  # of an updated element: that of its last update

    # mbarriers.

    def noted(
        self, step: Step, thread: SimThread, what: str, barrier: Barrier | None, operand: Any, copy: Copy | None
    ) -> None:
        """An event of the trace."""
        if what == "cp_async_mbarrier_arrive" and operand:  # .noinc: it counts when it comes
            return
        if what in COUNTED:
            arrivals, bytes = COUNTED[what]
            self.counts(step, what, barrier, arrivals(operand), bytes(operand))
        elif what == "load_lands":
            before, self._landed[copy.number] = self._landed.get(copy.number, 0), operand
            if barrier is not None:
                self.counts(step, what, barrier, 0, before - operand)
        elif what == "mbarrier_init":
            place = place_of(barrier)
            self._base[place] = self._phases[place] = self._phases.get(place, -2) + 2
            self._pending[place] = barrier.machine.pending_count
            step.operations.append(Operation(what, place, self._base[place] - 1, Role.ALONE))
        elif what in ("cluster_arrive", "cluster_wait"):
            self._at_cluster_barrier(step, thread, what)
        elif what == "barrier_arrive":
            self._meets(step, ("barrier", thread.cta.number, operand), thread.cta.barriers.missing(operand))
        elif barrier is not None:
            role = Role.LOOKS if what == "load" else Role.ALONE
            step.operations.append(Operation(what, place_of(barrier), self._phase(barrier), role))

    def counts(self, step: Step, what: str, barrier: Barrier, arrivals: int, bytes: int) -> None:
        """An operation that counts towards the phase of an mbarrier has been done."""
        place, machine = place_of(barrier), barrier.machine
        phase, after = self._phases.get(place, 0), self._phase(barrier)
        completes = after != phase
        most = self._pending.get(place, arrivals)
        left = (0, 0) if completes else (machine.pending_count if arrivals <= most else -1, machine.tx_count)
        if arrivals > most:  # those that are too many count for nothing, and their promise neither
            arrivals, bytes = most, 0
        seen = self._pending.get(place) if self._counts_seen and arrivals else None
        made = Operation(what, place, phase, Role.COUNTS, arrivals, bytes, *left, completes, seen=seen)
        step.operations.append(made)
        self._phases[place], self._pending[place] = after, machine.pending_count

    def succeeded(self, step: Step, barrier: Barrier, by_parity: bool, waits: bool) -> None:
        """A wait, test or try has succeeded. `waits`: it would have waited had it failed."""
        role = (Role.WAITS_BY_PARITY if by_parity else Role.WAITS) if waits else Role.LOOKS
        step.operations.append(Operation("succeeded", place_of(barrier), self._phase(barrier), role))

    def refused(self, step: Step, barrier: Barrier, at_last: bool = False) -> None:
        """A try_wait has returned False, and the kernel makes something of it. `at_last`: or may, when all others wait;
        how often it was told so by then says nothing."""
        made = Operation("refused", place_of(barrier), self._phase(barrier), Role.LOOKS, tells=not at_last)
        step.operations.append(made)

    def absent(self, step: Step, cta: int, address: int) -> None:
        """An mbarrier was used before it was initialised."""
        place = ("mbarrier", cta, address)
        step.operations.append(Operation("absent", place, self._phases.get(place, -1), Role.LOOKS))

    def _phase(self, barrier: Barrier) -> int:
        return self._base.get(place_of(barrier), 0) + barrier.machine.phase

    # Other barriers.

    def suspended(self, step: Step, thread: SimThread) -> None:
        """The thread waits."""
        wait = thread.waiting
        if isinstance(wait, MbarrierWait):
            step.blocked = place_of(wait.barrier), wait.parity is not None
        elif isinstance(wait, (CtaBarrierWait, WarpWait)):
            missing = thread.cta.barriers.missing(wait.id) if isinstance(wait, CtaBarrierWait) else 1
            self._meets(step, _meeting_place(thread), missing)
        elif not isinstance(wait, NO_CHOICE):
            step.operations.append(_unknown(thread))

    def woken(self, step: Step, threads: list[SimThread], by: SimThread | None) -> None:
        """Threads may go on. `by`: the thread whose turn it is."""
        threads = [thread for thread in threads if thread.waiting is not None]
        if not threads or isinstance(threads[0].waiting, (MbarrierWait, ClusterBarrierWait)):
            return
        step.wakes += [thread.number for thread in threads]
        if not isinstance(threads[0].waiting, (CtaBarrierWait, WarpWait)):
            if not isinstance(threads[0].waiting, NO_CHOICE):
                step.operations.append(_unknown(threads[0]))
            return
        place = _meeting_place(threads[0])
        phase, self._phases[place] = self._phases.get(place, 0), self._phases.get(place, 0) + 1
        if any(operation.place == place for operation in step.operations):  # bar.arrive: it waits for nobody
            step.operations = [operation for operation in step.operations if operation.place != place]
        elif by is not None:
            step.wakes.append(by.number)
        step.operations.append(_coming(place, phase, missing=0))

    def _meets(self, step: Step, place: Hashable, missing: int) -> None:
        step.operations.append(_coming(place, self._phases.get(place, 0), missing))

    def _at_cluster_barrier(self, step: Step, thread: SimThread, what: str) -> None:
        cluster = thread.cta.cluster
        place, phase = ("cluster", cluster.number, cluster.place), self._cluster_phases[thread.number]
        if what == "cluster_arrive":
            self._cluster_phases[thread.number] += 1
            step.operations.append(Operation(what, place, phase, Role.COUNTS, 1, tells=False))
        else:
            step.operations.append(Operation(what, place, phase, Role.WAITS, tells=False))

    # Atomics.

    def updated(self, step: Step, name: str, place: Hashable, commutes: bool, reads: bool) -> None:
        """An atomic was executed. `commutes`: on an int, and nobody uses its result; `reads`: it changed nothing."""
        group = COMMUTING.get(name) if commutes else None
        group = "reads" if reads and group is None else group
        version = self._phases.get(place, -1)
        if version < 0 or group is None or group != self._groups[place]:
            version += 1
        self._phases[place], self._groups[place] = version, group
        step.operations.append(Operation(name, place, version, Role.UPDATES, group=group))


def place_of(barrier: Barrier) -> Hashable:
    """What an mbarrier is called here."""
    return "mbarrier", barrier.cta.number, barrier.address


def _meeting_place(thread: SimThread) -> Hashable:
    wait = thread.waiting
    if isinstance(wait, CtaBarrierWait):
        return "barrier", thread.cta.number, wait.id
    return "warp", thread.cta.number, thread.warp, wait.operation, wait.mask


def _coming(place: Hashable, phase: int, missing: int) -> Operation:
    """A thread comes to a meeting that so many others are missing from then. Only in a named barrier it matters whom it
    meets."""
    named = place[0] == "barrier" and place[2] != 0
    return Operation("meets", place, phase, Role.COUNTS, 1, 0, missing, completes=not missing, tells=named)


def _unknown(thread: SimThread) -> Operation:
    """What a thread waits for that is none of the objects above: kept in its order."""
    return Operation("wait", (type(thread.waiting).__name__, thread.cta.number), 0, Role.ALONE)
