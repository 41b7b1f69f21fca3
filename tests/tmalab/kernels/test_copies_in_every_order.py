"""The copies of the ladder in several orders, at sizes that are multiples of nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import TensorMap
from tmalab.kernels import copy_3d_grouped, copy_cp_async, copy_multicast, copy_tensor, reduce_add
from tmalab.kernels.copy_tensor import Ring

SEEDS = pytest.mark.parametrize("seed", [1, 2, 3])


@SEEDS
@pytest.mark.parametrize("ring", [Ring(1, 2, 1, 1), Ring(2, 3, 1, 1), Ring(2, 4, 1, 3)])
def test_a_tensor_goes_through_any_ring(ring, seed):
    source = np.arange(11 * 258).reshape(11, 258)
    out = np.zeros_like(source)
    how = copy_tensor.launch_of(source, out, ring, sms=2)
    assert not how.pop("kernel").run(seed=seed, **how).hazards
    assert np.array_equal(out, source)


@SEEDS
def test_threads_copy_any_number_of_chunks(seed):
    source = np.arange(2 * 1111).reshape(1111, 2)
    out = np.zeros_like(source)
    assert not copy_cp_async.copy_cp_async.run(1, copy_cp_async.THREADS, (source, out), seed=seed).hazards
    assert np.array_equal(out, source)


@SEEDS
def test_a_cluster_gets_one_tile_in_any_order(seed):
    tensor = np.arange(20 * 64, dtype=np.uint16).view(np.float16).reshape(20, 64)
    out = np.ones((4, 16, 64), np.float16)
    args = (TensorMap.from_array(tensor, (4, 64)), out, 0, 8)
    assert not copy_multicast.copy_multicast.run(4, 32, args, cluster=4, seed=seed).hazards
    expected = np.zeros((16, 64), np.float16)
    expected[:12] = tensor[8:]
    assert np.array_equal(out.view(np.uint16), np.repeat(expected[None], 4, 0).view(np.uint16))


@SEEDS
def test_groups_come_one_after_the_other(seed):
    matrix = np.arange(12 * 128, dtype=np.uint16).view(np.float16).reshape(12, 128)
    out = np.ones((2, 8, 64), np.float16)
    args = (copy_3d_grouped.grouped_map(matrix), out, 0, 4)
    assert not copy_3d_grouped.copy_3d_grouped.run(1, 32, args, seed=seed).hazards
    for group in range(2):
        for row in range(8):
            chunks = out[group, row].view(np.uint16).reshape(8, 8)[[chunk ^ row for chunk in range(8)]]
            assert chunks.ravel().tolist() == matrix[4 + row, group * 64 :][:64].view(np.uint16).tolist()


@SEEDS
def test_ctas_add_to_one_tile_in_any_order(seed):
    parts, tensor = np.ones((5, 8, 32), np.float32), np.zeros((10, 44), np.float32)
    args = (TensorMap.from_array(tensor, (8, 32)), parts, 32, 4)
    assert not reduce_add.reduce_add.run(5, 32, args, seed=seed).hazards
    assert tensor.sum() == 5 * 6 * 12
    assert (tensor[4:, 32:] == 5).all()
