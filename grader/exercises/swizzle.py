"""Lesson 2, swizzle: count conflicts, place sectors, read a tile where the swizzle has put it, turn it over."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from math import gcd

from grader.exercise import Exercise, Finding, evidence
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.exercises.swizzle_cases import MISPLACED, read_cases, shifted_cases, transpose_cases
from grader.judges.banks import BankTask
from grader.judges.choices import Predicted, judge_predictions
from grader.judges.functions import Table, judge_function
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.lettered import Hunt
from grader.recorded import recorded_load
from grader.texts import text
from tmalab import DataType, Swizzle, TensorMap
from tmalab.data_types import NOMINAL_ADDRESS
from tmalab.recorded.lesson_cases import SHIFTED_AT

# ---- ways: a warp reads down a column, five row pitches

LANES = BANKS = 32
OWN_BANK, ONE_BANK, FEW_BANKS, ONE_WORD = REASONS = "abcd"
PITCHES = {
    OWN_BANK: (17, 29, 33, 35, 37),
    ONE_BANK: (32, 64, 96),
    FEW_BANKS: (16, 20, 24, 34, 36, 40, 48),
    ONE_WORD: (0,),
}
WAYS_POINTS = {"ways": 2, "reasons": 2}


def ways_questions(seed: int) -> list[int]:
    """Five row pitches in words, two of them of the kind that meets in a few banks; in an order of the class."""
    draw = random.Random(f"{seed} ways")
    pitches = [draw.choice(PITCHES[reason]) for reason in (OWN_BANK, ONE_BANK, ONE_WORD)]
    pitches += draw.sample(PITCHES[FEW_BANKS], 2)
    draw.shuffle(pitches)
    return pitches


def ways_of(pitch: int) -> int:
    """Lanes i and j meet in a bank where (i - j) * pitch is a multiple of 32; with no pitch they share one word."""
    return gcd(pitch, BANKS) if pitch else 1


def judge_ways(answer: object, seed: int) -> Sequence[Finding]:
    pitches = ways_questions(seed)
    reasons = {pitch: next(reason for reason, drawn in PITCHES.items() if pitch in drawn) for pitch in pitches}
    expected = {f"pitch {pitch}": Predicted(ways_of(pitch), reasons[pitch]) for pitch in pitches}
    mistakes = {
        "broadcast": [ways_of(pitch) or LANES if pitch else LANES for pitch in pitches],
        "banks-for-ways": [BANKS // ways_of(pitch) for pitch in pitches],
        "never": [1] * len(pitches),
        "always": [LANES] * len(pitches),
    }
    causes = {(f"pitch {pitch}", ""): f"reason-{reason}" for pitch, reason in reasons.items()}
    return judge_predictions(answer, expected, REASONS, WAYS_POINTS, mistakes, causes)


# ---- place: a function, for bases anywhere in the pattern

SPANS = {128: Swizzle.B128, 64: Swizzle.B64, 32: Swizzle.B32}


def place(base: int, row: int, sector: int, span: int) -> int:
    """The address of a sector of a tile at `base`: the rule on addresses."""
    address = base + row * span + sector * 16
    return address ^ (address >> 3 & span - 16)


PLACE_MISTAKES = {
    "unchanged": lambda base, row, sector, span: base + row * span + sector * 16,
    "no-base": lambda base, row, sector, span: place(0, row, sector, span),
    "relative": lambda base, row, sector, span: base + place(0, row, sector, span),
    "every-row": lambda base, row, sector, span: base + row * span + (sector ^ row % (span // 16)) * 16,
    "sector-number": lambda base, row, sector, span: place(base, row, sector, span) % span // 16,
    "sector-for-bytes": lambda base, row, sector, span: base + row * span + (sector ^ row % (span // 16)),
    "all-bits": lambda base, row, sector, span: (base + row * span + sector * 16) ^ (base + row * span >> 3 & 112),
}


def judge_place(answer: object, seed: int) -> Sequence[Finding]:
    lines = [128 * line for line in range(1, 8)]
    drawn = 1024 * random.Random(f"{seed} place").randrange(3, 100)
    bases = {"aligned": ((0, 1024, drawn), (128,)), "shifted": (lines, (128,)), "narrow": ((0, *lines[::3]), (64, 32))}
    tables = []
    for part, points in (("aligned", 1), ("shifted", 2), ("narrow", 1)):
        places = [
            (base, row, sector, span)
            for base, span, row in product(*bases[part], range(10))
            for sector in range(span // 16)
        ]
        tables.append(Table(part, points, {each: place(*each) for each in places}, PLACE_MISTAKES))
    findings = judge_function(answer, tables)
    return [*findings, on_hardware()] if all(finding.passed for finding in findings) else findings


def on_hardware() -> Finding:
    """How many sectors of tiles at every line of the pattern an H200 put where `place` says, by the data there."""
    hits = count = 0
    for (span, mode), base in product(SPANS.items(), range(128, 1024, 128)):
        tile = TensorMap(DataType.UINT8, NOMINAL_ADDRESS, (256, 16), (256,), (span, 8), swizzle=mode)
        recorded = recorded_load(tile, SHIFTED_AT, base)
        x, y = SHIFTED_AT
        for row, sector in product(range(8), range(span // 16)):
            wanted = recorded.tensor.reshape(16, 256)[y + row, x + 16 * sector :][:16]
            at = place(base, row, sector, span) - base
            hits += recorded.image[at : at + 16].tobytes() == wanted.tobytes()
            count += 1
    message = text("recorded.sectors", same=hits, count=count, gpu=recorded.gpu, date=recorded.date)
    return evidence("hardware", message, hits == count)


# ---- widest: a function of the length of a row


def widest(row_bytes: int) -> int:
    """The widest span that a row is made of."""
    return next((span for span in SPANS if row_bytes % span == 0), 0)


WIDEST_MISTAKES = {
    "fits": lambda row_bytes: 128 if row_bytes <= 128 else 0,
    "with-gaps": lambda row_bytes: next((span for span in (32, 64, 128) if row_bytes <= span), 0),
    "always": lambda row_bytes: 128,
    "exact": lambda row_bytes: row_bytes if row_bytes in SPANS else 0,
    "narrowest": lambda row_bytes: 0 if row_bytes % 32 else 32,
}


def judge_widest(answer: object, seed: int) -> Sequence[Finding]:
    narrow, wide = range(16, 129, 16), [*range(144, 513, 16), 16 * random.Random(f"{seed} rows").randrange(33, 600)]
    tables = [
        Table(part, points, {(row,): widest(row) for row in rows}, WIDEST_MISTAKES)
        for part, points, rows in (("one box", 2, narrow), ("more boxes", 1, wide))
    ]
    return judge_function(answer, tables)


# ---- kernels

READ = KernelTask(("tensor_map", "x", "y", "out"), 128, read_cases, {"compiles": 1, "bytes": 2, "order": 2})
SHIFTED = KernelTask(
    ("tensor_map", "x", "y", "first", "out"), 128, shifted_cases, {"compiles": 1, "bytes": 2, "order": 1}
)
TRANSPOSE = KernelTask(
    ("tensor_map", "x", "y", "out"),
    128,
    transpose_cases,
    {"compiles": 1, "bytes": 2, "banks": 2, "order": 1},
    BankTask({1: 2, 4: 1}, sectors=4, turns=96),
)

# ---- hunt: four kernels of the notebook

HUNT = Hunt("swizzle.hunt", {"bug_a": "c", "bug_b": "a", "bug_c": "d", "bug_d": "b"}, 4)


EXERCISES = [
    Exercise(
        "swizzle.ways",
        WAYS_POINTS,
        judge_ways,
        untouched="swizzle.ways-untouched",
        questions=ways_questions,
        hints={
            "broadcast": "swizzle.ways-broadcast",
            "banks-for-ways": "swizzle.ways-banks",
            "never": "swizzle.ways-some",
            "always": "swizzle.ways-some",
            "some": "swizzle.ways-some",
            "reason-a": "swizzle.ways-some",
            "reason-b": "swizzle.ways-some",
            "reason-c": "swizzle.ways-few",
            "reason-d": "swizzle.ways-broadcast",
        },
    ),
    Exercise(
        "swizzle.place",
        {"aligned": 1, "shifted": 2, "narrow": 1},
        judge_place,
        untouched="swizzle.place-untouched",
        hints={
            "unchanged": "swizzle.place-unchanged",
            "no-base": "swizzle.place-units",
            "relative": "swizzle.place-relative",
            "every-row": "swizzle.place-relative",
            "sector-number": "swizzle.place-units",
            "sector-for-bytes": "swizzle.place-units",
            "all-bits": "swizzle.place-mask",
            "values": "swizzle.place-unchanged",
            "type": "swizzle.place-units",
            "returns-nothing": "swizzle.place-units",
        },
    ),
    Exercise(
        "swizzle.widest",
        {"one box": 2, "more boxes": 1},
        judge_widest,
        untouched="swizzle.widest-untouched",
        hints={
            "fits": "swizzle.widest-gaps",
            "with-gaps": "swizzle.widest-gaps",
            "always": "swizzle.widest-gaps",
            "exact": "swizzle.widest-boxes",
            "narrowest": "swizzle.widest-order",
            "values": "swizzle.widest-boxes",
            "type": "swizzle.widest-boxes",
            "returns-nothing": "swizzle.widest-boxes",
        },
    ),
    Exercise(
        "swizzle.read",
        READ.points,
        KernelJudge(READ),
        untouched="swizzle.read-untouched",
        hints=KERNEL_HINTS
        | {
            "no-copy": "swizzle.read-copy",
            "as-it-lies": "swizzle.read-lies",
            "elements": "swizzle.read-elements",
            "bytes-for-elements": "swizzle.read-elements",
            "bytes": "swizzle.read-lies",
            **dict.fromkeys(MISPLACED, "swizzle.read-aligned"),
        },
    ),
    Exercise(
        "swizzle.shifted",
        SHIFTED.points,
        KernelJudge(SHIFTED),
        untouched="swizzle.shifted-untouched",
        hints=KERNEL_HINTS
        | {
            "no-copy": "swizzle.read-copy",
            "as-it-lies": "swizzle.read-lies",
            "by-row": "swizzle.shifted-row",
            "at-the-example": "swizzle.shifted-row",
            "uninitialised-read": "swizzle.shifted-where",
            "bytes": "swizzle.shifted-row",
        },
    ),
    Exercise(
        "swizzle.transpose",
        TRANSPOSE.points,
        KernelJudge(TRANSPOSE),
        untouched="swizzle.transpose-untouched",
        hints=KERNEL_HINTS
        | {
            "no-copy": "swizzle.read-copy",
            "as-it-lies": "swizzle.transpose-fp32",
            "not-transposed": "swizzle.transpose-turn",
            "bytes": "swizzle.transpose-fp32",
            "banks": "swizzle.transpose-banks",
            "scattered": "swizzle.transpose-scattered",
            "repeated": "hint.share",
            "unused": "swizzle.transpose-banks",
            **dict.fromkeys(MISPLACED, "swizzle.read-aligned"),
        },
    ),
    Exercise(
        "swizzle.hunt",
        {"culprits": 4},
        HUNT,
        untouched="swizzle.hunt-untouched",
        questions=HUNT.questions,
        hints={
            "bug_a": "swizzle.hunt-c",
            "bug_b": "swizzle.hunt-a",
            "bug_c": "swizzle.hunt-d",
            "bug_d": "swizzle.hunt-b",
        },
    ),
]
