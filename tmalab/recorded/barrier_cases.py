"""Random sequences of mbarrier operations that PTX defines: counts up to the largest, tx-counts to both ends, drops.

>>> from random import Random
>>> print(random_barrier_case(Random(3), 0))  # doctest: +ELLIPSIS
init ...
"""

from __future__ import annotations

from random import Random

from tmalab.mbarrier import LIMIT, MBarrier
from tmalab.recorded.barrier_case import OPERATIONS, THREADS, BarrierCase

LONGEST = 40  # steps
COUNTS = (1, 1, 2, 3, 5, 32, 128, 1000, LIMIT, LIMIT - 1)


def random_barrier_case(draw: Random, number: int) -> BarrierCase:
    """A random sequence that ends with inval, so that the barrier's word is seen."""
    drawing = _Drawing(draw)
    for _ in range(draw.randint(8, LONGEST)):
        drawing.step()
    drawing.end()
    return BarrierCase(f"random sequence {number}", tuple(drawing.steps))


class _Drawing:
    """A sequence in the making, and the barrier as it stands: it tells what is defined next."""

    def __init__(self, draw: Random):
        self.draw = draw
        self.steps: list[tuple[int, int, int]] = []
        self.bar = MBarrier(1)
        self.live = False  # whether the barrier is one now
        self.states: list[tuple[int, int]] = []  # step, phase

    def step(self) -> None:
        """One more operation."""
        if not self.live:
            self._put("init", self._count())
        elif self.draw.random() < 0.03:
            self.end()
        else:
            getattr(self, f"_{self.draw.choice(self._possible())}")()

    def end(self) -> None:
        """inval, if the barrier is live."""
        if self.live:
            self._put("inval", 0)

    def _possible(self) -> list[str]:
        """Kinds of operations that the barrier as it stands takes, the likely ones more than once."""
        kinds = ["test"]
        if self.bar.pending_count:
            kinds += ["arrive", "arrive", "arrive_drop", "arrive_expect_tx", "arrive_no_complete"]
        if self.bar.expected_count:  # without that nothing is defined any more
            kinds += ["expect_tx", "complete_tx", "complete_tx"]
        return kinds

    def _put(self, operation: str, amount: int) -> None:
        """Note a step, and do it."""
        if operation == "init":
            self.bar, self.states, self.live = MBarrier(amount), [], True
        elif operation == "inval":
            self.live = False
        elif not operation.startswith("test"):
            phase = self.bar.phase
            if getattr(self.bar, operation)(amount) is not None:
                self.states.append((len(self.steps), phase))
        self.steps.append((OPERATIONS.index(operation), amount, self.draw.randrange(THREADS)))

    def _count(self) -> int:
        return self.draw.choice((*COUNTS, self.draw.randint(1, LIMIT), 1 << self.draw.randrange(20)))

    def _bytes(self) -> int:
        draw = self.draw
        return draw.choice((0, 1, 16, 4096, draw.randint(0, LIMIT), LIMIT, 1 << draw.randrange(20)))

    def _some_of_the_pending(self) -> int:
        pending = self.bar.pending_count
        return self.draw.choice((1, pending, max(1, pending - 1), self.draw.randint(1, pending)))

    def _arrive(self) -> None:
        self._put("arrive", self._some_of_the_pending())

    def _arrive_drop(self) -> None:
        self._put("arrive_drop", self._some_of_the_pending())

    def _arrive_no_complete(self) -> None:
        count, bar = self._some_of_the_pending(), self.bar
        completes = count == bar.pending_count and bar.tx_count == 0
        self._put("arrive" if completes else "arrive_no_complete", count)

    def _arrive_expect_tx(self) -> None:
        self._put("arrive_expect_tx", min(self._bytes(), LIMIT - self.bar.tx_count))

    def _expect_tx(self) -> None:
        """Some bytes, or just those that were credited too many."""
        wanted = self.draw.choice((self._bytes(), max(0, -self.bar.tx_count)))
        self._put("expect_tx", min(wanted, LIMIT - self.bar.tx_count))

    def _complete_tx(self) -> None:
        """Some bytes, or just those that are outstanding."""
        wanted = self.draw.choice((self._bytes(), max(0, self.bar.tx_count)))
        self._put("complete_tx", min(wanted, LIMIT + self.bar.tx_count))

    def _test(self) -> None:
        """By the state of the current or the preceding phase, or by parity."""
        phase = self.bar.phase
        states = [step for step, of in self.states if of in (phase, phase - 1)]
        if states and self.draw.random() < 0.7:
            self._put("test_wait", self.draw.choice(states))
        else:
            self._put("test_wait_parity", self.draw.randrange(2))
