"""How far a tensor reaches in memory: what a case must fill, and where a copy's clip at 16 bytes still may write.

>>> from tmalab import DataType, TensorMap
>>> tensor_bytes(TensorMap(DataType.UINT8, 0, (40, 4), (48,), (32, 2)))          # 3 rows of 48 bytes, one of 40
192
"""

from __future__ import annotations

from tmalab.tensor_map import TensorMap


def tensor_bytes(tm: TensorMap) -> int:
    """Bytes from a map's address to the end of its tensor, and on to the next multiple of 16."""
    outer = zip(tm.global_dim[1:], tm.global_strides, strict=True)
    size = tm.global_dim[0] * tm.innermost_bytes + sum((dim - 1) * stride for dim, stride in outer)
    return size + -size % 16
