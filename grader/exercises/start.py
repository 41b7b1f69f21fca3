"""Lesson 0, start: a first check, a report to read, where results come from, what one needs to know."""

from __future__ import annotations

from collections.abc import Sequence

from grader.exercise import Exercise, Finding
from grader.judges.choices import judge_choices
from grader.judges.numbers import judge_numbers

TILE_ROWS, TILE_COLS, COLUMNS, SIZE = 8, 64, 128, 2  # of the notebook's tile and matrix; bytes of an element
NUMBERS = {
    "the tile's bytes": TILE_ROWS * TILE_COLS * SIZE,
    "from row to row": COLUMNS * SIZE,
    "row 3, column 64": (3 * COLUMNS + 64) * SIZE,
}
ELEMENTS = [number // SIZE for number in NUMBERS.values()]
REPORT = {"what is wrong": "b", "what would mend it": "c", "right in another order": "c"}
SOURCES = {
    "the bytes of a load": "a",
    "a wait that is missing": "b",
    "where no document says anything": "c",
    "twenty orders": "b",
}
BLOCKS, THREADS, LENGTH = 4, 128, 1000
KNOW = {
    "threads of the launch": BLOCKS * THREADS,
    "turns of thread 5": len(range(5, LENGTH, THREADS)),
    "threads of a warp": 32,
    "orders that are certain": 0,
}


def judge_first_numbers(answer: object, seed: int) -> Sequence[Finding]:
    mistakes = {"elements": ELEMENTS, "tile-pitch": [1024, TILE_COLS * SIZE, (3 * TILE_COLS + 64) * SIZE]}
    return [judge_numbers(answer, NUMBERS, "numbers", 3, mistakes)]


def judge_report(answer: object, seed: int) -> Sequence[Finding]:
    causes = {(label, ""): label for label in REPORT}
    return [judge_choices(answer, REPORT, "abc", "letters", 3, causes)]


def judge_sources(answer: object, seed: int) -> Sequence[Finding]:
    causes = {(label, ""): f"source-{letter}" for label, letter in SOURCES.items()}
    return [judge_choices(answer, SOURCES, "abc", "letters", 3, causes)]


def judge_know(answer: object, seed: int) -> Sequence[Finding]:
    mistakes = {"whole-turns": [512, LENGTH // THREADS, 32, 0], "lucky": [512, 8, 32, 1], "barrier": [512, 8, 32, 2]}
    causes = {"turns of thread 5": "whole-turns", "orders that are certain": "lucky"}
    return [judge_numbers(answer, KNOW, "numbers", 4, mistakes, causes)]


EXERCISES = [
    Exercise(
        "start.numbers",
        {"numbers": 3},
        judge_first_numbers,
        untouched="start.numbers-untouched",
        hints={
            "elements": "start.numbers-units",
            "tile-pitch": "start.numbers-rows",
            "some": "start.numbers-rows",
        },
    ),
    Exercise(
        "start.report",
        {"letters": 3},
        judge_report,
        untouched="start.report-untouched",
        hints={
            "what is wrong": "start.report-name",
            "what would mend it": "start.report-mend",
            "right in another order": "start.report-luck",
        },
    ),
    Exercise(
        "start.sources",
        {"letters": 3},
        judge_sources,
        untouched="start.sources-untouched",
        hints={
            "source-a": "start.sources-reference",
            "source-b": "start.sources-simulator",
            "source-c": "start.sources-hardware",
        },
    ),
    Exercise(
        "start.know",
        {"numbers": 4},
        judge_know,
        untouched="start.know-untouched",
        hints={
            "whole-turns": "start.know-turns",
            "lucky": "start.know-certain",
            "barrier": "start.know-certain",
            "some": "start.know-launch",
        },
    ),
]
