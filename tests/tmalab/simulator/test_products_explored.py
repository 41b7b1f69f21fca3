"""The course's matrix products in several orders, and under the strict reading: no hazard, one result."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import explore
from tmalab.kernels import gemm_pipelined, gemm_warp_specialized
from tmalab.kernels.gemm import bf16_map, small_integers

K = 192


@pytest.mark.parametrize("module", [gemm_pipelined, gemm_warp_specialized], ids=lambda module: module.__name__)
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
def test_a_product_is_right_in_every_order(module, strict):
    a, b = small_integers(module.BM, K, 1), small_integers(module.BN, K, 2)
    args = (
        bf16_map(a, module.BM, module.BK),
        bf16_map(b, module.BN, module.BK),
        np.zeros((len(a), len(b)), np.uint16),
        K,
    )
    kernel = getattr(module, module.__name__.rpartition(".")[2])
    found = explore(kernel, 1, module.THREADS, args, seeds=3, strict=strict)
    assert not found.failures, found
    assert len(found.outcomes) == 1
