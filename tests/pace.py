"""Limits of time that hold on any computer: seconds of the processor, as many more as this one is slower."""

from __future__ import annotations

import time

REFERENCE = 0.0105  # seconds of the processor for `_work`, on a server's core that does nothing else
MOST = 10.0  # a processor that seems slower than that is not believed


def seconds(limit: float) -> float:
    """A limit in seconds of the processor, for one as fast as it is just now."""
    taken = min(_taken() for _ in range(3))
    return limit * min(max(taken / REFERENCE, 1.0), MOST)


def within(taken: float, limit: float) -> bool:
    """Whether so many seconds of the processor are fewer than the limit. Asks for the pace only where that tells."""
    return taken < limit or taken < seconds(limit)


def _taken() -> float:
    began = time.process_time()
    _work()
    return time.process_time() - began


def _work() -> int:
    """What the simulator does most: Python's own steps, with small objects."""
    kept: dict[int, tuple[int, int]] = {}
    for step in range(100_000):
        kept[step & 1023] = (step, len(kept))
    return len(kept)
