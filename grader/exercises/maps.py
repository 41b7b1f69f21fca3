"""Lesson 6, maps: every rank, steps between elements, the driver's limits, and maps in memory that a kernel edits."""

from __future__ import annotations

import random
from collections.abc import Sequence

from grader.exercise import Exercise, Finding
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.exercises.maps_broken import LETTERS, broken_maps, judge_mended, mend_questions
from grader.exercises.maps_cases import each_cases, numbered, patch, patch_cases, row_cases
from grader.exercises.maps_numbers import column_questions, counts_questions, judge_column, judge_counts
from grader.judges.choices import judge_choices
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.lettered import Hunt
from grader.judges.maps import MapTask, judge_map
from grader.judges.numbers import by_question
from grader.sentence import Sentence
from tmalab import DataType
from tmalab.recorded.lesson_cases import PATCH, PHOTOS_SHAPE, THINNED_AT

# ---- view: every second pixel of images whose shape the class seed draws

SHAPES = ((3, 14, 9, 8), (2, 11, 16, 32), (4, 9, 13, 16))


def view_questions(seed: int) -> tuple[int, int, int, int]:
    """Images, rows, columns, channels; in the public course those of the images that were recorded."""
    return random.Random(f"{seed} view").choice(SHAPES) if seed else PHOTOS_SHAPE


def view_task(shape: tuple[int, int, int, int]) -> MapTask:
    """A patch of every second pixel."""
    images, rows, cols, channels = shape
    photos = numbered(shape)
    _, w, h, n = THINNED_AT[0]
    return MapTask(
        fields={
            "data_type": DataType.FLOAT32,
            "global_dim": (channels, cols, rows, images),
            "global_strides": (4 * channels, 4 * channels * cols, 4 * channels * cols * rows),
            "box_dim": (channels, 2 * PATCH, 2 * PATCH, 1),
            "element_strides": (1, 2, 2, 1),
        },
        field_points=1,
        copy_points=1,
        coordinates=(0, w, h, n),
        memory=photos.view("u1").ravel(),
        image=patch(photos, n, h, w, step=2).tobytes(),
    )


# ---- doctor and life: letters


def doctor_questions(seed: int) -> list[tuple[str, dict[str, object]]]:
    """Ten maps from practice: what somebody wanted, and the arguments."""
    return [(wanted, arguments) for wanted, arguments, _ in broken_maps(seed)]


def judge_doctor(answer: object, seed: int) -> Sequence[Finding]:
    expected = {f"map {i}": letter for i, (_, _, letter) in enumerate(broken_maps(seed))}
    causes = {(label, ""): f"letter-{letter}" for label, letter in expected.items()}
    return [judge_choices(answer, expected, LETTERS, "rules", 5, causes)]


NOTHING, ACQUIRE, RELEASE, NEVER = LIFE_LETTERS = "abcd"
LIVES: dict[str, str] = {  # where a map lives, and for whom: letter
    Sentence("maps.life-parameter"): NOTHING,
    Sentence("maps.life-constant"): NOTHING,
    Sentence("maps.life-every-cta"): NOTHING,
    Sentence("maps.life-filled"): ACQUIRE,
    Sentence("maps.life-acquired-by-another"): ACQUIRE,
    Sentence("maps.life-copied"): ACQUIRE,
    Sentence("maps.life-replaced"): RELEASE,
    Sentence("maps.life-edited"): RELEASE,
    Sentence("maps.life-shared"): NEVER,
    Sentence("maps.life-local"): NEVER,
}


def life_questions(seed: int) -> list[str]:
    """Six places: two that need nothing, two that the host filled, one that was edited, one that no copy can use."""
    draw = random.Random(f"{seed} life")
    asked = []
    for letter, count in ((NOTHING, 2), (ACQUIRE, 2), (RELEASE, 1), (NEVER, 1)):
        asked += draw.sample([place for place, right in LIVES.items() if right == letter], count)
    draw.shuffle(asked)
    return asked


def judge_life(answer: object, seed: int) -> Sequence[Finding]:
    expected = by_question([LIVES[place] for place in life_questions(seed)])
    causes = {(place, ""): f"letter-{letter}" for place, letter in expected.items()}
    return [judge_choices(answer, expected, LIFE_LETTERS, "places", 3, causes)]


# ---- kernels and hunt

