"""A micro-benchmark: a kernel, how it is launched, and how what it measures is read.

A kernel's first argument is `out`, two int64, where it leaves cycles; its second, `turns`, is how often it does what is
measured; its third, `start`, is 0, which the compiler does not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tmalab.launch import Kernel

CLOCK, EVENT, WAVES = "clock", "event", "waves"


@dataclass(frozen=True)
class Benchmark:
    """One micro-benchmark.

    name     of what it measures
    kernel   that measures it
    turns    how often it does so: there is a launch of so many turns and one of twice as many, and what counts is the
             difference, so that what goes before and after is left out
    how      CLOCK: out[0] has the cycles of all turns; EVENT: whole launches are timed; WAVES: the same, with so many
             CTAs for each SM in place of turns
    block    threads of a CTA; `cluster`: CTAs of a cluster; `grid`: CTAs, or 0: `ctas` for each SM
    data     the further arguments, given how many bytes of memory they may take
    memory   bytes that they take on a GPU
    cold     whether its data come from device memory: before each launch the L2 cache is filled with other bytes
    """

    name: str
    kernel: Kernel
    turns: int
    how: str = CLOCK
    block: int = 32
    cluster: int = 1
    grid: int = 1
    ctas: int = 1
    data: Callable[[int], tuple[Any, ...]] = lambda memory: ()
    memory: int = 1 << 20
    cold: bool = False

    def arguments(self, turns: int, memory: int | None = None, out: Any = None) -> tuple[Any, ...]:
        """The kernel's arguments, made anew. `out`: that array, if there is one already."""
        data = self.data(self.memory if memory is None else memory)
        return np.zeros(2, np.int64) if out is None else out, turns, 0, *data
