"""Answers that are chosen among a few, by letter; and predictions, numbers that come with a reason so chosen.

A reason counts where the number beside it is right: nobody is right by chance for the wrong reason, or the other way
round. What is right is never printed.

>>> judge_choices(["b", "a"], {"first": "b", "second": "c"}, "abc", part="causes", points=2).points
1.0
>>> asked = {"two and two": Predicted(4, "a"), "two and three": Predicted(5, "b")}
>>> [finding.points for finding in judge_predictions([(4, "a"), (6, "b")], asked, "ab", {"sums": 2, "reasons": 2})]
[1.0, 1.0]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from grader.exercise import Finding, right, wrong
from grader.judges.numbers import as_list, judge_numbers, shown
from grader.texts import text

MANY = 10  # choices: too many to be listed beside each one that is none of them


class Predicted(NamedTuple):
    """What is right: a number and the letter of its reason."""

    number: int
    reason: str


def judge_choices(
    answer: object,
    expected: Mapping[str, str],
    letters: Sequence[str],
    part: str,
    points: float,
    causes: Mapping[tuple[str, str], str] | None = None,
    counting: Sequence[bool] | None = None,
) -> Finding:
    """Compare letters, a list in the order of `expected` or a dict with its keys, one by one.

    `causes` names what a wrong choice shows, by (label, letter), or by (label, "") for any other wrong one.
    `counting` says which choices count at all; all of them, if it is not given.
    """
    given, letters = as_list(answer, expected), tuple(letters)
    if isinstance(given, str):
        return wrong(part, points, given, "form")
    chosen = [value.strip().lower() if type(value) is str else None for value in given]
    counting = counting or [True] * len(chosen)
    hits = [a == b and counted for a, b, counted in zip(chosen, expected.values(), counting, strict=True)]
    if all(hits):
        return right(part, points, text("choices.all-right", count=len(hits)))
    compared = list(zip(expected, given, chosen, counting, hits, strict=True))
    misses = [_miss(*choice[:4], letters) for choice in compared if not choice[4]]
    message = text("choices.some-right", right=sum(hits), count=len(hits), misses="; ".join(misses))
    missed = ((label, letter) for label, _, letter, counted, hit in compared if counted and not hit)
    cause = next((_cause(causes or {}, label, letter) for label, letter in missed), "number-first")
    return wrong(part, points, message, cause, points=points * sum(hits) / len(hits))


def judge_predictions(
    answer: object,
    expected: Mapping[str, Predicted],
    letters: Sequence[str],
    points: Mapping[str, float],
    mistakes: Mapping[str, Sequence[int]] | None = None,
    causes: Mapping[tuple[str, str], str] | None = None,
) -> list[Finding]:
    """The two parts of `points`: numbers and reasons. The answer holds a pair (number, letter) for each question.

    `mistakes` are those of `judge_numbers`, `causes` those of `judge_choices`.
    """
    (numbers_part, numbers_points), (reasons_part, reasons_points) = points.items()
    pairs = _pairs(answer, expected)
    if isinstance(pairs, str):
        not_looked_at = wrong(reasons_part, reasons_points, text("report.not-looked-at"), "form")
        return [wrong(numbers_part, numbers_points, pairs, "form"), not_looked_at]
    numbers, reasons = [number for number, _ in pairs], [reason for _, reason in pairs]
    right_numbers = {label: wanted.number for label, wanted in expected.items()}
    hits = [
        judge_numbers([number], {label: wanted}, numbers_part, 1).points == 1
        for number, (label, wanted) in zip(numbers, right_numbers.items(), strict=True)
    ]
    right_reasons = {label: wanted.reason for label, wanted in expected.items()}
    return [
        judge_numbers(numbers, right_numbers, numbers_part, numbers_points, mistakes),
        judge_choices(reasons, right_reasons, letters, reasons_part, reasons_points, causes, hits),
    ]


def _pairs(answer: object, expected: Mapping[str, Predicted]) -> list[tuple[object, object]] | str:
    """A pair for each question, or the sentence that says why there are none."""
    given = as_list(answer, expected)
    if isinstance(given, str):
        return given
    for label, value in zip(expected, given, strict=True):
        if type(value) not in (tuple, list) or len(value) != 2:  # type: ignore[arg-type]
            return text("choices.no-pair", label=label, value=shown(value))
    return [(value[0], value[1]) for value in given]  # type: ignore[index]


def _miss(label: str, value: object, letter: str | None, counted: bool, letters: Sequence[str]) -> str:
    if value is None:
        return text("numbers.open", label=label)
    if letter not in letters:
        if len(letters) > MANY:
            return text("choices.no-name", label=label, value=shown(value), count=len(letters))
        return text("choices.no-letter", label=label, value=shown(value), letters=", ".join(letters))
    return text("choices.miss" if counted else "choices.number-first", label=label, value=letter)


def _cause(causes: Mapping[tuple[str, str], str], label: str, letter: str | None) -> str:
    return causes.get((label, letter or ""), causes.get((label, ""), "choice"))
