"""The timeline of a run on a GPU, from what its threads saw on the clock: see `clocked_ptx`.

Nobody sees a copy land: it is under way from its issue until the first thread has seen its phase complete. A phase is
known by its number: the n-th arrive.expect_tx on a barrier, the loads after it, and the n-th wait of a thread for it.
Cycles become nanoseconds by each CTA's own first and last look at both clocks; a run too short for that, by the clock
of the time model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tmalab.gpu import clocked_ptx as at
from tmalab.gpu.clocked_ptx import Look
from tmalab.texts import text
from tmalab.timing.constants import Constants
from tmalab.timing.timeline import Span, Timeline

LONG = 50_000  # ns: globaltimer moves on in steps of up to a microsecond
WARPGROUP = 128
Seen = list[tuple[float, int, int]]  # when (ns), event, operand
Looks = Mapping[tuple[int, int], Sequence[Look]]


def timeline_of_looks(looks: Looks, cycles_per_ns: float | None = None) -> Timeline:
    """The timeline of the first CTAs of a launch. `cycles_per_ns`: of an SM, where the run is too short to tell; None:
    the time model's."""
    ctas = sorted({cta for cta, _ in looks})
    seen = _in_ns(looks, cycles_per_ns)
    spans = [span for cta in ctas for span in _Cta(cta, {key[1]: seen[key] for key in seen if key[0] == cta}).spans()]
    notes = [text("timing.seen-by-threads")]
    if any(len(row) >= at.ROW for row in looks.values()):
        notes.append(text("timing.looks-full", count=at.ROW))
    end = max((time for row in seen.values() for time, _, _ in row), default=0.0)
    return Timeline.of(spans, "measured", end, notes)


def _in_ns(looks: Looks, rate: float | None) -> dict[tuple[int, int], Seen]:
    """Every look in ns since the first thread began."""
    found = {}
    origin = min((row[0].time for row in looks.values()), default=0)
    for key, row in looks.items():
        began, first = row[0].time - origin, row[1].time
        cycles = _rate(row) or rate or Constants.read()["clock"]
        timed = [look for look in row if look.event not in (at.BEGIN_TIME, at.END_TIME)]
        found[key] = [(began + (look.time - first) / cycles, look.event, look.operand) for look in timed]
    return found


def _rate(row: Sequence[Look]) -> float | None:
    """Cycles in a ns, of a thread that ran long enough to tell."""
    times = {look.event: look.time for look in row}
    if at.END_TIME not in times or times[at.END_TIME] - times[at.BEGIN_TIME] < LONG:
        return None
    return (times[at.END] - times[at.BEGIN]) / (times[at.END_TIME] - times[at.BEGIN_TIME])


class _Cta:
    """What the threads of one CTA saw."""

    def __init__(self, number: int, threads: dict[int, Seen]):
        self._number, self._threads = number, threads
        self._loads: dict[int, list[list[float]]] = defaultdict(list)  # by barrier and phase: when they were issued
        self._ends: dict[int, dict[int, float]] = defaultdict(dict)  # by barrier and phase: when it was seen complete
        self._loaders: set[int] = set()
        for thread, seen in threads.items():
            self._look_at(thread, seen)
        self._stages = {barrier: stage for stage, barrier in enumerate(sorted(self._loads))}

    def _look_at(self, thread: int, seen: Seen) -> None:
        waited: dict[int, int] = defaultdict(int)
        for time, event, barrier in seen:
            if event == at.EXPECTS:
                self._loads[barrier].append([])
            elif event == at.LOADS:
                self._loaders.add(thread)
                phases = self._loads[barrier]
                if not phases:  # a peer's barrier, or bytes that nobody here expects
                    phases.append([])
                phases[-1].append(time)
            elif event == at.WAITED:
                ends, phase = self._ends[barrier], waited[barrier]
                ends[phase] = min(time, ends.get(phase, time))
                waited[barrier] += 1

    def spans(self) -> Iterator[Span]:
        """All that it did."""
        for barrier, phases in self._loads.items():
            yield from self._stage(barrier, phases)
        for thread, seen in self._threads.items():
            yield from self._of_thread(thread, seen)

    def _stage(self, barrier: int, phases: list[list[float]]) -> Iterator[Span]:
        stage = self._stages[barrier]
        for phase, issued in enumerate(phases):
            end = self._ends[barrier].get(phase)
            if end is None or not issued:
                continue
            for start in issued:
                flight = "copy in flight", start, max(start, end), self._number, None, 0, stage
                yield Span("copy engine", *flight)
                yield Span(f"stage {stage}", *flight)
            after = [times[0] for times in phases[phase + 1 :] if times]
            last = after[0] if after else max(time for time, _, _ in self._threads[min(self._threads)])
            if last > end:
                yield Span(f"stage {stage}", "full", end, last, self._number, stage=stage)

    def _of_thread(self, thread: int, seen: Seen) -> Iterator[Span]:
        began: dict[int, float] = {}
        stored: list[float] = []
        leads = thread % WARPGROUP == 0
        for number, (time, event, barrier) in enumerate(seen):
            stage = self._stages.get(barrier)
            if event in (at.WAITS, at.STORE_WAITS):
                began[event] = time
            elif event == at.WAITED:
                row = "consumer" if stage is not None or thread not in self._loaders else "producer"
                yield self._span(row, "wait", began[at.WAITS], time, thread, stage)
            elif event == at.LOADS:
                end = seen[number + 1][0] if number + 1 < len(seen) else time
                yield self._span("producer", "issue", time, end, thread, stage)
            elif event == at.STORES:
                stored.append(time)
            elif event == at.STORE_WAITED:
                yield self._span("epilogue", "wait", began[at.STORE_WAITS], time, thread)
                yield from (self._span("epilogue", "store", start, time, thread) for start in stored)
                stored = []
            elif event == at.MULTIPLIES and leads:
                began[event] = time
            elif event == at.MULTIPLIED and at.MULTIPLIES in began:
                yield self._span("tensor core", "compute", began.pop(at.MULTIPLIES), time, thread)

    def _span(self, row: str, what: str, start: float, end: float, thread: int, stage: int | None = None) -> Span:
        return Span(row, what, start, max(start, end), self._number, thread, 0, stage)
