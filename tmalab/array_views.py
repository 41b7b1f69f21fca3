"""What an array is to TMA, whatever library it comes from: an address, a shape, strides in bytes, an element type.

NumPy's arrays are read as they are; PyTorch's tensors by their own methods, because they know types that no protocol
names; everything else by `__cuda_array_interface__` (CuPy, Numba) or DLPack (JAX and others). Nothing is copied.

>>> import numpy as np
>>> view = view_of(np.zeros((4, 8), np.float32)[1:, 2:])
>>> view.shape, view.strides, view.offset, view.on_device
((3, 6), (32, 4), 40, False)
>>> view_of([1, 2]) is None
True
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from tmalab import dlpack
from tmalab.buffers import root_of
from tmalab.data_types import BY_NAME, DataType
from tmalab.tensor_map_fields import integer, integers
from tmalab.texts import text


class Words(NamedTuple):
    """How a library's users speak of an array."""

    shape: str
    stride: str  # of one axis, in bytes
    buffer: str
    copy: str  # what makes a contiguous copy


NUMPY = Words("array.shape", "array.strides[{axis}]", "buffer", "np.ascontiguousarray")
CUPY = NUMPY._replace(copy="cupy.ascontiguousarray")
OTHER = NUMPY._replace(copy="your library's function for a contiguous copy")
TORCH = Words("tensor.shape", "tensor.stride({axis}) * {itemsize}", "storage", "tensor.contiguous()")


class ArrayView(NamedTuple):
    """An array, described. Strides, address and offset in bytes."""

    dtype: str
    itemsize: int
    data_type: DataType | None  # that of its values, where TMA has it
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int  # of its first element: in this process, or in a GPU's memory
    offset: int | None  # of that from the start of its buffer; None where the library does not say
    host: np.ndarray | None  # the same memory as a NumPy array; None in a GPU's memory
    words: Words

    @property
    def on_device(self) -> bool:
        """Whether it lies in a GPU's memory."""
        return self.host is None

    @property
    def contiguous(self) -> bool:
        """Whether its elements follow each other without gaps, the last axis fastest."""
        return self.strides == c_strides(self.shape, self.itemsize) or prod(self.shape) < 2


def view_of(given: object) -> ArrayView | None:
    """An array as TMA sees it, or None where it is none. TypeError for an array without memory that TMA can reach."""
    if isinstance(given, np.ndarray):
        return _numpy(given)
    try:
        return _torch(given) or _cuda_interface(given) or _dlpack(given)
    except TypeError:
        raise
    except Exception as error:  # a library's own refusal
        raise TypeError(text("map.array-no-memory", what=error)) from None


def c_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides (bytes) of an array without gaps, the last axis fastest.

    >>> c_strides((4, 8), 2)
    (16, 2)
    """
    return tuple(itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _numpy(array: np.ndarray) -> ArrayView:
    if array.dtype.hasobject:
        raise TypeError(text("map.array-objects", dtype=array.dtype))
    address = array.__array_interface__["data"][0]
    offset = address - root_of(array).__array_interface__["data"][0]
    kind = DataType.of(array.dtype)
    return ArrayView(str(array.dtype), array.itemsize, kind, array.shape, array.strides, address, offset, array, NUMPY)


def _torch(tensor: Any) -> ArrayView | None:
    if not any(cls.__module__ == "torch" and cls.__name__ == "Tensor" for cls in type(tensor).__mro__):
        return None
    place = tensor.device.type
    if place not in ("cpu", "cuda") or str(tensor.layout) != "torch.strided":
        raise TypeError(text("map.array-no-memory", what=f"{tensor.layout}, {tensor.device}"))
    if tensor.is_conj() or tensor.is_neg():
        raise TypeError(text("map.array-lazy"))
    size, shape = tensor.element_size(), tuple(tensor.shape)
    name = str(tensor.dtype).removeprefix("torch.")
    strides = tuple(size * stride for stride in tensor.stride())
    address, offset = tensor.data_ptr(), size * tensor.storage_offset()
    if address == 0 and prod(shape):
        raise TypeError(text("map.array-no-memory", what=text("map.array-null")))
    host = None
    if place == "cpu":
        storage = _memory(tensor, address - offset, tensor.untyped_storage().nbytes())
        host = np.ndarray(shape, _bits(name, size), storage, offset, strides)
    return ArrayView(f"torch.{name}", size, BY_NAME.get(name), shape, strides, address, offset, host, TORCH)


def _cuda_interface(array: Any) -> ArrayView | None:
    try:
        interface = array.__cuda_array_interface__
        dtype = np.dtype(interface["typestr"])
        shape = integers("shape", interface["shape"])
        strides = interface.get("strides")
        strides = c_strides(shape, dtype.itemsize) if strides is None else integers("strides", strides)
        address = integer("data", interface["data"][0] or 0)
        masked = interface.get("mask") is not None
    except Exception:
        return None
    if len(strides) != len(shape) or min(shape, default=0) < 0 or dtype.hasobject:
        return None
    if masked:
        raise TypeError(text("map.array-no-memory", what=text("map.array-masked")))
    words = CUPY if type(array).__module__.partition(".")[0] == "cupy" else OTHER
    named = _named(array, dtype)
    return ArrayView(str(named), dtype.itemsize, DataType.of(named), shape, strides, address, None, None, words)


def _named(array: Any, dtype: np.dtype) -> np.dtype:
    """The array's own dtype where the protocol says only its size: it has no name for bfloat16."""
    try:
        own = np.dtype(array.dtype) if dtype.kind == "V" else dtype
    except Exception:
        return dtype
    return own if own.itemsize == dtype.itemsize else dtype


def _dlpack(array: Any) -> ArrayView | None:
    found = dlpack.read(array)
    if found is None:
        return None
    if found.place is None:
        raise TypeError(text("map.array-no-memory", what=text("map.array-device", number=found.device)))
    strides = c_strides(found.shape, found.itemsize) if found.strides is None else found.strides
    host = None
    if found.place == "host":
        low = sum(min(0, (n - 1) * stride) for n, stride in zip(found.shape, strides)) if prod(found.shape) else 0
        high = sum(max(0, (n - 1) * stride) for n, stride in zip(found.shape, strides)) + found.itemsize
        memory = _memory(found.keep, found.address + low, high - low if prod(found.shape) else 0)
        host = np.ndarray(found.shape, _bits(found.dtype, found.itemsize), memory, -low, strides)
    kind = BY_NAME.get(found.dtype)
    return ArrayView(found.dtype, found.itemsize, kind, found.shape, strides, found.address, None, host, OTHER)


class _Owned:
    """Memory that `owner` keeps alive, as NumPy takes it."""

    def __init__(self, owner: object, address: int, size: int):
        self.owner = owner
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


def _memory(owner: object, address: int, size: int) -> np.ndarray:
    """Bytes of this process's memory: uint8."""
    return np.asarray(_Owned(owner, address, size)) if size else np.empty(0, np.uint8)


def _bits(name: str, size: int) -> np.dtype:
    """NumPy's type of that name, or else the unsigned one of the same size, which holds the bits."""
    try:
        return np.dtype(name)
    except TypeError:
        return np.dtype(f"u{size}" if size in (1, 2, 4, 8) else f"V{size}")
