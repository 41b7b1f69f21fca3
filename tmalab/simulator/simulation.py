"""One run of a launch in the simulator: the parts that its threads share, and what happens among them."""

from __future__ import annotations

import contextvars
import inspect
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.buffers import GlobalLayout
from tmalab.faults import TmaFault
from tmalab.mbarrier import MBarrierError
from tmalab.run import KernelFault
from tmalab.simulator.access_log import AccessLog
from tmalab.simulator.arguments import bound_arguments, finest_elements
from tmalab.simulator.collector import Collector
from tmalab.simulator.company import MOST_THREADS, Company
from tmalab.simulator.context import now
from tmalab.simulator.copies import Copy, chosen
from tmalab.simulator.deadlock import Deadlock, report
from tmalab.simulator.errors import EndlessLoop
from tmalab.simulator.faults import fault_of
from tmalab.simulator.hazards import Suspicion
from tmalab.simulator.memory import GlobalMemory
from tmalab.simulator.naming import thread_name
from tmalab.simulator.policy import Policy
from tmalab.simulator.rebind import rebound, with_arguments
from tmalab.simulator.scheduler import Scheduler
from tmalab.simulator.shadow import Shadow
from tmalab.simulator.source import Place, Source
from tmalab.simulator.source_text import branches_at_barriers, may_wait_in
from tmalab.simulator.spinning import Spinning
from tmalab.simulator.spins import element
from tmalab.simulator.threads import Dim3, SimThread, len_of
from tmalab.simulator.trace import TRACES, Trace
from tmalab.simulator.unfolded import unfolded
from tmalab.simulator.watchdog import Watchdog
from tmalab.simulator.world import World
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Launch
    from tmalab.simulator.arrays import Array
    from tmalab.simulator.mbarrier_objects import Barrier

FAULT_HAZARDS = {"misaligned_address": "misaligned", "illegal_address": "out-of-bounds"}  # what a fault is as a hazard
REPLAY_SECONDS = 1.0  # without a step: enough for the replay of a run that is known to be endless
ONE_AT_A_TIME = threading.RLock()  # a process simulates one kernel at a time


