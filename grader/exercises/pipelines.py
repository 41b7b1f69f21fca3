"""Lesson 7, pipelines: how long a ring takes, how many stages it needs and has room for, kernels that run ahead."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product

from grader.exercise import Exercise, Finding
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.exercises.pipelines_cases import STAGES, tile_cases
from grader.judges.choices import Predicted, judge_predictions
from grader.judges.functions import Table, judge_function
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.lettered import Hunt
from grader.judges.numbers import judge_numbers
from grader.sentence import Sentence
from tmalab.timing.measured import Measured
from tmalab.timing.occupancy import REGISTERS, RESERVED, SHARED_BYTES

# ---- finish: when the last tile is done


def finish(tiles: int, stages: int, latency: int, compute: int) -> int:
    """A load begins when its stage is free and lands a latency later; tiles are worked on in their order."""
    ended: list[int] = []
    for tile in range(tiles):
        issued = ended[tile - stages] if tile >= stages else 0
        ended.append(max([issued + latency, *ended[-1:]]) + compute)
    return ended[-1]


FINISH_MISTAKES: dict[str, Callable[..., int]] = {
    "in-turns": lambda tiles, stages, latency, compute: tiles * (latency + compute),
    "never-waits": lambda tiles, stages, latency, compute: latency + tiles * compute,
    "rounds": lambda tiles, stages, latency, compute: -(-tiles // stages) * (latency + stages * compute),
    "slower-of-both": lambda tiles, stages, latency, compute: latency + (tiles - 1) * max(latency, compute) + compute,
}


def judge_finish(answer: object, seed: int) -> Sequence[Finding]:
    draw = random.Random(f"{seed} finish")
    times = [(600, 250), (250, 600), (500, 500), *((draw.randrange(100, 900), draw.randrange(50, 500)) for _ in "abc")]
    parts = {"one stage": (1, (1,)), "two stages": (1, (2,)), "any": (2, (1, 2, 3, 4, 6))}
    tables = []
    for part, (points, depths) in parts.items():
        asked = [(tiles, stages, *pair) for tiles, stages, pair in product((1, 2, 5, 8), depths, times)]
        tables.append(Table(part, points, {each: finish(*each) for each in asked}, FINISH_MISTAKES))
    return judge_function(answer, tables)


# ---- depth: the fewest stages without a bubble


def depth(latency: int, compute: int) -> int:
    """While one load is under way the other stages must hold enough work."""
    return 1 + -(-latency // compute)


DEPTH_MISTAKES: dict[str, Callable[..., int]] = {
    "without-its-own": lambda latency, compute: -(-latency // compute),
    "rounded-down": lambda latency, compute: 1 + latency // compute,
    "two": lambda latency, compute: 2,
    "turned-round": lambda latency, compute: 1 + -(-compute // latency),
}


def judge_depth(answer: object, seed: int) -> Sequence[Finding]:
    draw = random.Random(f"{seed} depth")
    pairs = [(600, 250), (250, 600), (600, 240), (700, 90), (101, 100), (99, 100)]
    pairs += [(draw.randrange(50, 900), draw.randrange(20, 400)) for _ in range(20)]
    exact = [(200, 100), (500, 500), (300, 100), *((k * 60, 60) for k in range(4, 9))]
    tables = {"any": (2, pairs), "exactly": (1, exact)}
    return judge_function(
        answer,
        [
            Table(part, points, {each: depth(*each) for each in asked}, DEPTH_MISTAKES)
            for part, (points, asked) in tables.items()
        ],
    )


# ---- fit: CTAs that share an SM, for one to six stages


def fit_questions(seed: int) -> tuple[int, int, int]:
    """Bytes of a stage, threads of a CTA, registers of a thread."""
    if not seed:
        return 24_576, 256, 96  # the product whose curve the lesson shows
    draw = random.Random(f"{seed} fit")
    return draw.choice((20_480, 24_576, 28_672)), draw.choice((256, 384)), draw.choice((64, 80))


def by_shared(stages: int, stage_bytes: int) -> int:
    """How many CTAs the shared memory of an SM has room for."""
    return SHARED_BYTES // (stages * stage_bytes + RESERVED)


def judge_fit(answer: object, seed: int) -> Sequence[Finding]:
    stage_bytes, threads, registers = fit_questions(seed)
    shared = [by_shared(stages, stage_bytes) for stages in range(1, 7)]
    most = REGISTERS // (threads * registers)
    expected = {f"{stages} stages": min(room, most) for stages, room in enumerate(shared, 1)}
    mistakes = {
        "shared-only": shared,
        "registers-only": [most] * 6,
        "of-one-stage": [min(shared[0], most)] * 6,
    }
    return [judge_numbers(answer, expected, "CTAs", 3, mistakes)]


# ---- curves: predicted, and then looked up among what was measured

NEAR = 1.125  # of the shortest time: what counts as good enough
# what is told of a kernel: the trials' names without the stages, and the reason why more bring no more
CURVES: dict[str, tuple[str, str]] = {
    Sentence("pipelines.curves-copy"): (
        "ring copy mib=512 rows=64",
        "a",
    ),
    Sentence("pipelines.curves-whole"): (
        "product bn=128 consumers=2 k=2048 m=2048 n=2048",
        "b",
    ),
    Sentence("pipelines.curves-pairs"): (
        "product bn=128 consumers=1 k=4096 m=2048 n=2048",
        "c",
    ),
}
MOST_STAGES = 6


def measured_curve(name: str) -> list[float]:
    """Nanoseconds on the H200 for 1 to 6 stages."""
    times = Measured.read().times()
    return [times[f"{name} stages={stages}"] for stages in range(1, MOST_STAGES + 1)]


def enough(curve: Sequence[float]) -> int:
    """The fewest stages that take at most an eighth longer than the best number does."""
    return next(stages for stages, took in enumerate(curve, 1) if took <= NEAR * min(curve))


def curves_questions(seed: int) -> list[str]:
    """The three kernels, in an order of the class."""
    asked = list(CURVES)
    random.Random(f"{seed} curves").shuffle(asked)
    return asked


def judge_curves(answer: object, seed: int) -> Sequence[Finding]:
    curves = [(measured_curve(CURVES[kernel][0]), CURVES[kernel][1]) for kernel in curves_questions(seed)]
    expected = {f"kernel {i}": Predicted(enough(curve), reason) for i, (curve, reason) in enumerate(curves)}
    mistakes = {
        "the-best": [curve.index(min(curve)) + 1 for curve, _ in curves],
        "the-most": [MOST_STAGES for _ in curves],
        "two": [2 for _ in curves],
    }
    causes = {(label, ""): f"reason-{right.reason}" for label, right in expected.items()}
    return judge_predictions(answer, expected, "abc", {"stages": 2, "reasons": 2}, mistakes, causes)


# ---- kernels and hunt

POINTS = {"compiles": 1, "bytes": 2, "ahead": 1, "order": 2}
PARAMETERS = ("tensor_map", "tiles", "out")
AHEAD = KernelTask(PARAMETERS, 64, tile_cases, POINTS, ahead=STAGES, recorded=False)
RING = KernelTask(PARAMETERS, 96, tile_cases, POINTS, ahead=STAGES, recorded=False)
HUNT = Hunt("pipelines.hunt", {"bug_a": "c", "bug_b": "d", "bug_c": "a", "bug_d": "e"}, 4)


PIPELINE_HINTS = KERNEL_HINTS | {
    "too-few-ahead": "pipelines.kernel-ahead",
    "swapped": "pipelines.kernel-place",
    "rows-for-tiles": "pipelines.kernel-place",
    "one-tile": "pipelines.kernel-tiles",
    "last-missing": "pipelines.kernel-tiles",
    "first-round": "pipelines.kernel-tiles",
    "bytes": "pipelines.kernel-bytes",
    "read-before-wait": "pipelines.kernel-early",
    "overwrite-in-use": "pipelines.kernel-empty",
    "phase-alias": "pipelines.kernel-empty",
    "wrong-parity": "pipelines.kernel-parity",
    "missing-arrival": "pipelines.kernel-count",
    "over-arrival": "pipelines.kernel-count",
    "deadlock": "pipelines.kernel-parity",
}

EXERCISES = [
    Exercise(
        "pipelines.finish",
        {"one stage": 1, "two stages": 1, "any": 2},
        judge_finish,
        untouched="pipelines.finish-untouched",
        hints={
            "in-turns": "pipelines.finish-overlap",
            "never-waits": "pipelines.finish-free",
            "rounds": "pipelines.finish-each",
            "slower-of-both": "pipelines.finish-each",
            "values": "pipelines.finish-each",
            "type": "pipelines.finish-number",
            "returns-nothing": "pipelines.finish-number",
            "raises": "pipelines.finish-first",
        },
    ),
    Exercise(
        "pipelines.depth",
        {"any": 2, "exactly": 1},
        judge_depth,
        untouched="pipelines.depth-untouched",
        hints={
            "without-its-own": "pipelines.depth-own",
            "rounded-down": "pipelines.depth-rounded",
            "two": "pipelines.depth-work",
            "turned-round": "pipelines.depth-work",
            "values": "pipelines.depth-work",
            "type": "pipelines.depth-rounded",
            "returns-nothing": "pipelines.depth-work",
        },
    ),
    Exercise(
        "pipelines.ahead",
        AHEAD.points,
        KernelJudge(AHEAD),
        untouched="pipelines.ahead-untouched",
        hints=PIPELINE_HINTS,
    ),
    Exercise(
        "pipelines.ring",
        RING.points,
        KernelJudge(RING),
        untouched="pipelines.ring-untouched",
        hints=PIPELINE_HINTS,
    ),
    Exercise(
        "pipelines.fit",
        {"CTAs": 3},
        judge_fit,
        untouched="pipelines.fit-untouched",
        questions=fit_questions,
        hints={
            "shared-only": "pipelines.fit-registers",
            "registers-only": "pipelines.fit-shared",
            "of-one-stage": "pipelines.fit-shared",
            "some": "pipelines.fit-shared",
        },
    ),
    Exercise(
        "pipelines.curves",
        {"stages": 2, "reasons": 2},
        judge_curves,
        untouched="pipelines.curves-untouched",
        questions=curves_questions,
        hints={
            "the-best": "pipelines.curves-near",
            "the-most": "pipelines.curves-near",
            "two": "pipelines.curves-flight",
            "some": "pipelines.curves-flight",
            "reason-a": "pipelines.curves-memory",
            "reason-b": "pipelines.curves-hidden",
            "reason-c": "pipelines.curves-room",
        },
    ),
    Exercise(
        "pipelines.hunt",
        {"culprits": 4},
        HUNT,
        untouched="pipelines.hunt-untouched",
        questions=HUNT.questions,
        hints={
            "bug_a": "pipelines.hunt-a",
            "bug_b": "pipelines.hunt-b",
            "bug_c": "pipelines.hunt-c",
            "bug_d": "pipelines.hunt-d",
        },
    ),
]
