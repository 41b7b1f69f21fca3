"""The cases that are recorded, in groups, and how a fresh one of each group is drawn.

The recorded ones come from fixed seeds, so that a recording can be repeated and widened: first what is systematic
(lesson 1's tiles; every type, swizzle, rank, element stride and fill; every reduction of every type), then random ones.
A verification draws fresh ones, from a seed of its own.

>>> from tmalab.recorded.cases import GROUPS
>>> len(GROUPS["lesson-1"].fixed())
66
>>> from random import Random
>>> GROUPS["stores"].fresh(Random(1), 5).name
'store 5'
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from random import Random
from typing import Any, NamedTuple

from tmalab.data_types import NOMINAL_ADDRESS, DataType, OobFill, Swizzle
from tmalab.footprint import store_footprint
from tmalab.recorded import copies
from tmalab.recorded.barrier_cases import random_barrier_case
from tmalab.recorded.bulk_cases import REDUCTIONS, bulk_reduction, random_bulk_copy, random_bulk_reduction
from tmalab.recorded.case import Case
from tmalab.recorded.copy_maps import any_mode, im2col, interleaved, overlapping, small, tiled
from tmalab.recorded.fault_cases import fault_cases, random_fault
from tmalab.recorded.issued_case import fresh_issued, issued_cases
from tmalab.recorded.lesson_cases import (
    fresh_pair,
    fresh_patch,
    fresh_slice,
    fresh_store,
    fresh_tile,
    lesson_2,
    lesson_3,
    lesson_4,
    lesson_5,
    lesson_6,
)
from tmalab.recorded.map_cases import random_edit, random_map
from tmalab.swizzle import PATTERNS
from tmalab.tensor_map import TensorMap

Fresh = Callable[[Random, int], Any]  # a case of the kind that the group has


class Group(NamedTuple):
    """The cases of one recording. `fresh(draw, number)` is a new one."""

    fixed: Callable[[], list[Any]]
    fresh: Fresh


def drawn(name: str, fresh: Fresh, count: int) -> list[Any]:
    """So many of them, always the same."""
    draw = Random(f"tmalab {name}")
    return [fresh(draw, number) for number in range(count)]


# Fresh ones. Tiles and tensors are kept small; a store or reduction has the whole tensor as its result.


def load(draw: Random, number: int) -> Case:
    """A load of a tiled map."""
    return copies.load(draw, f"load {number}", small(lambda: tiled(draw), 4096, 1 << 16))


def interleaved_load(draw: Random, number: int) -> Case:
    """A load of an interleaved map."""
    return copies.load(draw, f"interleaved load {number}", small(lambda: interleaved(draw), 2048, 1 << 16))


def im2col_load(draw: Random, number: int) -> Case:
    """A load of an im2col map."""
    return copies.load(draw, f"im2col load {number}", small(lambda: im2col(draw), 2048, 1 << 16))


def multicast(draw: Random, number: int) -> Case:
    """A multicast load of a map of any mode."""
    return copies.multicast(draw, f"multicast {number}", small(lambda: any_mode(draw), 1024, 1 << 16))


def store(draw: Random, number: int) -> Case:
    """A store through a map of any mode."""
    return copies.store(draw, f"store {number}", small(lambda: any_mode(draw, stores=True), 2048, 1 << 13))


def overlapping_store(draw: Random, number: int) -> Case:
    """A store of rows of which some share bytes: which of them is kept tells in which order they were written."""
    while True:
        tm = small(lambda: overlapping(draw), 2048, 1 << 13)
        case = copies.store(draw, f"overlapping store {number}", tm)
        if bytes_written_again(case):
            return case


def bytes_written_again(case: Case) -> int:
    """How many bytes of global memory a store writes that it has written before."""
    written = store_footprint(case.tensor_map, case.coordinates, case.shared_address)
    rows = list(zip(written.global_starts.tolist(), written.global_stops.tolist()))
    return sum(stop - start for start, stop in rows) - len({at for row in rows for at in range(*row)})


def reduction(draw: Random, number: int) -> Case:
    """A reduction of any operation and type through a map of any mode."""
    operation = draw.choice(list(copies.REDUCIBLE))
    return _reduction(draw, number, operation, draw.choice(copies.REDUCIBLE[operation]))


def _reduction(draw: Random, number: int, operation: str, data_type: DataType) -> Case:
    tm = small(lambda: any_mode(draw, data_type, stores=True), 1024, 1 << 13)
    return copies.reduction(draw, f"{operation} {data_type.name} {number}", operation, tm)


def first_lesson(draw: Random, number: int) -> Case:
    """A tile of lesson 1's tensor, anywhere."""
    swizzle, fill = draw.choice(list(Swizzle)), draw.choice(list(OobFill))
    corner = (8 * draw.randrange(-9, 18), draw.randrange(-9, 18))
    return Case(f"tile {number}", "load", _lesson_map(swizzle, fill), corner, 0, "counting", 0)