THREADS = 64
POINTS = {"compiles": 1, "bytes": 2, "order": 2}
PATCH_TASK = KernelTask(("tensor_map", "n", "h", "w", "out"), THREADS, patch_cases, POINTS)
FROM_ROWS = KernelTask(("maps", "which", "n", "h", "w", "out"), THREADS, row_cases, POINTS)
EACH = KernelTask(
    ("maps", "own", "images", "steps", "h", "w", "out"),
    THREADS,
    each_cases,
    {"compiles": 1, "bytes": 2, "order": 3},
    recorded=False,
)
HUNT = Hunt("maps.hunt", {"bug_a": "a", "bug_b": "c", "bug_c": "d", "bug_d": "f"}, 4)


MAP_HINTS = KERNEL_HINTS | {
    "no-copy": "maps.kernel-copy",
    "swapped": "maps.kernel-coordinates",
    "first-image": "maps.kernel-image",
    "at-origin": "maps.kernel-place",
    "at-the-example": "maps.kernel-place",
    "bytes": "maps.kernel-bytes",
    "illegal_instruction": "maps.kernel-fault",
    "map-not-acquired": "maps.kernel-acquire",
    "map-edited": "maps.kernel-edited",
    "first-map": "maps.kernel-which",
}


EXERCISES = [
    Exercise(
        "maps.view",
        {"fields": 5, "bytes": 1},
        lambda answer, seed: judge_map(answer, view_task(view_questions(seed))),
        untouched="maps.view-untouched",
        questions=view_questions,
        hints={
            "rank": "maps.view-rank",
            "order": "maps.view-order",
            "strides": "maps.view-strides",
            "extent": "maps.view-extent",
            "data_type": "copy-2d.map-type",
            "refused": "maps.view-extent",
            "copy": "maps.view-extent",
        },
    ),
    Exercise(
        "maps.counts",
        {"bytes": 3},
        judge_counts,
        untouched="maps.counts-untouched",
        questions=counts_questions,
        hints={
            "inside": "maps.counts-inside",
            "no-steps": "maps.counts-steps",
            "rounded-down": "maps.counts-rounded",
            "innermost": "maps.counts-innermost",
            "elements": "maps.counts-units",
            "some": "maps.counts-steps",
        },
    ),
    Exercise(
        "maps.patch",
        PATCH_TASK.points,
        KernelJudge(PATCH_TASK),
        untouched="maps.patch-untouched",
        hints=MAP_HINTS,
    ),
    Exercise(
        "maps.column",
        {"numbers": 3},
        judge_column,
        untouched="maps.column-untouched",
        questions=column_questions,
        hints={
            "one-too-far": "maps.column-count",
            "whole-rows": "maps.column-box",
            "to-zero": "maps.column-back",
            "one-row": "maps.column-box",
            "some": "maps.column-back",
        },
    ),
    Exercise(
        "maps.doctor",
        {"rules": 5},
        judge_doctor,
        untouched="maps.doctor-untouched",
        questions=doctor_questions,
        hints={
            "letter-a": "maps.doctor-a",
            "letter-b": "maps.doctor-b",
            "letter-c": "maps.doctor-c",
            "letter-d": "maps.doctor-d",
            "letter-e": "maps.doctor-e",
            "letter-f": "maps.doctor-f",
            "letter-g": "maps.doctor-g",
            "letter-h": "maps.doctor-h",
            "letter-i": "maps.doctor-i",
        },
    ),
    Exercise(
        "maps.mend",
        {"maps": 4},
        lambda answer, seed: [judge_mended(answer, seed)],
        untouched="maps.mend-untouched",
        questions=mend_questions,
        hints={
            "padded": "maps.mend-padded",
            "long": "maps.mend-long",
            "steps": "maps.mend-steps",
            "flipped": "maps.mend-flipped",
        },
    ),
    Exercise(
        "maps.life",
        {"places": 3},
        judge_life,
        untouched="maps.life-untouched",
        questions=life_questions,
        hints={
            "letter-a": "maps.life-a",
            "letter-b": "maps.life-b",
            "letter-c": "maps.life-c",
            "letter-d": "maps.life-d",
        },
    ),
    Exercise(
        "maps.rows",
        FROM_ROWS.points,
        KernelJudge(FROM_ROWS),
        untouched="maps.rows-untouched",
        hints=MAP_HINTS,
    ),
    Exercise(
        "maps.each",
        EACH.points,
        KernelJudge(EACH),
        untouched="maps.each-untouched",
        hints=MAP_HINTS | {"first-image": "maps.each-image"},
    ),
    Exercise(
        "maps.hunt",
        {"culprits": 4},
        HUNT,
        untouched="maps.hunt-untouched",
        questions=HUNT.questions,
        hints={"bug_a": "maps.hunt-a", "bug_b": "maps.hunt-b", "bug_c": "maps.hunt-c", "bug_d": "maps.hunt-d"},
    ),
]
