"""The cases that are recorded: lesson 1's tiles, every type, swizzle, edge and rank, random legal copies, and faults.

They are drawn with a fixed seed, so that a recording can be repeated and widened.

>>> from tmalab.recorded.cases import GROUPS
>>> list(GROUPS)
['lesson-1', 'loads', 'stores', 'maps', 'faults']
>>> len(GROUPS["lesson-1"]())
66
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from tmalab.data_types import NOMINAL_ADDRESS, DataType, L2Promotion, OobFill, Swizzle
from tmalab.recorded.case import Case
from tmalab.swizzle import PATTERNS
from tmalab.tensor_map import TensorMap, TensorMapError
from tmalab.tensor_map_fields import ADDRESS_STOP

LARGEST = {"load": 4096, "store": 2048}  # bytes of a random tile
LARGEST_MEMORY = {"load": 1 << 16, "store": 1 << 13}  # bytes of a random tensor; a store's is kept in the recording
ROOM = 2048  # bytes before a random tile, at most


def lesson_1() -> list[Case]:
    """8-row tiles of the counting 16x128 fp16 tensor, as wide as the swizzle's span: inside, at edges, beyond."""
    corners = ((0, 0), (64, 0), (0, 8), (64, 8), (96, 12), (-8, -4), (120, 15), (128, 16))
    cases = []
    for swizzle, fill, corner in product(Swizzle, OobFill, corners):
        box = ((PATTERNS[swizzle].span or 128) // 2, 8)
        tm = TensorMap(DataType.FLOAT16, NOMINAL_ADDRESS, (128, 16), (256,), box, swizzle=swizzle, oob_fill=fill)
        name = f"tile at {corner}, swizzle {swizzle.name}, fill {fill.name}"
        cases.append(Case(name, "load", tm, corner, 0, "counting", 0))
    rim = TensorMap(DataType.FLOAT16, NOMINAL_ADDRESS, (128, 16), (256,), (80, 10))  # a tile and its neighbours
    return cases + [Case(f"rim at {corner}", "load", rim, corner, 0, "counting", 0) for corner in ((-8, -1), (56, 7))]


def loads() -> list[Case]:
    """Loads: each type and swizzle with special floats, tiles off the swizzle's period, then random ones."""
    cases = [_typed(data_type, swizzle) for data_type, swizzle in product(DataType, Swizzle)]
    cases += [_shifted(swizzle, address) for swizzle in Swizzle for address in range(128, 1024, 128)]
    return cases + _random_cases("load", 600)


def stores() -> list[Case]:
    """Stores: tiles across the innermost edge, where the clip is at 16 bytes, then random ones."""
    cases = [_clipped(data_type, columns) for data_type in DataType for columns in range(1, 2 + 16 // data_type.size)]
    return cases + _random_cases("store", 300)


def maps() -> list[Case]:
    """The maps of all loads and stores, anywhere in memory and with any L2 promotion: their 128 bytes are recorded."""
    draw = random.Random(2)
    cases = []
    for copy in loads() + stores():
        address = draw.randrange(0, ADDRESS_STOP >> draw.randrange(57), 16)
        tm = replace(copy.tensor_map, global_address=address, l2_promotion=draw.choice(tuple(L2Promotion)))
        cases.append(Case(f"map of {copy.operation}: {copy.name}", "encode", tm, (), 0, "counting", 0))
    return cases


def faults() -> list[Case]:
    """Copies that fault: each runs in a process of its own, for it takes the GPU's context with it."""
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
        ("store, x negative", "store", half, (-8, 0), 0),
        ("store, y negative", "store", half, (0, -1), 0),
        ("store, z negative", "store", cube, (0, 0, -1), 0),
        ("store, all outside and negative", "store", half, (-64, 0), 0),
    )
    return [Case(*fields, "random", 1) for fields in asked]


GROUPS: dict[str, Callable[[], list[Case]]] = {
    "lesson-1": lesson_1,
    "loads": loads,
    "stores": stores,
    "maps": maps,
    "faults": faults,
}


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


def _clipped(data_type: DataType, columns: int) -> Case:
    """A store across the innermost edge of a tensor of `columns` elements more than 16 bytes, in wider rows."""
    inner, box = 16 // data_type.size + columns, 64 // data_type.size
    tm = TensorMap(data_type, NOMINAL_ADDRESS, (inner, 6), (64,), (box, 4))
    return Case(f"{data_type.name}, {inner} columns", "store", tm, (0, 4), 128, "random", columns)


def _random_cases(operation: str, count: int) -> list[Case]:
    draw = random.Random(f"tmalab {operation}")
    return [_random_case(operation, draw, number) for number in range(count)]


def _random_case(operation: str, draw: random.Random, number: int) -> Case:
    """A random legal copy; drawn again until it is legal and small."""
    for tm in _random_maps(draw):
        if tm.shared_bytes > LARGEST[operation]:
            continue
        coordinates = _random_coordinates(draw, tm, least=0 if operation == "store" else None)
        case = Case(
            f"random {operation} {number}",
            operation,
            tm,
            coordinates,
            128 * draw.randrange(ROOM // 128),
            draw.choice(("random", "random", "special")),
            number,
        )
        if case.memory().nbytes <= LARGEST_MEMORY[operation]:
            return case
    raise AssertionError("the maps never end")


def _random_maps(draw: random.Random) -> Iterator[TensorMap]:
    """Legal maps without interleave."""
    while True:
        data_type, swizzle, rank = draw.choice(list(DataType)), draw.choice(list(Swizzle)), draw.randint(1, 5)
        span = PATTERNS[swizzle].span or 256
        inner = 16 * draw.randint(1, span // 16) // data_type.size
        box = [inner, *(draw.choice((1, 2, 3, 4, 5, 8, 12)[: 8 - rank]) for _ in range(rank - 1))]
        dim = [max(1, round(size * draw.choice((0.5, 1, 1.5, 2, 3))) + draw.choice((0, 0, 1, -1))) for size in box]
        steps = [draw.choice((1, 1, 1, 2, 3)) if draw.random() < 0.4 else 1 for _ in box]
        strides, size = [], dim[0] * data_type.size
        for length in dim[1:]:
            size += -size % 16 + 16 * draw.choice((0, 0, 1, 2))
            strides.append(size)
            size *= length
        fill = draw.choice(list(OobFill)) if data_type.floating else OobFill.NONE
        promotion = draw.choice(list(L2Promotion))
        try:
            yield TensorMap(data_type, NOMINAL_ADDRESS, dim, strides, box, steps, 0, swizzle, promotion, fill)
        except TensorMapError:
            continue


def _random_coordinates(draw: random.Random, tm: TensorMap, least: int | None) -> tuple[int, ...]:
    """Coordinates from well before the tensor to well past it; the innermost a multiple of 16 bytes."""
    coordinates = []
    for dim, box in zip(tm.global_dim, tm.box_dim, strict=True):
        start = -box if least is None else least
        coordinates.append(draw.randint(start, dim) if draw.random() < 0.7 else 0)
    coordinates[0] -= coordinates[0] % (16 // tm.element_size)
    return tuple(coordinates)
