"""Lesson 0, start: a first check, a report to read, where results come from, what one needs to know."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from grader.exercise import Exercise, Finding
from grader.judges.choices import judge_choices
from grader.judges.lettered import causes, drawn_letters
from grader.judges.numbers import judge_numbers
from grader.texts import text

Value = TypeVar("Value")

REPORT = {"name": "b", "mend": "c", "luck": "c"}
SOURCES = {
    "bytes": "a",
    "wait": "b",
    "documents": "c",
    "orders": "b",
}


def asked(answers: Mapping[str, Value]) -> dict[str, Value]:
    """What is right, by what a check calls the question."""
    return {text(f"start.asked-{name}"): value for name, value in answers.items()}


def numbers_questions(seed: int) -> tuple[int, int, int, int, int, int]:
    """Rows and columns of a tile, columns of its matrix, bytes of an element; row and column of an element."""
    if not seed:
        return 8, 64, 128, 2, 3, 64
    draw = random.Random(f"{seed} numbers")
    rows, cols, columns, size = (
        draw.choice((4, 16, 32)),
        draw.choice((32, 64)),
        draw.choice((192, 256)),
        draw.choice((2, 4)),
    )
    return rows, cols, columns, size, draw.randrange(2, 12), draw.randrange(32, 128, 8)


def judge_first_numbers(answer: object, seed: int) -> Sequence[Finding]:
    rows, cols, columns, size, row, column = numbers_questions(seed)
    counts = {"tile": rows * cols, "rows": columns, "element": row * columns + column}
    expected = {name: count * size for name, count in counts.items()}
    in_the_tile = [rows * cols * size, cols * size, (row * cols + column) * size]
    mistakes = {"elements": list(counts.values()), "tile-pitch": in_the_tile}
    return [judge_numbers(answer, asked(expected), "numbers", 3, mistakes)]


def report_questions(seed: int) -> list[tuple[str, dict[str, str]]]:
    """Three questions, and what each letter says."""
    return [(text(f"start.report-{name}-question"), causes(f"start.report-{name}", "abc", seed)) for name in REPORT]


def judge_report(answer: object, seed: int) -> Sequence[Finding]:
    expected = {name: drawn_letters(f"start.report-{name}", "abc", seed)[letter] for name, letter in REPORT.items()}
    by_label = {(label, ""): name for label, name in asked({name: name for name in REPORT}).items()}
    return [judge_choices(answer, asked(expected), "abc", "letters", 3, by_label)]


def sources_questions(seed: int) -> dict[str, str]:
    """Who each letter stands for."""
    return causes("start.sources", "abc", seed)


def judge_sources(answer: object, seed: int) -> Sequence[Finding]:
    drawn = drawn_letters("start.sources", "abc", seed)
    expected = {name: drawn[letter] for name, letter in SOURCES.items()}
    by_label = {(label, ""): f"source-{letter}" for label, letter in asked(SOURCES).items()}
    return [judge_choices(answer, asked(expected), "abc", "letters", 3, by_label)]


def know_questions(seed: int) -> tuple[int, int, int, int]:
    """Blocks and threads of a launch; how far a loop goes, and which thread it is about."""
    if not seed:
        return 4, 128, 1000, 5
    draw = random.Random(f"{seed} know")
    threads = draw.choice((64, 96, 256))
    last = draw.randrange(20, threads - 20)  # of the last turn, which only some threads make
    return draw.choice((3, 5, 6)), threads, threads * draw.randrange(5, 9) + last, draw.randrange(last)


def judge_know(answer: object, seed: int) -> Sequence[Finding]:
    blocks, threads, length, thread = know_questions(seed)
    launch, turns = blocks * threads, len(range(thread, length, threads))
    expected = {"launch": launch, "turns": turns, "warp": 32, "certain": 0}
    mistakes = {
        "whole-turns": [launch, length // threads, 32, 0],
        "lucky": [launch, turns, 32, 1],
        "barrier": [launch, turns, 32, 2],
    }
    by_label = asked({"turns": "whole-turns", "certain": "lucky"})
    return [judge_numbers(answer, asked(expected), "numbers", 4, mistakes, by_label)]


EXERCISES = [
    Exercise(
        "start.numbers",
        {"numbers": 3},
        judge_first_numbers,
        untouched="start.numbers-untouched",
        questions=numbers_questions,
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
        questions=report_questions,
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
        questions=sources_questions,
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
        questions=know_questions,
        hints={
            "whole-turns": "start.know-turns",
            "lucky": "start.know-certain",
            "barrier": "start.know-certain",
            "some": "start.know-launch",
        },
    ),
]
