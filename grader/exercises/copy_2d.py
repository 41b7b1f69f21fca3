"""Lesson 1, copy-2d: count, describe, predict, and copy a tile."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from grader.exercise import Exercise, Finding, evidence
from grader.exercises.copy_2d_cases import lesson_tensor, rim_cases, tile_cases, window
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.judges.functions import Table, judge_function
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.maps import MapTask, judge_map
from grader.judges.numbers import judge_numbers
from grader.recorded import recorded_load
from grader.texts import text
from tmalab import DataType, Swizzle, TensorMap

# ---- count: a tile of elements that are larger than the notebook's


def count_questions(seed: int) -> tuple[int, int, int]:
    """Rows and columns of a tile, bytes of an element."""
    draw = random.Random(f"{seed} count")
    return (draw.choice((32, 96, 128)), draw.choice((32, 128)), draw.choice((4, 8))) if seed else (64, 64, 4)


def judge_count(answer: object, seed: int) -> Sequence[Finding]:
    rows, cols, size = count_questions(seed)
    elements = rows * cols
    pieces = elements * size // 16
    mistakes = {
        "of-two-bytes": [elements, elements * 2 // 16, 1],  # as if the elements were fp16
        "for-each-row": [elements, pieces, rows],
        "for-each-thread": [elements // 128, pieces // 128, 1],
    }
    return [
        judge_numbers(answer, {"element by element": elements, "cp.async": pieces, "TMA": 1}, "counts", 3, mistakes)
    ]


# ---- map: the notebook's tensor, and a tile whose rows are as long as the span of a swizzle

AT = (64, 8)  # where it was recorded


def map_questions(seed: int) -> tuple[int, int]:
    """Columns of the tile, and the span of the swizzle in bytes."""
    span = random.Random(f"{seed} map").choice((32, 64)) if seed else 128
    return span // 2, span


def map_task(cols: int, span: int) -> MapTask:
    """8 rows of so many columns."""
    return MapTask(
        fields={
            "data_type": DataType.FLOAT16,
            "global_dim": (128, 16),
            "global_strides": (256,),
            "box_dim": (cols, 8),
            "swizzle": {128: Swizzle.B128, 64: Swizzle.B64, 32: Swizzle.B32}[span],
        },
        field_points=1,
        copy_points=1,
        coordinates=AT,
        memory=lesson_tensor().view(np.uint8).ravel(),
        image=placed(window(lesson_tensor(), *AT, 8, cols), span).tobytes(),
    )


def placed(tile: np.ndarray, span: int) -> np.ndarray:
    """A tile, whose rows have `span` bytes, as that swizzle lays it out."""
    sectors = tile.reshape(len(tile), span // 16, -1)
    image = np.empty_like(sectors)
    for row, sector in np.ndindex(sectors.shape[:2]):
        image[row, address_form(row, sector, span)] = sectors[row, sector]
    return image


# ---- predict: six sectors under the 128-byte swizzle

GUESSES = {
    "unchanged": lambda row, sector: sector,
    "added": lambda row, sector: (sector + row) % 8,
    "subtracted": lambda row, sector: (sector - row) % 8,
    "the-row": lambda row, sector: row,
}


def predict_questions(seed: int) -> list[tuple[int, int]]:
    """Six (row, sector), drawn among those where XOR differs from the likely guesses."""
    telling = [
        place
        for place in product(range(1, 8), range(8))
        if all(GUESSES[guess](*place) != place[0] ^ place[1] for guess in ("unchanged", "added", "the-row"))
    ]
    return sorted(random.Random(seed).sample(telling, 6))


def judge_predict(answer: object, seed: int) -> Sequence[Finding]:
    places = predict_questions(seed)
    expected = {f"row {row}, sector {sector}": sector ^ row for row, sector in places}
    mistakes = {cause: [guess(*place) for place in places] for cause, guess in GUESSES.items()}
    finding = judge_numbers(answer, expected, "sectors", 3, mistakes)
    return [finding, on_hardware({place: place[0] ^ place[1] for place in places})] if finding.passed else [finding]


def on_hardware(sectors: Mapping[tuple[int, int], int]) -> Finding:
    """How many sectors, given as (row, logical): physical, an H200 put there, by the data that lie in the place."""
    recorded = recorded_load(TensorMap.from_array(lesson_tensor(), (8, 64), swizzle=Swizzle.B128), AT)
    x, y = AT
    tile = window(recorded.tensor.view(np.float16).reshape(16, 128), x, y, 8, 64).reshape(8, 8, 8)
    image = recorded.image.view(np.float16).reshape(8, 8, 8)
    hits = sum(image[row, at].tobytes() == tile[row, sector].tobytes() for (row, sector), at in sectors.items())
    message = text("recorded.sectors", same=hits, count=len(sectors), gpu=recorded.gpu, date=recorded.date)
    return evidence("hardware", message, hits == len(sectors))


# ---- swizzle: a function, for three spans


def address_form(row: int, sector: int, span: int) -> int:
    """The rule on addresses: bits 4.. of a row's sectors XOR the bits three places higher."""
    address = row * span + sector * 16
    return (address ^ (address >> 3 & span - 16)) % span // 16


