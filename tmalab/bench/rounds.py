"""Rounds: contenders that take turns, so that a GPU that gets warmer, or slower, does so for all of them.

What is compared is the time of each round: the ratio of two contenders is the median of the ratios of their rounds.

>>> seconds = {"ours": [1.0, 2.0, 1.0], "theirs": [1.1, 1.9, 1.2]}
>>> ratio(seconds, "ours", "theirs")
1.1
>>> round(geometric_mean([0.5, 2.0]), 3)
1.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from statistics import median

from tmalab.progress_bar import watched

FEWEST = 15  # rounds: fewer say little


def interleaved(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each contender measures in each round. In another order each time: who ran before warms the GPU."""
    names = list(contenders)
    orders = Random(len(names))
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in watched(range(rounds)):
        for name in orders.sample(names, len(names)):
            found[name].append(contenders[name]())
    return found


def ratio(seconds: Mapping[str, Sequence[float]], name: str, reference: str) -> float:
    """How many times as fast as the reference a contender is: the median over the rounds."""
    return median(theirs / ours for ours, theirs in zip(seconds[name], seconds[reference], strict=True))


def geometric_mean(ratios: Iterable[float]) -> float:
    """The mean of ratios: it does not depend on which of the two is the reference."""
    logarithms = [math.log(value) for value in ratios]
    return math.exp(math.fsum(logarithms) / len(logarithms))
