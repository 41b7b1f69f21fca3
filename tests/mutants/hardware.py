"""What hardware says: mutants that can neither hang nor fault, on a GPU, and under compute-sanitizer's racecheck.

    python -m tests.mutants --hardware tests/mutants/hardware.json

needs a Hopper GPU and compute-sanitizer. Each mutant is launched LAUNCHES times and its result compared; then all of
them, and the right kernels, once more under racecheck. The controls are races that racecheck does know: should it not
report them, its silence elsewhere says nothing. Kernels run in processes of their own, a few at a time; one that
stops is noted, and the others go on in a fresh one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.mutants.case import Case
from tests.mutants.mutant import mutated, source_of
from tests.mutants.right import CASES
from tests.mutants.runs import Wrong, check_wrong, in_parallel, kernels
from tests.mutants.wrong import MUTANTS

LAUNCHES = 100  # of each mutant
CHECKED = 3  # launches of each under racecheck
LOOKED_AT = 6  # orders of the simulator in which a mutant must have neither hung nor faulted
PROCESSES = 8
TIMEOUT = 400  # seconds for a process
CONTROLS = ("no syncthreads before the tree", "tiles used before they are whole", "turned without a barrier")
HARMLESS = frozenset(  # hazards after which a kernel still ends: what it computes is wrong, and no wait is for ever
    {
        *("read-before-wait", "overwrite-in-use", "missing-proxy-fence", "proxy-fence-space", "data-race"),
        *("store-source-reuse", "store-not-waited", "store-not-committed", "uninitialised-read", "wait-ignored"),
        *("wgmma-fence", "wgmma-registers", "layout-mismatch", "scope-too-narrow"),
    }
)
_CHILD = "import sys; from tests.mutants import hardware; hardware.{task}(sys.argv[1:])"


def record(file: Path) -> int:
    """Run everything on this machine's GPU and write the numbers. 0: racecheck reports the controls."""
    from tmalab.gpu.recorder import describe

    names, right = harmless(), kernels()
    runs = dict(_in_processes("launch", names))
    races = races_in(_under_racecheck([*names, *right]), [*names, *right])
    data = {
        "provenance": {**describe("python -m tests.mutants --hardware"), "racecheck": _version_of_sanitizer()},
        "launches": LAUNCHES,
        "mutants": {name: {**runs[name], "racecheck": races[name]} for name in names},
        "right": {name: races[name] for name in right},
    }
    file.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    return int(not all(races[name] for name in CONTROLS))


def harmless() -> list[str]:
    """The mutants that a GPU can be given: in no order of the simulator did they stop, or do what might stop a GPU."""
    return [made.name for made in in_parallel(check_wrong, MUTANTS, LOOKED_AT) if is_harmless(made)]


def is_harmless(made: Wrong) -> bool:
    """Whether a mutant only computes something wrong."""
    return not made.may_stop and set(made.found) <= HARMLESS and set(made.names) <= HARMLESS


# What runs in processes of its own.


def launch(names: list[str]) -> None:
    """Launch mutants and print a line of JSON for each: how many results were wrong, how many launches stopped."""
    for name in names:
        wrong = stopped = 0
        kernel = _renamed(name).kernel
        for _ in range(LAUNCHES):
            case = _case(name).with_kernel(kernel)
            run = case.run(on="gpu")
            stopped += run.deadlock is not None or run.fault is not None
            wrong += not case.is_right()
        print(json.dumps([name, {"wrong": wrong, "stopped": stopped}]), flush=True)


def launch_few(names: list[str]) -> None:
    """Launch kernels a few times each, for racecheck to look at."""
    for name in names:
        kernel = _renamed(name).kernel
        for _ in range(CHECKED):
            _case(name).with_kernel(kernel).run(on="gpu")


def _case(name: str) -> Case:
    return CASES[MUTANTS[name].case if name in MUTANTS else name]()


def _renamed(name: str) -> Case:
    """A kernel under a name of its own, by which racecheck's report can be told from those of others."""
    case = _case(name)
    source = MUTANTS[name].edited.source if name in MUTANTS else source_of(case.kernel)
    return mutated(case, source, as_name=called(name))


def called(name: str) -> str:
    """The name of a kernel on the GPU."""
    return f"k{[*MUTANTS, *CASES].index(name):04}k"


# Processes.


def _in_processes(task: str, names: list[str]) -> Iterator[tuple[str, Any]]:
    with ThreadPoolExecutor(PROCESSES) as pool:
        for part in pool.map(lambda part: list(_one_after_the_other(task, part)), _parts(names)):
            yield from part


def _one_after_the_other(task: str, names: list[str]) -> Iterator[tuple[str, Any]]:
    """The lines of JSON for these kernels; where a process ends before its time, the rest in another one."""
    while names:
        done = _run([sys.executable, "-c", _CHILD.format(task=task), *names])
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        yield from map(tuple, lines)
        names = names[len(lines) :]
        if names:
            yield names[0], {"wrong": LAUNCHES, "stopped": LAUNCHES}
            names = names[1:]


def _under_racecheck(names: list[str]) -> str:
    """What racecheck says about these kernels."""
    command = ["compute-sanitizer", "--tool", "racecheck", "--print-limit", "100000", sys.executable, "-c"]
    with ThreadPoolExecutor(PROCESSES) as pool:
        done = pool.map(lambda part: _run([*command, _CHILD.format(task="launch_few"), *part]).stdout, _parts(names))
        return "\n".join(done)


def races_in(output: str, names: Iterable[str]) -> dict[str, int]:
    """How many races racecheck reports of each kernel."""
    lines = [line for line in output.splitlines() if "Race reported" in line]
    found = Counter(name for line in lines for name in set(re.findall(r"k\d{4}k", line)))
    return {name: found[called(name)] for name in names}


def _run(command: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env={**os.environ})


def _parts(names: list[str]) -> list[list[str]]:
    """The names, dealt out to the processes."""
    return [part for part in (names[i::PROCESSES] for i in range(PROCESSES)) if part]


def _version_of_sanitizer() -> str:
    return _run(["compute-sanitizer", "--version"]).stdout.strip().splitlines()[-1]
