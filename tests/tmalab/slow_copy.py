"""What one copy does, byte by byte in plain Python, written from the measured facts and from nothing in tmalab.

The oracle of test_reference.py and test_footprint.py, with the random maps that they share.
"""

from __future__ import annotations

import itertools
import random
import struct

from hypothesis import strategies as st

from tmalab import TensorMap

SIZES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]  # bytes of data types 0..12
SPANS = [0, 32, 64, 128]  # bytes of swizzles 0..3
BIT_PAIRS = [[], [(4, 7)], [(4, 7), (5, 8)], [(4, 7), (5, 8), (6, 9)]]  # bit a ^= bit b


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


def elements(tm: TensorMap, coordinates, shared_address: int):
    """Every delivered element: (is inside the tensor, byte offset in global memory, its shared addresses)."""
    size = SIZES[tm.data_type]
    steps = [1, *tm.element_strides[1:]]
    places = [range(0, box, step) for box, step in zip(tm.box_dim, steps, strict=True)]
    pitch = SPANS[tm.swizzle] or tm.box_dim[0] * size
    for row, outer in enumerate(itertools.product(*reversed(places[1:]))):
        for column, x in enumerate(places[0]):
            where = [c + k for c, k in zip(coordinates, [x, *reversed(outer)], strict=True)]
            inside = all(0 <= c < dim for c, dim in zip(where, tm.global_dim, strict=True))
            offset = where[0] * size + sum(c * s for c, s in zip(where[1:], tm.global_strides, strict=True))
            logical = shared_address + row * pitch + column * size
            yield inside, offset, [physical(logical + b, tm.swizzle) for b in range(size)]


def slow_load(tm: TensorMap, coordinates, memory: bytes, shared_address: int) -> dict[int, int]:
    """Shared address: byte, for every delivered byte."""
    size, delivered = SIZES[tm.data_type], {}
    fill = (b"\xf7\x7f" * 4)[:size] if tm.oob_fill else bytes(size)
    for inside, offset, addresses in elements(tm, coordinates, shared_address):
        data = memory[offset : offset + size] if inside else fill
        if inside and tm.data_type in (11, 12):
            data = tf32(data)
        delivered.update(zip(addresses, data, strict=True))
    return delivered


def slow_store(tm: TensorMap, coordinates, shared: bytes, shared_address: int) -> dict[int, int]:
    """Byte offset in global memory: byte, for every byte written, as 16-byte chunks that hold an element inside."""
    size = SIZES[tm.data_type]
    chunks: dict[int, tuple[bool, dict[int, int]]] = {}
    for index, (inside, offset, addresses) in enumerate(elements(tm, coordinates, shared_address)):
        chunk = index * size // 16
        some, data = chunks.get(chunk, (False, {}))
        data.update({offset + b: shared[address] for b, address in enumerate(addresses)})
        chunks[chunk] = (some or inside, data)
    return {offset: byte for some, data in chunks.values() if some for offset, byte in data.items()}


@st.composite
def maps(draw, overlapping: bool = True, types=range(13)) -> TensorMap:
    """A legal tiled map without interleave, small enough for Python. `overlapping`: rows may share bytes."""
    data_type, swizzle = draw(st.sampled_from(types)), draw(st.integers(0, 3))
    size, rank = SIZES[data_type], draw(st.integers(1, 5))
    chunks = draw(st.integers(1, (SPANS[swizzle] or 160) // 16))
    steps = [draw(st.integers(1, 8)), *(draw(st.sampled_from([1, 1, 2, 3, 8])) for _ in range(rank - 1))]
    largest = {1: 1, 2: 12, 3: 4, 4: 3, 5: 2}[rank]
    box = [chunks * 16 // size, *(draw(st.integers(1, largest * step)) for step in steps[1:])]
    dims = [draw(st.integers(1, 300 // size)), *(draw(st.integers(1, 9)) for _ in range(rank - 1))]
    strides, extent = [], -(-dims[0] * size // 16) * 16
    for dim in dims[1:]:
        if overlapping and draw(st.integers(0, 4)) == 0:
            strides.append(16 * draw(st.integers(0, 20)))
        else:
            strides.append(extent + 16 * draw(st.integers(0, 2)))
            extent = strides[-1] * dim
    fill = draw(st.integers(0, 1)) if data_type >= 6 else 0
    return TensorMap(data_type, 0x4000, dims, strides, box, steps, swizzle=swizzle, oob_fill=fill)


@st.composite
def places(draw, tm: TensorMap, lowest: int = -4) -> tuple[list[int], int]:
    """Coordinates and a shared address that do not fault; some boxes hang over an edge, some lie wholly outside."""
    unit = 16 // SIZES[tm.data_type]
    x = unit * draw(st.integers(max(lowest, -2), tm.global_dim[0] // unit + 1))
    outer = [draw(st.integers(lowest, dim + 1)) for dim in tm.global_dim[1:]]
    return [x, *outer], 128 * draw(st.integers(0, 20))


def memory_of(tm: TensorMap, slack: int = 16) -> bytes:
    """Random bytes for the whole tensor, TF32's special values among them."""
    last = (tm.global_dim[0]) * SIZES[tm.data_type]
    last += sum((dim - 1) * stride for dim, stride in zip(tm.global_dim[1:], tm.global_strides, strict=True))
    source = random.Random(last)
    special = [0x7F800001, 0xFFC00000, 0x7F800000, 0x7F7FFFFF, 0x00000001, 0x80001000, 0x3F801000, 0x3F803000]
    words = [source.choice(special) if source.random() < 0.2 else source.getrandbits(32) for _ in range(last // 4 + 1)]
    return (struct.pack(f"<{len(words)}I", *words) + bytes(slack))[: last + slack]
