"""Lesson 6's numbers: the bytes that a load credits, and the pixels that an im2col load walks through."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product
from math import ceil, prod

from grader.exercise import Finding
from grader.judges.numbers import judge_numbers
from tmalab import DataType

# ---- counts: bytes that a load credits to its barrier, for maps of every rank


def counts_questions(seed: int) -> list[tuple[str, tuple, tuple, tuple, tuple]]:
    """Type, sizes of tensor and box, element strides, coordinates: one of each rank."""
    draw = random.Random(f"{seed} counts")
    small, large = draw.choice(("UINT8", "FLOAT16")), draw.choice(("FLOAT32", "FLOAT64"))
    odd, step = draw.choice((5, 7)), draw.choice((3, 5))
    return [
        (small, (256,), (64,), (2,), (0,)),
        (large, (64, 40), (32, 8), (1, step), (32, 4)),
        (small, (32, 10, 6), (32, 4, 3), (1, 1, 1), (0, 10 - draw.choice((1, 2)), 4)),
        (large, (16, 12, 10, 2), (16, 8, 8, 1), (1, 2, 2, 1), (0, 3, 1, 1)),
        (large, (8, 6, 9, 4, 4), (8, 2, odd, 2, 2), (1, 1, 2, 1, 1), (0, 0, 0, 1, -1)),
    ]


def delivered(box: Sequence[int], steps: Sequence[int], first: int = 1) -> list[int]:
    """Elements that a load brings along each dimension; steps count from dimension `first` on."""
    return [ceil(size / (step if i >= first else 1)) for i, (size, step) in enumerate(zip(box, steps, strict=True))]


def bytes_inside(kind: str, sizes: Sequence[int], box: Sequence[int], steps: Sequence[int], at: Sequence[int]) -> int:
    """Bytes of the elements that lie inside the tensor."""
    counts = []
    for i, (start, size) in enumerate(zip(at, sizes, strict=True)):
        step = steps[i] if i else 1
        counts.append(sum(0 <= start + step * k < size for k in range(delivered(box, steps)[i])))
    return prod(counts) * DataType[kind].size


def judge_counts(answer: object, seed: int) -> Sequence[Finding]:
    asked = counts_questions(seed)

    def of_all(count: Callable[[tuple, tuple], float]) -> list[int]:
        return [int(count(box, steps)) * DataType[kind].size for kind, _, box, steps, _ in asked]

    mistakes = {
        "inside": [bytes_inside(*question) for question in asked],
        "no-steps": of_all(lambda box, steps: prod(box)),
        "rounded-down": of_all(lambda box, steps: prod(n // s if i else n for i, (n, s) in enumerate(zip(box, steps)))),
        "innermost": of_all(lambda box, steps: prod(delivered(box, steps, first=0))),
        "elements": [prod(delivered(box, steps)) for _, _, box, steps, _ in asked],
    }
    right = of_all(lambda box, steps: prod(delivered(box, steps)))
    labels = [f"rank {len(box)}" for _, _, box, _, _ in asked]
    return [judge_numbers(answer, dict(zip(labels, right, strict=True)), "bytes", 3, mistakes)]


# ---- column: the pixels that an im2col load walks through

AXES = "whn"


def column_questions(seed: int) -> list[tuple[tuple, tuple, tuple, int, tuple]]:
    """Columns, rows and images; lower and upper corners (w, h); pixels of a copy; where it begins (w, h, n)."""
    draw = random.Random(f"{seed} column")
    cols, rows = draw.randrange(6, 9), draw.randrange(4, 6)
    plain = ((cols, rows, 3), (0, 0), (-2, -2), draw.randrange(cols - 1, 2 * cols - 5), (1, 0, 0))
    padded = ((cols, rows, 3), (-1, -1), (-1, -1), 2 * cols + draw.randrange(1, 4), (cols - 3, -1, 0))
    carried = ((cols, rows, 3), (-1, -1), (-1, -1), 2 * cols + 1, (0, rows - 3, 1))
    return [plain, padded, carried]


def last_pixel(
    low: Sequence[int], ends: Sequence[int], pixels: int, at: Sequence[int], back: Sequence[int] | None = None
) -> tuple[int, int, int]:
    """Where the walk through a box from `low` to `ends` comes after so many pixels; `back`: whereto it goes back."""
    (w, h, n), back = at, back or low
    for _ in range(pixels - 1):
        w += 1
        if w > ends[0]:
            w, h = back[0], h + 1
        if h > ends[1]:
            h, n = back[1], n + 1
    return w, h, n


def judge_column(answer: object, seed: int) -> Sequence[Finding]:
    asked = column_questions(seed)
    labels = [f"copy {i}: {axis}" for i, axis in product(range(len(asked)), AXES)]

    def of_all(walk: Callable[..., Sequence[int]]) -> list[int]:
        return [number for question in asked for number in walk(*question)]

    def ends(size: Sequence[int], high: Sequence[int]) -> list[int]:
        return [extent - 1 + corner for extent, corner in zip(size, high, strict=False)]

    mistakes = {
        "one-too-far": of_all(lambda size, low, high, count, at: last_pixel(low, ends(size, high), count + 1, at)),
        "whole-rows": of_all(lambda size, low, high, count, at: last_pixel((0, 0), ends(size, (0, 0)), count, at)),
        "to-zero": of_all(lambda size, low, high, count, at: last_pixel(low, ends(size, high), count, at, (0, 0))),
        "one-row": of_all(lambda size, low, high, count, at: (at[0] + count - 1, *at[1:])),
    }
    right = of_all(lambda size, low, high, count, at: last_pixel(low, ends(size, high), count, at))
    return [judge_numbers(answer, dict(zip(labels, right, strict=True)), "numbers", 3, mistakes)]
