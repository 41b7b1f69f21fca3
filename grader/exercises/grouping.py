"""Lesson 3, grouping: a slice of 256-byte rows as (group, row, column), read by rows and by columns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import numpy as np

from grader.exercise import Exercise, Finding
from grader.exercises.grouping_cases import COLS, GROUP, LINE, ROWS, column_cases, grouped, row_cases
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.exercises.swizzle_cases import MISPLACED
from grader.judges.banks import BankTask
from grader.judges.choices import Predicted, judge_predictions
from grader.judges.functions import Table, judge_function
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.lettered import Hunt
from grader.judges.maps import MapTask, judge_map
from grader.judges.numbers import judge_numbers
from grader.recorded import compared
from grader.texts import text
from tmalab import DataType, Swizzle
from tmalab.recorded.lesson_cases import GROUPED_AT, GROUPED_SHAPE
from tmalab.recorded.lesson_cases import grouped as recorded_map

# ---- view: the map of a matrix whose shape the class seed draws

SHAPES = ((24, 384), (40, 192), (64, 256), (48, 320), (96, 128))


def view_questions(seed: int) -> tuple[int, int]:
    """Rows and columns of the matrix; in the public course those of the matrix that was recorded."""
    return random.Random(f"{seed} view").choice(SHAPES) if seed else GROUPED_SHAPE


def view_task(rows: int, cols: int) -> MapTask:
    """Any of its slices, somewhere in the middle."""
    matrix = np.arange(rows * cols, dtype=np.uint16).reshape(rows, cols)
    group, row = min(cols // GROUP - 2, 2), min(rows - ROWS, 16)
    tile = matrix[row : row + ROWS, group * GROUP : group * GROUP + COLS]
    return MapTask(
        fields={
            "data_type": DataType.FLOAT16,
            "global_dim": (GROUP, rows, cols // GROUP),
            "global_strides": (2 * cols, LINE),
            "box_dim": (GROUP, ROWS, 2),
            "swizzle": Swizzle.B128,
        },
        field_points=1,
        copy_points=1,
        coordinates=(0, row, group),
        memory=matrix.view(np.uint8).ravel(),
        image=grouped(np.ascontiguousarray(tile)).tobytes(),
    )


# ---- coordinates: of two slices

AXES = "xyz"


def coordinates_questions(seed: int) -> list[tuple[int, int]]:
    """First row and first column of two slices: one in a group further on, one in the first two groups."""
    draw = random.Random(f"{seed} coordinates")
    return [(draw.randrange(3, 16), GROUP * draw.randrange(3, 7)), (draw.randrange(17, 30), GROUP)]


def judge_coordinates(answer: object, seed: int) -> Sequence[Finding]:
    slices = coordinates_questions(seed)
    places = [(row, column, axis) for row, column in slices for axis in AXES]
    labels = [text("grouping.asked-place", row=row, column=column, axis=axis) for row, column, axis in places]

    def flat(coordinates: object) -> list[int]:
        return [number for row, column in slices for number in coordinates(row, column)]  # type: ignore[operator]

    mistakes = {
        "column-first": flat(lambda row, column: (column, row, 0)),
        "column-too": flat(lambda row, column: (column, row, column // GROUP)),
        "bytes": flat(lambda row, column: (0, row, 2 * column)),
        "column-for-group": flat(lambda row, column: (0, row, column)),
        "outermost-first": flat(lambda row, column: (column // GROUP, row, 0)),
        "half-slices": flat(lambda row, column: (0, row, column // COLS)),
    }
    expected = dict(zip(labels, flat(lambda row, column: (0, row, column // GROUP)), strict=True))
    return [judge_numbers(answer, expected, "numbers", 3, mistakes)]


# ---- address: of an element of a slice of any height


def address(row: int, column: int, rows: int) -> int:
    """The byte address of an element of a slice that begins at 0."""
    group, inside = divmod(column, GROUP)
    plain = (group * rows + row) * LINE + 2 * inside
    return plain ^ (plain >> 3 & 112)


ADDRESS_MISTAKES = {
    "no-swizzle": lambda row, column, rows: (column // GROUP * rows + row) * LINE + 2 * (column % GROUP),
    "one-row": lambda row, column, rows: row * 256 + (column * 2 ^ (row % 8 << 4)),
    "one-row-by-address": lambda row, column, rows: row * 256 + column * 2 ^ (row * 256 + column * 2 >> 3 & 112),
    "by-row": lambda row, column, rows: (
        (column // GROUP * rows + row) * LINE + (2 * (column % GROUP) ^ (row % 8 << 4))  # wrong for half an atom
    ),
    "sixteen": lambda row, column, rows: address(row, column, 16),
    "elements": lambda row, column, rows: address(row, column, rows) // 2,
    "groups-inside": lambda row, column, rows: (
        (row * 2 + column // GROUP) * LINE + (2 * (column % GROUP) ^ ((row * 2 + column // GROUP) % 8 << 4))
    ),
}


def judge_address(answer: object, seed: int) -> Sequence[Finding]:
    heights = {"16 rows": (2, (16,)), "heights": (1, (8, 24, 8 * random.Random(f"{seed} rows").randrange(4, 32)))}
    tables = []
    for part, (points, rows) in (heights | {"4 rows": (1, (4,))}).items():
        places = [(row, column, tall) for tall in rows for row, column in product(range(tall), range(0, COLS, 4))]
        tables.append(Table(part, points, {each: address(*each) for each in places}, ADDRESS_MISTAKES))
    findings = judge_function(answer, tables)
    return [*findings, address_on_hardware()] if all(finding.passed for finding in findings) else findings


def address_on_hardware() -> Finding:
    """Where an H200 has put each element of a recorded slice."""
    row, group = GROUPED_AT[0]

    def image_of(recorded: object) -> np.ndarray:
        matrix = recorded.tensor.view(np.uint16).reshape(GROUPED_SHAPE)  # type: ignore[attr-defined]
        image = np.zeros(ROWS * COLS, np.uint16)
        for i, j in product(range(ROWS), range(COLS)):
            image[address(i, j, ROWS) // 2] = matrix[row + i, group * GROUP + j]
        return image.view(np.uint8)

    return compared(recorded_map(DataType.FLOAT16), (0, row, group), image_of)


# ---- places: eight lanes down a column, five layouts

EVERY_PLACE, SOME_PLACES, SAME_PLACE, SHARED_LINES = PLACE_REASONS = "abcd"
LAYOUTS = {  # (bytes from row to row, mode): reason
    (128, 128): EVERY_PLACE,
    (64, 64): EVERY_PLACE,
    (32, 32): EVERY_PLACE,
    (256, 128): SOME_PLACES,
    (512, 128): SOME_PLACES,
    (1024, 128): SOME_PLACES,
    (128, 0): SAME_PLACE,
    (256, 0): SAME_PLACE,
    (64, 0): SHARED_LINES,
    (32, 0): SHARED_LINES,
}
PLACES_POINTS = {"ways": 2, "reasons": 2}
EIGHT = 8  # lanes, and sectors of a line


def places_questions(seed: int) -> list[tuple[int, int]]:
    """Row pitch in bytes and span of the swizzle, 0 for none: the lesson's two layouts and three others."""
    draw = random.Random(f"{seed} places")
    kinds = (((64, 64), (32, 32)), ((512, 128), (1024, 128)), ((64, 0), (32, 0), (256, 0)))
    asked = [(256, 128), (128, 128), *(draw.choice(kind) for kind in kinds)]
    draw.shuffle(asked)
    return asked


