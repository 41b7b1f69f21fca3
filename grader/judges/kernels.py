"""Answers that are kernels: do they compile, do they move the right bytes, is every read ordered after its copy?

A kernel is judged from its source, alone (`grader.alone`), on inputs of which the learner sees only the first. Where
the bytes are right, that is shown beside what an H200 did with the same kernel; where there is a Hopper GPU, it runs
there too. That is evidence and gives no points, so that a grade does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from grader.alone import Argument, Compilation, Outcome, Shape
from grader.exercise import Finding, evidence, right, wrong
from grader.judges.banks import BankTask, judge_banks
from grader.judges.traffic import judge_traffic
from grader.picture import WrongRun
from grader.recorded import Seen, not_recorded, recorded_load, recorded_stores
from grader.report import number as written
from grader.runner import current
from grader.source import KernelSource, NoSource
from grader.texts import text
from tmalab.maps_in_memory import MapRows, map_rows

SEEDS = 20  # orders in which copies land and threads run
SECONDS = 1.5  # after which no further order is tried: a check answers in less than five
INPUT_SECONDS = 2.5  # after which no further input is tried, which costs points: a busy computer must not
SAYS_LITTLE = ("read-before-wait", "overwrite-in-use", "exit-in-flight", "uninitialised-read", "deadlock")
"""Reports that say little beside others, since they often follow from them; the last ones least."""


@dataclass(frozen=True)
class Case:
    """One input: arguments, the last of which is the output, and the bytes that it must hold afterwards.

    Where the last argument is a map, the output is the memory behind it: the kernel stores.
    """

    arguments: Sequence[Argument]
    expected: np.ndarray
    coordinates: tuple[int, ...]  # of the load, or of the first store, that the kernel is to make
    name: str  # as the learner reads it: "x = 64, y = 8"
    mistakes: Mapping[str, np.ndarray]  # cause: what a known mistake writes instead
    shared_address: int = 0  # of the tile, in bytes, within the pattern of its swizzle
    out_of: Callable[[np.ndarray], np.ndarray] = lambda image: image
    """What must be written where the load has left `image` (uint8) in shared memory; by default the image itself."""
    also: tuple[tuple[int, ...], ...] = ()
    """Coordinates of further loads through the same map; `out_of` gets all their images, one behind the other."""
    row: int = 0
    """Where the first argument is rows of maps: the one through which these loads are made."""
    stores: str = ""
    """Of a kernel that stores: "store" or "add", what it does at `coordinates` and `also`."""
    source_of: Callable[[Sequence[np.ndarray]], Sequence[Argument]] | None = None
    """The arguments before the map for which those copies find these tiles (uint8) in shared memory."""


@dataclass(frozen=True)
class KernelTask:
    """What a kernel must do; `points` for the parts compiles, bytes and order; banks where conflicts count.

    `grid` CTAs of `block` threads, `cluster` of them to a cluster.
    """

    parameters: Sequence[str]
    block: int
    cases: Callable[[int], Sequence[Case]]  # by class seed; the first one is public
    points: Mapping[str, float]
    banks: BankTask | None = None
    grid: int = 1
    cluster: int = 1
    traffic: Callable[[Case], int] | None = None
    """The most bytes that all loads together may read from global memory; `points` then has a part traffic."""
    recorded: bool = True  # whether its copies are among the recordings; where they can't be, none are looked for
    ahead: int = 0  # copies that must be under way at once with the public input; 0: that is no part of the check
    followed: int = 0  # products that must be issued while the one before runs, with the public input; 0: likewise

    @property
    def shape(self) -> Shape:
        """The launch."""
        return Shape(self.block, self.grid, self.cluster)


def judge_kernel(answer: object, task: KernelTask, seed: int) -> list[Finding]:
    """The parts compiles, bytes, what is counted, order, hardware. Nothing runs that does not compile or copy."""
    try:
        source = current().source(answer)
    except NoSource as reason:
        return _refuse(task, str(reason), "form")
    if len(source.parameters) != len(task.parameters):
        message = text("kernel.parameters", given=", ".join(source.parameters), wanted=", ".join(task.parameters))
        return _refuse(task, message, "form")
    cases = _cases(task.cases, seed)
    compilation = current().compile(source, cases[0].arguments)
    compiles = _judge_compilation(compilation, task.points["compiles"])
    if compiles.cause:
        return [compiles, *_refuse(task, "", compiles.cause)[1:]]
    runs = [(case.arguments, 0) for case in cases]
    outcomes = current().several(source, runs, task.shape, INPUT_SECONDS)
    unjudged = task.points["compiles"] - compiles.maximum  # counts with the bytes, where nothing can compile
    moved = _judge_bytes(source, cases, outcomes, task, task.points["bytes"] + unjudged)
    order = _judge_order(source, cases, outcomes, task)
    counted = [judge_banks(source, cases[-1].arguments, task, bool(moved.passed))] if task.banks else []
    if task.traffic:
        counted.append(judge_traffic(source, cases[0], task, bool(moved.passed)))
    if task.ahead:
        counted.append(_judge_ahead(outcomes[0], task, bool(cases[0].stores)))
    if task.followed:
        counted.append(_judge_overlap(outcomes[0], task))
    clean = bool(moved.passed and order.passed)
    return [compiles, moved, *counted, order, *_hardware(source, cases[0], task, clean)]


@lru_cache(maxsize=64)
def _cases(made_by: Callable[[int], Sequence[Case]], seed: int) -> Sequence[Case]:
    """Made once for all submissions: runs get copies of the arrays."""
    return made_by(seed)


def _refuse(task: KernelTask, message: str, cause: str) -> list[Finding]:
    """No part earns anything, for one reason; what comes after the first part is not looked at."""
    messages = [message] + [text("report.not-looked-at")] * (len(task.points) - 1)
    parts = zip(task.points.items(), messages, strict=True)
    return [wrong(part, points, said, cause) for (part, points), said in parts]


def _judge_compilation(compilation: Compilation, points: float) -> Finding:
    if compilation.error:
        return wrong("compiles", points, compilation.error, "compiles")
    if not compilation.checked:
        return evidence("compiles", text("kernel.no-compiler", points=written(points)))
    counts = compilation.counts
    if not counts["bulk_tensor_copies"]:
        return wrong("compiles", points, text("kernel.no-copy", **counts), "no-copy")
    return right("compiles", points, text("kernel.compiles", **counts))


def _judge_bytes(
    source: KernelSource, cases: Sequence[Case], outcomes: Sequence[Outcome], task: KernelTask, points: float
) -> Finding:
    """All or nothing: a kernel that is right for the notebook's own input alone has not been shown to copy tiles."""
    for case, outcome in zip(cases, outcomes, strict=False):
        if outcome.arrays[-1].tobytes() != case.expected.tobytes():
            cause = _mistake(cases, outcomes) if outcome.ok else _names(outcome)[0]
            hidden = current().discreet and case is not cases[0]
            message = text("kernel.bytes-wrong-elsewhere") if hidden else _difference(case, outcome)
            run = WrongRun(source, case.arguments, task.shape, 0)
            return wrong("bytes", points, message, cause, shown=None if hidden or outcome.stopped else run)
    if len(outcomes) < len(cases):
        message = text("kernel.bytes-slow", input=cases[0].name)
        return wrong("bytes", points, message, "slow" if outcomes[-1].ok else _names(outcomes[-1])[0])
    total = sum(case.expected.nbytes for case in cases)
    return right("bytes", points, text("kernel.bytes-right", count=total, inputs=len(cases)))


