"""Whether an answer is looked for again, in a run of all cells: where cells may be missing, never as a second guess.

Answers are first taken from the cells that seem to make them. That can be too few, as names can be made in ways that no
syntax tells; but whoever could have two answers looked at would guess twice.

>>> is_said(["list", [["plain", 4096], ["plain", 1]]]), is_said(["list", [["plain", 4096], ["plain", None]]])
(True, False)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.graded import Graded


def may_be_lacking(graded: Graded, tree: Any) -> bool:
    """Whether an answer has lost points that it may have lost because cells were left out."""
    said = is_said(tree) and not any(part.cause == "form" for part in graded.parts)
    return graded.points < graded.maximum and not said


def is_said(tree: Any) -> bool:
    """Whether an answer is plain data, and nothing of it is left open."""
    if type(tree) is not list or len(tree) != 2 or tree[0] not in ("plain", "list", "tuple", "dict"):
        return False
    kind, inside = tree
    if kind == "plain" or type(inside) is not list:
        return inside is not None
    parts = [pair[-1:] for pair in inside] if kind == "dict" else [[each] for each in inside]
    return all(is_said(part[0]) for part in parts if type(part) is list and part)


def contradicts(first: Any, again: Any) -> bool:
    """Whether plain answers say different things of the same question: the later one is then no more of the first.

    >>> left, right = ["list", [["plain", 7], ["plain", None]]], ["list", [["plain", None], ["plain", 1]]]
    >>> contradicts(left, right), contradicts(left, ["list", [["plain", 8], ["plain", None]]])
    (False, True)
    """
    if not _is_open(first) or not _is_open(again):
        return False
    (kind, one), (other_kind, other) = first, again
    if kind == other_kind == "plain":
        return one is not None and other is not None and repr(one) != repr(other)
    if kind != other_kind or len(one) != len(other):
        return True
    if kind == "dict":
        return any(repr(a[0]) != repr(b[0]) or contradicts(a[1], b[1]) for a, b in zip(one, other, strict=True))
    return any(map(contradicts, one, other))


def _is_open(tree: Any) -> bool:
    """Whether it is plain data, which may have gaps."""
    if type(tree) is not list or len(tree) != 2 or tree[0] not in ("plain", "list", "tuple", "dict"):
        return False
    kind, inside = tree
    pairs = kind != "dict" or (type(inside) is list and all(type(each) is list and len(each) == 2 for each in inside))
    return kind == "plain" or (type(inside) is list and pairs)


def same(one: Any, other: Any) -> bool:
    """Whether two answers are the same, as far as can be told: functions by their source."""
    if type(one) is list and type(other) is list and one[:1] == other[:1] == ["function"]:
        return type(one[-1]) is dict and repr(one[-1]) == repr(other[-1])
    return repr(one) == repr(other)