# Those that are recorded.


def lesson_1() -> list[Any]:
    """8-row tiles of the counting 16x128 fp16 tensor, as wide as the swizzle's span: inside, at edges, beyond."""
    corners = ((0, 0), (64, 0), (0, 8), (64, 8), (96, 12), (-8, -4), (120, 15), (128, 16))
    cases = []
    for swizzle, fill, corner in product(Swizzle, OobFill, corners):
        name = f"tile at {corner}, swizzle {swizzle.name}, fill {fill.name}"
        cases.append(Case(name, "load", _lesson_map(swizzle, fill), corner, 0, "counting", 0))
    rim = TensorMap(DataType.FLOAT16, NOMINAL_ADDRESS, (128, 16), (256,), (80, 10))  # a tile and its neighbours
    return cases + [Case(f"rim at {corner}", "load", rim, corner, 0, "counting", 0) for corner in ((-8, -1), (56, 7))]


def loads() -> list[Any]:
    """Special floats of each type, tiles off the swizzle's period, every kind of map, random ones."""
    cases = [_typed(data_type, swizzle) for data_type, swizzle in product(DataType, Swizzle)]
    cases += [_shifted(swizzle, address) for swizzle in Swizzle for address in range(128, 1024, 128)]
    return cases + _every_kind_of_map() + drawn("load", load, 200)


