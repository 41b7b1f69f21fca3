"""Which of a wave's loads are the first to ask for their bytes: those come from device memory, the others from L2.

The clusters of a wave run side by side and do the same for other tiles. Where a load's coordinates move evenly with the
place in the grid, which three neighbours show, it is known which tile every cluster asks for, and how many differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.tensor_map import TensorMap

if TYPE_CHECKING:
    from tmalab.timing.warps import WarpProgram

Triple = tuple[int, int, int]


def loads_of(programs: Sequence[WarpProgram]) -> list[Any]:
    """The loads through maps that the warps of a cluster issue, in the order of the run; one for each multicast."""
    steps = (step for program in programs for step in program.steps if step.kind == "load")
    found = [copies[0] for step in steps for copies in step.data if copies and hasattr(copies[0], "coordinates")]
    return sorted(found, key=lambda copy: copy.number)


def neighbours(shape: Triple) -> dict[int, int]:
    """For each dimension in which a grid of clusters is more than one long, the number of the second one along it."""
    numbers = 1, shape[0], shape[0] * shape[1]
    return {axis: numbers[axis] for axis in range(3) if shape[axis] > 1}


def first_askers(
    first: Sequence[WarpProgram], others: dict[int, Sequence[WarpProgram]], shape: Triple, wave: int
) -> dict[int, float] | None:
    """For each map, by its global address, the share of a wave's loads that ask for a tile as the first.

    `others`: the neighbours of the first cluster, by axis; `wave`: how many clusters run side by side. None where the
    clusters do not do the same at places that move evenly.
    """
    loads = loads_of(first)
    moves: dict[Any, Any] = {}  # by axis and map: how far the coordinates move
    for axis, programs in others.items():
        theirs = loads_of(programs)
        if len(theirs) != len(loads):
            return None
        for mine, other in zip(loads, theirs, strict=True):
            address = mine.tensor_map.global_address
            moved = tuple(b - a for a, b in zip(mine.coordinates, other.coordinates, strict=True))
            if other.tensor_map.global_address != address or moves.setdefault((axis, address), moved) != moved:
                return None
    addresses = {copy.tensor_map.global_address for copy in loads}
    return {address: _share(address, moves, shape, wave) for address in addresses}


def _share(address: int, moves: dict[tuple[int, int], tuple[int, ...]], shape: Triple, wave: int) -> float:
    numbers = np.arange(min(wave, shape[0] * shape[1] * shape[2]))
    places = numbers % shape[0], numbers // shape[0] % shape[1], numbers // (shape[0] * shape[1])
    along = [np.outer(places[axis], move) for (axis, of), move in moves.items() if of == address]
    if not along:
        return 1 / len(numbers)
    return len(np.unique(sum(along), axis=0)) / len(numbers)


def bytes_in_l2(program: Sequence[WarpProgram], args: Sequence[Any], first: dict[int, float]) -> int:
    """Bytes of the L2 cache that the arrays among the arguments of a launch take: each of its halves keeps what its SMs
    ask for, so that what many of them ask for is there twice. `program`, `first`: as above."""
    maps = {id(copy.tensor_map): copy.tensor_map for copy in loads_of(program)}.values()
    common = {id(one.array) for one in maps if first.get(one.global_address, 1.0) < 1.0}
    arrays = [value.array if isinstance(value, TensorMap) else value for value in args]
    sizes = {id(array): array.nbytes for array in arrays if isinstance(array, np.ndarray)}
    return sum(size * (2 if key in common else 1) for key, size in sizes.items())
