"""Random copies of a map: where the box lies, where in shared memory, what the memory holds.

>>> from random import Random
>>> from tmalab.recorded.copy_maps import tiled
>>> case = load(Random(1), "a load", tiled(Random(1), rank=2, swizzle=3))
>>> case.operation, case.coordinates, case.shared_address % 128
('load', (28, 3), 0)
"""

from __future__ import annotations

from random import Random
from typing import Any

from tmalab.data_types import DataType
from tmalab.im2col import OFFSET_BITS, channels_dim, corners, spatial_dims
from tmalab.im2col_map import Im2colMap
from tmalab.recorded.case import BUFFER_BYTES, Case
from tmalab.recorded.inputs import SPECIALS
from tmalab.recorded.kernels import LOAD_FORMS
from tmalab.reductions import MAP_OPERATIONS, OPERATIONS
from tmalab.tensor_map import TensorMap

ROOM = 2048  # bytes before a tile, at most
MOST_CTAS = 4

REDUCIBLE = {  # operation: the types that it has on maps
    name: [data_type for data_type, operations in MAP_OPERATIONS.items() if name in operations] for name in OPERATIONS
}
FLOATS = {DataType.FLOAT16: "f16", DataType.BFLOAT16: "bf16", DataType.FLOAT64: "f64"}  # the others are "f32"


def load(draw: Random, name: str, tm: TensorMap, pattern: str | None = None) -> Case:
    """A load of a map, now and then with a prefetch or a cache hint."""
    form = draw.choice(LOAD_FORMS) if draw.random() < 0.2 else ""
    return _copy(draw, name, "load", tm, pattern or draw.choice(("random", "random", "special")), form=form)


def multicast(draw: Random, name: str, tm: TensorMap) -> Case:
    """A load by one CTA of a cluster for some of them."""
    ctas = draw.randint(1, MOST_CTAS)
    mask = draw.randint(1, (1 << ctas) - 1)
    return _copy(draw, name, "load", tm, "random", ctas=ctas, issuer=draw.randrange(ctas), cta_mask=mask)


def store(draw: Random, name: str, tm: TensorMap) -> Case:
    """A store through a map."""
    form = "cache hint" if draw.random() < 0.1 else ""
    return _copy(draw, name, "store", tm, draw.choice(("random", "random", "special")), form=form)


def reduction(draw: Random, name: str, operation: str, tm: TensorMap) -> Case:
    """A reduction through a map, with special elements more often than not."""
    special = f"special {tm.element_size}" if tm.element_size in SPECIALS else "random"
    patterns = [special, special, "random"]
    if tm.data_type.floating:
        patterns += [f"close {FLOATS.get(tm.data_type, 'f32')}"] * 2
    form = "cache hint" if operation == "add" and draw.random() < 0.1 else ""
    return _copy(draw, name, operation, tm, draw.choice(patterns), form=form)


def _copy(draw: Random, name: str, operation: str, tm: TensorMap, pattern: str, **more: Any) -> Case:
    loads = operation == "load"
    if isinstance(tm, Im2colMap):
        coordinates = _pixel(draw, tm, loads)
        if loads:
            more["offsets"] = _offsets(draw, tm)
    else:
        coordinates = _corner(draw, tm, loads)
    room = min(ROOM, BUFFER_BYTES - tm.shared_bytes) // 128
    address = 128 * draw.randrange(room)
    return Case(name, operation, tm, coordinates, address, pattern, draw.randrange(1 << 16), **more)


def _corner(draw: Random, tm: TensorMap, loads: bool) -> tuple[int, ...]:
    """Coordinates from well before the tensor to well past it; a store's are not negative."""
    coordinates = []
    for dim, box in zip(tm.global_dim, tm.box_dim, strict=True):
        outside = draw.randint(-box if loads else 0, dim)
        coordinates.append(draw.choice((0, outside, outside, draw.randrange(max(1, dim)))))
    return _whole_chunks(tm, coordinates)


def _pixel(draw: Random, tm: Im2colMap, loads: bool) -> tuple[int, ...]:
    """A channel, or slice of channels, that may lie outside; a pixel of the bounding box; an image."""
    coordinates, i = [0] * tm.rank, channels_dim(tm)
    channels, one = tm.global_dim[i], 1 if tm.interleave else tm.channels_per_pixel
    coordinates[i] = draw.choice((0, draw.randint(-one if loads else 0, channels), draw.randrange(channels)))
    for dim, (low, high) in zip(spatial_dims(tm), corners(tm)):
        coordinates[dim] = draw.randint(low, high)
    coordinates[-1] = draw.randrange(tm.global_dim[-1])
    return _whole_chunks(tm, coordinates)


def _whole_chunks(tm: TensorMap, coordinates: list[int]) -> tuple[int, ...]:
    """The first coordinate moved to the start of a 16-byte chunk; slices are chunks."""
    first, *others = coordinates
    return first - first % max(1, 16 // tm.innermost_bytes), *others


def _offsets(draw: Random, tm: Im2colMap) -> tuple[int, ...]:
    """A place in a filter, mostly a small one."""
    most = (1 << OFFSET_BITS[tm.rank]) - 1
    return tuple(draw.choice((0, 0, 1, 2, draw.randint(0, min(most, 9)))) for _ in tm.bounding_box)
