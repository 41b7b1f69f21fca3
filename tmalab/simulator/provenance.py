"""Provenance: from which element of which array each element of a result came, for kernels that move data.

The kernel runs again on arrays whose elements are numbers that tell where they lie: once for each digit of the numbers,
and once more with every digit turned around. What comes out accordingly has been moved; all else was computed. So no
value is followed through the kernel, and copies, swizzles and what threads move by themselves are all seen.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tmalab.buffers import GlobalLayout
from tmalab.maps_in_memory import arrays_of_rows, placed
from tmalab.simulator.arguments import arrays_of
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Launch

BASE = 1024  # of the digits: whole numbers up to it are exact in every type of 16 bits and more
SMALL_BASE = 100  # in types of 8 bits
NOT_MOVED = -1


class Region(NamedTuple):
    """An array whose elements have numbers: those from `first` on, in the array's order."""

    name: str
    array: np.ndarray
    first: int


@dataclass(frozen=True)
class Provenance:
    """`numbers` has for each element of the result the number of the element that it came from, or NOT_MOVED."""

    regions: list[Region]
    numbers: np.ndarray

    def source(self, index: tuple[int, ...]) -> tuple[Region, tuple[int, ...]] | None:
        """The array and the index of the element from which that of the result at `index` came."""
        return self.place(int(self.numbers[index]))

    def place(self, number: int) -> tuple[Region, tuple[int, ...]] | None:
        """The array and the index of an element by its number."""
        for region in self.regions:
            if 0 <= number - region.first < region.array.size:
                return region, tuple(map(int, np.unravel_index(number - region.first, region.array.shape)))
        return None


def trace_back(launch: Launch, result: np.ndarray) -> Provenance:
    """Where the elements of `result`, one of the launch's arrays, come from. ValueError where it is none of them."""
    if not any(result is array for array in arrays_of(launch)):
        raise ValueError(text("simulator.no-result"))
    regions = _regions(launch)
    base = SMALL_BASE if min(array.itemsize for array in (result, *(r.array for r in regions))) == 1 else BASE
    numbers, known, unit = np.zeros(result.shape, np.int64), np.ones(result.shape, bool), 1
    while unit < sum(region.array.size for region in regions):
        digit, turned = (_outcome(launch, result, regions, base, unit, turn) for turn in (False, True))
        with np.errstate(invalid="ignore"):
            known &= (digit >= 0) & (digit < base) & (digit + turned == base - 1)
            numbers += np.where(known, digit, 0).astype(np.int64) * unit
        unit *= base
    return Provenance(regions, np.where(known, numbers, NOT_MOVED))


def _regions(launch: Launch) -> list[Region]:
    """The arrays that hold data: those behind maps, and those of floats. Indices stay what they are."""
    named = []
    for name, value in zip(inspect.signature(launch.kernel.function).parameters, launch.args):
        if isinstance(value, TensorMap):
            named.append((name, value.array))
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            named.append((name, value))
    named += [(text("simulator.behind-row", number=i), array) for i, array in enumerate(arrays_of_rows(launch.args))]
    regions: list[Region] = []
    for name, array in named:
        if array.size and not any(np.may_share_memory(array, region.array) for region in regions):
            regions.append(Region(name, array, sum(region.array.size for region in regions)))
    return regions


def _outcome(
    launch: Launch, result: np.ndarray, regions: list[Region], base: int, unit: int, turned: bool
) -> np.ndarray:
    """What the kernel makes of the digits of the elements' numbers, as floats."""
    from tmalab.simulator.simulation import Simulation

    layout = GlobalLayout(arrays_of(launch))
    with placed(launch.args, layout):
        run = Simulation(launch, layout, noting=False, track=False)
    for region in regions:
        digits = np.arange(region.first, region.first + region.array.size) // unit % base
        _view(run, region.array)[...] = (base - 1 - digits if turned else digits).reshape(region.array.shape)
    run.run()
    return _view(run, result).astype(np.float64)


def _view(run: Any, array: np.ndarray) -> np.ndarray:
    """An argument's array in the simulated global memory."""
    start = run.memory.layout.address_of(array) - run.memory.base
    return np.ndarray(array.shape, array.dtype, run.memory.bytes, start, array.strides)
