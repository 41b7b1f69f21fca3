"""A case of several threads that each issue a copy of their own: which threads, and what each of them copies.

>>> case = issued_cases()[0]
>>> case.name, case.threads, case.addresses
('load by threads 0, 1, one promise', (0, 1), (0, 256))
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np

from tmalab.data_types import NOMINAL_ADDRESS, DataType, Swizzle
from tmalab.recorded.case import MARGIN, POISON
from tmalab.recorded.extent import tensor_bytes
from tmalab.recorded.inputs import memory
from tmalab.swizzle import PATTERNS
from tmalab.tensor_map import TensorMap

CTA_THREADS = 128  # four warps
ROW_BYTES, ROWS, TENSOR_ROWS = 128, 2, 72  # of the recorded parts; of the tensor, whose rows hold two parts
MOST_ROWS, MOST_ISSUERS = 4, 8  # of a fresh case
TOGETHER = (  # one warp, two, all four; two threads, and all that there are
    *((0, 1), (3, 17), (0, 32), (31, 96), (5, 37, 69, 101)),
    *(tuple(range(8)), tuple(range(32)), tuple(range(0, CTA_THREADS, 4))),
)


@dataclass(frozen=True)
class IssuedCase:
    """Copies through one map of rank 2, part k by thread `threads[k]`. Coordinates in elements, innermost first.

    operation     "load" or "store"
    coordinates   of each part; its place in shared memory is k times the box, from the start of the buffer
    each          1: every issuer arrives and promises its own bytes; 0: the first of them, once, for all. For a store 0

    Memory holds `pattern`, and shared memory as in Case.
    """

    name: str
    operation: str
    tensor_map: TensorMap
    threads: tuple[int, ...]
    coordinates: tuple[tuple[int, int], ...]
    each: int
    pattern: str
    seed: int

    @property
    def mode(self) -> str:
        """What the docs count it as."""
        return f"tiled {self.operation} by several threads"

    @property
    def addresses(self) -> tuple[int, ...]:
        """Of the parts in shared memory, in bytes."""
        return tuple(k * self.tensor_map.shared_bytes for k in range(len(self.threads)))

    def memory(self) -> np.ndarray:
        """The bytes of global memory before the copies: uint8, from the map's address to the end of its tensor."""
        return memory(self.pattern, self.seed, tensor_bytes(self.tensor_map))

    def shared(self) -> np.ndarray:
        """The bytes of shared memory before the copies: uint8, from the start of the buffer."""
        size = len(self.threads) * self.tensor_map.shared_bytes + MARGIN
        return (
            np.full(size, POISON, np.uint8) if self.operation == "load" else memory(self.pattern, self.seed + 1, size)
        )

    def before(self) -> np.ndarray:
        """What the result would be if the copies did nothing: uint8."""
        return self.shared() if self.operation == "load" else self.memory()


def issued_cases() -> list[IssuedCase]:
    """Parts of one tile by threads of one warp and of several, loaded with one promise and with many, and stored."""
    kinds = [("load", 0), ("load", 1), ("store", 0)]
    return [
        _tile_in_parts(operation, threads, each, swizzle)
        for (operation, each), swizzle, threads in product(kinds, (Swizzle.NONE, Swizzle.B128), TOGETHER)
    ]


def _tile_in_parts(operation: str, threads: tuple[int, ...], each: int, swizzle: Swizzle) -> IssuedCase:
    columns = ROW_BYTES // 4
    dims, strides, box = (2 * columns, TENSOR_ROWS), (2 * ROW_BYTES,), (columns, ROWS)
    tm = TensorMap(DataType.FLOAT32, NOMINAL_ADDRESS, dims, strides, box, swizzle=swizzle)
    places = tuple((columns, 1 + ROWS * k) for k in range(len(threads)))
    who = ", ".join(map(str, threads)) if len(threads) < MOST_ISSUERS else f"{threads[0]} to {threads[-1]}"
    promises = "" if operation == "store" else ", each with its promise" if each else ", one promise"
    swizzled = f", swizzle {swizzle.name}" if swizzle else ""
    name = f"{operation} by threads {who}{promises}{swizzled}"
    return IssuedCase(name, operation, tm, threads, places, each, "counting", len(threads))


def fresh_issued(draw: Random, number: int) -> IssuedCase:
    """Some threads, each with a box of its own: loads from anywhere, stores one below the other."""
    operation, swizzle = draw.choice(("load", "load", "store")), draw.choice(list(Swizzle))
    data_type = draw.choice([each for each in DataType if each != DataType.TFLOAT32])
    rows, inner = 2 * draw.randint(1, MOST_ROWS // 2), (PATTERNS[swizzle].span or ROW_BYTES) // data_type.size
    while rows * inner * data_type.size % 128:
        rows *= 2  # a part begins at a multiple of 128 bytes
    threads = tuple(draw.sample(range(CTA_THREADS), draw.randint(2, MOST_ISSUERS)))
    dims, pitch = (3 * inner, rows * MOST_ISSUERS), 3 * inner * data_type.size
    tm = TensorMap(data_type, NOMINAL_ADDRESS, dims, (pitch,), (inner, rows), swizzle=swizzle)
    unit, last = 16 // data_type.size, 3 * inner
    if operation == "store":
        x = unit * draw.randrange(last // unit)
        places = tuple((x, rows * k) for k in range(len(threads)))
    else:
        places = tuple(
            (unit * draw.randrange(-inner // unit, last // unit), draw.randrange(-rows, dims[1])) for _ in threads
        )
    each = draw.randrange(2) if operation == "load" else 0
    return IssuedCase(f"issued {number}", operation, tm, threads, places, each, "random", number)
