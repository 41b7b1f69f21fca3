"""Lesson 8, clusters and multicast: masks, who promises what, shares, rings across CTAs, and when a CTA may leave."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from grader.exercise import Exercise, Finding
from grader.exercises.clusters_cases import CTAS, TILE_BYTES, row_cases, share_cases
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.judges.choices import Predicted, judge_choices, judge_predictions
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.lettered import Hunt
from grader.judges.numbers import by_question, judge_numbers
from grader.sentence import Sentence

# ---- masks: whom a multicast reaches


def masks_questions(seed: int) -> list[str]:
    """Five wishes, each for a mask."""
    return list(_masks(seed))


def _masks(seed: int) -> dict[str, int]:
    draw = random.Random(f"{seed} masks")
    ctas, alone, left_out = draw.choice((2, 4, 8)), draw.randrange(2, 8), draw.randrange(1, 4)
    row, column = draw.randrange(2), draw.randrange(2)
    asked: dict[str, int] = {
        Sentence("clusters.masks-all", ctas=ctas): (1 << ctas) - 1,
        Sentence("clusters.masks-alone", rank=alone): 1 << alone,
        Sentence("clusters.masks-but-one", rank=left_out): 0b1111 & ~(1 << left_out),
        Sentence("clusters.masks-row", row=row): 0b11 << (2 * row),
        Sentence("clusters.masks-column", column=column): 0b101 << column,
    }
    return dict(draw.sample(list(asked.items()), len(asked)))


def judge_masks(answer: object, seed: int) -> Sequence[Finding]:
    expected = _masks(seed)
    mistakes = {
        "counts": [mask.bit_count() for mask in expected.values()],
        "ranks": [max(mask.bit_length() - 1, 0) for mask in expected.values()],
        "from-one": [mask << 1 for mask in expected.values()],
        "turned": [_turned(question, mask) for question, mask in expected.items()],
    }
    return [judge_numbers(answer, by_question(expected.values()), "masks", 3, mistakes)]


def _turned(question: str, mask: int) -> int:
    """As if the ranks of a square were counted down its columns."""
    other = {0b0011: 0b0101, 0b1100: 0b1010, 0b0101: 0b0011, 0b1010: 0b1100}
    return other[mask] if "square" in question else mask


# ---- expect: the bytes that a CTA promises for one phase, and why

SENT, BOTH, OWN, NOTHING = EXPECT_LETTERS = "abcd"
EXPECT_POINTS = {"bytes": 2, "reasons": 2}


def expect_questions(seed: int) -> list[str]:
    """Five ways to load, of which CTA 1 is one."""
    return list(_expected(seed))


def _expected(seed: int) -> dict[str, Predicted]:
    draw = random.Random(f"{seed} expect")
    small, large = draw.sample((1024, 2048, 4096), 2)
    ctas = draw.choice((3, 4))
    asked: dict[str, tuple[int, str]] = {
        Sentence("clusters.expect-outside", size=large): (
            large,
            SENT,
        ),
        Sentence("clusters.expect-each", ctas=ctas, size=small): (ctas * small, BOTH),
        Sentence("clusters.expect-own-and-each", own=small, sent=large): (
            small + 2 * large,
            BOTH,
        ),
        Sentence("clusters.expect-own", ctas=ctas, size=large): (large, OWN),
        Sentence("clusters.expect-nothing", size=small): (0, NOTHING),
    }
    drawn = draw.sample(list(asked.items()), len(asked))
    return {question: Predicted(*right) for question, right in drawn}


def judge_expect(answer: object, seed: int) -> Sequence[Finding]:
    expected = _expected(seed)
    numbers = {question: wanted.number for question, wanted in expected.items()}
    mistakes = {
        "own-alone": [_own_load(question) for question in numbers],
        "inside-alone": [n // 2 if "outside" in question else n for question, n in numbers.items()],
        "issuer-alone": [0 if "CTA 0" in question else n for question, n in numbers.items()],
    }
    right = by_question(expected.values())
    causes = {(question, ""): f"letter-{wanted.reason}" for question, wanted in right.items()}
    return judge_predictions(answer, right, EXPECT_LETTERS, EXPECT_POINTS, mistakes, causes)


def _own_load(question: str) -> int:
    """What CTA 1 loads itself: the bytes that a question says of each CTA."""
    words = question.replace(",", "").split()
    counts = [int(word) for word, unit in pairwise(words) if unit == "bytes"]
    return sum(counts) if question.startswith("each") else 0


# ---- counts: the arrivals that a barrier is initialised with


def counts_questions(seed: int) -> list[str]:
    """Five barriers of rings in clusters."""
    return list(_counts(seed))


def _counts(seed: int) -> dict[str, tuple[int, int]]:
    """For each barrier its arrivals, and those of its own CTA alone."""
    draw = random.Random(f"{seed} counts")
    ctas, warps = draw.choice((3, 4)), draw.choice((2, 5))
    asked: dict[str, tuple[int, int]] = {
        Sentence("clusters.counts-one-for-all", ctas=ctas, warps=warps): (ctas, 1),
        Sentence("clusters.counts-each-warp", ctas=ctas, warps=warps): (ctas * warps, warps),
        Sentence("clusters.counts-one-loads", ctas=ctas, warps=warps): (ctas * warps, warps),
        Sentence("clusters.counts-full", ctas=ctas): (1, 1),
        Sentence("clusters.counts-square"): (3, 1),
    }
    return dict(draw.sample(list(asked.items()), len(asked)))


def judge_counts(answer: object, seed: int) -> Sequence[Finding]:
    counted = _counts(seed)
    expected = {question: right for question, (right, _) in counted.items()}
    mistakes = {
        "whole-square": [4 if "square" in question else n for question, n in expected.items()],
        "own-alone": [own for _, own in counted.values()],
        "loads-arrive": [_loads(question, n) for question, n in expected.items()],
    }
    return [judge_numbers(answer, by_question(expected.values()), "arrivals", 3, mistakes)]


def _loads(question: str, right: int) -> int:
    """As if each load arrived at the full barrier."""
    return int(question.split()[4]) if question.startswith("full") else right


# ---- leave: may a CTA's threads all end now?

YES, WRITTEN, ARRIVED, READ = LEAVE_LETTERS = "abcd"
SITUATIONS: dict[str, str] = {
    Sentence("clusters.leave-all-came"): YES,
    Sentence("clusters.leave-sent-away"): YES,
    Sentence("clusters.leave-all-met"): YES,
    Sentence("clusters.leave-in-mask"): WRITTEN,
    Sentence("clusters.leave-one-half"): WRITTEN,
    Sentence("clusters.leave-ring"): ARRIVED,
    Sentence("clusters.leave-told-later"): ARRIVED,
    Sentence("clusters.leave-stored-first"): READ,
    Sentence("clusters.leave-stored-last"): READ,
}


def leave_questions(seed: int) -> list[str]:
    """Five situations: two in which a CTA may leave, one of each kind in which it must not."""
    draw = random.Random(f"{seed} leave")
    asked = []
    for letter, count in ((YES, 2), (WRITTEN, 1), (ARRIVED, 1), (READ, 1)):
        asked += draw.sample([question for question, right in SITUATIONS.items() if right == letter], count)
    draw.shuffle(asked)
    return asked


def judge_leave(answer: object, seed: int) -> Sequence[Finding]:
    expected = by_question([SITUATIONS[question] for question in leave_questions(seed)])
    causes = {(question, ""): f"letter-{letter}" for question, letter in expected.items()}
    return [judge_choices(answer, expected, LEAVE_LETTERS, "situations", 3, causes)]


# ---- kernels and hunt

SHARE = KernelTask(
    ("tensor_map", "x", "y", "out"),
    64,
    share_cases,
    {"compiles": 1, "bytes": 2, "traffic": 2, "order": 2},
    grid=CTAS,
    cluster=CTAS,
    traffic=lambda case: TILE_BYTES,
)
RING = replace(
    SHARE,
    parameters=("tensor_map", "y", "steps", "out"),
    cases=row_cases,
    points={"compiles": 1, "bytes": 2, "traffic": 2, "order": 3},
    traffic=lambda case: TILE_BYTES * int(case.arguments[2]),  # type: ignore[arg-type]
)
HUNT = Hunt("clusters.hunt", {"bug_a": "c", "bug_b": "d", "bug_c": "f", "bug_d": "b", "bug_e": "e"}, 5)


CLUSTER_HINTS = KERNEL_HINTS | {
    "peer-not-started": "clusters.kernel-start",
    "init-not-visible": "clusters.kernel-start",
    "barrier-not-initialised": "clusters.kernel-start",
    "multicast-mask": "clusters.kernel-mask",
    "too-few-bytes": "clusters.kernel-promise",
    "too-many-bytes": "clusters.kernel-promise",
    "one-half": "clusters.kernel-halves",
    "halves-swapped": "clusters.kernel-halves",
    "one-writes": "clusters.kernel-out",
    "traffic": "clusters.kernel-traffic",
    "overwrite-in-use": "clusters.kernel-release",
    "exit-in-flight": "clusters.kernel-leave",
    "missing-arrival": "clusters.kernel-arrivals",
    "over-arrival": "clusters.kernel-arrivals",
}

EXERCISES = [
    Exercise(
        "clusters.masks",
        {"masks": 3},
        judge_masks,
        untouched="clusters.masks-untouched",
        questions=masks_questions,
        hints={
            "counts": "clusters.masks-bits",
            "ranks": "clusters.masks-bits",
            "from-one": "clusters.masks-zero",
            "turned": "clusters.masks-square",
            "some": "clusters.masks-bits",
        },
    ),
    Exercise(
        "clusters.expect",
        EXPECT_POINTS,
        judge_expect,
        untouched="clusters.expect-untouched",
        questions=expect_questions,
        hints={
            "own-alone": "clusters.expect-sent",
            "issuer-alone": "clusters.expect-sent",
            "inside-alone": "clusters.expect-outside",
            "some": "clusters.expect-sent",
            **{f"letter-{letter}": "clusters.expect-reasons" for letter in EXPECT_LETTERS},
        },
    ),
    Exercise(
        "clusters.share",
        SHARE.points,
        KernelJudge(SHARE),
        untouched="clusters.share-untouched",
        hints=CLUSTER_HINTS
        | {"overwrite-in-use": "clusters.kernel-halves", "uninitialised-read": "clusters.kernel-halves"},
    ),
    Exercise(
        "clusters.counts",
        {"arrivals": 3},
        judge_counts,
        untouched="clusters.counts-untouched",
        questions=counts_questions,
        hints={
            "whole-square": "clusters.counts-square",
            "own-alone": "clusters.counts-peers",
            "loads-arrive": "clusters.counts-loads",
            "some": "clusters.counts-peers",
        },
    ),
    Exercise(
        "clusters.ring",
        RING.points,
        KernelJudge(RING),
        untouched="clusters.ring-untouched",
        hints=CLUSTER_HINTS | {"first-again": "clusters.ring-place"},
    ),
    Exercise(
        "clusters.leave",
        {"situations": 3},
        judge_leave,
        untouched="clusters.leave-untouched",
        questions=leave_questions,
        hints={
            "letter-a": "clusters.leave-yes",
            "letter-b": "clusters.leave-written",
            "letter-c": "clusters.leave-arrived",
            "letter-d": "clusters.leave-read",
        },
    ),
    Exercise(
        "clusters.hunt",
        {"culprits": 5},
        HUNT,
        untouched="clusters.hunt-untouched",
        questions=HUNT.questions,
        hints={
            "bug_a": "clusters.hunt-start",
            "bug_b": "clusters.hunt-promise",
            "bug_c": "clusters.hunt-mask",
            "bug_d": "clusters.hunt-release",
            "bug_e": "clusters.hunt-leave",
        },
    ),
]
