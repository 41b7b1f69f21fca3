"""Copies that fault: right but for one thing. Each runs in a process of its own, for a fault takes the GPU's context
with it.

>>> from random import Random
>>> fault_cases()[0].name
'x of 4 bytes'
>>> random_fault(Random(4), 7).name
'store 7, coordinate 0 = -2'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from tmalab.data_types import NOMINAL_ADDRESS, DataType
from tmalab.im2col import corners, spatial_dims
from tmalab.recorded import copies, copy_maps
from tmalab.recorded.bulk_case import BulkCase
from tmalab.recorded.bulk_cases import random_bulk_copy, random_bulk_reduction
from tmalab.recorded.case import Case
from tmalab.tensor_map import TensorMap

TILE, TENSOR = 1024, 1 << 13  # bytes, at most
DRAWN = 5  # recorded of each kind of mistake
MISSING = {  # operation: types that it has not on maps
    name: [data_type for data_type in DataType if data_type not in types] for name, types in copies.REDUCIBLE.items()
}


class Mistake(NamedTuple):
    """One thing that makes a copy fault: what copies it is made in, and how they then differ."""

    draw: Callable[[Random, int], Case | BulkCase]
    spoil: Callable[[Random, Any], Case | BulkCase]


def fault_cases() -> list[Case | BulkCase]:
    """The recorded ones: those of the first lessons' mistakes, then some of every kind."""
    draw = Random("faults")
    drawn = [_spoiled(draw, number, mistake) for mistake in MISTAKES for number in range(DRAWN)]
    return _chosen() + drawn


def random_fault(draw: Random, number: int) -> Case | BulkCase:
    """A random one, or a copy to a peer where there is none."""
    return _spoiled(draw, number, draw.choice((*MISTAKES, ALONE)))


def _spoiled(draw: Random, number: int, mistake: Mistake) -> Case | BulkCase:
    return mistake.spoil(draw, mistake.draw(draw, number))


def _chosen() -> list[Case | BulkCase]:
    half = TensorMap(DataType.FLOAT16, NOMINAL_ADDRESS, (256, 16), (512,), (64, 8))
    word = TensorMap(DataType.FLOAT32, NOMINAL_ADDRESS, (256, 16), (1024,), (32, 8))
    tall = TensorMap(DataType.FLOAT16, NOMINAL_ADDRESS, (256, 256), (512,), (64, 128))  # 16 KiB
    cube = TensorMap(DataType.UINT8, NOMINAL_ADDRESS, (64, 8, 8), (64, 512), (32, 4, 4))
    asked = (
        ("x of 4 bytes", "load", half, (2, 0), 0),
        ("x of 260 bytes", "load", half, (130, 0), 0),
        ("x of 8 bytes, f32", "load", word, (2, 0), 0),
        ("destination at 16", "load", half, (0, 0), 16),
        ("destination at 64", "load", half, (0, 0), 64),
        ("destination at 1088", "load", half, (0, 0), 1088),
        ("destination past the shared memory", "load", tall, (0, 0), 12_160),
        ("store, x of 4 bytes", "store", half, (2, 0), 0),
        ("store, source at 64", "store", half, (0, 0), 64),
        ("store, source past the shared memory", "store", tall, (0, 0), 12_160),
        ("store, x negative", "store", half, (-8, 0), 0),
        ("store, y negative", "store", half, (0, -1), 0),
        ("store, z negative", "store", cube, (0, 0, -1), 0),
        ("store, all outside and negative", "store", half, (-64, 0), 0),
    )
    return [Case(name, how, tm, at, shared, "random", 1) for name, how, tm, at, shared in asked]


# Copies to spoil.


def _load(draw: Random, number: int) -> Case:
    return copies.load(draw, f"load {number}", copy_maps.small(lambda: copy_maps.any_mode(draw), TILE, TENSOR))


def _store(draw: Random, number: int) -> Case:
    tm = copy_maps.small(lambda: copy_maps.any_mode(draw, stores=True), TILE, TENSOR)
    return copies.store(draw, f"store {number}", tm)


def _im2col_load(draw: Random, number: int) -> Case:
    return copies.load(draw, f"im2col load {number}", copy_maps.small(lambda: copy_maps.im2col(draw), TILE, TENSOR))


def _im2col_store(draw: Random, number: int) -> Case:
    tm = copy_maps.small(lambda: copy_maps.im2col(draw, inside=True), TILE, TENSOR)
    return copies.store(draw, f"im2col store {number}", tm)


def _multicast(draw: Random, number: int) -> Case:
    tm = copy_maps.small(lambda: copy_maps.any_mode(draw), TILE, TENSOR)
    return copies.multicast(draw, f"multicast {number}", tm)


def _reduction(draw: Random, number: int) -> Case:
    operation = draw.choice(list(copies.REDUCIBLE))
    data_type = draw.choice(copies.REDUCIBLE[operation])
    tm = copy_maps.small(lambda: copy_maps.any_mode(draw, data_type, stores=True), TILE, TENSOR)
    return copies.reduction(draw, f"{operation} {number}", operation, tm)


