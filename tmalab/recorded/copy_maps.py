"""Random legal maps of small tensors, for copies: tiled, interleaved or im2col, what is not asked for drawn at random.

>>> from random import Random
>>> tm = tiled(Random(1), rank=2, swizzle=3)
>>> tm.rank, tm.swizzle.name
(2, 'B128')
>>> im2col(Random(1), rank=4).bounding_box
(7, 1)
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tmalab.data_types import NOMINAL_ADDRESS, DataType, Interleave, L2Promotion, OobFill, Swizzle
from tmalab.im2col_map import Im2colMap
from tmalab.interleave import SLICES
from tmalab.recorded.extent import tensor_bytes
from tmalab.swizzle import PATTERNS
from tmalab.tensor_map import TensorMap
from tmalab.tensor_map_rules import TensorMapError

SIDES = (1, 2, 3, 4, 5, 8, 12)  # of a box's outer dimensions; of the long ones less where there are many dimensions
REACH = (0.5, 1, 1.5, 2, 3)  # of a tensor, in boxes


def tiled(
    draw: Random,
    data_type: DataType | None = None,
    swizzle: int | None = None,
    rank: int | None = None,
    stepped: bool | None = None,
    fill: OobFill | None = None,
) -> TensorMap:
    """A tiled map without interleave. `stepped`: whether an element stride is above 1."""
    return _legal(lambda: _tiled(draw, data_type, swizzle, rank, stepped, fill, Interleave.NONE))


def overlapping(draw: Random) -> TensorMap:
    """A tiled map of which one stride is shorter than what it steps over, so that rows share bytes."""

    def shortened() -> TensorMap:
        tm = tiled(draw, rank=draw.randint(2, 5))
        strides = list(tm.global_strides)
        which = draw.randrange(len(strides))
        strides[which] = 16 * draw.randrange(-(-tm.global_dim[0] * tm.element_size // 16))
        steps = tm.element_strides, Interleave.NONE, tm.swizzle, tm.l2_promotion, tm.oob_fill
        return TensorMap(tm.data_type, NOMINAL_ADDRESS, tm.global_dim, strides, tm.box_dim, *steps)

    return _legal(shortened)


def interleaved(
    draw: Random, data_type: DataType | None = None, swizzle: int | None = None, rank: int | None = None
) -> TensorMap:
    """A tiled map with interleave."""
    interleave = draw.choice((Interleave.B16, Interleave.B32))
    return _legal(lambda: _tiled(draw, data_type, swizzle, rank or draw.randint(3, 5), None, None, interleave))


def im2col(
    draw: Random,
    data_type: DataType | None = None,
    swizzle: int | None = None,
    rank: int | None = None,
    inside: bool = False,
) -> Im2colMap:
    """An im2col map, now and then interleaved. `inside`: its bounding box lies inside the tensor, as stores want it."""
    return _legal(lambda: _im2col(draw, data_type, swizzle, rank, inside))


def any_mode(draw: Random, data_type: DataType | None = None, stores: bool = False) -> TensorMap:
    """A map of any of the three. `stores`: that can be stored through."""
    make = draw.choice((tiled, tiled, interleaved, im2col))
    return im2col(draw, data_type, inside=stores) if make is im2col else make(draw, data_type)


def small(make: Callable[[], TensorMap], tile: int, tensor: int) -> TensorMap:
    """The first map whose tile takes at most `tile` bytes and whose tensor reaches over at most `tensor`."""
    while True:
        tm = make()
        if tm.shared_bytes <= tile and tensor_bytes(tm) <= tensor:
            return tm


def _legal(make: Callable[[], Any]) -> Any:
    """The first map that the driver takes."""
    while True:
        try:
            return make()
        except TensorMapError:
            continue


def _tiled(
    draw: Random,
    data_type: DataType | None,
    swizzle: int | None,
    rank: int | None,
    stepped: bool | None,
    fill: OobFill | None,
    interleave: Interleave,
) -> TensorMap:
    data_type, swizzle = _type_and_swizzle(draw, data_type, swizzle)
    rank = rank or draw.randint(1, 5)
    box = [_row(draw, data_type, swizzle, interleave), *_sides(draw, rank - 1)]
    dim = [max(1, round(size * draw.choice(REACH)) + draw.choice((0, 0, 1, -1))) for size in box]
    steps = _steps(draw, rank, stepped)
    strides = _strides(draw, data_type, dim, interleave)
    options: Any = (interleave, swizzle, draw.choice(list(L2Promotion)), _fill(draw, data_type, fill))
    return TensorMap(data_type, NOMINAL_ADDRESS, dim, strides, box, steps, *options)


def _im2col(draw: Random, data_type: DataType | None, swizzle: int | None, rank: int | None, inside: bool) -> Im2colMap:
    data_type, swizzle = _type_and_swizzle(draw, data_type, swizzle)
    interleave = draw.choice((Interleave.NONE, Interleave.NONE, Interleave.B16, Interleave.B32))
    rank = rank or draw.randint(3, 5)
    channels = _row(draw, data_type, swizzle, interleave)
    sides, lower, upper = _bounding_box(draw, rank, inside)
    if interleave:
        dim = [*sides, draw.choice((1, 2, 4)), draw.choice((1, 2, 3))]  # slices of channels, images
    else:
        depth = round(channels * draw.choice(REACH)) + draw.choice((0, 0, 1, -1))
        dim = [max(1, depth), *sides, draw.choice((1, 2, 3))]
    steps, strides = _steps(draw, rank, None), _strides(draw, data_type, dim, interleave)
    pixels = draw.choice((1, 2, 5, 8, 16, 31, draw.randint(1, 40)))
    options: Any = (interleave, swizzle, draw.choice(list(L2Promotion)), _fill(draw, data_type, None))
    memory = (data_type, NOMINAL_ADDRESS, dim, strides)
    return TensorMap.im2col(*memory, lower, upper, channels, pixels, steps, *options)


def _bounding_box(draw: Random, rank: int, inside: bool) -> tuple[list[int], list[int], list[int]]:
    """Sides of an image, and the corners for a filter with or without padding."""
    filters = [draw.choice((1, 2, 3, 3)) for _ in range(rank - 2)]
    sides = [size + draw.choice((0, 1, 2, 5)) for size in filters]
    if inside:
        lower = [draw.randrange(side) for side in sides]
        return sides, lower, [-draw.randrange(side - low) for side, low in zip(sides, lower)]
    lower = [draw.choice((0, 0, -1, 1, draw.randint(-3, 2))) for _ in filters]
    return sides, lower, [low - size + 1 + draw.choice((0, 0, 0, 1, -1)) for low, size in zip(lower, filters)]


def _type_and_swizzle(draw: Random, data_type: DataType | None, swizzle: int | None) -> tuple[DataType, int]:
    """What was asked for, or any."""
    chosen = draw.choice(list(Swizzle)) if swizzle is None else swizzle
    return draw.choice(list(DataType)) if data_type is None else data_type, chosen


def _row(draw: Random, data_type: DataType, swizzle: int, interleave: Interleave) -> int:
    """Elements of an innermost row: a multiple of 16 bytes within the swizzle's span, often all of it."""
    span = 64 if interleave else PATTERNS[swizzle].span
    chunks = (span or 256) // 16
    return draw.choice((chunks, draw.randint(1, chunks), draw.randint(1, chunks))) * 16 // data_type.size


def _sides(draw: Random, count: int) -> list[int]:
    return [draw.choice(SIDES[: 7 - count]) for _ in range(count)]


def _steps(draw: Random, rank: int, stepped: bool | None) -> list[int]:
    """Element strides."""
    if stepped is None:
        stepped = draw.random() < 0.4
    steps = [draw.choice((1, 1, 2, 3, draw.randint(1, 8))) if stepped else 1 for _ in range(rank)]
    if stepped and max(steps) == 1:
        steps[draw.randrange(rank)] = 2
    return steps


def _strides(draw: Random, data_type: DataType, dim: list[int], interleave: Interleave) -> list[int]:
    """Bytes from one element to the next along each outer dimension, with some room between rows, but no overlap."""
    unit = 32 if interleave == Interleave.B32 else 16
    strides, size = [], dim[0] * SLICES.get(interleave, data_type.size)
    for length in dim[1:]:
        size += -size % unit + unit * draw.choice((0, 0, 1, 2))
        strides.append(size)
        size *= length
    return strides


def _fill(draw: Random, data_type: DataType, fill: OobFill | None) -> OobFill:
    if not data_type.floating:
        return OobFill.NONE
    return draw.choice(list(OobFill)) if fill is None else fill
