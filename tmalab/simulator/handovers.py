"""What threads hand over through memory: a fence and then an atomic gives, an atomic and then a fence takes.

Atomics order nothing by themselves. Where a thread executes a fence and then an atomic, that element of memory is given
what the thread knew at the fence; who comes to the element with an atomic later, and executes a fence then, has taken
it. Both fences must have a scope that holds the two threads (PTX ISA, memory consistency model, release and acquire
patterns).

By the letter both threads execute the fences themselves. In practice every thread of a CTA executes one, all meet, and
a single thread goes on to the atomic; and where the last CTA adds up the sums of all (CUDA C++ Programming Guide,
memory fence functions) a barrier of the CTA stands in for the fence that takes. Both are accepted, of the latter strict
runs warn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tmalab.simulator.clocks import Clocks
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

SCOPES = ("cta", "cluster", "gpu")  # of fences; .sys reaches no further among the threads of one grid


def reaches(scope: str, one: Cta, other: Cta) -> bool:
    """Whether a scope of threads of one CTA holds the threads of the other."""
    return one is other or scope == "gpu" or (scope == "cluster" and one.cluster is other.cluster)


class Handovers:
    """The elements through which the threads of one company have handed something over."""

    def __init__(self, clocks: Clocks):
        self._clocks = clocks
        self._given: dict[Hashable, dict[tuple[Cta, str], int]] = {}  # element: row, by the giver's CTA and the scope

    def touched(self, thread: SimThread, element: Hashable) -> None:
        """A thread has executed an atomic on an element."""
        fenced, given = thread.fences.fenced, self._given.get(element)
        if given is None and not fenced:
            return
        thread.cut()
        for (cta, scope), row in (given or {}).items():
            thread.fences.saw(thread, cta, row, reaches(scope, cta, thread.cta))
        for scope, row in fenced.items():
            rows = self._given.setdefault(element, {})
            if (thread.cta, scope) not in rows:
                rows[thread.cta, scope] = self._clocks.new_row()
            self._clocks.join_common(rows[thread.cta, scope], row, thread.row)
