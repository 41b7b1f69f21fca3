"""Lesson 5, stores: what may be overwritten when, where a store is clipped, and sums that the copy engine makes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from grader.exercise import Exercise, Finding, evidence
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.exercises.stores_cases import CTAS, ring_cases, store_cases, sum_cases
from grader.judges.choices import judge_choices
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.lettered import Hunt
from grader.judges.numbers import by_question, judge_numbers
from grader.sentence import Sentence
from grader.texts import text
from tmalab import DataType, recorded

# ---- safe: what a thread may rely on after what it did

YES, READING, WRITING, NO_GROUP, NOT_ITS_OWN = SAFE_LETTERS = "abcde"
SITUATIONS: dict[str, str] = {  # question: letter
    Sentence("stores.safe-one-behind"): YES,
    Sentence("stores.safe-empty-group"): YES,
    Sentence("stores.safe-written"): YES,
    Sentence("stores.safe-the-last"): READING,
    Sentence("stores.safe-same-group"): READING,
    Sentence("stores.safe-only-read"): WRITING,
    Sentence("stores.safe-not-committed"): NO_GROUP,
    Sentence("stores.safe-later-store"): NO_GROUP,
    Sentence("stores.safe-other-thread"): NOT_ITS_OWN,
}


def safe_questions(seed: int) -> list[str]:
    """Six situations: two in which all is well, one of each kind in which it is not."""
    draw = random.Random(f"{seed} safe")
    asked = []
    for letter, count in ((YES, 2), (READING, 1), (WRITING, 1), (NO_GROUP, 1), (NOT_ITS_OWN, 1)):
        asked += draw.sample([question for question, right in SITUATIONS.items() if right == letter], count)
    draw.shuffle(asked)
    return asked


def judge_safe(answer: object, seed: int) -> Sequence[Finding]:
    expected = by_question([SITUATIONS[question] for question in safe_questions(seed)])
    causes = {(question, ""): f"letter-{letter}" for question, letter in expected.items()}
    return [judge_choices(answer, expected, SAFE_LETTERS, "situations", 3, causes)]


# ---- clip: bytes of a row's tail that a store overwrites, for tensors that were recorded

BOX_BYTES = PITCH = 64  # of the recorded tiles, and from row to row of their tensors
FIRST_ROW, TILE_AT = 4, 128  # of the recorded tiles: in the tensor, and in shared memory
CLIP_TYPES = (DataType.UINT8, DataType.UINT16, DataType.FLOAT32, DataType.FLOAT16, DataType.FLOAT64)


def clip_questions(seed: int) -> list[tuple[str, int]]:
    """Type and number of columns of five tensors, one of which has rows that are a multiple of 16 bytes."""
    draw = random.Random(f"{seed} clip")
    even, *others = draw.sample(CLIP_TYPES, len(CLIP_TYPES))
    asked = [(even.name, 32 // even.size)]
    for kind in others:
        columns = [16 // kind.size + more for more in range(1, 16 // kind.size)]
        asked.append((kind.name, draw.choice(columns)))
    draw.shuffle(asked)
    return asked


def row_bytes(kind: str, columns: int) -> int:
    """The length of a tensor's row."""
    return columns * DataType[kind].size


def judge_clip(answer: object, seed: int) -> Sequence[Finding]:
    asked = clip_questions(seed)
    rows = [row_bytes(*question) for question in asked]
    expected = {f"{kind}, {columns} columns": -row_bytes(kind, columns) % 16 for kind, columns in asked}
    mistakes = {
        "none": [0 for _ in asked],
        "whole-box": [BOX_BYTES - row for row in rows],
        "elements": [-row_bytes(*question) % 16 // DataType[question[0]].size for question in asked],
        "from-below": [row % 16 for row in rows],
    }
    finding = judge_numbers(answer, expected, "bytes", 3, mistakes)
    return [finding, clip_on_hardware(asked)] if finding.passed else [finding]


def clip_on_hardware(asked: Sequence[tuple[str, int]]) -> Finding:
    """In how many of the recorded stores an H200 has written just so far."""
    recording = recorded.read("stores")
    named: dict[str, Any] = {
        case.name: (case, result) for case, result in zip(recording.cases, recording.results, strict=True)
    }
    hits = 0
    for kind, columns in asked:
        case, result = named[f"{kind}, {columns} columns"]
        stop = row_bytes(kind, columns) + -row_bytes(kind, columns) % 16
        row = case.memory()[FIRST_ROW * PITCH :][:PITCH].copy()
        row[:stop] = case.shared()[TILE_AT:][:stop]
        hits += row.tobytes() == result[FIRST_ROW * PITCH :][:PITCH].tobytes()
    where = {"gpu": recording.provenance["gpu"], "date": recording.provenance["date"]}
    message = text("stores.clip-recorded", same=hits, count=len(asked), **where)
    return evidence("hardware", message, hits == len(asked))


# ---- results: of single elements

RESULTS: Mapping[tuple[str, str, int, int], int] = {  # operation, type, what memory holds, what comes: the result
    ("add", "FLOAT16", 2048, 1): 2048,  # from 2,048 on fp16 holds every second number; halfway it takes the even one
    ("add", "FLOAT16", 2048, 3): 2052,
    ("add", "BFLOAT16", 256, 1): 256,
    ("add", "BFLOAT16", 256, 3): 260,
    ("add", "UINT32", 2**32 - 1, 3): 2,
    ("add", "UINT32", 2**32 - 4, 9): 5,
    ("inc", "UINT32", 9, 9): 0,
    ("inc", "UINT32", 4, 9): 5,
    ("dec", "UINT32", 0, 9): 9,
    ("dec", "UINT32", 12, 9): 9,
    ("min", "INT32", -5, 3): -5,
    ("max", "INT32", -5, -8): -5,
    ("xor", "UINT32", 12, 10): 6,
    ("and", "UINT32", 12, 10): 8,
}
RESULT_KINDS = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13))  # one of each pair is asked


