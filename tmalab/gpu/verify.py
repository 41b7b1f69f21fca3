"""`tmalab verify`: fresh random cases of every group, on this machine's GPU, by the reference and in the simulator.

The cases are drawn from a seed that is printed, so that a difference can be seen again. Nothing is written. The GPU has
a process of its own, which is replaced when a case that should not fault takes its context away; cases that must fault
have one each; the simulator runs meanwhile on the other cores.

>>> case = fresh("stores", seed=1, number=0)
>>> case.name, fresh("stores", seed=1, number=0) == case
('store 0', True)
"""

from __future__ import annotations

import multiprocessing
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from random import Random
from typing import Any, NamedTuple

import numpy as np

from tmalab.gpu import recorder
from tmalab.gpu.device import hopper
from tmalab.progress_bar import watched
from tmalab.recorded.barrier_case import COLUMNS, WORD, BarrierCase
from tmalab.recorded.by_reference import by_reference, same
from tmalab.recorded.cases import GROUPS
from tmalab.recorded.map_case import MapCase
from tmalab.recorded.perform import perform
from tmalab.recorded.plain import AnyCase, to_plain
from tmalab.texts import text

COUNT = 1000  # cases of a group
FAULTS = 32  # of the group whose cases each take a process
SHOWN = 20  # differences that a report spells out
PATIENCE = 3  # unexpected faults of a group, after which its other cases are left out
PORTION = 50  # cases that a process of the simulator takes at a time

Result = np.ndarray | str  # bytes, or how it ended otherwise: the kind of a fault, "deadlock"


class Task(NamedTuple):
    """A case by the way it is drawn."""

    group: str
    seed: int
    number: int


def new_seed() -> int:
    """A seed that nobody chose."""
    return secrets.randbits(32)


def fresh(group: str, seed: int, number: int) -> AnyCase:
    """The case of this number that a seed gives in a group."""
    return GROUPS[group].fresh(Random(f"{seed} {group} {number}"), number)


def verify(groups: Sequence[str], seed: int, count: int = COUNT) -> dict[str, Any]:
    """Compare `count` fresh cases of each group; what `tmalab verify --json` prints.

    `ok`, `seed`, and for each group the cases that were run, the cases in which reference or simulator differ from the
    GPU, and the hazards that the simulator reports in them. GpuUnavailable without a Hopper GPU.
    """
    gpu = hopper().name
    tasks = [Task(group, seed, number) for group in groups for number in range(_count(group, count))]
    with ProcessPoolExecutor(recorder.PROCESSES, _spawn()) as pool:
        simulated = [pool.submit(simulate, portion) for portion in _portions(tasks)]
        on_gpu = dict(_on_gpu(tasks))
        on_gpu |= _that_fault([task for task in tasks if task.group == "faults"])
        in_simulator = _gathered(simulated)
    report = Report(groups)
    for task, result in on_gpu.items():
        report.add(task, result, *in_simulator[task])
    return {"ok": report.ok, "seed": seed, "gpu": gpu, "groups": report.groups, "differences": report.differences}


class Report:
    """What came of the comparison."""

    def __init__(self, groups: Sequence[str]):
        zero = {"cases": 0, "reference_differs": 0, "simulator_differs": 0, "hazards": {}}
        self.groups: dict[str, dict[str, Any]] = {group: dict(zero, hazards={}) for group in groups}
        self.differences: list[dict[str, Any]] = []

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not any(
            counts["reference_differs"] or counts["simulator_differs"] for counts in self.groups.values()
        ) and all(counts["cases"] for counts in self.groups.values())

    def add(self, task: Task, on_gpu: Result, simulated: Result, hazards: tuple[str, ...]) -> None:
        """Compare the results of one case."""
        counts, case = self.groups[task.group], fresh(*task)
        counts["cases"] += 1
        for hazard in hazards:
            counts["hazards"][hazard] = counts["hazards"].get(hazard, 0) + 1
        if not same(on_gpu, expected := by_reference(case)):
            counts["reference_differs"] += 1
            self._tell(task, case, "reference", on_gpu, expected)
        if not same(seen := what_a_simulator_sees(case, on_gpu), simulated):
            counts["simulator_differs"] += 1
            self._tell(task, case, "simulator", seen, simulated)

    def _tell(self, task: Task, case: AnyCase, other: str, on_gpu: Result, there: Result) -> None:
        if len(self.differences) < SHOWN:
            how = difference(on_gpu, there, other)
            self.differences.append({**task._asdict(), "against": other, "difference": how, "case": to_plain(case)})


