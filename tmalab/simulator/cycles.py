"""Python's collector of cycles, which looks at every 700 new objects: a launch makes a dozen for each thread.

They all live as long as their CTA does, so that to look so often finds nothing and takes 3 to 10 % of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 100_000  # new ones between two looks: those of 30 CTAs of 256 threads, some 20 MB


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Within, the collector looks at 100,000 new objects at a time; what it was told before holds again afterwards."""
    before = gc.get_threshold()
    gc.set_threshold(before[0] and max(before[0], OBJECTS), *before[1:])  # 0: it has been switched off
    try:
        yield
    finally:
        gc.set_threshold(*before)
