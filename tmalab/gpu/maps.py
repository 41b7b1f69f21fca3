"""The driver's encoding of a tensor map: 128 opaque bytes.

Its functions are called as they are in C, with arguments that nothing has judged before: that is how the rules are
found, and it costs a tenth of what the bindings take.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

from tmalab.descriptor import SIZE
from tmalab.gpu.device import FAULTS, DriverError, call, stop
from tmalab.gpu.errors import GpuStopped
from tmalab.tensor_map import TensorMap
from tmalab.tensor_map_fields import AnyFields
from tmalab.texts import text

_CUDA = 12_000  # the version of the functions' interface: CUDA 12.0, with which they came
_ENTRIES = 8  # of an array that is handed over: more than the highest rank, so that a wrong one reads nothing else
_INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE


def encode(tm: TensorMap) -> bytes:
    """The 128 bytes of a map, by this machine's driver. DriverError where the driver refuses it.

    GpuStopped where an earlier kernel's fault surfaces here: every call answers with it from then on.
    """
    status, encoded = ask(tm, tm.rank)
    if status in FAULTS:
        reason = text("gpu.earlier-fault", function=_name(tm), kind=FAULTS[status].replace("_", " "), code=status)
        stop(reason)
        raise GpuStopped(text("gpu.stopped", reason=reason))
    if status:
        raise DriverError(_name(tm), status, "CUDA_ERROR_INVALID_VALUE" if status == _INVALID_VALUE else "error")
    return encoded


def ask(fields: Any, rank: int) -> tuple[int, bytes]:
    """The driver's status for a map that may be illegal, 0 for success, and the 128 bytes. Needs a current context."""
    memory = (
        *(ctypes.c_int(fields.data_type), ctypes.c_uint32(rank), ctypes.c_void_p(fields.global_address)),
        _array(ctypes.c_uint64, fields.global_dim),
        _array(ctypes.c_uint64, fields.global_strides),  # for rank 1 too: a null pointer is refused (measured, H200)
    )
    options = (fields.interleave, fields.swizzle, fields.l2_promotion, fields.oob_fill)
    steps = (_array(ctypes.c_uint32, fields.element_strides), *map(ctypes.c_int, options))
    box: tuple[Any, ...]
    if hasattr(fields, "box_dim"):
        box = (_array(ctypes.c_uint32, fields.box_dim),)
    else:
        lower, upper = fields.pixel_box_lower_corner, fields.pixel_box_upper_corner
        corners = (_array(ctypes.c_int, lower), _array(ctypes.c_int, upper))
        box = (*corners, ctypes.c_uint32(fields.channels_per_pixel), ctypes.c_uint32(fields.pixels_per_column))
    _kept, place = _aligned()
    status = _function(_name(fields))(ctypes.c_void_p(place), *memory, *box, *steps)
    return status, ctypes.string_at(place, SIZE)


def replace_address(encoded: bytes, global_address: int) -> tuple[int, bytes]:
    """cuTensorMapReplaceAddress: its status, 0 for success, and the 128 bytes afterwards."""
    _kept, place = _aligned()
    ctypes.memmove(place, encoded, SIZE)
    status = _function("cuTensorMapReplaceAddress")(ctypes.c_void_p(place), ctypes.c_void_p(global_address))
    return status, ctypes.string_at(place, SIZE)


def _name(fields: AnyFields | TensorMap) -> str:
    return "cuTensorMapEncodeTiled" if hasattr(fields, "box_dim") else "cuTensorMapEncodeIm2col"


def _array(kind: Any, values: Sequence[int]) -> Any:
    return (kind * _ENTRIES)(*values)


def _aligned() -> tuple[Any, int]:
    """Memory for a map, and a place in it that is aligned as the headers ask: to 128 bytes."""
    memory = (ctypes.c_uint8 * (2 * SIZE))()
    start = ctypes.addressof(memory)
    return memory, start + -start % SIZE


@cache
def _function(name: str) -> Any:
    """A function of the driver, as C calls it: it returns the status."""
    from cuda.bindings.driver import CUdriverProcAddress_flags

    call("cuInit", 0)
    flags = int(CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT)
    address, _ = call("cuGetProcAddress", name.encode(), _CUDA, flags)
    return ctypes.CFUNCTYPE(ctypes.c_int)(int(address))
