"""Copies in flight: what loads, stores and cp.async have in common, cp.async itself, and the arrive that waits for it.

A copy is issued by a thread and lands later, in parts, when the scheduler says so. What it does to memory is asked of
tmalab.reference at that moment, so a source that is overwritten too early really gives wrong bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread


class Copy:
    """A copy that one thread issued, between global memory and the shared memory of `cta`, or into it.

    number   tells it from all others of the run
    place    the number of the source line
    knew     what its issuer was ordered after, where lines are noted
    role     what reports call it
    """

    role: ClassVar[str]
    lands_in_shared: ClassVar[bool] = False  # and credits a barrier there

    def __init__(self, thread: SimThread, cta: Cta | None = None):
        self.cta: Cta = cta or thread.cta
        self.thread = thread
        self.number = thread.run.next_copy(self)
        self.place = thread.run.place_number()
        self.knew = thread.cta.clocks.order[thread.row].copy() if thread.run.noting else None

    @property
    def what(self) -> tuple:
        """What it copies: the same for two copies that do the same."""
        return type(self), *(getattr(self, name, None) for name in ("tensor_map", "coordinates", "address", "source"))

    @property
    def can_move(self) -> bool:
        """Whether it can make progress now."""
        return True

    @property
    def awaited(self) -> bool:
        """Whether a thread is waiting for it."""
        return False

    def move(self) -> bool:
        """Make progress. Returns whether it is done."""
        raise NotImplementedError

    @property
    def end(self) -> tuple[int, int] | None:
        """Of a copy that is done, the dimension and tick by which all that it did is known; None: it did nothing."""
        raise NotImplementedError


class CpAsync(Copy):
    """cp.async: 4, 8 or 16 bytes for one thread. Its end is known by `order` in `dimension`."""

    role = "cpasync"

    def __init__(self, thread: SimThread, destination: int, source: int, bytes: int):
        super().__init__(thread)
        self.address, self.source, self.bytes = destination, source, bytes
        self.order = self.dimension = 0  # the how manyth of its thread

    @property
    def awaited(self) -> bool:
        return self.cta.cp_async_groups.awaits(self)

    def move(self) -> bool:
        start = self.source - self.cta.run.memory.base
        data = self.cta.run.memory.bytes[start : start + self.bytes]
        self.cta.memory.put(np.arange(self.address, self.address + self.bytes), data)
        self.cta.cp_async_groups.landed(self)
        return True

    @property
    def end(self) -> tuple[int, int]:
        return self.dimension, self.order


class LateArrive(Copy):
    """cp.async.mbarrier.arrive: an arrive once all earlier cp.async of the thread have landed. `counted`: by the count
    of mbarrier_init, not by one more that was added for it."""

    role = "cpasync"

    def __init__(self, thread: SimThread, barrier: Barrier, dimension: int, order: int, counted: bool):
        super().__init__(thread)
        self.barrier, self.dimension, self.order, self.counted = barrier, dimension, order, counted
        self.issued_after = thread.cta.clocks.executed(thread.row)

    @property
    def can_move(self) -> bool:
        return not self.cta.cp_async_groups.in_flight_until(self.thread, self.order)

    @property
    def awaited(self) -> bool:
        return bool(self.barrier.waiting)

    @property
    def end(self) -> None:
        return None

    def move(self) -> bool:
        self.cta.mbarriers.arrive_for(self)
        return True


def chosen(copies: list[Any], policy: Any) -> Copy | None:
    """The copy that makes progress next: landing late, the first that somebody waits for."""
    movable = [copy for copy in copies if copy.can_move]
    if not movable:
        return None
    if policy.landing == "latest":
        return next((copy for copy in movable if copy.awaited), movable[0])
    return policy.one_of(movable)