def _difference(case: Case, outcome: Outcome) -> str:
    """How many bytes are right, and the first element that is not."""
    if outcome.stopped:
        return text("kernel.stopped", input=case.name)
    seen = outcome.arrays[-1]
    bits = np.dtype(f"u{seen.dtype.itemsize}")
    different = seen.view(bits) != case.expected.view(bits)
    first = tuple(int(i) for i in np.argwhere(different)[0])
    same = int(np.count_nonzero(~different)) * seen.dtype.itemsize
    words = {"place": ", ".join(map(str, first)), "expected": case.expected[first], "seen": seen[first]}
    return text("kernel.bytes-wrong", same=same, count=seen.nbytes, input=case.name, **words)


def _mistake(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> str:
    """The known mistake that explains all of a kernel's outputs, else `bytes`."""
    runs = [(case, outcome) for case, outcome in zip(cases, outcomes, strict=False) if not outcome.stopped]
    for cause in cases[0].mistakes:
        if all(case.mistakes[cause].tobytes() == outcome.arrays[-1].tobytes() for case, outcome in runs):
            return cause
    return "bytes"


def _judge_order(source: KernelSource, cases: Sequence[Case], outcomes: Sequence[Outcome], task: KernelTask) -> Finding:
    """Reports, in the runs so far and then in runs of the public input in other orders, up to the first bad one.

    No other orders are tried of a kernel that was too slow for all inputs: a check has to answer.
    """
    points, runs = task.points["order"], list(outcomes)
    if all(run.ok and not run.copied for run in runs):
        return wrong("order", points, text("kernel.nothing-to-order"), "no-copy")
    if all(run.ok for run in runs) and len(runs) == len(cases):
        others = [(cases[0].arguments, seed) for seed in range(1, SEEDS)]
        runs += current().several(source, others, task.shape, SECONDS, until_wrong=True)
    number, bad = next(((i, run) for i, run in enumerate(runs, 1) if not run.ok), (0, None))
    if bad is None:
        return right("order", points, text("kernel.order-right", orders=len(runs)))
    message = text("kernel.order-wrong", run=number, names=", ".join(dict.fromkeys(_names(bad))))
    hidden = current().discreet and 1 < number <= len(outcomes)
    if hidden:
        return wrong("order", points, message, _names(bad)[0])
    shown = _to_show(source, cases, number - 1, len(outcomes), task) if bad.hazards or _hangs(bad) else None
    return wrong("order", points, f"{message}\n{_report(bad)}", _names(bad)[0], shown=shown)


def _hangs(outcome: Outcome) -> bool:
    return outcome.stopped is not None and outcome.stopped[0] == "deadlock"


def _to_show(source: KernelSource, cases: Sequence[Case], place: int, inputs: int, task: KernelTask) -> WrongRun:
    """A run by its place: first one for each input, then the public input with seeds 1, 2, and so on."""
    case, seed = (cases[place], 0) if place < inputs else (cases[0], place - inputs + 1)
    return WrongRun(source, case.arguments, task.shape, seed)


def _judge_ahead(outcome: Outcome, task: KernelTask, stores: bool = False) -> Finding:
    """Whether copies overlap: counted in the run whose copies end as late as they may, of the public input."""
    points, counts = task.points["ahead"], {"seen": outcome.ahead, "wanted": task.ahead}
    if outcome.stopped:
        return wrong("ahead", points, text("report.not-looked-at"), _names(outcome)[0])
    if outcome.ahead < task.ahead:
        return wrong(
            "ahead", points, text("kernel.open-few" if stores else "kernel.ahead-few", **counts), "too-few-ahead"
        )
    return right("ahead", points, text("kernel.open-right" if stores else "kernel.ahead-right", **counts))


def _judge_overlap(outcome: Outcome, task: KernelTask) -> Finding:
    """Whether the tensor core is given the next step before it is done with one, in the same run as for `ahead`."""
    points, counts = task.points["overlap"], {"seen": outcome.followed, "wanted": task.followed}
    if outcome.stopped:
        return wrong("overlap", points, text("report.not-looked-at"), _names(outcome)[0])
    if outcome.followed < task.followed:
        return wrong("overlap", points, text("kernel.overlap-few", **counts), "no-overlap")
    return right("overlap", points, text("kernel.overlap-right", **counts))


def _names(outcome: Outcome) -> list[str]:
    """What a run that is not ok is reported for, the name that says most first."""
    names = [name for name, _ in outcome.hazards] + ([outcome.stopped[0]] if outcome.stopped else [])
    return sorted(names or ["order"], key=lambda name: SAYS_LITTLE.index(name) if name in SAYS_LITTLE else -1)


def _report(outcome: Outcome) -> str:
    """The message of what a run is reported for first, and why it stopped, where that says more."""
    messages = [message for name, message in outcome.hazards if name == _names(outcome)[0]][:1]
    if outcome.stopped and (not messages or outcome.stopped[0] == "deadlock"):
        messages.append(outcome.stopped[1])
    return "\n".join(messages)


def _hardware(source: KernelSource, case: Case, task: KernelTask, clean: bool) -> list[Finding]:
    """A clean kernel on a Hopper GPU where there is one; else its bytes against what an H200 left, from a recording."""
    if not clean or not (task.recorded or current().live):
        return []
    return [_live(source, case, task) if current().live else _against_recording(source, case, task)]


def _live(source: KernelSource, case: Case, task: KernelTask) -> Finding:
    try:
        outcome = current().run(source, case.arguments, task.shape, on="gpu")
    except RuntimeError as error:  # the GPU is lost or busy: no fault of the kernel
        return evidence("hardware", str(error))
    if outcome.stopped:
        return evidence("hardware", text("kernel.live-stopped", reason=outcome.stopped[1]), False)
    same = outcome.arrays[-1].tobytes() == case.expected.tobytes()
    message = text("kernel.live-same" if same else "kernel.live-different", count=case.expected.nbytes)
    return evidence("hardware", message, same)


def _against_recording(source: KernelSource, case: Case, task: KernelTask) -> Finding:
    compare = _stores_against_recording if case.stores else _loads_against_recording
    try:
        return compare(source, case, task)
    except KeyError:
        return not_recorded()


def _loads_against_recording(source: KernelSource, case: Case, task: KernelTask) -> Finding:
    maps: Any
    maps, *others = case.arguments
    tensor_map = maps.maps[case.row] if isinstance(maps, MapRows) else maps
    loads = [recorded_load(tensor_map, at, case.shared_address) for at in (case.coordinates, *case.also)]
    expected = case.out_of(np.concatenate([load.image for load in loads]))
    recorded = replace(loads[0], image=np.frombuffer(expected.tobytes(), np.uint8))
    found = tensor_map.bind(recorded.tensor)
    if isinstance(maps, MapRows):
        found = map_rows([*maps.maps[: case.row], found, *maps.maps[case.row + 1 :]])
    return _compared(source, [found, *others], recorded, task)


def _stores_against_recording(source: KernelSource, case: Case, task: KernelTask) -> Finding:
    """The stores of the recording's tiles, by the learner's kernel."""
    tensor_map: Any = case.arguments[-1]
    recorded = recorded_stores(case.stores, tensor_map, (case.coordinates, *case.also))
    tensor = recorded.tensor.view(case.expected.dtype).reshape(case.expected.shape)
    return _compared(source, [*case.source_of(recorded.tiles), tensor_map.bind(tensor)], recorded, task)


def _compared(source: KernelSource, arguments: Sequence[Argument], recorded: Seen, task: KernelTask) -> Finding:
    outcome = current().run(source, arguments, task.shape)
    message = recorded.says(outcome.arrays[-1]) + "; " + text("recorded.no-gpu")
    return evidence("hardware", message, recorded.same(outcome.arrays[-1]))
