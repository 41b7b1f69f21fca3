"""What hardware says: mutants that can neither hang nor fault, on a GPU, and under compute-sanitizer's racecheck.

    python -m tests.mutants --harmless tests/mutants/harmless.txt       which those are: the simulator says it, anywhere
    python -m tests.mutants --hardware tests/mutants/hardware.json      needs a Hopper GPU and compute-sanitizer
    python -m tests.mutants --summary tmalab/recorded/wrong-kernels.json      afterwards, for the library's own table

Each mutant and each right kernel is launched LAUNCHES times and its result compared, each time after a kernel that
fills all shared memory with poison; then all of them once more under racecheck. The controls are races that racecheck
does know: should it not report them, its silence elsewhere says nothing. What is known is in the file at any moment. A
file that is there already is gone on with: what it lacks is run, and what has changed since.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.mutants import processes
from tests.mutants.case import Case
from tests.mutants.mutant import mutated, source_of
from tests.mutants.poison import BYTES, Poison
from tests.mutants.processes import Went, deal_out, in_batches
from tests.mutants.right import CASES
from tests.mutants.runs import in_parallel, kernels, outcome
from tests.mutants.wrong import MUTANTS

PARTS = ("launch", "racecheck")
LIST = Path(__file__).with_name("harmless.txt")
LAUNCHES = 100  # of each kernel
CHECKED = 3  # launches of each under racecheck
LOOKED_AT = 6  # orders of the simulator in which a mutant must have neither hung nor faulted
BATCH = 8  # kernels for a process
ENDED = "did not end"
STOPPED = {  # what is noted of a kernel that took its process with it
    "launch": {"wrong": LAUNCHES, "stopped": LAUNCHES},
    "racecheck": {"racecheck": ENDED},
}
CONTROLS = ("no syncthreads before the tree", "tiles used before they are whole", "turned without a barrier")
HARMLESS = frozenset(  # hazards after which a kernel still ends: what it computes is wrong, and no wait is for ever
    {
        *("read-before-wait", "overwrite-in-use", "missing-proxy-fence", "proxy-fence-space", "data-race"),
        *("store-source-reuse", "store-not-waited", "store-not-committed", "uninitialised-read", "wait-ignored"),
        *("wgmma-fence", "wgmma-registers", "layout-mismatch", "scope-too-narrow"),
    }
)
_CHILD = "import sys; from tests.mutants import hardware; hardware.{task}(sys.argv[1:])"
_SANITIZER = ("compute-sanitizer", "--tool", "racecheck", "--target-processes", "application-only")
_COMMAND = {  # before the kernels' names
    "poison": [sys.executable, "-c", _CHILD.format(task="poisoned")],
    "launch": [sys.executable, "-c", _CHILD.format(task="launch")],
    "racecheck": [*_SANITIZER, "--print-limit", "100000", sys.executable, "-c", _CHILD.format(task="launch_few")],
}


def harmless() -> list[str]:
    """The mutants that a GPU can be given: in no order of the simulator did they stop, or do what might stop a GPU."""
    likely = [name for name in MUTANTS if set(MUTANTS[name].names) <= HARMLESS]
    return [name for name, fine in zip(likely, in_parallel(is_harmless, likely, LOOKED_AT), strict=True) if fine]


def is_harmless(name: str, seeds: int = LOOKED_AT) -> bool:
    """Whether a mutant only computes something wrong, in orders 0 to seeds - 1."""
    if not set(MUTANTS[name].names) <= HARMLESS:
        return False
    runs = (outcome(MUTANTS[name].fresh(), seed) for seed in range(seeds))
    return all(run.fault is None and run.names <= HARMLESS for run in runs)


def listed() -> list[str]:
    """The names in the list of harmless mutants."""
    return LIST.read_text("utf-8").splitlines()


def record(file: Path, parts: Iterable[str] = PARTS, seconds: float = 900) -> int:
    """Run on this machine's GPU what the file lacks, for so many seconds at most. 0: all is there, and racecheck
    reports the controls."""
    from tmalab.gpu.recorder import describe

    log = Log(file, seconds)
    log.data["provenance"] = {**describe("python -m tests.mutants --hardware"), "racecheck": _version_of_sanitizer()}
    for part in parts:
        if part == "launch":
            log.data["poison"] = processes.run([*_COMMAND["poison"], "poison"], log.deadline).said["poison"][0]
        names = log.lacking(part)
        deal_out(in_batches(names, BATCH), _COMMAND[part], partial(log.settle, part), log.deadline)
        log.say(f"{part}: {len(log.lacking(part))} not run")
    lacking = any(log.lacking(part) for part in PARTS)
    return int(lacking or not all(log.data["mutants"][name]["racecheck"] for name in CONTROLS))


class Log:
    """What is known so far, in a file: of each kernel of how many launches the result was `wrong`, how many launches
    `stopped`, how many races `racecheck` reported (None: not run), and of which `source` that is known; and what a
    kernel finds in shared memory after the `poison`."""

    def __init__(self, file: Path, seconds: float):
        self.file = file
        self.begin = time.monotonic()
        self.deadline = self.begin + seconds
        old = json.loads(file.read_text("utf-8")) if file.exists() else {}
        self.data: dict[str, Any] = {
            "provenance": {},
            "launches": LAUNCHES,
            "checked": CHECKED,
            "poison": old.get("poison"),
            "mutants": _known(listed(), old, "mutants"),
            "right": _known(kernels(), old, "right"),
        }

    def lacking(self, part: str) -> list[str]:
        """The kernels that a part has still to run, the controls first."""
        told = "wrong" if part == "launch" else "racecheck"
        notes = {**self.data["mutants"], **self.data["right"]}
        return sorted((name for name in notes if notes[name][told] is None), key=lambda name: name not in CONTROLS)

    def settle(self, part: str, batch: list[str], went: Went) -> list[list[str]]:
        """Note what a process came to; the batches of what others must run."""
        notes = said_in_launches(batch, went) if part == "launch" else said_by_racecheck(batch, went)
        unsaid = [name for name in batch if name not in went.said]
        guilty = unsaid[:1] or batch * (len(batch) == 1)  # in which the process ended, where it did
        again = [name for name in batch if name not in notes and name not in guilty]
        if not went.late:
            for name in guilty:
                notes.setdefault(name, STOPPED[part])
        for name, note in notes.items():
            self.data["mutants" if name in MUTANTS else "right"][name].update(note)
        self.say(f"{part}: {', '.join(batch)}{'' if went.whole else f' ({ENDED})'}; {len(self.lacking(part))} to go")
        self.file.write_text(json.dumps(self.data, indent=1, ensure_ascii=False) + "\n", "utf-8")
        if went.late or not again:
            return []
        return [again] if unsaid else [[name] for name in again]

    def say(self, what: str) -> None:
        """A line of progress."""
        print(f"[{time.monotonic() - self.begin:.0f} s] {what}", file=sys.stderr, flush=True)


def _known(names: Iterable[str], old: dict[str, Any], part: str) -> dict[str, dict[str, Any]]:
    """What a file knows of kernels as they are now; of launches nothing, where shared memory was not poisoned."""
    unpoisoned = {"wrong": None, "stopped": None} if not old.get("poison") else {}
    notes = {}
    for name in names:
        notes[name] = {"source": fingerprint(name), "wrong": None, "stopped": None, "racecheck": None}
        known = old.get(part, {}).get(name, {})
        if known.get("source") == notes[name]["source"]:
            notes[name].update(known | unpoisoned)
    return notes


def fingerprint(name: str) -> str:
    """A short name for a kernel's source: another source has another."""
    return sha256(_source(name).encode()).hexdigest()[:12]


