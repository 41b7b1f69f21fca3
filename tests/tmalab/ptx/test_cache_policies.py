"""Cache policies: 64 bits that an H200 made, and the same from a kernel in both worlds."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import kernel, ptx
from tmalab.ptx.cache_policies import PRIORITIES, fractional_policy, range_policy

FIRST, LAST = PRIORITIES["evict_first"], PRIORITIES["evict_last"]

# What an H200 returned, the fraction and bits 48 to 63 of createpolicy.fractional.L2::evict_last.
FRACTIONS = [
    (1.0, 0x14F0),
    (0.97, 0x14F0),
    (0.9, 0x14E0),
    (0.6, 0x1490),
    (0.5, 0x1470),
    (0.34, 0x1450),
    (0.3, 0x1440),
    (3 / 16, 0x1420),
    (0.1, 0x1410),
    (1 / 16, 0x1400),
    (0.001, 0x1400),
    (0.0, 0x1400),
    (-1.0, 0x1400),
    (2.0, 0x14F0),
    (float("nan"), 0x1400),
]
# What an H200 returned of createpolicy.range.global.L2::evict_first: address, primary and total size, the policy.
ADDRESS = 0x7F31_A880_0000
RANGES = [
    (ADDRESS, 0, 0, 0x1800000000000000),
    (ADDRESS, 0, 4096, 0x1A00000000000000),
    (ADDRESS + 128, 0, 4096, 0x1A00002000000000),
    (ADDRESS, 100, 200, 0x1A00002000000000),
    (ADDRESS + 128, 4096, 4096, 0x1A00004000000000),
    (ADDRESS + 4096, 8192, 4096, 0x1A00104000000000),
    (ADDRESS + 131072, 5000, 10000, 0x1A02004000000000),
    (ADDRESS, 4096, 1 << 20, 0x1A10002000000000),
    (ADDRESS, 1 << 20, 1 << 20, 0x1A100FE000000000),
    (ADDRESS + (1 << 20), 1 << 20, 1 << 21, 0x1A24080000000000),
    (ADDRESS, 3 << 20, 5 << 20, 0x1A40060000000000),
    (ADDRESS, 1 << 24, 1 << 26, 0x1A71040000000000),
    (ADDRESS, 1 << 12, 1 << 30, 0x1AB5102000000000),
    (ADDRESS, 1 << 31, 2**32 - 1, 0x1AD5482000000000),
    (ADDRESS, 2**32 - 1, 2**32 - 1, 0x1AD5402000000000),
]


@pytest.mark.parametrize(("fraction", "high"), FRACTIONS)
def test_a_fraction_is_counted_in_sixteenths(fraction, high):
    assert fractional_policy(LAST, fraction) == high << 48


@pytest.mark.parametrize(("address", "primary_size", "total_size", "policy"), RANGES)
def test_a_range_is_kept_in_granules(address, primary_size, total_size, policy):
    assert range_policy(FIRST, address, primary_size, total_size) == policy


@kernel
def policies(fractions, out):
    for i in range(fractions.size):
        out[0, i] = ptx.createpolicy_fractional_evict_unchanged(fractions[i])
        out[1, i] = ptx.createpolicy_fractional_evict_normal_evict_first(fractions[i])
    out[2, 0] = ptx.createpolicy_fractional_evict_first_evict_first()
    out[2, 1] = ptx.createpolicy_range_evict_last(fractions[2:], 4096, 0)


def test_a_kernel_makes_policies(run):
    fractions = np.array([1.0, 0.5, 0.03], np.float32)
    out = np.zeros((3, 3), np.int64)
    run(policies, fractions, out, block=1)
    assert (out[0] == np.array([0x10F0, 0x1070, 0x1000]) << 48).all()
    assert (out[1] == np.array([0x17F0, 0x1770, 0x1700]) << 48).all()
    assert out[2, :2].tolist() == [0x13F0 << 48, 0x1800 << 48]
