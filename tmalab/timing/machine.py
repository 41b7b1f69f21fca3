"""The parts of the GPU that do one thing after the other: pipes of an SM, and those that all SMs share.

A pipe is a queue: what comes while it is busy waits its turn, so that copies in flight share its bandwidth. Its latency
is added behind it, and overlaps. With that, one copy takes latency + bytes / rate, many take what the rate allows, and
what lies between follows.

>>> pipe = Pipe()
>>> pipe.serve(10.0, 5.0), pipe.serve(11.0, 5.0)
(15.0, 20.0)
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tmalab.timing.constants import Constants

SCHEDULERS = 4  # of an SM, which has its warps take turns (CUDA C++ Programming Guide, compute capability 9.0)
FLOP_OF_COLUMN = 2 * 64 * 16  # of a wgmma m64nNk16, for each of its N columns


class Pipe:
    """Something that serves one request after the other. `busy`: for how long (ns) it has worked."""

    __slots__ = ("busy", "free")

    def __init__(self):
        self.free = self.busy = 0.0

    def serve(self, at: float, duration: float) -> float:
        """When a request that comes at a time (ns) and takes a while (ns) has been served."""
        self.free = max(at, self.free) + duration
        self.busy += duration
        return self.free


class Crowd:
    """Bytes that are under way. Memory reads or writes, not both: reads wait for what is being written, though a pipe
    would be free for them.

    >>> crowd = Crowd()
    >>> crowd.add(bytes=64, until=10.0)
    >>> crowd.ahead(5.0), crowd.ahead(20.0)
    (64, 0)
    """

    def __init__(self):
        self._under_way: list[tuple[float, float]] = []
        self._bytes = 0

    def add(self, bytes: float, until: float) -> None:
        """So many are under way until a time (ns)."""
        heappush(self._under_way, (until, bytes))
        self._bytes += bytes

    def ahead(self, at: float) -> int:
        """Bytes under way at a time, which does not go back."""
        while self._under_way and self._under_way[0][0] <= at:
            self._bytes -= heappop(self._under_way)[1]
        return self._bytes


class Sm:
    """The pipes of one SM: warp schedulers, shared memory, the tensor cores, what comes in, what goes out."""

    def __init__(self):
        self.warps = 0  # that have started on it
        self.landed = 0.0  # when the last of what it has asked for comes (ns)
        self.schedulers = [Pipe() for _ in range(SCHEDULERS)]
        self.shared, self.tensor, self.inward, self.outward = Pipe(), Pipe(), Pipe(), Pipe()


class Machine:
    """The GPU: its SMs by number, and the L2 cache, device memory and power that they share.

    `weight`: how many SMs each simulated one stands for. The others do the same at the same time, so that its part of
    what is shared is as much smaller. `sharing`: CTAs of an SM that load at the same time: each of them gets its bytes
    when all do, and not one before the other.
    """

    def __init__(self, constants: Constants, weight: float = 1.0, sharing: int = 1):
        self._constants, self.weight, self.sharing = constants, weight, sharing
        self.cycle = 1 / constants["clock"]  # ns
        self.sms: dict[int, Sm] = {}
        self.l2, self.l2_in, self.l2_both, self.device = Pipe(), Pipe(), Pipe(), Pipe()
        self.power = 0.0  # ns that the tensor cores of all SMs would take at the clock that their power allows
        self._to_device = Crowd()

    def sm(self, number: int) -> Sm:
        """One of its SMs."""
        return self.sms.setdefault(number, Sm())

    def cycles(self, name: str, times: float = 1.0) -> float:
        """A constant that counts cycles, so many times, in ns."""
        return self._constants[name] * times * self.cycle

    def ns(self, name: str) -> float:
        """A constant that counts nanoseconds."""
        return self._constants[name]

    def fetch(self, sms: list[Sm], at: float, bytes: int, latency: str, device_share: float, first: float) -> float:
        """When bytes have come into SMs, all of them the same. A share of them is not in the L2 cache and comes from
        device memory; `first`: the share for which nobody else asks at the same time. `latency`: of which constant.

        SMs with nothing else under way ask at other times than each other, and do not wait for each other's bytes."""
        alone = all(sm.landed <= at for sm in sms)
        entered = max(sm.inward.serve(at, bytes / self._constants["load_rate"] * self.cycle) for sm in sms)
        slowness = first / self._constants["l2_rate"] + (1 - first) / self._constants["common_rate"]
        out = self._asked(self.l2, at, bytes * slowness, alone)
        beside = self._asked(self.l2_both, at, bytes * slowness, alone)
        together = at + self.sharing * bytes * (1.0 if alone else self.weight) * slowness
        there = max(entered, out, beside, together) + self.cycles(f"{latency}_l2")
        if device_share:
            read = self._asked(self.device, at, bytes * device_share / self._constants["device_rate"], alone)
            waits = (
                self._constants["device_crowding"] * self._to_device.ahead(at) / self._constants["device_write_rate"]
            )
            there = max(there, max(entered, read, at + waits) + self.cycles(f"{latency}_device"))
        for sm in sms:
            sm.landed = max(sm.landed, there)
        return there

    def _asked(self, pipe: Pipe, at: float, duration: float, alone: bool) -> float:
        """When what all SMs share has served one SM (ns), which takes it so long; the others ask for as much."""
        end = pipe.serve(at, duration * self.weight)
        return end - duration * (self.weight - 1) if alone else end

    def put(self, sm: Sm, at: float, bytes: int, to_device: float, lines: int = 0) -> tuple[float, float]:
        """When bytes have left an SM, and when they have arrived, but for the latencies. `to_device`: how many of them
        go on to device memory; `lines`: of 128 bytes, that threads write to."""
        taken = max(bytes / self._constants["store_rate"], lines * self._constants["line_write"] if lines else 0.0)
        gone = sm.outward.serve(at, taken * self.cycle)
        taken = max(bytes / self._constants["l2_write_rate"], lines / self._constants["line_rate"] if lines else 0.0)
        there = max(gone, self.l2_in.serve(at, taken * self.weight))
        beside = self._constants["word_beside_rate" if lines else "l2_beside_rate"]
        there = max(there, self.l2_both.serve(at, bytes * self.weight / beside))
        if to_device:
            there = max(there, self.device.serve(at, to_device * self.weight / self._constants["device_write_rate"]))
            self._to_device.add(to_device * self.weight, there + self.cycles("load_latency_device"))
        return gone, there

    def multiply(self, sm: Sm, at: float, columns: int) -> tuple[float, float]:
        """When the tensor cores of an SM begin with a wgmma of so many columns, and when they are done with it.

        What their power allows is an average over milliseconds: it is added up, and holds none of them up.
        """
        begin = max(at, sm.tensor.free)
        self.power += columns * FLOP_OF_COLUMN * self.weight / self._constants["tensor_rate"]
        return begin, sm.tensor.serve(begin, self.cycles("wgmma_column", columns))
