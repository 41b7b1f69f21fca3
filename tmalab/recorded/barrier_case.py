"""A case of an mbarrier: operations one after another, and what each of them leaves.

>>> case = BarrierCase("one arrival", ((0, 1, 0), (2, 1, 0), (1, 0, 0)))      # init(1), arrive(1), inval
>>> print(case)
init 1, arrive 1, inval 0
>>> case.by_model()[1].tolist()                                # state's pending count 1; the first phase is over
[9223363240761753600, 1, 0, 1, 0, 0]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tmalab.mbarrier import MBarrier
from tmalab.mbarrier_word import STATE_BITS

THREADS = 4  # that take turns

# What a step does. `amount` is a count, bytes, or the number of the step whose state is asked about.
OPERATIONS = (
    *("init", "inval", "arrive", "arrive_no_complete", "arrive_drop", "arrive_expect_tx"),
    *("expect_tx", "complete_tx", "test_wait", "test_wait_parity"),
)
INIT, INVAL, ARRIVE, NO_COMPLETE, DROP, ARRIVE_EXPECT_TX = range(6)
EXPECT_TX, COMPLETE_TX, TEST_WAIT, TEST_WAIT_PARITY = range(6, 10)

# What is noted after a step: the state that it gave and that state's pending count, the answer of a test, then what
# both parities' tests say; at the end the barrier's word.
COLUMNS = ("state", "pending_count", "answer", "parity_0", "parity_1", "word")
STATE, PENDING_COUNT, ANSWER, PARITY_0, PARITY_1, WORD = range(6)


@dataclass(frozen=True)
class BarrierCase:
    """Steps of (operation, amount, thread), operations as numbered in OPERATIONS."""

    name: str
    steps: tuple[tuple[int, int, int], ...]

    mode: ClassVar[str] = "mbarrier"
    operation: ClassVar[str] = "mbarrier"

    def __str__(self) -> str:
        return ", ".join(f"{OPERATIONS[operation]} {amount}" for operation, amount, _ in self.steps)

    def before(self) -> np.ndarray:
        """No result is there before: zeros."""
        return np.zeros(len(self.steps) * len(COLUMNS) * 8, np.uint8)

    def by_model(self) -> np.ndarray:
        """What MBarrier says: int64, a row of COLUMNS for each step."""
        return _Model().perform(self.steps)


class _Model:
    """An MBarrier that performs steps as the kernel does."""

    def __init__(self) -> None:
        self.bar: Any = None  # an MBarrier between init and inval
        self.states: list[int] = []

    def perform(self, steps: tuple[tuple[int, int, int], ...]) -> np.ndarray:
        rows = [self._step(OPERATIONS[operation], amount) for operation, amount, _ in steps]
        return defined(np.array(rows, np.int64))

    def _step(self, operation: str, amount: int) -> tuple[int, ...]:
        state = pending_count = answer = word = 0
        if operation == "init":
            self.bar = MBarrier(amount)
        elif operation == "inval":
            word = self.bar.word
            self.bar = None
        elif operation == "test_wait":
            answer = self.bar.test_wait(self.states[amount])
        elif operation == "test_wait_parity":
            answer = self.bar.test_wait_parity(amount)
        else:
            state = getattr(self.bar, operation)(amount) or 0
        self.states.append(state)
        if state:
            pending_count = MBarrier.pending_count_of(state)
        parities = (0, 0) if self.bar is None else map(self.bar.test_wait_parity, (0, 1))
        return state, pending_count, int(answer), *map(int, parities), word - (word >> 63 << 64)


def defined(seen: np.ndarray) -> np.ndarray:
    """What was seen, without the lower half of the states: the hardware leaves it undefined."""
    seen[:, STATE] = seen[:, STATE] >> STATE_BITS << STATE_BITS
    return seen
