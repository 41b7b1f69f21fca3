"""A part of a grid, simulated for its time: some clusters of a launch, however large its arrays are.

Nothing is checked, and the arguments do not change. Of large arrays the contents are left out: they are zeros.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.buffers import GlobalLayout
from tmalab.maps_in_memory import MapRows, placed
from tmalab.simulator.arguments import arrays_of
from tmalab.simulator.simulation import ONE_AT_A_TIME, Simulation
from tmalab.timing.recording import Recording
from tmalab.timing.warps import WarpProgram, programs

if TYPE_CHECKING:
    from tmalab.launch import Launch

LARGE = 1 << 24  # bytes of an array whose contents are left out


class Part(Recording, Simulation):
    """A simulation of some clusters, by their numbers in the grid: of `chosen`."""

    chosen: tuple[int, ...] = (0,)
    others_may_help = False

    def _companies(self, count: int) -> list[list[int]]:
        return [[number] for number in self.chosen if number < count]

    @cached_property
    def _of_clusters(self) -> dict[int, list[WarpProgram]]:
        found: dict[int, list[WarpProgram]] = {}
        for program in programs(self.done, prod(self.launch.block)):
            found.setdefault(cluster_of(self.launch, program.cta), []).append(program)
        return found

    def programs(self) -> list[list[WarpProgram]]:
        """For each of the clusters, in the order of their numbers, the programs of its warps."""
        return [self._of_clusters.get(number, []) for number in self.chosen]


class Sparse:
    """A layout whose large buffers are not filled. `reversed`: arrays that hold their elements the other way round."""

    def __init__(self, layout: GlobalLayout, reversed: Sequence[np.ndarray] = ()):
        self._layout, self._reversed = layout, reversed

    def upload(self, memory: np.ndarray) -> None:
        """Copy the small buffers into `memory`."""
        base = self._layout.base
        for address, size, data in self._layout.buffers:
            if size <= LARGE:
                memory[address - base : address - base + size] = data
        for array in self._reversed:
            start = self._layout.address_of(array) - base
            memory[start : start + array.nbytes] = array.reshape(-1)[::-1].copy().view(np.uint8)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layout, name)


def simulate_part(launch: Launch, chosen: Sequence[int] = (0,), other_data: bool = False) -> Part:
    """Simulate some clusters of a launch. `other_data`: each of its arrays holds its elements the other way round, so
    that what a kernel does with them is another thing, and still makes sense."""
    arrays = arrays_of(launch)
    layout = GlobalLayout(arrays)
    turned = [array for array in arrays if other_data and _can_be_turned(array)]
    made = type("Part", (Part,), {"chosen": tuple(chosen)})
    with ONE_AT_A_TIME, placed(launch.args, layout), _nothing_to_collect():
        part = made(launch, Sparse(layout, turned), noting=False, track=False)
        part.run()
    return part


@contextmanager
def _nothing_to_collect() -> Iterator[None]:
    """All that a recording makes is kept: to look for garbage in it would take a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _can_be_turned(array: np.ndarray) -> bool:
    return 0 < array.nbytes <= LARGE and array.flags.c_contiguous and not isinstance(array, MapRows)


def cluster_of(launch: Launch, cta: int) -> int:
    """The number of the cluster that a CTA, by its number in the grid, belongs to."""
    (x, y, _), cluster = launch.grid, launch.cluster
    place = cta % x // cluster[0], cta // x % y // cluster[1], cta // (x * y) // cluster[2]
    return place[0] + x // cluster[0] * (place[1] + y // cluster[1] * place[2])
