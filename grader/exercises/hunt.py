"""Lesson 10, bug hunt: fifteen kernels, each wrong in one way: name the cause, find the line, mend the kernel."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from grader.exercise import Exercise, Finding, wrong
from grader.exercises.hunt_cases import TASKS
from grader.judges.choices import judge_choices
from grader.judges.mended import judge_mended
from grader.judges.numbers import as_list, as_whole, judge_numbers, shown
from grader.texts import text


class Bug(NamedTuple):
    """The cause by its name, and the lines that may be named for it; the line of `def` is 1."""

    cause: str
    lines: Sequence[int]
    hint: str  # the stem of its hints


BUGS: Mapping[str, Mapping[str, Bug]] = {
    "loads": {
        "loads_1": Bug("too-few-bytes", (10,), "hunt.loads-1"),
        "loads_2": Bug("swizzle-misread", (16, 15), "hunt.loads-2"),
        "loads_3": Bug("coordinates-swapped", (10,), "hunt.loads-3"),
        "loads_4": Bug("wait-ignored", (14,), "hunt.loads-4"),
        "loads_5": Bug("read-before-wait", (12, 13), "hunt.loads-5"),
    },
    "rings": {
        "rings_1": Bug("wrong-parity", (15,), "hunt.rings-1"),
        "rings_2": Bug("overwrite-in-use", (19, 18), "hunt.rings-2"),
        "rings_3": Bug("over-arrival", (9, 25), "hunt.rings-3"),
        "rings_4": Bug("missing-arrival", (26, 27), "hunt.rings-4"),
        "rings_5": Bug("misaligned", (2,), "hunt.rings-5"),
    },
    "stores": {
        "stores_1": Bug("missing-proxy-fence", (7, 6), "hunt.stores-1"),
        "stores_2": Bug("store-not-committed", (10, 11), "hunt.stores-2"),
        "stores_3": Bug("store-source-reuse", (6,), "hunt.stores-3"),
        "stores_4": Bug("multiple-issue", (9, 10), "hunt.stores-4"),
        "stores_5": Bug("multicast-mask", (13,), "hunt.stores-5"),
    },
}
OWN_NAMES = ("coordinates-swapped", "swizzle-misread", "tiles-overlap")  # no hazards: only the output is wrong
OTHERS = ("too-many-bytes", "exit-in-flight", "barrier-reinit", "init-not-visible", "store-not-waited")
NAMES = tuple(sorted({bug.cause for bugs in BUGS.values() for bug in bugs.values()} | {*OWN_NAMES, *OTHERS}))


def names() -> dict[str, str]:
    """What a cause may be called, and what each name means."""
    from tmalab.texts import text as text_of_tmalab

    own = {name: text(f"hunt.name-{name}") for name in OWN_NAMES}
    return {name: own[name] if name in own else text_of_tmalab(f"catalogue.{name}") for name in NAMES}


def first_lines(group: str, seed: int) -> dict[str, int]:
    """The number that the line of each kernel's `def` has: where it stands in the file that the class is told of."""
    if not seed:
        return dict.fromkeys(BUGS[group], 1)
    draw = random.Random(f"{seed} lines of {group}")
    return {name: draw.randrange(40 * number, 40 * number + 20) for number, name in enumerate(BUGS[group], 1)}


def find_questions(group: str, seed: int) -> dict[str, dict]:
    """The names of causes with what they mean, and the number of each kernel's first line."""
    return {"names": names(), "first": first_lines(group, seed)}


def judge_found(answer: object, group: str, seed: int) -> Sequence[Finding]:
    """The parts names and lines. The answer holds a pair (line, name) for each kernel."""
    bugs = BUGS[group]
    points = len(bugs)
    given = as_list(answer, bugs)
    broken = given if isinstance(given, str) else _no_pair(given, bugs)
    if broken:
        return [
            wrong("names", points, broken, "form"),
            wrong("lines", points, text("report.not-looked-at"), "form"),
        ]
    lines, names = zip(*given, strict=True)  # type: ignore[arg-type]
    causes = {(name, ""): name for name in bugs}
    right_names = {name: bug.cause for name, bug in bugs.items()}
    first = first_lines(group, seed)
    right_lines = {name: bug.lines[0] + first[name] - 1 for name, bug in bugs.items()}
    accepted = [
        right_lines[name] if as_whole(line) in [right + first[name] - 1 for right in bug.lines] else line
        for line, (name, bug) in zip(lines, bugs.items(), strict=True)
    ]
    return [
        judge_choices(list(names), right_names, NAMES, "names", points, causes),
        judge_numbers(accepted, right_lines, "lines", points),
    ]


def _no_pair(given: Sequence[object], bugs: Mapping[str, Bug]) -> str:
    """The sentence about the first answer that is no pair; nothing where all are."""
    for name, value in zip(bugs, given, strict=True):
        if type(value) not in (tuple, list) or len(value) != 2:  # type: ignore[arg-type]
            return text("hunt.no-pair", name=name, value=shown(value))
    return ""


def _exercises(group: str) -> list[Exercise]:
    """Name and find five, then mend them."""
    bugs = BUGS[group]
    hints = {name: bug.hint for name, bug in bugs.items()}
    return [
        Exercise(
            f"hunt.find-{group}",
            {"names": len(bugs), "lines": len(bugs)},
            lambda answer, seed: judge_found(answer, group, seed),
            untouched="hunt.find-untouched",
            questions=partial(find_questions, group),
            hints=hints | {"some": "hunt.lines"},
        ),
        Exercise(
            f"hunt.mend-{group}",
            {"kernels": 2 * len(bugs)},
            lambda answer, seed: [judge_mended(answer, TASKS[group], "kernels", 2 * len(bugs), seed)],
            untouched="hunt.mend-untouched",
            hints=hints,
        ),
    ]


EXERCISES = [exercise for group in BUGS for exercise in _exercises(group)]
