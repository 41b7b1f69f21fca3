"""The parts of the GPU that do one thing after the other: pipes of an SM, and those that all SMs share.

A pipe is a queue: what comes while it is busy waits its turn, so that copies in flight share its bandwidth. Its latency
is added behind it, and overlaps. With that, one copy takes latency + bytes / rate, many take what the rate allows, and
what lies between follows.

>>> pipe = Pipe()
>>> pipe.serve(10.0, 5.0), pipe.serve(11.0, 5.0)
(15.0, 20.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tmalab.timing.constants import Constants

SCHEDULERS = 4  # of an SM: warp w is of the one with number w % 4 (CUDA C++ Programming Guide, compute capability 9.0)
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


class Sm:
    """The pipes of one SM: warp schedulers, shared memory, the tensor cores, what comes in, what goes out."""

    def __init__(self):
        self.schedulers = [Pipe() for _ in range(SCHEDULERS)]
        self.shared, self.tensor, self.inward, self.outward = Pipe(), Pipe(), Pipe(), Pipe()


class Machine:
    """The GPU: its SMs by number, and the L2 cache, device memory and power that they share.

    `weight`: how many SMs each simulated one stands for. The others do the same at the same time, so that its part of
    what is shared is as much smaller.
    """

    def __init__(self, constants: Constants, weight: float = 1.0):
        self._constants, self.weight = constants, weight
        self.cycle = 1 / constants["clock"]  # ns
        self.sms: dict[int, Sm] = {}
        self.l2, self.device, self.tensor = Pipe(), Pipe(), Pipe()

    def sm(self, number: int) -> Sm:
        """One of its SMs."""
        return self.sms.setdefault(number, Sm())

    def cycles(self, name: str, times: float = 1.0) -> float:
        """A constant that counts cycles, so many times, in ns."""
        return self._constants[name] * times * self.cycle

    def ns(self, name: str) -> float:
        """A constant that counts nanoseconds."""
        return self._constants[name]

    def fetch(self, sms: list[Sm], at: float, bytes: int, device_share: float) -> float:
        """When bytes have come into SMs, all of them the same, but for the latency. A share of them is not in the L2
        cache and comes from device memory."""
        ends = [sm.inward.serve(at, bytes / self._constants["load_rate"] * self.cycle) for sm in sms]
        return max(*ends, *self._from_chip(at, bytes, device_share))

    def put(self, sm: Sm, at: float, bytes: int, device_share: float) -> tuple[float, float]:
        """When bytes have left an SM, and when they have arrived, but for the latencies."""
        gone = sm.outward.serve(at, bytes / self._constants["store_rate"] * self.cycle)
        return gone, max(gone, *self._from_chip(at, bytes, device_share))

    def multiply(self, sm: Sm, at: float, columns: int) -> tuple[float, float]:
        """When the tensor cores of an SM begin with a wgmma of so many columns, and when they are done with it."""
        begin = max(at, sm.tensor.free, self.tensor.free)
        flop = columns * FLOP_OF_COLUMN * self.weight
        self.tensor.serve(begin, flop / self._constants["tensor_rate"])
        sm.tensor.serve(begin, self.cycles("wgmma_column", columns))
        return begin, max(sm.tensor.free, self.tensor.free)

    def _from_chip(self, at: float, bytes: int, device_share: float) -> list[float]:
        ends = [self.l2.serve(at, bytes * self.weight / self._constants["l2_rate"])]
        if device_share:
            duration = bytes * device_share * self.weight / self._constants["device_rate"]
            ends.append(self.device.serve(at, duration))
        return ends
