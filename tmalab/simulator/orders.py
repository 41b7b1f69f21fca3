"""Orders in writing: whose turn it was, one after the other.

A thread is its number in the grid; `4.2` is the second copy (of those that credit an mbarrier) that thread 4 issued;
`*3` three turns in a row; `/1` the second of the choices that the turn had.

>>> spelled([(0, 0), (0, 0), ((4, 2), 0), (1, 1)])
'0*2 4.2 1/1'
>>> read("0*2 4.2 1/1")
((0, 0), (0, 0), ((4, 2), 0), (1, 1))
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from tmalab.simulator.search import Turn
from tmalab.texts import text

WORD = re.compile(r"(?P<thread>\d+)(\.(?P<copy>\d+))?(/(?P<choice>\d+))?(\*(?P<times>\d+))?")


def spelled(turns: Iterable[Turn]) -> str:
    """An order in writing."""
    return " ".join(_word(turn, len(list(same))) for turn, same in groupby(turns))


def read(order: str) -> tuple[Turn, ...]:
    """The turns of an order in writing; ValueError, in one sentence, for what is none."""
    turns: list[Turn] = []
    for word in order.split():
        found = WORD.fullmatch(word)
        if found is None:
            raise ValueError(text("explore.order", word=repr(word)))
        thread, copy = int(found["thread"]), found["copy"]
        turn = (thread if copy is None else (thread, int(copy)), int(found["choice"] or 0))
        turns += [turn] * int(found["times"] or 1)
    return tuple(turns)


def _word(turn: Turn, times: int) -> str:
    agent, choice = turn
    name = f"{agent[0]}.{agent[1]}" if isinstance(agent, tuple) else str(agent)
    return f"{name}{f'/{choice}' if choice else ''}{f'*{times}' if times > 1 else ''}"
