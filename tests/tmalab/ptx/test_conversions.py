"""cvt in the simulator, against the hardware's values (H200) and against rounding by exhaustion."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.ptx.convert import bf16_bits, f16_bits

BF16 = np.arange(0x7F80, dtype=np.uint32)  # the bits of all finite bf16 numbers that are not negative


@pytest.mark.parametrize(
    ("x", "bits"),
    [
        (3.1415927, 0x4049),
        (2.0, 0x4000),
        (-2.0, 0xC000),
        (1e-45, 0x0000),
        (float("nan"), 0x7FFF),
        (float("inf"), 0x7F80),
    ],
)
def test_bf16_of_numbers_that_the_h200_converted(x, bits):
    assert bf16_bits(np.float32(x)) == bits


def test_bf16_is_the_nearest_number_and_the_even_one_of_two():
    values = (BF16 << 16).view(np.float32).astype(np.float64)
    generator = np.random.default_rng(3)
    samples = generator.integers(0, 0x7F7F0000, 2000, dtype=np.uint32)
    ties = (generator.integers(0, 0x7F7F, 500, dtype=np.uint32) << 16) + 0x8000
    for x in np.concatenate([samples, ties]).view(np.float32):
        below = np.searchsorted(values, float(x), side="right") - 1
        down, up = float(x) - values[below], values[below + 1] - float(x)
        nearest = below if down < up or (down == up and below % 2 == 0) else below + 1
        assert bf16_bits(x) == nearest


def test_what_is_past_the_largest_bf16_number_by_half_a_step_is_infinite():
    assert bf16_bits(np.uint32(0x7F7F7FFF).view(np.float32)) == 0x7F7F
    assert bf16_bits(np.uint32(0x7F7F8000).view(np.float32)) == 0x7F80


@pytest.mark.parametrize(("x", "bits"), [(2.0, 0x4000), (65520.0, 0x7C00), (65519.0, 0x7BFF), (float("nan"), 0x7FFF)])
def test_f16_of_numbers_at_its_ends(x, bits):
    assert f16_bits(np.float32(x)) == bits