def places_of(pitch: int, span: int) -> int:
    """In how many of a line's eight sectors the same sector of eight rows lies."""
    addresses = [pitch * row for row in range(EIGHT)]
    return len({(at ^ (at >> 3 & max(span - 16, 0))) % LINE for at in addresses})


def layout_name(pitch: int, span: int) -> str:
    """As the notebook prints it."""
    return text("grouping.asked-layout", pitch=pitch, mode=f"{span}B" if span else "NONE")


def judge_places(answer: object, seed: int) -> Sequence[Finding]:
    layouts = places_questions(seed)
    expected = {layout_name(*layout): Predicted(EIGHT // places_of(*layout), LAYOUTS[layout]) for layout in layouts}
    mistakes = {
        "places-for-ways": [places_of(*layout) for layout in layouts],
        "never": [1 if span else EIGHT for _, span in layouts],
        "always": [EIGHT] * len(layouts),
    }
    causes = {(layout_name(*layout), ""): f"reason-{LAYOUTS[layout]}" for layout in layouts}
    return judge_predictions(answer, expected, PLACE_REASONS, PLACES_POINTS, mistakes, causes)


# ---- kernels and hunt

PARAMETERS = ("tensor_map", "row", "column", "out")
BY_ROWS = KernelTask(PARAMETERS, 128, row_cases, {"compiles": 1, "bytes": 2, "order": 2})
BY_COLUMNS = KernelTask(
    PARAMETERS,
    128,
    column_cases,
    {"compiles": 1, "bytes": 2, "banks": 2, "order": 1},
    BankTask({1: 2, 2: 1}, sectors=4, turns=192),
)
HUNT = Hunt("grouping.hunt", {"bug_a": "e", "bug_b": "b", "bug_c": "d", "bug_d": "c"}, 4)


SLICE_HINTS = KERNEL_HINTS | {
    "no-copy": "grouping.slice-copy",
    "as-it-lies": "grouping.slice-lies",
    "no-groups": "grouping.slice-lies",
    "no-swizzle": "grouping.slice-swizzle",
    "column-for-group": "grouping.slice-coordinates",
    "first-slice": "grouping.slice-coordinates",
    "first-group": "grouping.slice-coordinates",
    "illegal_instruction": "grouping.slice-coordinates",
    "too-few-bytes": "grouping.slice-promise",
    "bytes": "grouping.slice-lies",
    "at-the-example": "grouping.slice-coordinates",
    **dict.fromkeys(MISPLACED, "swizzle.read-aligned"),
}

EXERCISES = [
    Exercise(
        "grouping.view",
        {"fields": 5, "bytes": 1},
        lambda answer, seed: judge_map(answer, view_task(*view_questions(seed))),
        untouched="grouping.view-untouched",
        questions=view_questions,
        hints={
            "rank": "grouping.view-rank",
            "order": "grouping.view-order",
            "strides": "grouping.view-strides",
            "extent": "grouping.view-extent",
            "data_type": "copy-2d.map-type",
            "swizzle": "copy-2d.map-swizzle",
            "refused": "grouping.view-extent",
        },
    ),
    Exercise(
        "grouping.coordinates",
        {"numbers": 3},
        judge_coordinates,
        untouched="grouping.coordinates-untouched",
        questions=coordinates_questions,
        hints={
            "column-first": "grouping.coordinates-column",
            "column-too": "grouping.coordinates-column",
            "bytes": "grouping.coordinates-group",
            "column-for-group": "grouping.coordinates-group",
            "outermost-first": "grouping.coordinates-order",
            "half-slices": "grouping.coordinates-group",
            "some": "grouping.coordinates-group",
        },
    ),
    Exercise(
        "grouping.address",
        {"16 rows": 2, "heights": 1, "4 rows": 1},
        judge_address,
        untouched="grouping.address-untouched",
        hints={
            "no-swizzle": "grouping.address-swizzle",
            "one-row": "grouping.address-groups",
            "one-row-by-address": "grouping.address-groups",
            "groups-inside": "grouping.address-groups",
            "by-row": "grouping.address-atoms",
            "sixteen": "grouping.address-rows",
            "elements": "grouping.address-units",
            "values": "grouping.address-groups",
            "type": "grouping.address-units",
            "returns-nothing": "grouping.address-units",
        },
    ),
    Exercise(
        "grouping.places",
        PLACES_POINTS,
        judge_places,
        untouched="grouping.places-untouched",
        questions=places_questions,
        hints={
            "places-for-ways": "grouping.places-ways",
            "never": "grouping.places-lines",
            "always": "grouping.places-lines",
            "some": "grouping.places-lines",
            "reason-a": "grouping.places-lines",
            "reason-b": "grouping.places-apart",
            "reason-c": "grouping.places-lines",
            "reason-d": "grouping.places-short",
        },
    ),
    Exercise(
        "grouping.rows",
        BY_ROWS.points,
        KernelJudge(BY_ROWS),
        untouched="grouping.rows-untouched",
        hints=SLICE_HINTS,
    ),
    Exercise(
        "grouping.columns",
        BY_COLUMNS.points,
        KernelJudge(BY_COLUMNS),
        untouched="grouping.columns-untouched",
        hints=SLICE_HINTS
        | {
            "not-turned": "swizzle.transpose-turn",
            "banks": "grouping.columns-banks",
            "scattered": "grouping.columns-scattered",
            "repeated": "hint.share",
            "unused": "grouping.columns-banks",
        },
    ),
    Exercise(
        "grouping.hunt",
        {"culprits": 4},
        HUNT,
        untouched="grouping.hunt-untouched",
        questions=HUNT.questions,
        hints={
            "bug_a": "grouping.hunt-e",
            "bug_b": "grouping.hunt-b",
            "bug_c": "grouping.hunt-d",
            "bug_d": "grouping.hunt-c",
        },
    ),
]
