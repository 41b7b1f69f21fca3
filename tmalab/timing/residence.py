"""Where the bytes of a copy come from: the L2 cache, or device memory when nobody has asked for them lately."""

from __future__ import annotations

from typing import Any

SECTOR = 32  # bytes that memory hands out as one


class FirstTouch:
    """What nobody has read before comes from device memory, and stays in the cache: right for runs of a few CTAs."""

    def __init__(self):
        self._seen: set[Any] = set()

    def of_load(self, copy: Any) -> float:
        """The share of a load's bytes that comes from device memory."""
        tensor_map = getattr(copy, "tensor_map", None)
        if tensor_map is None:
            key = ("bytes", getattr(copy, "source", None), copy.bytes)
        else:
            key = (tensor_map.global_address, copy.bytes, copy.coordinates, copy.offsets)
        return self._first(key)

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
    """Known shares: for the loads by map, for all that threads read, and for what is written."""

    def __init__(self, of_maps: dict[int, float], of_threads: float, written: float):
        self._of_maps, self._of_threads, self._written = of_maps, of_threads, written

    def of_load(self, copy: Any) -> float:
        """The share of a load's bytes that comes from device memory."""
        tensor_map = getattr(copy, "tensor_map", None)
        address = tensor_map.global_address if tensor_map is not None else None
        return self._of_maps.get(address, self._of_threads)

    def of_sectors(self, sectors: set[int]) -> float:
        """The same of what threads read."""
        return self._of_threads

    def of_written(self, bytes: int) -> float:
        """The share of written bytes that goes on to device memory."""
        return self._written
