"""DLPack: how array libraries hand each other a tensor without copying it. Only its description is read here.

The object's `__dlpack__` gives a capsule with a C struct: address, device, element type, shape, strides. Source: the
DLPack specification, dlpack.h.

>>> import numpy as np
>>> tensor = read(np.zeros((4, 8), np.float32).T)
>>> tensor.dtype, tensor.shape, tensor.strides, tensor.place
('float32', (8, 4), (4, 32), 'host')
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

PLACES = {1: "host", 2: "device", 3: "host", 13: "device"}  # CPU, CUDA, pinned by CUDA, managed by CUDA
KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}  # with the number of bits after it
FLOAT8 = ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
NAMES = {6: "bool", **{7 + i: f"float8_{name}" for i, name in enumerate(FLOAT8)}}


class Tensor(NamedTuple):
    """What a capsule says. Strides and address in bytes."""

    dtype: str  # NumPy's or ml_dtypes' name
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # None: without gaps
    address: int
    device: int  # DLPack's number of the kind of device
    place: str | None  # "host", "device" (a CUDA GPU's memory), or None: neither
    keep: object  # what must live as long as the memory is used


class _Struct(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype, _pointer_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def read(given: Any) -> Tensor | None:
    """What an object's DLPack capsule says, or None where it gives none."""
    try:
        capsule = given.__dlpack__()
        struct = _Struct.from_address(_pointer_in(capsule, b"dltensor"))
    except Exception:
        return None
    size = struct.bits * struct.lanes // 8
    name = NAMES.get(struct.code) or f"{KINDS.get(struct.code, 'unknown')}{struct.bits}"
    return Tensor(
        name if struct.lanes == 1 and size else f"{name}x{struct.lanes}",
        max(1, size),
        tuple(struct.shape[: struct.ndim]),
        tuple(stride * size for stride in struct.strides[: struct.ndim]) if struct.strides else None,
        (struct.data or 0) + struct.byte_offset,
        struct.device_type,
        PLACES.get(struct.device_type),
        (given, capsule),
    )
