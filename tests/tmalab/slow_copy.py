"""What one copy does, byte by byte in plain Python, written from the measured facts and from nothing in tmalab.

The oracle of test_reference.py and test_footprint.py. The random maps that they share are in random_maps.py.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

from slow_numbers import combine

SIZES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]  # bytes of data types 0..12
SPANS = [0, 32, 64, 128]  # bytes of swizzles 0..3
BIT_PAIRS = [[], [(4, 7)], [(4, 7), (5, 8)], [(4, 7), (5, 8), (6, 9)]]  # bit a ^= bit b
TF32_TYPES = (11, 12)


def physical(address: int, swizzle: int) -> int:
    for low, high in BIT_PAIRS[swizzle]:
        if address & 1 << high:
            address ^= 1 << low
    return address


def tf32(data: bytes) -> bytes:
    """One float32 rounded to 10 mantissa bits by comparing with its two neighbours."""
    (bits,) = struct.unpack("<I", data)
    if bits & 0x7F800000 == 0x7F800000:
        return struct.pack("<I", 0x7FFFE000 if bits & 0x7FFFFF else bits)
    below = bits & 0xFFFFE000
    remainder = bits - below
    up = remainder > 0x1000 or (remainder == 0x1000 and below & 0x2000)
    return struct.pack("<I", below + 0x2000 if up else below)


def unit_of(tm) -> int:
    """Bytes of what dimension 0 counts: elements, or slices of 16 or 32 bytes."""
    return [SIZES[tm.data_type], 16, 32][tm.interleave]


def box_rows(tm, coordinates) -> Iterator[list[list[int]]]:
    """The rows of a tiled copy, each a list of positions: one coordinate for each dimension, innermost first."""
    steps, box = list(tm.element_strides), list(tm.box_dim)
    if tm.interleave:
        box[-2] = 1  # along the slices of channels one is taken, whatever the box
    else:
        steps[0] = 1
    outer = [range(0, size, step) for size, step in zip(box[1:], steps[1:], strict=True)]
    for steps_out in itertools.product(*reversed(outer)):
        outside = [c + k for c, k in zip(coordinates[1:], reversed(steps_out), strict=True)]
        yield [[coordinates[0] + x, *outside] for x in range(0, box[0], steps[0])]


def pixel_rows(tm, coordinates, offsets) -> Iterator[list[list[int]]]:
    """The rows of an im2col copy, one for each pixel of the walk."""
    spatial = range(tm.rank - 2) if tm.interleave else range(1, tm.rank - 1)
    pixel = list(coordinates)
    for _ in range(tm.pixels_per_column):
        read = list(pixel)
        for i, offset in zip(spatial, offsets or [0] * len(spatial), strict=True):
            read[i] += offset
        channels = 1 if tm.interleave else tm.channels_per_pixel
        first = 0 if not tm.interleave else tm.rank - 2
        yield [[value + k * (i == first) for i, value in enumerate(read)] for k in range(channels)]
        for number, i in enumerate(spatial):
            pixel[i] += tm.element_strides[i]
            if pixel[i] < tm.global_dim[i] + tm.pixel_box_upper_corner[number]:
                break
            pixel[i] = tm.pixel_box_lower_corner[number]
        else:
            pixel[-1] += tm.element_strides[-1]


def elements(tm, coordinates, shared_address: int, offsets=None):
    """Every delivered element (or slice): (is inside the tensor, offset in global memory, its shared addresses)."""
    unit = unit_of(tm)
    im2col = hasattr(tm, "pixels_per_column")
    rows = pixel_rows(tm, coordinates, offsets) if im2col else box_rows(tm, coordinates)
    logical = shared_address
    for row in rows:
        for column, where in enumerate(row):
            inside = all(0 <= c < dim for c, dim in zip(where, tm.global_dim, strict=True))
            offset = where[0] * unit + sum(c * s for c, s in zip(where[1:], tm.global_strides, strict=True))
            start = logical + column * unit
            yield inside, offset, [physical(start + b, tm.swizzle) for b in range(unit)]
        gap_too = 0 if tm.interleave else SPANS[tm.swizzle]
        logical += gap_too or len(row) * unit


def slow_load(tm, coordinates, memory: bytes, shared_address: int, offsets=None) -> dict[int, int]:
    """Shared address: byte, for every delivered byte."""
    unit, delivered = unit_of(tm), {}
    fill = (b"\xf7\x7f" * 16)[:unit] if tm.oob_fill else bytes(unit)
    for inside, offset, addresses in elements(tm, coordinates, shared_address, offsets):
        data = memory[offset : offset + unit] if inside else fill
        if inside and tm.data_type in TF32_TYPES:
            data = b"".join(tf32(data[i : i + 4]) for i in range(0, unit, 4))
        delivered.update(zip(addresses, data, strict=True))
    return delivered


def stored_chunks(tm, coordinates, shared: bytes, shared_address: int) -> list[dict[int, int]]:
    """{byte offset in global memory: byte that comes} of every 16-byte chunk that holds an element inside."""
    unit = unit_of(tm)
    chunks: dict[int, tuple[bool, dict[int, int]]] = {}
    for index, (inside, offset, addresses) in enumerate(elements(tm, coordinates, shared_address)):
        chunk = index * unit // 16
        some, data = chunks.get(chunk, (False, {}))
        data.update({offset + b: shared[address] for b, address in enumerate(addresses) if address < len(shared)})
        chunks[chunk] = (some or inside, data)
    return [data for some, data in chunks.values() if some]


def slow_store(tm, coordinates, shared: bytes, shared_address: int) -> dict[int, int]:
    """Byte offset in global memory: byte, for every byte written."""
    chunks = stored_chunks(tm, coordinates, shared, shared_address)
    return {offset: byte for data in chunks for offset, byte in data.items()}


def slow_reduce(op: str, tm, coordinates, shared: bytes, memory: bytearray, shared_address: int) -> None:
    """Change memory, element by element."""
    size = SIZES[tm.data_type]
    for data in stored_chunks(tm, coordinates, shared, shared_address):
        first = min(data)
        for offset in range(first, first + len(data), size):
            coming = int.from_bytes(bytes(data[offset + b] for b in range(size)), "little")
            before = int.from_bytes(memory[offset : offset + size], "little")
            memory[offset : offset + size] = combine(op, tm.data_type, before, coming).to_bytes(size, "little")
