"""Record what a Hopper GPU does with the inputs that checks draw: python -m tests.variants [--file FILE] [EXERCISE ...]

For each kernel exercise the first of its other right answers runs with all inputs of all variants, in a process of its
own for each exercise. It is written which bytes it left, whether or not they are those that the check expects: a test
compares them.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from grader import exercises
from grader.exercises.hunt_cases import TASKS
from grader.judges.kernels import Case, KernelJudge, KernelTask
from grader.recorded_variants import FILE, digest
from grader.variants import VARIANTS
from tests.lessons import LESSONS, answers
from tmalab import TensorMap
from tmalab.gpu.device import why_no_gpu
from tmalab.launch import Kernel

PROCESSES = 8


def kernel_tasks() -> dict[str, KernelTask]:
    """By exercise; one whose answer is several kernels has a task for each of these, EXERCISE/KERNEL."""
    found = {each.id: each.judge.task for each in exercises.all_exercises() if isinstance(each.judge, KernelJudge)}
    mended = {f"hunt.mend-{group}/{name}": task for group, tasks in TASKS.items() for name, task in tasks.items()}
    return found | mended


def right_kernel(name: str) -> Kernel:
    """A right answer to a task."""
    exercise, _, kernel = name.partition("/")
    first = next(answers(lesson).RIGHT[exercise][0] for lesson in LESSONS if exercise in answers(lesson).RIGHT)
    return first[kernel] if kernel else first


def fresh(case: Case) -> tuple[list[Any], np.ndarray]:
    """Arguments with an output of their own, and that output: an array, or the memory behind a map."""
    *others, last = case.arguments
    out = (last.array if isinstance(last, TensorMap) else last).copy()
    return [*others, last.bind(out) if isinstance(last, TensorMap) else out], out


def on(where: str, exercise: str, variants: int = VARIANTS) -> tuple[dict[str, str], list[str]]:
    """Digests of results by those of inputs, and the inputs with which the run did not end well or left other bytes."""
    task, kernel, left, bad = kernel_tasks()[exercise], right_kernel(exercise), {}, []
    for variant in range(variants):
        for case in task.cases(variant):
            key = digest(case.arguments)
            if key in left:
                continue
            arguments, out = fresh(case)
            run = kernel.run(task.grid, task.block, tuple(arguments), task.cluster, on=where)
            if not run.ok or out.tobytes() != case.expected.tobytes():
                bad.append(f"{exercise}, variant {variant}, {case.name}: {run}")
            if run.fault is not None:
                return left, bad
            left[key] = digest([out])
    return left, bad


def record(file: Path, chosen: list[str]) -> list[str]:
    """Write the recording; what did not go well."""
    from tmalab.gpu.recorder import describe

    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        ends = list(pool.map(_on_gpu, chosen))
    found = {exercise: left for exercise, (left, _) in zip(chosen, ends, strict=True)}
    made = describe("python -m tests.variants")
    file.write_text(json.dumps({"provenance": made, "tasks": found}, indent=0) + "\n", "utf-8")
    return [sentence for _, bad in ends for sentence in bad]


def _on_gpu(exercise: str) -> tuple[dict[str, str], list[str]]:
    try:
        return on("gpu", exercise)
    except Exception as error:  # one exercise that fails is no reason to lose the others
        return {}, [f"{exercise}: {type(error).__name__}: {error}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("exercises", nargs="*")
    asked = parser.parse_args()
    if reason := why_no_gpu():
        print(reason, file=sys.stderr)
        sys.exit(3)  # as tmalab's commands for a GPU
    problems = record(asked.file, asked.exercises or list(kernel_tasks()))
    print("\n".join(problems) or "all results are those that the checks expect")
    sys.exit(bool(problems))
