"""The choices within a turn, each by its number: what the hardware leaves open, other than whose turn it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tmalab.simulator.policy import Policy

if TYPE_CHECKING:
    from tmalab.simulator.turns import Turns


class TurnPolicy(Policy):
    """The choices within a turn, each by its number."""

    scripted, orderly, landing = True, False, "latest"

    def __init__(self, turns: Turns):
        self._turns, self.leaders = turns, {}

    def shuffle(self, items: list[Any]) -> None:
        """Threads and clusters begin in their order."""

    def preempts(self) -> bool:
        """Every operation ends a turn."""
        return True

    def pick(self, count: int) -> int:
        return self._turns.pick(count)

    def some_of(self, count: int) -> int:
        """All pieces; or just those that the barrier lacks, where nothing else is pending and more are coming: they
        could complete its phase."""
        copy = self._turns.moving
        if copy.barrier is None or copy.barrier.machine.pending_count:
            return count
        left, lacking = copy.bytes - copy.landed, copy.barrier.machine.tx_count
        if not 0 < lacking < left or lacking * count % left:
            return count
        return (count, lacking * count // left)[self._turns.pick(2)]
