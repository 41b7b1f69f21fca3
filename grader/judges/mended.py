"""Answers that are several kernels, each mended: every one is tried on all of its inputs and in a few orders.

A kernel counts as a whole: the right bytes on every input, and no hazard in any run. It isn't compiled here, which
would take most of a check's time; what is no kernel's language is refused by its syntax.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.exercise import Finding, right, wrong
from grader.judges.kernels import Case, KernelTask, _difference, _names
from grader.judges.numbers import as_list
from grader.language import NotTheLanguage, check
from grader.runner import current
from grader.source import KernelSource, NoSource
from grader.texts import text

ORDERS = 5  # of the public input
SECONDS = 0.4  # after which no further order is tried, of one kernel


def judge_mended(answer: object, tasks: Mapping[str, KernelTask], part: str, points: float, seed: int) -> Finding:
    """`answer` holds a kernel for each name, in a dict or a list; the cause is the first that was tried and fails."""
    given = as_list(answer, tasks)
    if isinstance(given, str):
        return wrong(part, points, given, "form")
    reasons = {name: _why_not(kernel, task, seed) for (name, task), kernel in zip(tasks.items(), given, strict=True)}
    bad = {name: reason for name, reason in reasons.items() if reason}
    if not bad:
        return right(part, points, text("mended.all-right", count=len(tasks)))
    good = len(tasks) - len(bad)
    misses = "\n".join(text("mended.miss", name=name, reason=reason) for name, reason in bad.items())
    message = text("mended.some-right", right=good, count=len(tasks)) + "\n" + misses
    tried = (name for name, kernel in zip(tasks, given, strict=True) if name in bad and kernel is not None)
    return wrong(part, points, message, next(tried, next(iter(bad))), points=points * good / len(tasks))


def _why_not(kernel: object, task: KernelTask, seed: int) -> str:
    """Why a kernel does not count, in a sentence; nothing where it does."""
    if kernel is None:
        return text("mended.open")
    try:
        source = current().source(kernel)
        check(source)
    except (NoSource, NotTheLanguage) as reason:
        return str(reason)
    if len(source.parameters) != len(task.parameters):
        return text("kernel.parameters", given=", ".join(source.parameters), wanted=", ".join(task.parameters))
    return _why_not_right(source, task, seed)


def _why_not_right(source: KernelSource, task: KernelTask, seed: int) -> str:
    public, *hidden = task.cases(seed)
    for case in (public, *hidden):
        outcome = current().run(source, case.arguments, task.shape)
        told = case is public or not current().discreet
        if not outcome.ok:
            return text(
                "mended.hazards", input=case.name if told else "", names=", ".join(dict.fromkeys(_names(outcome)))
            )
        if outcome.arrays[-1].tobytes() != case.expected.tobytes():
            return _difference(case, outcome) if told else text("kernel.bytes-wrong-elsewhere")
        if not outcome.copied:
            return text("kernel.nothing-to-order")
    return _why_not_in_order(source, public, task)


def _why_not_in_order(source: KernelSource, case: Case, task: KernelTask) -> str:
    others = [(case.arguments, seed) for seed in range(1, ORDERS)]
    runs = current().several(source, others, task.shape, SECONDS, until_wrong=True)
    bad = next((run for run in runs if not run.ok), None)
    return text("mended.hazards", input=case.name, names=", ".join(dict.fromkeys(_names(bad)))) if bad else ""