def results_questions(seed: int) -> list[tuple[str, str, int, int]]:
    """Seven reductions of one element."""
    draw, every = random.Random(f"{seed} results"), list(RESULTS)
    return [every[draw.choice(pair)] for pair in RESULT_KINDS]


def judge_results(answer: object, seed: int) -> Sequence[Finding]:
    asked = results_questions(seed)
    labels = [f"{operation} {kind}, {found} and {brought}" for operation, kind, found, brought in asked]
    right = [RESULTS[question] for question in asked]
    plain = {"add": lambda d, s: d + s, "inc": lambda d, s: d + s, "dec": lambda d, s: d - s}
    other = {"inc": lambda d, s: d + 1, "dec": lambda d, s: d - 1}

    def guessed(guess: Mapping[str, object]) -> list[int]:
        pairs = zip(asked, right, strict=True)
        return [guess[op](d, s) if op in guess else wanted for (op, _, d, s), wanted in pairs]  # type: ignore[operator]

    mistakes = {
        "exact": guessed({"add": plain["add"]}),
        "count": guessed(other),
        "amount": guessed({"inc": plain["inc"], "dec": plain["dec"]}),
        "stored": [brought for *_, brought in asked],
    }
    return [judge_numbers(answer, dict(zip(labels, right, strict=True)), "results", 3, mistakes)]


# ---- kernels and hunt

THREADS = 128
ONE_TILE = KernelTask(("source", "x", "y", "tensor_map"), THREADS, store_cases, {"compiles": 1, "bytes": 2, "order": 3})
RING_POINTS = {"compiles": 1, "bytes": 1, "ahead": 1, "order": 3}
RING = KernelTask(("source", "tiles", "tensor_map"), THREADS, ring_cases, RING_POINTS, ahead=2)
SUMS = KernelTask(
    ("values", "rows", "tensor_map"), THREADS, sum_cases, {"compiles": 1, "bytes": 2, "order": 2}, grid=CTAS
)
HUNT = Hunt("stores.hunt", {"bug_a": "b", "bug_b": "a", "bug_c": "e", "bug_d": "c", "bug_e": "d"}, 5)


STORE_HINTS = KERNEL_HINTS | {
    "no-copy": "stores.kernel-copy",
    "nothing-stored": "stores.kernel-copy",
    "not-doubled": "stores.kernel-doubled",
    "bytes": "stores.kernel-bytes",
    "missing-proxy-fence": "stores.kernel-fence",
    "proxy-fence-space": "stores.kernel-fence",
    "data-race": "stores.kernel-hand-over",
    "store-not-committed": "stores.kernel-commit",
    "store-source-reuse": "stores.kernel-reuse",
    "exit-in-flight": "stores.kernel-end",
    "multiple-issue": "stores.kernel-one-thread",
}

EXERCISES = [
    Exercise(
        "stores.store",
        ONE_TILE.points,
        KernelJudge(ONE_TILE),
        untouched="stores.store-untouched",
        hints=STORE_HINTS,
    ),
    Exercise(
        "stores.safe",
        {"situations": 3},
        judge_safe,
        untouched="stores.safe-untouched",
        questions=safe_questions,
        hints={
            "letter-a": "stores.safe-yes",
            "letter-b": "stores.safe-reading",
            "letter-c": "stores.safe-writing",
            "letter-d": "stores.safe-group",
            "letter-e": "stores.safe-own",
        },
    ),
    Exercise(
        "stores.ring",
        RING.points,
        KernelJudge(RING),
        untouched="stores.ring-untouched",
        hints=STORE_HINTS
        | {
            "one-place": "stores.ring-place",
            "first-only": "stores.ring-place",
            "too-few-ahead": "stores.ring-open",
        },
    ),
    Exercise(
        "stores.clip",
        {"bytes": 3},
        judge_clip,
        untouched="stores.clip-untouched",
        questions=clip_questions,
        hints={
            "none": "stores.clip-none",
            "whole-box": "stores.clip-box",
            "elements": "stores.clip-units",
            "from-below": "stores.clip-below",
            "some": "stores.clip-below",
        },
    ),
    Exercise(
        "stores.results",
        {"results": 3},
        judge_results,
        untouched="stores.results-untouched",
        questions=results_questions,
        hints={
            "exact": "stores.results-exact",
            "count": "stores.results-count",
            "amount": "stores.results-count",
            "stored": "stores.results-stored",
            "some": "stores.results-some",
        },
    ),
    Exercise(
        "stores.sums",
        SUMS.points,
        KernelJudge(SUMS),
        untouched="stores.sums-untouched",
        hints=STORE_HINTS
        | {
            "one-part": "stores.sums-part",
            "first-only": "stores.sums-part",
            "overwritten": "stores.sums-add",
            "data-race": "stores.sums-race",
        },
    ),
    Exercise(
        "stores.hunt",
        {"culprits": 5},
        HUNT,
        untouched="stores.hunt-untouched",
        questions=HUNT.questions,
        hints={
            "bug_a": "stores.hunt-fence",
            "bug_b": "stores.hunt-reuse",
            "bug_c": "stores.hunt-group",
            "bug_d": "stores.hunt-reads",
            "bug_e": "stores.hunt-clip",
        },
    ),
]
