"""Interleave: tensors whose channels lie in slices of 16 or 32 bytes, as NC/8HWC8 and NC/16HWC16 of 2-byte elements.

What a map calls dimension 0 then counts slices and no longer elements: `global_dim[0]`, `box_dim[0]`,
`element_strides[0]` and the first coordinate do. Slices follow each other without a gap, in global and in shared
memory, whatever the swizzle. The dimensions of NC/8HWC8 are W, H, C/8, N: the second outermost one numbers the slices
of one pixel, and a box takes one of them, whatever its `box_dim` says. Source: measured, H200 (all of 2,300 random
loads and 850 random stores).

>>> from tmalab import DataType, Interleave, TensorMap
>>> image = TensorMap(DataType.FLOAT16, 0x1000, (5, 4, 3, 2), (80, 320, 960), (8, 2, 1, 1), interleave=Interleave.B16)
>>> image.innermost_bytes, image.row_bytes, image.transaction_bytes        # 8 channels of 8 pixels, in two rows
(16, 128, 256)
"""

from __future__ import annotations

from tmalab.data_types import Interleave

SLICES = {Interleave.B16: 16, Interleave.B32: 32}  # bytes
