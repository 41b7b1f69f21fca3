"""Where the bytes of a copy come from: the L2 cache, or device memory when nobody has asked for them lately."""

from __future__ import annotations

from typing import Any

SECTOR, LINE = 32, 128  # bytes that memory hands out as one, and that the caches keep as one


class FirstTouch:
    """What nobody has read before comes from device memory, and stays in the cache: right for runs of a few CTAs."""

    def __init__(self):
        self._seen: set[Any] = set()

    def of_load(self, copy: Any) -> float:
        """The share of a load's bytes that comes from device memory."""
        tensor_map = getattr(copy, "tensor_map", None)
        if tensor_map is None:
            key: Any = ("bytes", getattr(copy, "source", None), copy.bytes)
        else:
            key = (tensor_map.global_address, copy.bytes, copy.coordinates, copy.offsets)
        return self._first(key)

    def first_to_ask(self, copy: Any) -> float:
        """The share of a load's bytes for which no other SM asks at the same time."""
        return 1.0

    def of_sectors(self, sectors: set[int]) -> float:
        """The share of some sectors, by their number in memory, that comes from device memory."""
        return sum(self._first(sector) for sector in sectors) / len(sectors)

    def of_written(self, bytes: int) -> float:
        """The share of written bytes that goes on to device memory at once: the cache keeps them."""
        return 0.0

    def _first(self, key: Any) -> float:
        if key in self._seen:
            return 0.0
        self._seen.add(key)
        return 1.0


class Shares:
    """Known shares.

    first   of the loads of a map, by its address: those that ask for their bytes as the first of a wave; 1 for others
    cold    whether what is asked for first comes from device memory, and what is written goes there; otherwise all of
            it is in the L2 cache
    """

    def __init__(self, first: dict[int, float], cold: bool):
        self._first, self._cold = first, 1.0 if cold else 0.0

    def of_load(self, copy: Any) -> float:
        """The share of a load's bytes that comes from device memory."""
        return self._cold * self.first_to_ask(copy)

    def first_to_ask(self, copy: Any) -> float:
        """The share of a load's bytes for which no other SM asks at the same time."""
        tensor_map = getattr(copy, "tensor_map", None)
        return self._first.get(tensor_map.global_address, 1.0) if tensor_map is not None else 1.0

    def of_sectors(self, sectors: set[int]) -> float:
        """The share of what threads read that comes from device memory."""
        return self._cold

    def of_written(self, bytes: int) -> float:
        """The share of written bytes that goes on to device memory."""
        return self._cold
