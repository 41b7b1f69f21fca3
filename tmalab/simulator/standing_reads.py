"""Reads by agents that come in one order: of each, only the last read of a unit needs to be kept.

A warpgroup's wgmmas are done in the order of their issue, so whoever knows of the last one that read a unit knows of
those before. One record for each unit and warpgroup then stands for all of them, however many there are.
"""

from __future__ import annotations

import numpy as np

from tmalab.simulator.records import NOTHING, READ_RECORD, blank, put, with_units


class StandingReads:
    """The last read of each of `units` units, by the dimension in the clocks that counts the readers."""

    def __init__(self, units: int):
        self._units = units
        self._last: dict[int, np.ndarray] = {}

    def __bool__(self) -> bool:
        return bool(self._last)

    def add(self, units: np.ndarray, made: np.ndarray) -> None:
        """A read of some units."""
        dimension = int(made["dimension"])
        if dimension not in self._last:
            self._last[dimension] = blank(self._units)
        put(self._last[dimension], units, made)

    def at(self, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The reads of some units (READ_RECORDs), and for each the position of its unit among those."""
        reads, positions = [np.empty(0, READ_RECORD)], [np.empty(0, np.int64)]
        for last in self._last.values():
            found = last.take(units)
            where = np.flatnonzero(found["how"] != NOTHING)
            if len(where):
                reads.append(with_units(units[where], found.take(where)))
                positions.append(where)
        return np.concatenate(reads), np.concatenate(positions)

    def overwritten(self, units: np.ndarray) -> None:
        """Units have been written: later writes have to be ordered after that one."""
        for last in self._last.values():
            put(last, units, blank(1))

    def refine(self, ratio: int, units: int) -> None:
        """A unit becomes so many; there are `units` in all."""
        self._units = units
        for dimension, last in self._last.items():
            finer = blank(units)
            used = np.flatnonzero(last["how"])
            if len(used):
                top = int(used[-1]) + 1
                finer[: top * ratio] = last[:top].repeat(ratio)
            self._last[dimension] = finer

    def next_cluster(self) -> None:
        """Dimensions mean something else from now on."""
        self._last.clear()
