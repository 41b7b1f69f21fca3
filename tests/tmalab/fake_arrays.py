"""Arrays of libraries that are not installed here, as far as TensorMap.from_array looks at them.

What PyTorch and CuPy answer was seen on an H200 (torch 2.11, cupy 14.2).
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np

ADDRESS = 0x7F58_EBA0_0000  # of a GPU's memory
SIZES = {"float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1, "int8": 1, "float32": 4, "uint8": 1}


class Tensor:
    """A PyTorch tensor: strides and offset in elements; no protocol knows its fp8 types."""

    __module__ = "torch"

    def __init__(self, shape, dtype="float16", stride=None, offset=0, device="cuda", memory=None, layout="strided"):
        self.shape, self._stride, self._offset = shape, stride, offset
        self.dtype, self.layout = f"torch.{dtype}", f"torch.{layout}"
        self.device = SimpleNamespace(type=device)
        self._memory = memory  # a uint8 array, for a tensor of this process's memory

    def stride(self):
        if self._stride is not None:
            return self._stride
        return tuple(int(np.prod(self.shape[axis + 1 :])) for axis in range(len(self.shape)))

    def element_size(self):
        return SIZES[self.dtype.removeprefix("torch.")]

    def storage_offset(self):
        return self._offset

    def data_ptr(self):
        start = ADDRESS if self._memory is None else self._memory.ctypes.data
        return start + self._offset * self.element_size()

    def untyped_storage(self):
        return SimpleNamespace(nbytes=lambda: self._memory.nbytes)

    def is_conj(self):
        return False

    def is_neg(self):
        return False

    @property
    def __cuda_array_interface__(self):
        raise KeyError(self.dtype)  # not an AttributeError: hasattr() lets it through


class CudaArray:
    """An array of CuPy or Numba: the CUDA array interface, strides in bytes, None where there are no gaps."""

    def __init__(self, shape, typestr="<f2", strides=None, offset=0, **more):
        interface = {"shape": shape, "typestr": typestr, "strides": strides, "data": (ADDRESS + offset, False)}
        self.__cuda_array_interface__ = {**interface, "version": 3, **more}


CupyArray = type("ndarray", (CudaArray,), {"__module__": "cupy"})


class _Struct(ctypes.Structure):
    """DLManagedTensor, as dlpack.h has it."""

    _fields_ = (
        *(("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)),
        *(("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)),
        *(("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)),
        *(("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)),
    )


class DLPackArray:
    """An array that is known by DLPack alone: `code` and `bits` name the type, strides are in elements."""

    def __init__(self, shape, code=2, bits=16, strides=None, device=2, address=ADDRESS, lanes=1, byte_offset=0):
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = None if strides is None else (ctypes.c_int64 * len(shape))(*strides)
        pointers = [None if values is None else ctypes.addressof(values) for values in (self._shape, self._strides)]
        head = (address, device, 0, len(shape), code, bits, lanes)
        self._struct = _Struct(*head, *pointers, byte_offset, None, None)

    def __dlpack_device__(self):
        return self._struct.device_type, 0

    def __dlpack__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self._struct), b"dltensor", None)