def stores() -> list[Any]:
    """Tiles across the innermost edge, where the clip is at 16 bytes, then random ones."""
    cases = [_clipped(data_type, columns) for data_type in DataType for columns in range(1, 2 + 16 // data_type.size)]
    return cases + drawn("store", store, 450)


def reductions() -> list[Any]:
    """Ten of every operation and type."""
    draw = Random("every reduction")
    asked = [(name, data_type) for name, types in copies.REDUCIBLE.items() for data_type in types]
    return [_reduction(draw, number, *both) for both in asked for number in range(10)]


def bulk_reductions() -> list[Any]:
    """Five of every operation and type, to global memory and to a peer."""
    draw = Random("every bulk reduction")
    return [bulk_reduction(draw, number, *both) for both in REDUCTIONS for number in range(5)]


def bulk_copies() -> list[Any]:
    """Copies without a map."""
    return drawn("bulk copy", random_bulk_copy, 150)


def in_clusters(cases: list[Any]) -> list[Any]:
    """Without the copies to a peer where there is none: these fault."""
    return [case for case in cases if not case.alone]


def in_a_cluster(fresh: Fresh) -> Fresh:
    """The same, drawn again until it is in a cluster if it goes to a peer."""

    def again(draw: Random, number: int) -> Any:
        while (case := fresh(draw, number)).alone:
            continue
        return case

    return again


def faults() -> list[Any]:
    """Copies that fault, and those to a peer where there is none."""
    return fault_cases() + [case for case in bulk_copies() + bulk_reductions() if case.alone]


GROUPS = {
    "lesson-1": Group(lesson_1, first_lesson),
    "lesson-2": Group(lesson_2, fresh_tile),
    "lesson-3": Group(lesson_3, fresh_slice),
    "lesson-4": Group(lesson_4, fresh_pair),
    "lesson-5": Group(lesson_5, fresh_store),
    "lesson-6": Group(lesson_6, fresh_patch),
    "loads": Group(loads, load),
    "interleaved-loads": Group(lambda: drawn("interleaved load", interleaved_load, 300), interleaved_load),
    "im2col-loads": Group(lambda: drawn("im2col load", im2col_load, 300), im2col_load),
    "multicast": Group(lambda: drawn("multicast", multicast, 120), multicast),
    "issued": Group(issued_cases, fresh_issued),
    "stores": Group(stores, store),
    "overlapping-stores": Group(lambda: drawn("overlapping store", overlapping_store, 110), overlapping_store),
    "reductions": Group(reductions, reduction),
    "bulk-copies": Group(lambda: in_clusters(bulk_copies()), in_a_cluster(random_bulk_copy)),
    "bulk-reductions": Group(lambda: in_clusters(bulk_reductions()), in_a_cluster(random_bulk_reduction)),
    "mbarrier": Group(lambda: drawn("mbarrier", random_barrier_case, 300), random_barrier_case),
    "maps": Group(lambda: drawn("map", random_map, 1200), random_map),
    "map-edits": Group(lambda: drawn("map edit", random_edit, 200), random_edit),
    "faults": Group(faults, random_fault),
}


def _lesson_map(swizzle: Swizzle, fill: OobFill) -> TensorMap:
    box = ((PATTERNS[swizzle].span or 128) // 2, 8)
    return TensorMap(DataType.FLOAT16, NOMINAL_ADDRESS, (128, 16), (256,), box, swizzle=swizzle, oob_fill=fill)


def _typed(data_type: DataType, swizzle: Swizzle) -> Case:
    """A tile of special floats that hangs over the corner: two rows and half a row of it are outside."""
    box = (PATTERNS[swizzle].span or 128) // data_type.size
    fill = OobFill.NAN if data_type.floating else OobFill.NONE
    pitch = 2 * box * data_type.size
    tm = TensorMap(data_type, NOMINAL_ADDRESS, (2 * box, 16), (pitch,), (box, 8), swizzle=swizzle, oob_fill=fill)
    return Case(f"{data_type.name}, swizzle {swizzle.name}", "load", tm, (box + box // 2, 10), 0, "special", 0)


def _shifted(swizzle: Swizzle, address: int) -> Case:
    """A tile of one swizzle whose address is no multiple of the pattern's period."""
    span = PATTERNS[swizzle].span or 128
    tm = TensorMap(DataType.UINT8, NOMINAL_ADDRESS, (256, 16), (256,), (span, 8), swizzle=swizzle)
    return Case(f"swizzle {swizzle.name} at {address}", "load", tm, (128, 4), address, "counting", address)


def _every_kind_of_map() -> list[Any]:
    """A load for every type, swizzle, rank, fill, with and without element strides."""
    draw = Random("every kind of map")
    cases = []
    for data_type, swizzle, rank, stepped in product(DataType, Swizzle, range(1, 6), (False, True)):
        for fill in OobFill if data_type.floating else (OobFill.NONE,):
            tm = small(partial(tiled, draw, data_type, swizzle, rank, stepped, fill), 512, 1 << 15)
            name = f"{data_type.name}, swizzle {swizzle.name}, rank {rank}, {fill.name}" + ", stepped" * stepped
            cases.append(copies.load(draw, name, tm))
    return cases


def _clipped(data_type: DataType, columns: int) -> Case:
    """A store across the innermost edge of a tensor of `columns` elements more than 16 bytes, in wider rows."""
    inner, box = 16 // data_type.size + columns, 64 // data_type.size
    tm = TensorMap(data_type, NOMINAL_ADDRESS, (inner, 6), (64,), (box, 4))
    return Case(f"{data_type.name}, {inner} columns", "store", tm, (0, 4), 128, "random", columns)
