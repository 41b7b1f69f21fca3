"""Lesson 0, start: a first check, a report to read, where results come from, what one needs to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from grader.exercise import Exercise, Finding
from grader.judges.choices import judge_choices
from grader.judges.numbers import judge_numbers
from grader.texts import text

Value = TypeVar("Value")

TILE_ROWS, TILE_COLS, COLUMNS, SIZE = 8, 64, 128, 2  # of the notebook's tile and matrix; bytes of an element
NUMBERS = {
    "tile": TILE_ROWS * TILE_COLS * SIZE,
    "rows": COLUMNS * SIZE,
    "element": (3 * COLUMNS + 64) * SIZE,
}
ELEMENTS = [number // SIZE for number in NUMBERS.values()]
REPORT = {"name": "b", "mend": "c", "luck": "c"}
SOURCES = {
    "bytes": "a",
    "wait": "b",
    "documents": "c",
    "orders": "b",
}
BLOCKS, THREADS, LENGTH = 4, 128, 1000
KNOW = {
    "launch": BLOCKS * THREADS,
    "turns": len(range(5, LENGTH, THREADS)),
    "warp": 32,
    "certain": 0,
}


def asked(answers: Mapping[str, Value]) -> dict[str, Value]:
    """What is right, by what a check calls the question."""
    return {text(f"start.asked-{name}"): value for name, value in answers.items()}


def judge_first_numbers(answer: object, seed: int) -> Sequence[Finding]:
    mistakes = {"elements": ELEMENTS, "tile-pitch": [1024, TILE_COLS * SIZE, (3 * TILE_COLS + 64) * SIZE]}
    return [judge_numbers(answer, asked(NUMBERS), "numbers", 3, mistakes)]


def judge_report(answer: object, seed: int) -> Sequence[Finding]:
    causes = {(label, ""): name for label, name in asked({name: name for name in REPORT}).items()}
    return [judge_choices(answer, asked(REPORT), "abc", "letters", 3, causes)]


def judge_sources(answer: object, seed: int) -> Sequence[Finding]:
    causes = {(label, ""): f"source-{letter}" for label, letter in asked(SOURCES).items()}
    return [judge_choices(answer, asked(SOURCES), "abc", "letters", 3, causes)]


def judge_know(answer: object, seed: int) -> Sequence[Finding]:
    mistakes = {"whole-turns": [512, LENGTH // THREADS, 32, 0], "lucky": [512, 8, 32, 1], "barrier": [512, 8, 32, 2]}
    causes = asked({"turns": "whole-turns", "certain": "lucky"})
    return [judge_numbers(answer, asked(KNOW), "numbers", 4, mistakes, causes)]


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
            "name": "start.report-name",
            "mend": "start.report-mend",
            "luck": "start.report-luck",
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
