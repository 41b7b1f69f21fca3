"""Checks of the course's exercises: what an answer is worth, and why.

`check` prints what it found, part by part, and returns the points as a plain float, which is what nbgrader reads.

>>> import grader
>>> points = grader.check("copy-2d.count", None)        # doctest: +ELLIPSIS
copy-2d.count  ...
>>> points
0.0
"""

from grader.checking import check, questions

__all__ = ["check", "questions"]
