"""Answers to lesson 0 that are not the notebook's own: wrong ones, each refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Wrong(NamedTuple):
    """An answer, the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


NUMBERS = [1024, 256, 896]
REPORT = ["b", "c", "c"]
SOURCES = ["a", "b", "c", "b"]
KNOW = [512, 8, 32, 0]

WRONG = {
    "start.numbers": [
        Wrong([512, 128, 448], "numbers", "0 of 3 right"),  # elements
        Wrong([1024, 128, 512], "numbers", "1 of 3 right"),  # the tile's own rows
        Wrong([1024, 256, None], "numbers", "2 of 3 right"),
        Wrong(1024, "numbers", "3"),
        Wrong(["1024", 256, 896], "numbers", "2 of 3 right"),
    ],
    "start.report": [
        Wrong(["a", "c", "c"], "letters", "2 of 3 right"),
        Wrong(["b", "b", "c"], "letters", "2 of 3 right"),
        Wrong(["b", "c", "a"], "letters", "2 of 3 right"),
        Wrong(["b", "c"], "letters", "3"),
    ],
    "start.sources": [
        Wrong(["c", "b", "c", "b"], "letters", "3 of 4 right"),
        Wrong(["a", "a", "c", "b"], "letters", "3 of 4 right"),
        Wrong(["a", "b", "a", "b"], "letters", "3 of 4 right"),
        Wrong(["a", "c", "c", "c"], "letters", "2 of 4 right"),
    ],
    "start.know": [
        Wrong([128, 8, 32, 0], "numbers", "3 of 4 right"),
        Wrong([512, 7, 32, 0], "numbers", "3 of 4 right"),
        Wrong([512, 8, 32, 1], "numbers", "3 of 4 right"),
        Wrong([512, 8, 16, 2], "numbers", "2 of 4 right"),
    ],
}

RIGHT = {
    "start.numbers": [tuple(NUMBERS), np.array(NUMBERS)],
    "start.report": [tuple(REPORT), [letter.upper() for letter in REPORT]],
    "start.sources": [tuple(SOURCES), [f" {letter}" for letter in SOURCES]],
    "start.know": [tuple(KNOW), np.array(KNOW)],
}