def difference(on_gpu: Result, there: Result, other: str) -> str:
    """How two results differ, in one sentence."""
    if isinstance(on_gpu, str) or isinstance(there, str):
        ends = [result if isinstance(result, str) else text("gpu.verify-result") for result in (on_gpu, there)]
        return text("gpu.verify-ends", here=ends[0], there=ends[1], other=other)
    places = np.flatnonzero(on_gpu != there)
    here = {"first": int(places[0]), "here": int(on_gpu[places[0]]), "there": int(there[places[0]])}
    return text("gpu.verify-differs", differ=len(places), total=on_gpu.size, other=other, **here)


def what_a_simulator_sees(case: AnyCase, result: Result) -> Result:
    """A result without what only the hardware shows: the word of an mbarrier after its end."""
    if not isinstance(case, BarrierCase) or isinstance(result, str):
        return result
    seen = result.view(np.int64).reshape(-1, len(COLUMNS)).copy()
    seen[:, WORD] = 0
    return seen.reshape(-1).view(np.uint8)


# In other processes.


def simulate(tasks: Sequence[Task]) -> list[tuple[Task, Result, tuple[str, ...]]]:
    """Run cases in the simulator: each with its result and the hazards that were reported."""
    return [(task, *_simulated(fresh(*task), task.number)) for task in tasks]


def on_this_gpu(tasks: Sequence[Task]) -> list[tuple[Task, Result]]:
    """Run cases on the GPU, up to and with the first that faults or hangs: then this process can run no more."""
    results: list[tuple[Task, Result]] = []
    for task in tasks:
        case = fresh(*task)
        if isinstance(case, MapCase):
            results.append((task, recorder.result(case)))
            continue
        run, result = perform(case, on="gpu")
        results.append((task, _end(run) or result))
        if run.fault is not None:
            break
    return results


def _simulated(case: AnyCase, seed: int) -> tuple[Result, tuple[str, ...]]:
    if isinstance(case, MapCase):
        return by_reference(case), ()  # the simulator has no other encoder
    run, result = perform(case, on="simulator", seed=seed)
    return _end(run) or result, tuple(sorted({hazard.name for hazard in run.hazards}))


def _end(run: Any) -> str:
    """How a run ended, if not well."""
    if run.fault is not None:
        return run.fault.kind
    return "deadlock" if run.deadlock is not None else ""


def _on_gpu(tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
    """The results of all cases that should not fault."""
    left, faulted = [task for task in tasks if task.group != "faults"], Counter[str]()
    while left:
        with ProcessPoolExecutor(1, _spawn()) as pool:
            results = pool.submit(on_this_gpu, left).result()
        yield from results
        last, how = results[-1]
        faulted[last.group] += isinstance(how, str)
        over = faulted[last.group] >= PATIENCE
        left = [task for task in left[len(results) :] if not (over and task.group == last.group)]


def _that_fault(tasks: Sequence[Task]) -> dict[Task, Result]:
    """How the cases end that must fault."""
    with ThreadPoolExecutor(recorder.PROCESSES) as pool:
        ends = pool.map(lambda task: recorder.how_it_ends(fresh(*task))[0], tasks)
        return dict(zip(tasks, ends, strict=True))


def _gathered(simulated: Sequence[Future[Any]]) -> dict[Task, tuple[Result, tuple[str, ...]]]:
    return {task: (result, hazards) for future in watched(simulated) for task, result, hazards in future.result()}


def _portions(tasks: Sequence[Task]) -> Iterator[Sequence[Task]]:
    for start in range(0, len(tasks), PORTION):
        yield tasks[start : start + PORTION]


def _count(group: str, count: int) -> int:
    return min(count, FAULTS) if group == "faults" else count


def _spawn() -> Any:
    """Fresh processes: a fork would share the GPU's context."""
    return multiprocessing.get_context("spawn")
