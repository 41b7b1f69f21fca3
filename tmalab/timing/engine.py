"""The time model: the steps of all warps, one after the other in time, on a machine with the measured constants.

It is a discrete-event simulation. The warp that is furthest back in time takes its next step, which costs cycles of its
scheduler, asks a pipe for something, or waits for what others have to do first. What ties the warps together is not
decided here: a wait knows which phase it waits for, and a phase is complete when all that counted for it in the run
has come. So the model can change when things happen, but never what happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from tmalab.timing.awaited import Blocked, awaited_by
from tmalab.timing.machine_code import ONCE, Cost
from tmalab.timing.steps import STEPS

if TYPE_CHECKING:
    from tmalab.timing.awaited import Awaited
    from tmalab.timing.drawing import Drawing
    from tmalab.timing.machine import Machine, Sm
    from tmalab.timing.machine_code import Price
    from tmalab.timing.residence import FirstTouch, Shares
    from tmalab.timing.warps import Step, WarpProgram


class Warp:
    """A warp while it runs.

    time      where it is (ns); `at`: its next step
    reads     what it has read and not used yet: by place in the program, when each comes
    open, groups          stores that are in no group yet, and those of each group: (sources read, written)
    copies, copy_groups   the same of cp.async: when they have landed
    multiplied, matrix_groups   wgmmas that are in no group yet, and those of each group
    """

    def __init__(self, program: WarpProgram, sm: Sm, cluster: Cluster, slot: int):
        self.cta, self.number, self.steps = program.cta, program.number, program.steps
        self.sm, self.cluster = sm, cluster
        self.scheduler = sm.schedulers[slot % len(sm.schedulers)]
        self.time, self.at = 0.0, 0
        self.began = False  # has done what each warp does once
        self.came = False  # to the meeting that it waits in
        self.paid = -1  # the step before which it has done the arithmetic of a turn
        self.payers: dict[int, tuple[int, ...]] = {}  # by line, the place where such arithmetic is done
        self.accesses: dict[int, int] = {}  # by line, how many it has made
        self.reads: dict[tuple[int, ...], list[float]] = {}
        self.open: list[tuple[float, float]] = []
        self.groups: list[list[tuple[float, float]]] = []
        self.copies: list[float] = []
        self.copy_groups: list[list[float]] = []
        self.multiplied: list[Awaited] = []
        self.matrix_groups: list[list[Awaited]] = []


class Cluster:
    """CTAs that start together.

    sms       by the number of the CTA
    awaited   what its warps wait for
    alive     warps that have steps left; `end`: when the last one ended (ns)
    """

    def __init__(self, programs: Sequence[WarpProgram]):
        self.programs, self.alive, self.end = programs, len(programs), 0.0
        self.awaited = awaited_by(programs)
        self.ctas = sorted({program.cta for program in programs})
        self.place = 0
        self.sms: dict[int, Sm] = {}


class Engine:
    """Runs clusters of warps; afterwards `end` is when the last thing has happened (ns).

    clusters    the programs of each cluster's warps, in the order in which the GPU starts them
    machine     what they run on
    residence   where their data are
    places      how many clusters fit on the GPU side by side, each of its CTAs on an SM of its own
    resident    how many clusters share each such place
    drawing     takes note of what happens, or None
    prices      of accesses with their arithmetic, by line; those of other lines are the measured ones of a short loop
    """

    def __init__(
        self,
        clusters: Sequence[Sequence[WarpProgram]],
        machine: Machine,
        residence: FirstTouch | Shares,
        places: int,
        resident: int = 1,
        drawing: Drawing | None = None,
        prices: Mapping[int, Price] | None = None,
    ):
        self.machine, self.residence, self.drawing = machine, residence, drawing
        self._prices = prices or {}
        self._waiting = [Cluster(programs) for programs in reversed(clusters)]
        self._places, self._resident = places, resident
        self._queue: list[tuple[float, int, Warp]] = []
        self._order = 0
        self.ends: list[float] = []  # of each cluster, in the order in which they ended
        self.landed: list[float] = []  # when loads came
        self.moved: list[float] = []  # when came what threads have read, and when stores have arrived
        self.clocks: dict[tuple[int, int], list[float]] = {}  # when a warp, by CTA and number, looked at the clock
        self.end = 0.0

    def run(self) -> float:
        """Run to the end; returns it (ns since the first CTA started)."""
        for number in range(min(self._places * self._resident, len(self._waiting))):
            before = number // self._places  # CTAs of an SM start one after the other
            self._start(self._waiting.pop(), number % self._places, before * self.machine.ns("cta_launch"))
        while self._queue:
            time, _, warp = heappop(self._queue)
            self._go_on(warp, time)
        return self.end

    # What the rules of the steps ask for.

    def issue(self, warp: Warp, at: float, cost: str, slots: str = "instruction_slots") -> float:
        """A warp issues something that costs it so many cycles, the first of them those of its scheduler."""
        costs = self.machine.cycles(cost)
        taken = min(costs, self.machine.cycles(slots))
        return warp.scheduler.serve(at, taken) + costs - taken

    def access(self, warp: Warp, step: Step, at: float) -> float:
        """A warp issues an access to memory, and computes where."""
        price = self._prices.get(step.line)
        if price is None or not price.copies:
            return self.issue(warp, at, "access", "access_slots")
        number = warp.accesses.get(step.line, 0)
        warp.accesses[step.line] = number + 1
        return self._pay(warp, price.each[number % len(price.each)], at)

    def _pay(self, warp: Warp, cost: Cost, at: float) -> float:
        cycle = self.machine.cycle
        begin = warp.scheduler.serve(at, cost.taken * cycle) - cost.taken * cycle if cost.taken else at
        return begin + max(cost.alone, cost.slots) * cycle

    def until(self, time: float) -> None:
        """Something is under way until then."""
        self.end = max(self.end, time)

    def drawn(self, warp: Warp) -> Drawing | None:
        """Who takes note of what a warp does."""
        return self.drawing if self.drawing is not None and self.drawing.sees(warp) else None

    def arrive(self, awaited: Awaited, count: int, time: float) -> None:
        """Something has come that others wait for; who waited goes on when all has."""
        if awaited.arrive(count, time):
            for warp in awaited.waiting:
                self._later(warp, max(warp.time, awaited.time))
            awaited.waiting.clear()

    # Who is next.

    def _start(self, cluster: Cluster, place: int, time: float) -> None:
        cluster.place = place
        for rank, cta in enumerate(cluster.ctas):
            cluster.sms[cta] = self.machine.sm(place * len(cluster.ctas) + rank)
        for program in cluster.programs:
            sm = cluster.sms[program.cta]
            warp = Warp(program, sm, cluster, sm.warps)
            sm.warps += 1
            warp.time = time
            self._later(warp, time)
        if not cluster.programs:
            self._end_of(cluster, time)

    def _later(self, warp: Warp, time: float) -> None:
        self._order += 1
        heappush(self._queue, (time, self._order, warp))

    def _go_on(self, warp: Warp, time: float) -> None:
        """A warp takes its next step, or waits, or has come to its end."""
        if not warp.began and (once := self._prices.get(ONCE)) is not None:
            warp.began, warp.time = True, self._pay(warp, Cost(once.alone, once.slots, once.slots), time)
            self._later(warp, warp.time)
            return
        if warp.at == len(warp.steps):
            self._ended(warp, time)
            return
        step = warp.steps[warp.at]
        if (begin := self._with_its_reads(warp, step, time)) > time:
            self._later(warp, begin)
            return
        if (begin := self._with_its_turn(warp, step, time)) > time:
            self._later(warp, begin)
            return
        try:
            end = STEPS[step.kind](self, warp, step, time)
        except Blocked as blocked:
            blocked.by.waiting.append(warp)
            return
        if (drawing := self.drawn(warp)) is not None:
            drawing.step(warp, step, warp.time, end)
        warp.at += 1
        warp.time = end
        self.until(end)
        self._later(warp, end)

    def _ended(self, warp: Warp, time: float) -> None:
        cluster = warp.cluster
        cluster.alive -= 1
        cluster.end = max(cluster.end, time, *_all(warp.reads))
        self.until(cluster.end)
        if not cluster.alive:
            self._end_of(cluster, cluster.end)

    def _end_of(self, cluster: Cluster, time: float) -> None:
        self.ends.append(time)
        if self._waiting:
            self._start(self._waiting.pop(), cluster.place, time + self.machine.ns("cta_start"))

    def _with_its_turn(self, warp: Warp, step: Step, time: float) -> float:
        """When a step can begin before which the arithmetic of a whole turn of a loop is done."""
        price = self._prices.get(step.line)
        if price is None or price.copies or warp.paid == warp.at or step.kind == "clock":
            return time
        warp.paid = warp.at
        if warp.payers.setdefault(step.line, step.pc) != step.pc:
            return time
        return self._pay(warp, Cost(price.alone, price.slots, price.slots), time)

    def _with_its_reads(self, warp: Warp, step: Step, time: float) -> float:
        """When a step can begin: when what was read has come. Reads in a row, each at a place of its own in the machine
        code, wait for none."""
        if not warp.reads:
            return time
        if step.kind in ("shared", "global") and step.name == "read":
            price = self._prices.get(step.line)
            if len(warp.reads.get(step.pc, ())) < (price.copies if price else 1):
                return time
        begin = max(time, *_all(warp.reads))
        warp.reads.clear()
        return begin


def _all(reads: Mapping[tuple[int, ...], list[float]]) -> list[float]:
    return [time for times in reads.values() for time in times]