SWIZZLE_MISTAKES = {
    "unchanged": lambda row, sector, span: sector,
    "added": lambda row, sector, span: (sector + row) % (span // 16),
    "every-row": lambda row, sector, span: sector ^ row % (span // 16),  # wrong where several rows share a line
    "row-unbounded": lambda row, sector, span: sector ^ row,
    "bytes": lambda row, sector, span: 16 * address_form(row, sector, span),
    "in-the-line": lambda row, sector, span: address_form(row, sector, span) + row * span % 128 // 16,
}


def judge_swizzle(answer: object, seed: int) -> Sequence[Finding]:
    tables, further = [], random.Random(f"{seed} swizzle").sample(range(32, 4096), 8)
    for span, points in ((128, 2), (64, 1), (32, 1)):
        places = product((*range(32), *further), range(span // 16))
        expected = {(row, sector, span): address_form(row, sector, span) for row, sector in places}
        tables.append(Table(f"span {span}", points, expected, SWIZZLE_MISTAKES))
    findings = judge_function(answer, tables)
    if all(finding.passed for finding in findings):
        places = product(range(8), range(8))
        findings.append(on_hardware({(row, sector): address_form(row, sector, 128) for row, sector in places}))
    return findings


# ---- kernel and rim

TILE_TASK = KernelTask(("tensor_map", "x", "y", "out"), 128, tile_cases, {"compiles": 1, "bytes": 2, "order": 2})
RIM_TASK = KernelTask(
    ("tensor_map", "tile_row", "tile_col", "out"), 128, rim_cases, {"compiles": 1, "bytes": 2, "order": 1}
)

EXERCISES = [
    Exercise(
        "copy-2d.count",
        {"counts": 3},
        judge_count,
        untouched="copy-2d.count-untouched",
        questions=count_questions,
        hints={
            "of-two-bytes": "copy-2d.count-bytes",
            "for-each-row": "copy-2d.count-rows",
            "for-each-thread": "copy-2d.count-threads",
            "some": "copy-2d.count-some",
        },
    ),
    Exercise(
        "copy-2d.map",
        {"fields": 5, "bytes": 1},
        lambda answer, seed: judge_map(answer, map_task(*map_questions(seed))),
        untouched="copy-2d.map-untouched",
        questions=map_questions,
        hints={
            "order": "copy-2d.map-order",
            "rank": "copy-2d.map-rank",
            "strides": "copy-2d.map-strides",
            "extent": "copy-2d.map-extent",
            "data_type": "copy-2d.map-type",
            "swizzle": "copy-2d.map-swizzle",
        },
    ),
    Exercise(
        "copy-2d.predict",
        {"sectors": 3},
        judge_predict,
        untouched="copy-2d.predict-untouched",
        questions=predict_questions,
        hints={
            "unchanged": "copy-2d.predict-unchanged",
            "added": "copy-2d.predict-added",
            "subtracted": "copy-2d.predict-added",
            "the-row": "copy-2d.predict-unchanged",
            "some": "copy-2d.predict-some",
        },
    ),
    Exercise(
        "copy-2d.swizzle",
        {"span 128": 2, "span 64": 1, "span 32": 1},
        judge_swizzle,
        untouched="copy-2d.swizzle-untouched",
        hints={
            "unchanged": "copy-2d.predict-unchanged",
            "added": "copy-2d.predict-added",
            "row-unbounded": "copy-2d.swizzle-modulo",
            "every-row": "copy-2d.swizzle-line",
            "bytes": "copy-2d.swizzle-units",
            "in-the-line": "copy-2d.swizzle-units",
            "values": "copy-2d.swizzle-line",
            "type": "copy-2d.swizzle-units",
            "returns-nothing": "copy-2d.swizzle-line",
        },
    ),
    Exercise(
        "copy-2d.kernel",
        TILE_TASK.points,
        KernelJudge(TILE_TASK),
        untouched="copy-2d.kernel-untouched",
        hints=KERNEL_HINTS,
    ),
    Exercise(
        "copy-2d.rim",
        RIM_TASK.points,
        KernelJudge(RIM_TASK),
        untouched="copy-2d.rim-untouched",
        hints=KERNEL_HINTS
        | {
            "no-rim": "copy-2d.rim-corner",
            "clamped": "copy-2d.rim-clamped",
            "too-few-bytes": "copy-2d.rim-promise",
            "illegal_instruction": "copy-2d.rim-coordinate",
        },
    ),
]
