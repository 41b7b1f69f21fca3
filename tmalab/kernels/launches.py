"""For what each kernel of the ladder is compiled: arguments of the types that it takes, and the threads of a CTA.

>>> how = launch_of("copy_2d")
>>> how["kernel"].counts(how["args"], how["block"])["bulk_tensor_copies"]
1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tmalab import TensorMap
from tmalab.kernels import (
    copy_2d,
    copy_3d_grouped,
    copy_column,
    copy_cp_async,
    copy_multicast,
    copy_tensor,
    gemm_cluster,
    gemm_naive,
    gemm_persistent,
    gemm_pipelined,
    gemm_warp_specialized,
    reduce_add,
    store_tile,
)
from tmalab.kernels.gemm_tiles import TILES

_HALVES, _FLOATS = np.zeros((16, 128), np.float16), np.zeros((16, 64), np.float32)
_MATRIX, _WORDS = np.zeros((256, 256), np.uint16), np.zeros((64, 256), np.int64)
_LARGEST = {tile.cluster: tile for tile in TILES if tile.shape == (128, 256)}


def _by_map(kernel: Any, tensor: np.ndarray, box: tuple[int, ...], other: Any, *numbers: int) -> dict[str, Any]:
    """A kernel that takes a map, an array or nothing, and numbers."""
    return {"kernel": kernel, "block": 128, "args": (TensorMap.from_array(tensor, box), other, *numbers)}


LAUNCHES: dict[str, Callable[[], dict[str, Any]]] = {
    "copy_2d": lambda: _by_map(copy_2d.copy_2d, _HALVES, (8, 64), _HALVES, 0, 0),
    "copy_3d_grouped": lambda: {
        "kernel": copy_3d_grouped.copy_3d_grouped,
        "block": 128,
        "args": (copy_3d_grouped.grouped_map(_HALVES), _HALVES.reshape(2, 8, 128), 0, 0),
    },
    "copy_column": lambda: _by_map(copy_column.copy_column, _HALVES[:, :64], (8, 64), _HALVES, 2),
    "copy_multicast": lambda: _by_map(copy_multicast.copy_multicast, _HALVES, (4, 64), _HALVES[None], 0, 0),
    "copy_cp_async": lambda: copy_cp_async.launch_of(_WORDS.reshape(-1, 2), _WORDS.reshape(-1, 2)),
    "copy_tensor": lambda: copy_tensor.launch_of(_WORDS, _WORDS),
    "store_tile": lambda: _by_map(store_tile.store_tile, _HALVES, (8, 64), _HALVES, 0, 0),
    "reduce_add": lambda: _by_map(reduce_add.reduce_add, _FLOATS, (8, 32), _FLOATS[None], 0, 0),
    "gemm_naive": lambda: gemm_naive.launch_of(_MATRIX, _MATRIX, _MATRIX),
    "gemm_pipelined": lambda: gemm_pipelined.launch_of(_MATRIX, _MATRIX, _MATRIX),
    "gemm_warp_specialized": lambda: gemm_warp_specialized.launch_of(_MATRIX, _MATRIX, _MATRIX),
    "gemm_persistent": lambda: gemm_persistent.launch_of(_MATRIX, _MATRIX, _MATRIX, _LARGEST[1]),
    "gemm_cluster": lambda: gemm_cluster.launch_of(_MATRIX, _MATRIX, _MATRIX, _LARGEST[2]),
}


def launch_of(name: str) -> dict[str, Any]:
    """The `kernel`, `args` and `block` for `kernel.ptx` and `kernel.counts`; the products have their largest tile."""
    return LAUNCHES[name]()
