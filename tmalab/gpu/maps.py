"""The driver's encoding of a tensor map: 128 opaque bytes."""

from __future__ import annotations

import ctypes

from tmalab.descriptor import SIZE
from tmalab.gpu.device import call
from tmalab.tensor_map import TensorMap


def encode(tm: TensorMap) -> bytes:
    """The 128 bytes of a map, by this machine's driver. DriverError where the driver refuses it."""
    from cuda.bindings import driver

    strides = tm.global_strides or (0,)  # rank 1 has none, but the driver refuses a null pointer (measured, H200)
    encoded = call(
        "cuTensorMapEncodeTiled",
        driver.CUtensorMapDataType(tm.data_type),
        tm.rank,
        tm.global_address,
        [driver.cuuint64_t(size) for size in tm.global_dim],
        [driver.cuuint64_t(stride) for stride in strides],
        [driver.cuuint32_t(size) for size in tm.box_dim],
        [driver.cuuint32_t(step) for step in tm.element_strides],
        driver.CUtensorMapInterleave(tm.interleave),
        driver.CUtensorMapSwizzle(tm.swizzle),
        driver.CUtensorMapL2promotion(tm.l2_promotion),
        driver.CUtensorMapFloatOOBfill(tm.oob_fill),
    )
    return ctypes.string_at(encoded.getPtr(), SIZE)
