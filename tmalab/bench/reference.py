"""How fast the reference copies: a 32 KiB swizzled tile against NumPy gathering the same bytes, in one run.

>>> figures = measure(rounds=1)
>>> sorted(figures)
['load_us', 'map_us', 'numpy_copy_us', 'ratio_to_numpy_copy']
"""

from __future__ import annotations

import numpy as np

from tmalab import reference
from tmalab.bench import fastest
from tmalab.data_types import DataType, Swizzle
from tmalab.tensor_map import TensorMap

ROWS, ROW_BYTES, TENSOR_ROW = 256, 128, 2048  # of the tile, and the bytes of the tensor's rows
CORNER = (64, 8)  # elements


def measure(rounds: int = 2000) -> dict[str, float]:
    """Microseconds of one load, of NumPy's gather, and of making a map; and the ratio of the first two."""
    memory = np.arange(1024 * TENSOR_ROW // 2, dtype=np.uint16).view(np.uint8)
    chunks, wanted = memory.view("V16"), _chunks_of_the_tile()

    def make() -> TensorMap:
        shape = (TENSOR_ROW // 2, 1024), (TENSOR_ROW,), (ROW_BYTES // 2, ROWS)
        return TensorMap(DataType.FLOAT16, 0x1000_0000, *shape, swizzle=Swizzle.B128)

    tm = make()
    gather, load = fastest([lambda: chunks[wanted], lambda: reference.load(tm, CORNER, memory, 1024)], rounds)
    (judged,) = fastest([make], rounds)
    return {
        "load_us": round(load * 1e6, 2),
        "numpy_copy_us": round(gather * 1e6, 2),
        "ratio_to_numpy_copy": round(load / gather, 2),
        "map_us": round(judged * 1e6, 2),
    }


def _chunks_of_the_tile() -> np.ndarray:
    """The numbers of the tensor's 16-byte chunks that the tile holds, in the order in which it holds them."""
    row, column = np.divmod(np.arange(ROWS * ROW_BYTES // 16), ROW_BYTES // 16)
    first = CORNER[1] * TENSOR_ROW // 16 + CORNER[0] * 2 // 16
    return first + row * (TENSOR_ROW // 16) + (column ^ row % 8)
