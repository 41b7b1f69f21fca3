"""Reductions by the copy engine: none of them is after another, so a later access must respect all of them.

They are kept beside the last writers of a space until an ordinary write, which has to know of them, takes their place.
"""

from __future__ import annotations

import numpy as np

from tmalab.simulator.records import READ_RECORD, with_units


class Reductions:
    """The reductions into one space that a later access can meet."""

    def __init__(self):
        self.records = np.empty(0, READ_RECORD)

    def __len__(self) -> int:
        return len(self.records)

    def add(self, units: np.ndarray, made: np.ndarray) -> None:
        """A copy reduces into `units`."""
        self.records = np.concatenate([self.records, with_units(units, made)])

    def meeting(self, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every pair of one of these accesses (by position) and a reduction (by number) to the same unit."""
        order = np.argsort(units, kind="stable")
        ordered = units[order]
        first = np.searchsorted(ordered, self.records["unit"], "left")
        count = np.searchsorted(ordered, self.records["unit"], "right") - first
        number = np.repeat(np.arange(len(self.records)), count)
        within = np.arange(len(number)) - np.repeat(np.cumsum(count) - count, count)
        return order[first[number] + within], number

    def overwritten(self, units: np.ndarray) -> None:
        """Ordinary writes take the place of what was reduced."""
        if len(self.records):
            self.records = self.records[~np.isin(self.records["unit"], units)]

    def landed(self, copy: int, tick: int) -> None:
        """A reduction has landed in the phase that `tick` completes."""
        self.records["tick"][self.records["copy"] == copy] = tick

    def refine(self, ratio: int) -> None:
        """Units are smaller from now on."""
        parts = np.repeat(self.records, ratio)
        parts["unit"] = (self.records["unit"][:, None] * ratio + np.arange(ratio)).reshape(-1)
        self.records = parts

    def prune(self, known: np.ndarray) -> None:
        """Drop what every thread knows of."""
        self.records = self.records[self.records["tick"] > known[self.records["dimension"]]]

    def next_cluster(self) -> None:
        """For the clusters that follow, one reduction to each unit says as much as several."""
        _, first = np.unique(self.records["unit"], return_index=True)
        self.records = self.records[first]