# Mistakes.


def _within_a_chunk(draw: Random, case: Case) -> Case:
    """The first coordinate inside a 16-byte chunk. Slices of an interleaved map are chunks: there the tile is moved."""
    if case.tensor_map.interleave:
        return _off_the_line(draw, case)
    more = draw.randrange(1, 16 // case.tensor_map.element_size)
    first, *others = case.coordinates
    return replace(case, name=f"{case.name}, x + {more}", coordinates=(first + more, *others))


def _off_the_line(draw: Random, case: Case) -> Case:
    """The tile off 128 bytes."""
    more = draw.choice((16, 32, 64, 96))
    return replace(case, name=f"{case.name}, address + {more}", shared_address=case.shared_address + more)


def _negative(draw: Random, case: Case) -> Case:
    """A negative coordinate of a store or reduction."""
    i = draw.randrange(len(case.coordinates))
    value = -draw.choice((1, 2, 5)) * (16 // min(16, case.tensor_map.innermost_bytes) if i == 0 else 1)
    coordinates = (*case.coordinates[:i], value, *case.coordinates[i + 1 :])
    return replace(case, name=f"{case.name}, coordinate {i} = {value}", coordinates=coordinates)


def _beyond_the_cluster(draw: Random, case: Case) -> Case:
    """A multicast mask with a bit that is no CTA's."""
    mask = case.cta_mask | 1 << draw.randrange(case.ctas, 16)
    return replace(case, name=f"{case.name}, mask {mask:#b} of {case.ctas} CTAs", cta_mask=mask)


def _of_no_such_type(draw: Random, case: Case) -> Case:
    """A reduction that the map's type has not."""
    data_type = draw.choice(MISSING[case.operation])
    tm = copy_maps.small(lambda: copy_maps.any_mode(draw, data_type, stores=True), TILE, TENSOR)
    spoiled = copies.reduction(draw, f"{case.name} of {data_type.name}", case.operation, tm)
    return replace(spoiled, form="")


def _outside_the_box(draw: Random, case: Any) -> Case:
    """An im2col copy that begins outside the bounding box, past it."""
    number = draw.randrange(len(spatial_dims(case.tensor_map)))
    i, (_, high) = spatial_dims(case.tensor_map)[number], corners(case.tensor_map)[number]
    value = high + draw.choice((1, 2, 7))
    coordinates = (*case.coordinates[:i], value, *case.coordinates[i + 1 :])
    return replace(case, name=f"{case.name}, coordinate {i} = {value}", coordinates=coordinates)


def _box_outside_the_tensor(draw: Random, case: Any) -> Case:
    """An im2col store through a map whose bounding box reaches out of the tensor."""
    upper = list(case.tensor_map.pixel_box_upper_corner)
    number = draw.randrange(len(upper))
    upper[number] = draw.choice((1, 2))
    tm = replace(case.tensor_map, pixel_box_upper_corner=upper)
    return replace(case, name=f"{case.name}, upper corner {upper[number]}", tensor_map=tm)


def _shared_off(draw: Random, case: BulkCase) -> BulkCase:
    return replace(case, name=f"{case.name}, shared + 8", shared_address=case.shared_address + 8)


def _other_off(draw: Random, case: BulkCase) -> BulkCase:
    """The address in global memory, or in the peer's buffer."""
    return replace(case, name=f"{case.name}, global + 8", global_offset=case.global_offset + 8)


MISTAKES = (
    Mistake(_load, _within_a_chunk),
    Mistake(_store, _within_a_chunk),
    Mistake(_reduction, _within_a_chunk),
    Mistake(_load, _off_the_line),
    Mistake(_store, _off_the_line),
    Mistake(_reduction, _off_the_line),
    Mistake(_multicast, _off_the_line),
    Mistake(_store, _negative),
    Mistake(_reduction, _negative),
    Mistake(_multicast, _beyond_the_cluster),
    Mistake(_reduction, _of_no_such_type),
    Mistake(_im2col_load, _outside_the_box),
    Mistake(_im2col_store, _outside_the_box),
    Mistake(_im2col_store, _box_outside_the_tensor),
    Mistake(random_bulk_copy, _shared_off),
    Mistake(random_bulk_copy, _other_off),
    Mistake(random_bulk_reduction, _shared_off),
    Mistake(random_bulk_reduction, _other_off),
)


def _to_peer(draw: Random, number: int) -> BulkCase:
    while (case := draw.choice((random_bulk_copy, random_bulk_reduction))(draw, number)).peer < 0:
        continue
    return case


def _without_a_cluster(draw: Random, case: BulkCase) -> BulkCase:
    return replace(case, name=f"{case.name}, without a cluster", ctas=1, issuer=0, peer=0)


ALONE = Mistake(_to_peer, _without_a_cluster)
