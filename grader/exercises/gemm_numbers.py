"""Lesson 9's numbers: the bits of a descriptor and what is added to it, what tiles make loads bring, the ladder."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from grader.exercise import Finding
from grader.judges.choices import judge_choices
from grader.judges.functions import Table, judge_function
from grader.judges.numbers import by_question, judge_numbers
from grader.sentence import Sentence
from tmalab.bench.command import recorded

# ---- descriptor: the 64 bits, for a tile that was loaded with a swizzle

CODES = {128: 1, 64: 2, 32: 3}  # of the spans, in a descriptor
MAP_CODES = {128: 3, 64: 2, 32: 1}  # and in a tensor map
UNIT = 16  # bytes


def descriptor(address: int, span: int, leading: int = 0) -> int:
    """Address, stride from 8 rows to the next 8, swizzle. The leading offset is not used: CUTLASS writes 1 there."""
    return address // UNIT | leading << 16 | 8 * span // UNIT << 32 | CODES[span] << 62


DESCRIPTOR_MISTAKES: dict[str, Callable[..., int]] = {
    "bytes": lambda address, span: address | 8 * span << 32 | CODES[span] << 62,
    "stride-in-bytes": lambda address, span: address // UNIT | 8 * span << 32 | CODES[span] << 62,
    "of-the-map": lambda address, span: address // UNIT | 8 * span // UNIT << 32 | MAP_CODES[span] << 62,
    "one-row": lambda address, span: address // UNIT | span // UNIT << 32 | CODES[span] << 62,
    "always-128": lambda address, span: address // UNIT | 1024 // UNIT << 32 | 1 << 62,
    "leading": lambda address, span: descriptor(address, span, leading=1),
    "signed": lambda address, span: descriptor(address, span) - (1 << 64 if CODES[span] > 1 else 0),
}


def judge_descriptor(answer: object, seed: int) -> Sequence[Finding]:
    draw = random.Random(f"{seed} descriptor")
    parts = {"128B": (2, (128,)), "any": (2, (128, 64, 32))}
    asked = {
        part: [(8 * span * draw.randrange(1, 200), span) for span in spans for _ in range(4)]
        for part, (_, spans) in parts.items()
    }

    def judge(leading: int) -> Sequence[Finding]:
        tables = [
            Table(part, points, {each: descriptor(*each, leading) for each in asked[part]}, DESCRIPTOR_MISTAKES)
            for part, (points, _) in parts.items()
        ]
        return judge_function(answer, tables)

    findings = judge(leading=0)
    return judge(leading=1) if any(finding.cause == "leading" for finding in findings) else findings


# ---- steps: what is added to a descriptor; rows are 128 bytes


def steps_questions(seed: int) -> list[str]:
    """Five places in tiles and rings."""
    return list(_steps(seed))


def _steps(seed: int) -> dict[str, int]:
    """For each place how many bytes further on it lies."""
    draw = random.Random(f"{seed} steps")
    further, rows, tall, wide = draw.choice((32, 48)), draw.choice((8, 16, 24)), draw.choice((64, 192)), 128
    asked: dict[str, int] = {
        Sentence("gemm.steps-next"): 16 * 2,
        Sentence("gemm.steps-columns", columns=further): further * 2,
        Sentence("gemm.steps-warpgroup"): 64 * 128,
        Sentence("gemm.steps-stage", rows=tall): tall * 128,
        Sentence("gemm.steps-stages", rows=wide): 2 * wide * 128,
        Sentence("gemm.steps-rows", rows=rows): rows * 128,
    }
    return dict(draw.sample(list(asked.items()), 5))


def judge_steps(answer: object, seed: int) -> Sequence[Finding]:
    further = _steps(seed)
    expected = {question: count // UNIT for question, count in further.items()}
    mistakes = {
        "bytes": list(further.values()),
        "elements": [count // 2 for count in further.values()],
        "one-stage": [right // 2 if "2 stages" in question else right for question, right in expected.items()],
    }
    return [judge_numbers(answer, by_question(expected.values()), "steps", 3, mistakes)]


# ---- tiles: what all loads of a product bring


def tiles_questions(seed: int) -> list[str]:
    """Five products, each in tiles of one shape."""
    return list(_tilings(seed))


def _tilings(seed: int) -> dict[str, tuple[int, int, int, int, int, int]]:
    """For each question m, n, k, BM, BN, and how many CTAs share the tile of B."""
    draw = random.Random(f"{seed} tiles")
    size, short = draw.choice((4096, 8192)), draw.choice((1024, 2048))
    shapes = [
        (size, size, size, 64, 64, 1),
        (size, size, size, 128, 128, 1),
        (size, size, size, 128, 256, 1),
        (size, size, size, 128, 256, 2),
        (size, size, short, 128, 256, 1),
    ]
    asked: dict[str, tuple[int, int, int, int, int, int]] = {}
    for m, n, k, bm, bn, pair in draw.sample(shapes, len(shapes)):
        key = "gemm.tiles-asked-shared" if pair > 1 else "gemm.tiles-asked-alone"
        asked[Sentence(key, m=m, n=n, k=k, bm=bm, bn=bn)] = (m, n, k, bm, bn, pair)
    return asked


def loaded(m: int, n: int, k: int, bm: int, bn: int, pair: int) -> int:
    """MiB of bf16 that come for all tiles together."""
    return (m // bm) * (n // bn) * (bm + bn // pair) * k * 2 >> 20


def judge_tiles(answer: object, seed: int) -> Sequence[Finding]:
    tilings = _tilings(seed)
    expected = {question: loaded(*tiling) for question, tiling in tilings.items()}
    mistakes = {
        "elements": [right // 2 for right in expected.values()],
        "once": [(m + n) * k * 2 >> 20 for m, n, k, *_ in tilings.values()],
        "not-shared": [loaded(*tiling[:5], 1) for tiling in tilings.values()],
        "one-tile": [loaded(bm, bn, k, bm, bn, pair) for _, _, k, bm, bn, pair in tilings.values()],
        "both-shared": [loaded(*tiling[:5], 1) // tiling[5] for tiling in tilings.values()],
    }
    return [judge_numbers(answer, by_question(expected.values()), "MiB", 3, mistakes)]


# ---- ladder: what is new in each step

NEW = {
    "gemm_pipelined, 2 stages": "a",
    "gemm_pipelined, 3 stages": "b",
    "gemm_warp_specialized": "c",
    "gemm_persistent": "d",
    "gemm_cluster": "e",
}
LADDER = ("gemm_naive", *NEW)


def ladder_questions(seed: int) -> list[str]:
    """The steps of the ladder with what was measured, in an order of the class."""
    result = recorded("ladder")
    assert result is not None
    ratio = {name: measured["ratio"] for name, measured in result["cases"][0]["contenders"].items()}
    asked: list[str] = [
        Sentence("gemm.ladder-step", slow=slow, fast=fast, before=ratio[slow], after=ratio[fast])
        for slow, fast in pairwise(LADDER)
    ]
    random.Random(f"{seed} ladder").shuffle(asked)
    return asked


def judge_ladder(answer: object, seed: int) -> Sequence[Finding]:
    expected = by_question([NEW[question.split(" to ")[1].split(":")[0]] for question in ladder_questions(seed)])
    causes = {(question, ""): f"letter-{letter}" for question, letter in expected.items()}
    return [judge_choices(answer, expected, "abcdef", "reasons", 3, causes)]
