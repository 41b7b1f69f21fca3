"""The kernels that edit the 128 bytes of a tensor map, in global memory or in a copy in shared memory.

An immediate cannot be read from an array, so there is a choice for each field and dimension, and for each value of an
enumeration.

>>> from tmalab.recorded.map_kernels import choice
>>> choice("box_dim", 1, 16) == choice("box_dim", 1, 8), choice("swizzle_mode", -1, 1) == choice("swizzle_mode", -1, 2)
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import cuda

from tmalab import kernel, ptx
from tmalab.ptx.tensormap import FIELDS
from tmalab.recorded.spelled import Call, one_of

RANKS = range(5)


def _choices(suffix: str) -> Iterator[tuple[tuple[str, int, int | None], Call]]:
    """(field, dimension or -1, value if it is an immediate) and the instruction."""
    for name, field in FIELDS.items():
        instruction = f"tensormap_replace_{name}{suffix}"
        if field.each:
            for ordinal in RANKS:
                yield (name, ordinal, None), (instruction, {"ord": ordinal})
        elif field.value.allowed:
            for value in field.value.allowed:
                yield (name, -1, value), (instruction, {"value": value})
        else:
            yield (name, -1, None), (instruction, {})


NUMBERS = {key: number for number, (key, _) in enumerate(_choices(""))}
replace = one_of("tensor_map, value", [(call,) for _, call in _choices("")])
replace_shared = one_of("tensor_map, value", [(call,) for _, call in _choices("_shared_cta")])


def choice(field: str, ordinal: int, value: int) -> int:
    """The number of the instruction that gives a field a value."""
    return NUMBERS[field, ordinal, value if FIELDS[field].value.allowed else None]


@kernel
def edit(row, edits):
    if cuda.threadIdx.x == 0:
        for i in range(edits.shape[0]):
            replace(edits[i, 0], row[0], edits[i, 1])


@kernel
def edit_shared(row, edits):
    copy = cuda.shared.array(128, np.uint8, alignment=128)
    for i in range(cuda.threadIdx.x, 128, cuda.blockDim.x):
        copy[i] = row[0, i]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        for i in range(edits.shape[0]):
            replace_shared(edits[i, 0], copy, edits[i, 1])
    cuda.syncwarp()
    ptx.tensormap_cp_fenceproxy(row[0], copy)