def said_in_launches(batch: list[str], went: Went) -> dict[str, dict[str, Any]]:
    """What became of each mutant that was launched."""
    return {name: went.said[name][0] for name in batch if name in went.said}


def said_by_racecheck(batch: list[str], went: Went) -> dict[str, dict[str, Any]]:
    """What racecheck said of each kernel; its silence counts where the kernel ended and it could say all it had to."""
    found = races_in("\n".join(went.lines), batch)
    done = [name for name in batch if found[name] or (went.whole and name in went.said)]
    return {name: {"racecheck": found[name] or (ENDED if went.said[name] == [False] else 0)} for name in done}


def races_in(output: str, names: Iterable[str]) -> dict[str, int]:
    """How many races racecheck reports of each kernel."""
    lines = [line for line in output.splitlines() if "Race reported" in line]
    found = Counter(name for line in lines for name in set(re.findall(r"k\d{4}k", line)))
    return {name: found[called(name)] for name in names}


# What runs in processes of its own.


def launch(names: list[str]) -> None:
    """Launch kernels and print a line of JSON for each: how many results were wrong, how many launches stopped."""
    for name in names:
        kernel = _renamed(name).kernel
        _launched(name, kernel)  # compiled and loaded, outside the turn
        with alone() as poison:
            went = [_launched(name, kernel, poison) for _ in range(LAUNCHES)]
        _say(name, {"wrong": sum(not right for _, right in went), "stopped": sum(not ended for ended, _ in went)})


def poisoned(names: list[str]) -> None:
    """Print what is found in shared memory after a kernel that fills it with poison, and after any other."""
    with alone() as poison:
        found = {"sms": poison.ctas, "bytes": BYTES, "found": poison.found(), "without": poison.found_of_another()}
    _say(*names, found)


@contextmanager
def alone() -> Iterator[Poison]:
    """The GPU for this process alone, among those of this record: another's kernel between the poison and a launch
    would leave its own tile in shared memory. What poisons must have filled all of it each time."""
    import fcntl  # not on Windows, where this module's list is read too

    with (Path(tempfile.gettempdir()) / "tests-mutants-hardware.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        with Poison() as poison:
            yield poison
            if not poison.was_whole():
                sys.exit("the poison was not in all shared memory before each launch")


def launch_few(names: list[str]) -> None:
    """Launch kernels a few times each, for racecheck to look at; print a line of JSON for each: whether all ended."""
    for name in names:
        kernel = _renamed(name).kernel
        ended = [_launched(name, kernel)[0] for _ in range(CHECKED)]
        _say(name, all(ended))


def _launched(name: str, kernel: Any, before: Callable[[], None] = lambda: None) -> tuple[bool, bool]:
    """Whether a launch with fresh arguments ended by itself, and whether its result is right; `before` comes just
    before it."""
    case = _case(name).with_kernel(kernel)
    before()
    run = case.run(on="gpu")
    if run.fault is not None:
        sys.exit(str(run.fault))  # the GPU is lost to this process
    return run.deadlock is None, bool(case.is_right())


def _say(*piece: Any) -> None:
    print(json.dumps(piece), flush=True)


def _case(name: str) -> Case:
    return CASES[MUTANTS[name].case if name in MUTANTS else name]()


def _renamed(name: str) -> Case:
    """A kernel under a name of its own, by which racecheck's report can be told from those of others."""
    return mutated(_case(name), _source(name), as_name=called(name))


def _source(name: str) -> str:
    return MUTANTS[name].edited.source if name in MUTANTS else source_of(_case(name).kernel)


def called(name: str) -> str:
    """The name of a kernel on the GPU."""
    return f"k{[*MUTANTS, *CASES].index(name):04}k"


def _version_of_sanitizer() -> str:
    done = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True, timeout=60)
    return done.stdout.strip().splitlines()[-1]
