"""Answers that are a few whole numbers: predictions and counts. Each right one earns its share.

>>> judge_numbers([4, 4], {"two and two": 4, "two and three": 5}, part="sums", points=2).points
1.0
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from grader.exercise import Finding, right, wrong
from grader.texts import text

Value = TypeVar("Value")


def judge_numbers(
    answer: object,
    expected: Mapping[str, int],
    part: str,
    points: float,
    mistakes: Mapping[str, Sequence[int]] | None = None,
    causes: Mapping[str, str] | None = None,
) -> Finding:
    """Compare an answer, a list in the order of `expected` or a dict with its keys, number by number.

    `mistakes` maps a cause to the numbers that this mistake leads to: an answer that shows only these gets that cause.
    Where none explains all that is wrong, the first wrong number decides: a mistake that leads to it, else what
    `causes` has for its label, else `some`. The right numbers are never printed: the learner is to find them.
    """
    given = as_list(answer, expected)
    if isinstance(given, str):
        return wrong(part, points, given, "form")
    whole = [as_whole(value) for value in given]
    hits = [seen == wanted for seen, wanted in zip(whole, expected.values(), strict=True)]
    if all(hits):
        return right(part, points, text("numbers.all-right", count=len(hits)))
    misses = [_miss(label, value) for label, value, hit in zip(expected, given, hits, strict=True) if not hit]
    message = text("numbers.some-right", right=sum(hits), count=len(hits), misses="; ".join(misses))
    cause = _mistake(whole, hits, mistakes or {})
    if not cause:
        place = hits.index(False)
        unread = given[place] is not None and whole[place] is None
        cause = "form" if unread else (causes or {}).get(list(expected)[place], "some")
    return wrong(part, points, message, cause, points=points * sum(hits) / len(hits))


def by_question(values: Iterable[Value]) -> dict[str, Value]:
    """What is right, labelled as the notebook numbers its questions: where these are sentences, too long to repeat."""
    return {text("numbers.question", number=number): value for number, value in enumerate(values)}


def as_integer(value: object) -> int | None:
    """The whole number that a learner means, Python's or NumPy's; None for anything else, True and 3.0 included."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:  # a learner's own type may raise anything here
        return None


def as_whole(value: object) -> int | None:
    """The same, and of a float that is whole, 1024.0, that integer: a count may come out of a division."""
    whole = type(value) in (float, np.float64, np.float32) and value.is_integer()  # type: ignore[attr-defined]
    return as_integer(int(value) if whole else value)  # type: ignore[call-overload]


def shown(value: object) -> str:
    """A learner's value, short, whatever its own repr does."""
    try:
        return reprlib.repr(value)
    except Exception:  # an integer of more digits than Python writes, or a repr that raises what reprlib lets through
        return text("numbers.unshowable", type=type(value).__name__)


def as_list(answer: object, expected: Mapping[str, object]) -> list[object] | str:
    """What an answer holds, in the order of `expected`, or the sentence that says why there are none."""
    if isinstance(answer, Mapping):
        missing = [label for label in expected if label not in answer]
        if not missing:
            return [answer[label] for label in expected]
        return text("numbers.missing", missing=", ".join(missing))
    if isinstance(answer, np.ndarray) and answer.ndim == 1:
        answer = answer.tolist()
    if not isinstance(answer, Sequence) or isinstance(answer, (str, bytes)):
        return text("numbers.wrong-type", count=len(expected), type=type(answer).__name__)
    if len(answer) != len(expected):
        return text("numbers.wrong-length", count=len(expected), length=len(answer))
    return list(answer)


def _miss(label: str, value: object) -> str:
    if value is None:
        return text("numbers.open", label=label)
    key = "numbers.miss" if as_whole(value) is not None else "numbers.not-whole"
    return text(key, label=label, value=shown(value))


def _mistake(given: Sequence[int | None], hits: Sequence[bool], mistakes: Mapping[str, Sequence[int]]) -> str:
    """The known mistake that explains every miss, else one that explains the first; empty where none does."""
    for cause, numbers in mistakes.items():
        if all(seen == number for seen, number, hit in zip(given, numbers, hits, strict=True) if not hit):
            return cause
    first = hits.index(False)
    return next((cause for cause, numbers in mistakes.items() if numbers[first] == given[first]), "")
