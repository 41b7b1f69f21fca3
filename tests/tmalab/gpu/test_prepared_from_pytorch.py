"""The ladder on tensors of PyTorch: maps bind them where they are, a matrix that threads write is one of its bits."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from fake_driver import FakeDriver

from tmalab import DataType
from tmalab.gpu.device_arrays import located
from tmalab.gpu.signature import type_of
from tmalab.kernels import gemm_cluster, gemm_naive

sys.path.append(str(Path(__file__).parents[1]))

from fake_arrays import ADDRESS, Tensor


def matrices():
    return [Tensor((512, 512), "bfloat16", offset=number << 18) for number in range(3)]


@pytest.mark.parametrize("module", [gemm_naive, gemm_cluster])
def test_products_take_pytorchs_tensors(play, module):
    play(FakeDriver())
    how = module.launch_of(*matrices())
    launch = how.pop("kernel").prepare(**how)
    addresses = [struct.unpack("<Q", bytes(value)[:8])[0] for value in launch._values[:2]]
    assert addresses == [ADDRESS, ADDRESS + (2 << 18)]
    assert all(tm.data_type == DataType.BFLOAT16 for tm in how["args"][:2])
    launch()


def test_a_matrix_of_bf16_is_one_of_16_bits_to_threads():
    (found,) = located(matrices()[:1])
    assert str(type_of("c", found)) == "array(uint16, 2d, C)"
    assert found.address == ADDRESS