class Simulation:
    """A launch while it runs: the parts that all its threads share."""

    source_type = Source
    notes_accesses = True  # their lines, where `noting`

    def __init__(
        self,
        launch: Launch,
        layout: GlobalLayout,
        noting: bool,
        track: bool = True,
        policy: Policy | None = None,
        patient: bool = False,
        together: bool = False,
    ):
        self.launch, self.noting, self.patient, self.together = launch, noting, patient, together
        self._made_with = launch, layout, noting, track, policy and policy.fresh()
        self.policy, self.scheduler, self.source = policy or Policy(launch.seed), Scheduler(self), self.source_type()
        self.trace, self.world = Trace(TRACES[launch.trace]), World(launch)
        self.log = AccessLog(self.source if noting and self.notes_accesses else None, track)
        self.spinning = Spinning(self)
        for space in (self.log.shared, self.log.world) if patient else ():
            space.note = self.spinning.patiently(space.note)
        self.hazards: Collector | Suspicion = Collector(self) if noting else Suspicion()
        self.memory = GlobalMemory(layout)
        self.arguments = bound_arguments(launch, self.memory, self.log.world.note_for(self.memory))
        self.log.world.shadow = self._shadow_of_global(track)
        self.deadlock: Deadlock | None = None
        self.fault: TmaFault | None = None
        self.copies: dict[int, Copy] = {}  # by number, where reports may name them
        self.doubts: dict[tuple, str] = {}  # sentences, by what they are about and the line
        self.poison: int | None = None  # what shared memory is full of at first, if not of the usual byte
        self.looked = False  # whether a thread has used what an atomic found
        self._copies = 0
        self._functions: dict[Callable[..., Any], Callable[..., Any]] = {}
        self.function = self.bound(launch.kernel.function)
        self.branches_at_barriers = branches_at_barriers(launch.kernel.function)
        self.cluster: Company  # from the first one on
        with np.errstate(all="ignore"):  # arithmetic of a kernel warns nobody, as on the GPU
            self.context = contextvars.copy_context()

    def _shadow_of_global(self, track: bool) -> Shadow:
        launch, memory = self.launch, self.memory
        size = memory.bytes.size if track else 0  # that of a large matrix takes seconds to make
        elements = finest_elements(launch, memory)
        return Shadow("global", size, elements, self.hazards.conflict, self._several_clusters, launch.strict)

    def run(self) -> None:
        """Run the launch; once more, patiently, where a thread that perhaps watches memory would be alone, and with all
        clusters together where one waits for another, or they hand over what they do."""
        self._attempt()
        if self.log.was_long and not self.patient and not self.policy.scripted:
            self._attempt_anew(patient=True)
        if self._clusters_meet:
            self._attempt_anew(patient=self.patient, together=True)

    @property
    def _clusters_meet(self) -> bool:
        """Whether one cluster seems to wait for another, or touches what another has touched beside atomics."""
        if not self.others_may_help:
            return False
        return self.spinning.in_vain or (self.log.world.shadow.crossed and self.looked)

    @property
    def others_may_help(self) -> bool:
        """Whether there are clusters that do not run at the same time, and could."""
        return self._several_clusters and not self.together and not self.policy.scripted

    @property
    def _several_clusters(self) -> bool:
        return len_of(self.launch.grid) > len_of(self.launch.cluster)

    def _attempt_anew(self, **how: bool) -> None:
        poison = self.poison
        self.__init__(*self._made_with, **how)
        self.poison = poison
        self._attempt()

    def _attempt(self) -> None:
        """Run all clusters of the grid: one after the other, or as many together as fit."""
        if inspect.isgeneratorfunction(self.launch.kernel.function):
            self._stop(KernelFault("python_error", text("simulator.generator", kernel=self.launch.kernel.__name__)))
            return
        shape = tuple(grid // cluster for grid, cluster in zip(self.launch.grid, self.launch.cluster))
        self.begin_thread = with_arguments(self.function, self.arguments)
        watchdog = Watchdog(self)
        try:
            with watchdog:
                for number, indices in enumerate(self._companies(len_of(shape)), 1):
                    places = [zip(Dim3.at(index, shape), self.launch.cluster) for index in indices]
                    self._run_company(number, [Dim3(*(at * size for at, size in place)) for place in places])
                    if self.scheduler.stopping:
                        break
                self.scheduler.close()
        except (EndlessLoop, TmaFault, MBarrierError) as error:  # while a copy landed, or between two threads
            self._stop(fault_of(None, error, self.source))
        if watchdog.fired is not None:  # unless the kernel swallowed it, the fault is known by now
            self._stop(fault_of(None, watchdog.fired(), self.source))

    def bound(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel or a helper as this run executes it."""
        if function not in self._functions:
            arguments = self.arguments if function is self.launch.kernel.function else ()
            code = unfolded(function, arguments) if self._unwatched else function.__code__
            self.source.add(code)
            self._functions[function] = rebound(function, self.world.cuda, code)
        return self._functions[function]

    @property
    def _unwatched(self) -> bool:
        """Whether nobody asks from where in the code each access comes."""
        return type(self) is Simulation and not self.noting and not self.patient

    def may_wait_in(self, id: int) -> bool:
        """Whether the kernel may wait in a named barrier, for all that its source says."""
        return may_wait_in(self.launch.kernel.function, id)

    # What happens.

    def note(
        self, thread: SimThread, what: str, barrier: Barrier | None, operand: Any = None, copy: Copy | None = None
    ) -> None:
        """An event for the trace."""
        number, cta = copy.number if copy is not None else 0, thread.cta.number
        fields = (self.scheduler.steps, what, thread.number, cta, operand, number)
        if barrier is None:
            self.trace.add((*fields, None))
        else:
            machine = barrier.machine
            self.trace.add((*fields, barrier.address, machine.phase, machine.pending_count, machine.tx_count))

    def updated(self, name: str, array: Array, index: Any, before: Any) -> None:
        """An atomic was executed; `before`: what it found."""
        found = element(now.thread, array, index)
        if found is not None:
            self.cluster.handovers.touched(now.thread, found.place)
        if not self.looked and self.others_may_help:
            frame = self.source.frame(sys._getframe(1))
            self.looked = frame is not None and not self.source.result_is_dropped(frame.f_code, frame.f_lasti)
        self.spinning.tried(now.thread, found is None or found.value != before)

    def doubt(self, about: str, place: Place | None, **words: Any) -> None:
        """Something is legal but doubtful; a line is told once."""
        self.doubts.setdefault((about, place), text(f"simulator.{about}", place=place or "", **words))

    def place_number(self) -> int:
        """The number of the learner's line that is being executed, where lines are noted."""
        return self.source.number(sys._getframe(1)) if self.noting else 0

    def next_copy(self, copy: Copy) -> int:
        """The number of a new copy."""
        self._copies += 1
        if self.noting:
            self.copies[self._copies] = copy
        return self._copies

    def thread_name(self, number: int) -> str:
        """What a thread is called, by its number in the grid."""
        return thread_name(self.launch, number)

    def thread(self, number: int) -> SimThread:
        """A thread of the running cluster, by its number in the grid."""
        cta, index = divmod(number, len_of(self.launch.block))
        return self.cluster.cta(cta).threads[index]

    def thread_in_row(self, row: int) -> SimThread:
        """A thread of the running cluster, by its row in the clocks."""
        return self.cluster.threads[row - 1]

    @property
    def copies_in_flight(self) -> bool:
        """Whether a copy can make progress."""
        return any(copy.can_move for copy in self.cluster.in_flight)

    def land_one(self) -> None:
        """One copy makes some progress."""
        self._move(chosen(self.cluster.in_flight, self.policy))

    def land(self, copy: Copy) -> None:
        """A copy lands at once, as far as it can."""
        while copy.can_move and not self._move(copy):
            pass

    def failed(self, thread: SimThread, error: BaseException) -> None:
        """A thread has ended by an error: on the GPU the whole kernel ends."""
        fault = fault_of(thread, error, self.source)
        if type(fault) is TmaFault:
            thread.maps.look_at_fault(thread)
        self._stop(fault)
        if type(fault) is TmaFault and fault.kind in FAULT_HAZARDS:
            place = self.source.place_of_error(error.__traceback__)
            self.hazards.tell(FAULT_HAZARDS[fault.kind], thread=thread, fault=error, place=place)

    def deadlocked(self, threads: list[SimThread]) -> None:
        """Nobody can go on."""
        self.log.check()
        self.deadlock = report(threads)
        for name, facts in self.deadlock.causes:
            self.hazards.tell(name, **facts)
        self.hazards.tell("deadlock", deadlock=self.deadlock)
        self.scheduler.stopping = True

    def _move(self, copy: Copy) -> bool:
        done = copy.move()
        if done:
            self.cluster.finished(copy)
        return done

    def _stop(self, fault: TmaFault) -> None:
        self.fault = self.fault or fault
        self.scheduler.stopping = True

    def _companies(self, clusters: int) -> list[list[int]]:
        """Which clusters run at the same time, by their numbers."""
        if not self.together:
            order = [[index] for index in range(clusters)]
            self.policy.shuffle(order)
            return order
        size = max(1, MOST_THREADS // (len_of(self.launch.cluster) * len_of(self.launch.block)))
        return [list(range(clusters))[at : at + size] for at in range(0, clusters, size)]

    def _run_company(self, number: int, firsts: list[Dim3]) -> None:
        self.cluster = Company(self, number, firsts)
        for cta in self.cluster.ctas if self.poison is not None else ():
            cta.memory.fill(self.poison)
        self.scheduler.run_threads(self.cluster.threads)
        while self.cluster.in_flight and not self.scheduler.stopping:  # the kernel ends when its last copy has landed
            self.land_one()
        if self.cluster.alone:
            self.log.all_meet(copies=self._copies > 0)
        self.log.check()
        self.hazards.cluster_ended()
        self.log.world.shadow.next_cluster()
