"""Checks of the course's exercises: what an answer is worth, and why.

`check` prints what it found, part by part, and returns the points as a plain float, which is what nbgrader reads.

>>> import grader
>>> points = grader.check("copy-2d.count", None)        # doctest: +ELLIPSIS
copy-2d.count  ...
>>> points
0.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.checking import check, questions

__all__ = ["check", "questions"]


def __getattr__(name: str) -> Any:
    """`python -m grader` imports this before it has made the environment that the checks need."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from grader import checking

    return getattr(checking, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
