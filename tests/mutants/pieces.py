"""The tables' work in pieces, dealt out to all processors: some orders of a kernel, some edits of one.

Every kernel's first piece comes before the second one of any, so that what the time does not suffice for are orders of
which each kernel has had some already.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from tests.mutants.right import CASES
from tests.mutants.runs import EDITED, Edits, Right, Wrong, check_edits, check_right, check_wrong, edits_of
from tests.mutants.wrong import MUTANTS

ORDERS = {check_right: 20, check_wrong: 5}  # in a piece
EDITS = 4

Piece = tuple[Callable[..., Any], tuple[Any, ...]]  # a check, and what it is called with: a kernel's name first


class Tables(NamedTuple):
    """What was found, of each kind of kernels in their order, and how many pieces the time did not suffice for."""

    right: list[Right]
    wrong: list[Wrong]
    edits: list[Edits]
    not_run: int = 0


def tables(right_seeds: int, seeds: int, edit_seeds: int, seconds: float = float("inf")) -> Tables:
    """Run right kernels, wrong kernels and edits (none for 0) in so many orders each, for so many seconds at most."""
    kernels = [_orders(check_right, name, right_seeds) for name in CASES]
    kernels += [_orders(check_wrong, name, seeds) for name in MUTANTS]
    kernels += [_edits(name, edit_seeds) for name in (EDITED if edit_seeds else ())]
    pieces = [piece for piece in chain(*zip_longest(*kernels)) if piece is not None]
    made = dict(zip(pieces, _run(pieces, seconds), strict=True))
    right, wrong = (_joined(check, names, made) for check, names in ((check_right, CASES), (check_wrong, MUTANTS)))
    edits = _joined(check_edits, (name for name in EDITED if _is_whole(name, made)), made)
    return Tables(right, wrong, edits, sum(found is None for found in made.values()))


def _orders(check: Callable[..., Any], name: str, seeds: int) -> list[Piece]:
    size = ORDERS[check]
    return [(check, (name, min(size, seeds - first), first)) for first in range(0, seeds, size)]


def _edits(name: str, seeds: int) -> list[Piece]:
    return [
        (check_edits, (name, seeds, _Slice(first, first + EDITS))) for first in range(0, len(edits_of(name)), EDITS)
    ]


class _Slice(NamedTuple):
    """A slice that can be a key."""

    first: int
    stop: int


def _run(pieces: list[Piece], seconds: float) -> list[Any]:
    """What each piece came to; None: not run."""
    deadline = None if seconds == float("inf") else time.monotonic() + seconds
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(_check, piece) for piece in pieces]
        wait(futures, None if deadline is None else deadline - time.monotonic())
        pool.shutdown(wait=False, cancel_futures=True)
        return [_result(future) for future in futures]


def _check(piece: Piece) -> Any:
    check, (*given, last) = piece
    return check(*given, slice(*last) if isinstance(last, _Slice) else last)


def _result(future: Future) -> Any:
    return None if future.cancelled() else future.result()


def _joined(check: Callable[..., Any], names: Iterable[str], made: dict[Piece, Any]) -> list[Any]:
    """The pieces of each kernel as one."""
    whole: dict[str, Any] = {}
    for (of, (name, *_)), found in made.items():
        if of is check and found is not None:
            if name in whole:
                whole[name].add(found)
            else:
                whole[name] = found
    return [whole[name] for name in names if name in whole]


def _is_whole(name: str, made: dict[Piece, Any]) -> bool:
    """Whether all edits of a kernel have been run: of some of them nothing can be said that counts them."""
    found = [found for (check, (of, *_)), found in made.items() if check is check_edits and of == name]
    return bool(found) and None not in found
