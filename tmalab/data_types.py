"""The enumerations of a tensor map, with CUDA's names and numbers, and what the hardware knows of each element type.

A map names its element type so that the hardware can count elements, fill those out of bounds and, in reductions,
compute. Bytes are otherwise moved as they are; only the TF32 types change them on the way in.

>>> DataType.FLOAT16 == 6, DataType.FLOAT16.size, DataType.FLOAT16.dtype
(True, 2, dtype('float16'))
>>> DataType.BFLOAT16.dtype, DataType.BFLOAT16.floating     # NumPy has no bfloat16: its bits are stored as uint16
(dtype('uint16'), True)
>>> DataType.TFLOAT32.rounds_to_tf32
True
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

NOMINAL_ADDRESS = 0x1000_0000
"""Where a NumPy buffer is taken to start in global memory (bytes) until a launch gives it its real address."""


class ElementType(NamedTuple):
    """One row of the table below: what the hardware knows about an element."""

    size: int  # bytes
    dtype: np.dtype  # the NumPy type that holds one element's bits
    floating: bool = False  # NaN fill is allowed
    rounds_to_tf32: bool = False  # loads round to 10 mantissa bits


ELEMENT_TYPES = {  # CUDA driver API, CUtensorMapDataType; behaviour on loads measured, H200
    0: ElementType(1, np.dtype("uint8")),
    1: ElementType(2, np.dtype("uint16")),
    2: ElementType(4, np.dtype("uint32")),
    3: ElementType(4, np.dtype("int32")),
    4: ElementType(8, np.dtype("uint64")),
    5: ElementType(8, np.dtype("int64")),
    6: ElementType(2, np.dtype("float16"), floating=True),
    7: ElementType(4, np.dtype("float32"), floating=True),
    8: ElementType(8, np.dtype("float64"), floating=True),
    9: ElementType(2, np.dtype("uint16"), floating=True),
    10: ElementType(4, np.dtype("float32"), floating=True),
    11: ElementType(4, np.dtype("float32"), floating=True, rounds_to_tf32=True),
    12: ElementType(4, np.dtype("float32"), floating=True, rounds_to_tf32=True),
}


class DataType(IntEnum):
    """CUtensorMapDataType. There is no fp8 and no signed 8- or 16-bit type: move those bits as UINT8 or UINT16."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12

    def __init__(self, number: int):
        self.element = ELEMENT_TYPES[number]

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return self.element.size

    @property
    def dtype(self) -> np.dtype:
        """The NumPy type that holds one element's bits (uint16 for BFLOAT16)."""
        return self.element.dtype

    @property
    def floating(self) -> bool:
        """Whether out-of-bounds elements may be filled with NaN."""
        return self.element.floating

    @property
    def rounds_to_tf32(self) -> bool:
        """Whether loads round each element to TF32 (stores never do; measured, H200)."""
        return self.element.rounds_to_tf32

    @classmethod
    def of(cls, dtype: np.dtype) -> DataType | None:
        """The type that holds a NumPy dtype's values as they are, or None.

        >>> DataType.of(np.dtype("float32")), DataType.of(np.dtype("int8"))
        (<DataType.FLOAT32: 7>, None)
        """
        return BY_NAME.get(dtype.name) if dtype.isnative else None


BY_NAME = {  # NumPy's name of a dtype: the type of the same values (ml_dtypes' bfloat16 included)
    "uint8": DataType.UINT8,
    "uint16": DataType.UINT16,
    "uint32": DataType.UINT32,
    "int32": DataType.INT32,
    "uint64": DataType.UINT64,
    "int64": DataType.INT64,
    "float16": DataType.FLOAT16,
    "float32": DataType.FLOAT32,
    "float64": DataType.FLOAT64,
    "bfloat16": DataType.BFLOAT16,
}


class Interleave(IntEnum):
    """CUtensorMapInterleave: NONE, or channels in slices of 16 or 32 bytes (NC/8HWC8, NC/16HWC16)."""

    NONE = 0
    B16 = 1
    B32 = 2


class Swizzle(IntEnum):
    """CUtensorMapSwizzle: how 16-byte chunks are permuted in shared memory; see tmalab.swizzle."""

    NONE = 0
    B32 = 1
    B64 = 2
    B128 = 3


class L2Promotion(IntEnum):
    """CUtensorMapL2promotion: a hint how much to fetch into L2 at a time. It never changes data."""

    NONE = 0
    B64 = 1
    B128 = 2
    B256 = 3


class OobFill(IntEnum):
    """CUtensorMapFloatOOBfill: what a load delivers for elements outside the tensor."""

    NONE = 0  # zeros
    NAN = 1  # 0x7FF7 in every 16 bits (measured, H200)
