"""Lesson 4, mbarrier: count arrivals and bytes, promise two loads, turn phases, run a ring, explain hangs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import islice, product

from grader.exercise import Exercise, Finding
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.exercises.mbarrier_cases import (
    LETTERS,
    SIZES,
    arrivals_alone,
    barrier_questions,
    bytes_alone,
    column_cases,
    counters,
    drawn,
    letter,
    loads_arrive,
    looked_at_arrivals,
    never_again,
    pair_cases,
    without_credit,
)
from grader.judges.choices import Predicted, judge_predictions
from grader.judges.functions import Table, judge_function
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.lettered import Hunt, causes, drawn_letters

# ---- phases: five barriers with their events

PHASES_POINTS = {"phases": 2, "reasons": 2}


def judge_phases(answer: object, seed: int) -> Sequence[Finding]:
    questions = barrier_questions(seed)
    labels = [f"barrier {number}" for number in range(len(questions))]
    right = [Predicted(counters(*each)[0], letter(*each)) for each in questions]
    mistakes = {
        cause: [count(events_of, *events) for events_of, events in questions]
        for cause, count in (("arrivals-alone", arrivals_alone), ("bytes-alone", bytes_alone), ("loads", loads_arrive))
    }
    causes = {(label, ""): f"letter-{wanted.reason}" for label, wanted in zip(labels, right, strict=True)}
    expected = dict(zip(labels, right, strict=True))
    return judge_predictions(answer, expected, LETTERS, PHASES_POINTS, mistakes, causes)


# ---- machine: a function of a count and events

MACHINE_MISTAKES = {
    "arrivals-alone": arrivals_alone,
    "bytes-alone": bytes_alone,
    "at-arrivals": looked_at_arrivals,
    "never-again": never_again,
    "without-credit": without_credit,
    "loads": loads_arrive,
}


def machine(count: int, *events: int) -> int:
    """How many phases of a barrier are complete."""
    return counters(count, events)[0]


def judge_machine(answer: object, seed: int) -> Sequence[Finding]:
    draw = random.Random(f"{seed} machine")
    alone = [(count, *[0] * arrivals) for count, arrivals in product(range(1, 5), range(9))]
    size = draw.choice(SIZES)
    loads = [(1, 2 * size, 0, -size), (1, 2 * size, 0, -size, -size), (2, size, 0, -size, 0)]
    loads += [(count, *events) for count, events in islice(drawn(draw, False), 60)]
    early = [(1, -size), (1, -size, size, 0), (2, 0, -size, size, 0, 0, 0)]
    early += [(count, *events) for count, events in islice(drawn(draw, True), 90) if is_early(count, events)]
    tables = [
        Table(part, points, {each: machine(*each) for each in barriers}, MACHINE_MISTAKES)
        for part, points, barriers in (("arrivals", 1, alone), ("bytes", 2, loads), ("early bytes", 1, early))
    ]
    return judge_function(answer, tables)


def is_early(count: int, events: Sequence[int]) -> bool:
    """Whether bytes land before their promise."""
    return any(counters(count, events[:end])[2] < 0 for end in range(1, len(events)))


# ---- parity: of a wait in a ring


def parity(tile: int, stages: int, producer: int) -> int:
    """Consumers wait for the phase of their round, the producer for the one before it."""
    return (tile // stages - producer) % 2


PARITY_MISTAKES = {
    "of-the-tile": lambda tile, stages, producer: tile % 2 ^ producer,
    "of-the-stage": lambda tile, stages, producer: tile % stages % 2 ^ producer,
    "always-first": lambda tile, stages, producer: producer,
    "same-for-both": lambda tile, stages, producer: tile // stages % 2,
    "turned": lambda tile, stages, producer: (tile // stages + 1 - producer) % 2,
    "round": lambda tile, stages, producer: tile // stages - producer,
}


def judge_parity(answer: object, seed: int) -> Sequence[Finding]:
    tables = []
    for part, points, producer in (("consumer", 2, 0), ("producer", 1, 1)):
        places = product((*range(24), random.Random(f"{seed} parity").randrange(100, 1000)), range(1, 8), (producer,))
        tables.append(Table(part, points, {each: parity(*each) for each in places}, PARITY_MISTAKES))
    return judge_function(answer, tables)


# ---- kernels

PAIR = KernelTask(("tensor_map", "x", "y", "out"), 128, pair_cases, {"compiles": 1, "bytes": 2, "order": 2})
LOOP = KernelTask(("tensor_map", "x", "steps", "out"), 128, column_cases, {"compiles": 1, "bytes": 2, "order": 2})
RING = KernelTask(("tensor_map", "x", "steps", "out"), 64, column_cases, {"compiles": 1, "bytes": 2, "order": 3})

# ---- hangs and hunt: kernels of the notebook

MISSING = {
    "hang_a": Predicted(127, "a"),
    "hang_b": Predicted(0, "b"),
    "hang_c": Predicted(1, "c"),
    "hang_d": Predicted(1, "d"),
}
HUNT = Hunt("mbarrier.hunt", {"bug_a": "a", "bug_b": "c", "bug_c": "d", "bug_d": "b"}, 4)


def hangs_questions(seed: int) -> dict[str, str]:
    """What each letter stands for."""
    return causes("mbarrier.hangs", LETTERS, seed)


def judge_hangs(answer: object, seed: int) -> Sequence[Finding]:
    drawn = drawn_letters("mbarrier.hangs", LETTERS, seed)
    expected = {hang: Predicted(wanted.number, drawn[wanted.reason]) for hang, wanted in MISSING.items()}
    by_hang = {(hang, ""): hang for hang in MISSING}
    mistakes = {"waiting": [128, 128, 32, 128], "counted": [128, 1, 1, 1]}
    return judge_predictions(answer, expected, LETTERS, {"arrivals": 2, "reasons": 2}, mistakes, by_hang)


BARRIER_HINTS = KERNEL_HINTS | {
    "no-copy": "mbarrier.steps",
    "left-twice": "mbarrier.pair-places",
    "halves-swapped": "mbarrier.pair-places",
    "bytes": "mbarrier.pair-places",
    "too-few-bytes": "mbarrier.pair-sum",
    "too-many-bytes": "mbarrier.pair-sum",
    "first-again": "mbarrier.loop-turn",
    "one-behind": "mbarrier.loop-turn",
    "wrong-parity": "mbarrier.loop-turn",
    "phase-alias": "mbarrier.loop-meet",
    "overwrite-in-use": "mbarrier.loop-meet",
    "data-race": "mbarrier.loop-meet",
}

EXERCISES = [
    Exercise(
        "mbarrier.phases",
        PHASES_POINTS,
        judge_phases,
        untouched="mbarrier.phases-untouched",
        questions=barrier_questions,
        hints={
            "arrivals-alone": "mbarrier.count-bytes",
            "bytes-alone": "mbarrier.count-arrivals",
            "loads": "mbarrier.count-loads",
            "some": "mbarrier.count-some",
            "letter-a": "mbarrier.letter-begun",
            "letter-b": "mbarrier.letter-left",
            "letter-c": "mbarrier.letter-left",
            "letter-d": "mbarrier.letter-below",
        },
    ),
    Exercise(
        "mbarrier.machine",
        {"arrivals": 1, "bytes": 2, "early bytes": 1},
        judge_machine,
        untouched="mbarrier.machine-untouched",
        hints={
            "arrivals-alone": "mbarrier.count-bytes",
            "bytes-alone": "mbarrier.count-arrivals",
            "at-arrivals": "mbarrier.machine-when",
            "never-again": "mbarrier.machine-again",
            "without-credit": "mbarrier.letter-below",
            "loads": "mbarrier.count-loads",
            "values": "mbarrier.machine-when",
            "type": "mbarrier.machine-number",
            "returns-nothing": "mbarrier.machine-number",
        },
    ),
    Exercise(
        "mbarrier.pair",
        PAIR.points,
        KernelJudge(PAIR),
        untouched="mbarrier.pair-untouched",
        hints=BARRIER_HINTS | {"over-arrival": "mbarrier.pair-once", "wrong-parity": "hint.parity"},
    ),
    Exercise(
        "mbarrier.parity",
        {"consumer": 2, "producer": 1},
        judge_parity,
        untouched="mbarrier.parity-untouched",
        hints={
            "of-the-tile": "mbarrier.parity-round",
            "of-the-stage": "mbarrier.parity-round",
            "always-first": "mbarrier.parity-round",
            "same-for-both": "mbarrier.parity-before",
            "turned": "mbarrier.parity-before",
            "round": "mbarrier.parity-bit",
            "values": "mbarrier.parity-round",
            "type": "mbarrier.parity-bit",
            "returns-nothing": "mbarrier.parity-bit",
        },
    ),
    Exercise(
        "mbarrier.loop",
        LOOP.points,
        KernelJudge(LOOP),
        untouched="mbarrier.loop-untouched",
        hints=BARRIER_HINTS | {"over-arrival": "mbarrier.pair-once", "read-before-wait": "mbarrier.loop-read"},
    ),
    Exercise(
        "mbarrier.ring",
        RING.points,
        KernelJudge(RING),
        untouched="mbarrier.ring-untouched",
        hints=BARRIER_HINTS
        | {
            "missing-arrival": "mbarrier.ring-count",
            "over-arrival": "mbarrier.ring-count",
            "overwrite-in-use": "mbarrier.ring-hand",
            "phase-alias": "mbarrier.ring-hand",
            "wrong-parity": "mbarrier.ring-parity",
            "first-again": "mbarrier.ring-parity",
            "barrier-mismatch": "mbarrier.ring-roles",
            "deadlock": "mbarrier.ring-roles",
        },
    ),
    Exercise(
        "mbarrier.hangs",
        {"arrivals": 2, "reasons": 2},
        judge_hangs,
        untouched="mbarrier.hangs-untouched",
        questions=hangs_questions,
        hints={
            "waiting": "mbarrier.hang-waiting",
            "counted": "mbarrier.hang-counted",
            "some": "mbarrier.hang-counted",
            "hang_a": "mbarrier.hang-arrivals",
            "hang_b": "mbarrier.hang-bytes",
            "hang_c": "mbarrier.hang-circle",
            "hang_d": "mbarrier.hang-promise",
        },
    ),
    Exercise(
        "mbarrier.hunt",
        {"culprits": 4},
        HUNT,
        untouched="mbarrier.hunt-untouched",
        questions=HUNT.questions,
        hints={
            "bug_a": "mbarrier.hunt-turn",
            "bug_b": "mbarrier.hunt-sum",
            "bug_c": "mbarrier.hunt-count",
            "bug_d": "mbarrier.hunt-hand",
        },
    ),
]
