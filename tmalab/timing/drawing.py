"""Taking notes of a simulated time: spans for the timeline.

Which row a warp's step belongs to follows from what it does: whoever issues loads is a producer there, whoever waits
for what copies bring is a consumer. Stages are the barriers that loads credit, in the order of their addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tmalab.simulator.threads import WARP
from tmalab.timing.timeline import Span

if TYPE_CHECKING:
    from tmalab.timing.engine import Warp
    from tmalab.timing.warps import Step, WarpProgram

WORK = ("shared", "global", "cp.async")  # kinds of steps in which threads work
TOGETHER = 4.0  # ns: steps of a warp's work that are no further apart are one span


class Drawing:
    """Hears of everything that happens on the machine; `spans` has what came of it.

    `first_only`: of the first cluster that something is heard of, where several run the same program.
    """

    def __init__(self, programs: Iterable[WarpProgram], first_only: bool = False):
        self._first_only, self._first = first_only, None
        self._made: list[Span] = []
        self._working: dict[int, Span] = {}  # by warp: a span of work that goes on
        self._multiplies: set[tuple[int, int]] = set()  # warps that have multiplied
        self._flights: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)  # of a barrier's copies
        self._stages: dict[tuple[int, int], int] = {}  # (CTA, address of a barrier): which stage
        self._tiles: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # CTA: first byte, last, stage
        self._loaders: set[tuple[int, int]] = set()  # warps that issue loads
        self._look_at(programs)

    def _look_at(self, programs: Iterable[WarpProgram]) -> None:
        credited: dict[int, set[int]] = defaultdict(set)
        copies = []
        for program in programs:
            for step in (step for step in program.steps if step.kind == "load"):
                self._loaders.add((program.cta, program.number))
                copies += [copy for found in step.data for copy in found if copy.barrier is not None]
        for copy in copies:
            credited[copy.cta.number].add(copy.barrier.address)
        for cta, addresses in credited.items():
            self._stages |= {(cta, address): stage for stage, address in enumerate(sorted(addresses))}
        for copy in {(copy.cta.number, copy.address): copy for copy in copies}.values():
            tile = copy.address, copy.address + copy.bytes, self._stage(copy)
            self._tiles[copy.cta.number].append(tile)

    def sees(self, warp: Warp) -> bool:
        """Whether a warp is one that is drawn."""
        self._first = self._first or warp.cluster
        return not self._first_only or warp.cluster is self._first

    # What the engine tells.

    def step(self, warp: Warp, step: Step, start: float, end: float) -> None:
        """A warp has taken a step."""
        if step.kind in WORK:
            self._work(warp, step, start, end)
            return
        self._stop_working(warp)
        if step.kind == "load":
            self._add("producer", "issue", warp, step, start, end, self._stage_of(step))
        elif step.kind in ("wait", "wait group", "wgmma wait", "cp.async wait", "met") and end > start:
            self._add(self._row_of_wait(warp, step), "wait", warp, step, start, end, self._stage_waited_for(step))

    def flight(self, warp: Warp, step: Step, copy: Any, start: float, end: float) -> None:
        """A load is on its way."""
        cta, stage = copy.cta.number, self._stage(copy)
        self._made.append(Span("copy engine", "copy in flight", start, end, cta, None, copy.number, stage, step.line))
        if stage is not None:
            self._made.append(
                Span(f"stage {stage}", "copy in flight", start, end, cta, None, copy.number, stage, step.line)
            )
            self._flights[cta, copy.barrier.address].append((start, end))

    def stored(self, warp: Warp, step: Step, copy: Any, start: float, end: float) -> None:
        """A store is on its way."""
        thread = copy.thread.index
        self._made.append(Span("epilogue", "store", start, end, warp.cta, thread, copy.number, None, step.line))

    def multiplied(self, warp: Warp, step: Step, operation: Any, start: float, end: float) -> None:
        """The tensor cores have worked."""
        self._multiplies.update((warp.cta, 4 * operation.group.number + number) for number in range(4))
        stage = self._stage_at(warp.cta, operation.b.address)
        self._add("tensor core", "compute", warp, step, start, end, stage)

    def spans(self, end: float) -> list[Span]:
        """All spans, of a run that ended then."""
        full = [span for key, flights in self._flights.items() for span in self._full(key, flights, end)]
        return [*self._made, *self._working.values(), *full]

    # Rows.

    def _work(self, warp: Warp, step: Step, start: float, end: float) -> None:
        before = self._working.get(id(warp))
        stores = step.kind == "global" and step.name == "write" and (warp.cta, warp.number) in self._multiplies
        row, what = ("epilogue", "store") if stores else ("consumer", "compute")
        if before is not None and before.row == row and start - before.end <= TOGETHER:
            start = before.start
        else:
            self._stop_working(warp)
        self._working[id(warp)] = Span(row, what, start, end, warp.cta, warp.number * WARP, line=step.line)

    def _stop_working(self, warp: Warp) -> None:
        if (over := self._working.pop(id(warp), None)) is not None:
            self._made.append(over)

    def _row_of_wait(self, warp: Warp, step: Step) -> str:
        if step.kind == "wait group":
            return "epilogue"
        loads = (warp.cta, warp.number) in self._loaders
        return "producer" if loads and self._stage_waited_for(step) is None else "consumer"

    def _add(self, row: str, what: str, warp: Warp, step: Step, start: float, end: float, stage: int | None) -> None:
        self._made.append(Span(row, what, start, end, warp.cta, warp.number * WARP, 0, stage, step.line))

    # Stages.

    def _stage(self, copy: Any) -> int | None:
        return self._stages.get((copy.cta.number, copy.barrier.address)) if copy.barrier is not None else None

    def _stage_of(self, step: Step) -> int | None:
        return next((self._stage(copy) for copies in step.data for copy in copies), None)

    def _stage_waited_for(self, step: Step) -> int | None:
        return self._stages.get(step.data[0].barrier[:2]) if step.kind == "wait" else None

    def _stage_at(self, cta: int, address: int) -> int | None:
        tiles = self._tiles.get(cta, ())
        return next((stage for first, last, stage in tiles if first <= address < last), None)

    def _full(self, key: tuple[int, int], flights: list[tuple[float, float]], end: float) -> list[Span]:
        """A stage is full from the end of its copies to the start of the next ones."""
        cta, stage = key[0], self._stages[key]
        spans, landed = [], flights[0][1]
        for start, arrival in [*flights[1:], (end, end)]:
            if start > landed:
                spans.append(Span(f"stage {stage}", "full", landed, start, cta, stage=stage))
            landed = max(landed, arrival)
        return spans
