"""Random legal maps of every mode, small enough for plain Python, and places at which a copy does not fault."""

from __future__ import annotations

import random
import struct

from hypothesis import assume
from hypothesis import strategies as st
from slow_copy import SIZES, SPANS, unit_of

from tmalab import TensorMap
from tmalab.im2col_map import Im2colMap

ADDRESS = 0x4000


@st.composite
def tiled(draw, overlapping: bool = True, types=range(13)) -> TensorMap:
    """A tiled map without interleave. `overlapping`: rows may share bytes."""
    data_type, swizzle = draw(st.sampled_from(types)), draw(st.integers(0, 3))
    size, rank = SIZES[data_type], draw(st.integers(1, 5))
    chunks = draw(st.integers(1, (SPANS[swizzle] or 160) // 16))
    steps = [draw(st.integers(1, 8)), *(draw(st.sampled_from([1, 1, 2, 3, 8])) for _ in range(rank - 1))]
    largest = {1: 1, 2: 12, 3: 4, 4: 3, 5: 2}[rank]
    box = [chunks * 16 // size, *(draw(st.integers(1, largest * step)) for step in steps[1:])]
    dims = [draw(st.integers(1, 300 // size)), *(draw(st.integers(1, 9)) for _ in range(rank - 1))]
    strides = draw(_strides(dims, dims[0] * size, 16, overlapping))
    fill = draw(st.integers(0, 1)) if data_type >= 6 else 0
    return TensorMap(data_type, ADDRESS, dims, strides, box, steps, swizzle=swizzle, oob_fill=fill)


@st.composite
def interleaved(draw, overlapping: bool = True, types=range(13)) -> TensorMap:
    """A tiled map with slices of 16 or 32 bytes."""
    data_type, interleave, rank = draw(st.sampled_from(types)), draw(st.sampled_from([1, 2])), draw(st.integers(3, 5))
    size = SIZES[data_type]
    steps = [draw(st.sampled_from([1, 1, 2, 3, 8])) for _ in range(rank)]
    slices = 16 * draw(st.integers(1, 3)) // size
    box = [slices, *(draw(st.integers(1, 3 * step)) for step in steps[1:])]
    dims = [draw(st.integers(1, 20)), *(draw(st.integers(1, 6)) for _ in range(rank - 1))]
    strides = draw(_strides(dims, dims[0] * 16 * interleave, 16 * interleave, overlapping))
    options = {"interleave": interleave, "swizzle": draw(st.integers(0, 3))}
    fill = draw(st.integers(0, 1)) if data_type >= 6 else 0
    return TensorMap(data_type, ADDRESS, dims, strides, box, steps, **options, oob_fill=fill)


@st.composite
def im2col(draw, stores: bool = False, types=range(13)) -> Im2colMap:
    """An im2col map, half of them interleaved. `stores`: its bounding box lies inside the tensor."""
    data_type, interleave = draw(st.sampled_from(types)), draw(st.sampled_from([0, 0, 1, 2]))
    size, rank, swizzle = SIZES[data_type], draw(st.integers(3, 5)), draw(st.integers(0, 3))
    span = 96 if interleave else SPANS[swizzle] or 96
    channels = 16 * draw(st.integers(1, span // 16)) // size
    steps = [draw(st.sampled_from([1, 1, 1, 2, 3, 8])) for _ in range(rank)]
    first = 0 if interleave else 1
    dims = [draw(st.integers(1, 12 if interleave else 120 // size)), *(draw(st.integers(1, 6)) for _ in steps[1:])]
    lower = [draw(st.integers(0 if stores else -4, 3)) for _ in steps[2:]]
    upper = [draw(st.integers(-3, 0 if stores else 4)) for _ in steps[2:]]
    assume(all(dim + high > low for dim, low, high in zip(dims[first:], lower, upper, strict=False)))
    unit = 16 * interleave or size
    strides = draw(_strides(dims, dims[0] * unit, 16 * max(1, interleave), False))
    column = (lower, upper, channels, draw(st.integers(1, 30)))
    options = {"interleave": interleave, "swizzle": swizzle}
    fill = draw(st.integers(0, 1)) if data_type >= 6 else 0
    return TensorMap.im2col(data_type, ADDRESS, dims, strides, *column, steps, **options, oob_fill=fill)


@st.composite
def _strides(draw, dims: list[int], extent: int, unit: int, overlapping: bool) -> list[int]:
    strides, extent = [], extent + -extent % unit
    for dim in dims[1:]:
        if overlapping and draw(st.integers(0, 4)) == 0:
            strides.append(unit * draw(st.integers(0, 20)))
        else:
            strides.append(extent + unit * draw(st.integers(0, 2)))
            extent = strides[-1] * dim
    return strides


loadable = st.one_of(tiled(), tiled(), interleaved(), im2col())


def storable(types=range(13)):
    """Maps that can be stored through, and whose rows share no bytes."""
    return st.one_of(tiled(False, types), tiled(False, types), interleaved(False, types), im2col(True, types))


@st.composite
def places(draw, tm: TensorMap, stores: bool = False) -> tuple[list[int], int, tuple[int, ...] | None]:
    """Coordinates, a shared address and im2col offsets that do not fault; some reach over an edge, some lie outside."""
    lowest = 0 if stores else -4
    coordinates = [draw(st.integers(lowest, dim + 1)) for dim in tm.global_dim]
    if not tm.interleave:
        unit = 16 // SIZES[tm.data_type]
        coordinates[0] = unit * draw(st.integers(max(lowest, -2), tm.global_dim[0] // unit + 1))
    offsets = None
    if isinstance(tm, Im2colMap):
        first = 0 if tm.interleave else 1
        corners = zip(tm.pixel_box_lower_corner, tm.pixel_box_upper_corner, strict=True)
        for i, (low, high) in enumerate(corners, first):
            coordinates[i] = draw(st.integers(low, tm.global_dim[i] - 1 + high))
        if not stores:
            offsets = tuple(draw(st.integers(0, 6)) for _ in tm.pixel_box_lower_corner)
    return coordinates, 128 * draw(st.integers(0, 20)), offsets


def memory_of(tm: TensorMap, slack: int = 16) -> bytes:
    """Random bytes for the whole tensor, TF32's special values among them."""
    last = tm.global_dim[0] * unit_of(tm)
    last += sum((dim - 1) * stride for dim, stride in zip(tm.global_dim[1:], tm.global_strides, strict=True))
    source = random.Random(last)
    special = [0x7F800001, 0xFFC00000, 0x7F800000, 0x7F7FFFFF, 0x00000001, 0x80001000, 0x3F801000, 0x3F803000]
    words = [source.choice(special) if source.random() < 0.2 else source.getrandbits(32) for _ in range(last // 4 + 1)]
    return (struct.pack(f"<{len(words)}I", *words) + bytes(slack))[: last + slack]
