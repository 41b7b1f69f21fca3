"""Predictions of whole launches: loops and grids extrapolated, and what cannot be known is said."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
import timed_kernels as kernels
from known_constants import KNOWN

from tests.pace import within
from tmalab.kernels import gemm
from tmalab.kernels import gemm_warp_specialized as specialized
from tmalab.timing import predict as module
from tmalab.timing.occupancy import resident
from tmalab.timing.predict import predict
from tmalab.timing.reuse import first_askers, loads_of

H200 = KNOWN.changed(
    sms=132, l2_size=50 << 20, clock=1.7, l2_rate=5500, device_rate=4200, tensor_rate=7e5, load_rate=100
)


def ring_args(turns, tiles=None):
    return kernels.tensor_map(tiles or turns), np.zeros(1, np.int64), turns


def test_an_extrapolated_loop_takes_as_long_as_the_whole_one_simulated():
    whole = predict(kernels.ring, 1, 64, ring_args(256), constants=KNOWN)
    part = predict(kernels.ring, 1, 64, ring_args(256), along="turns", constants=KNOWN)
    assert part.duration == pytest.approx(whole.duration, rel=1e-3)


def test_a_loop_too_short_to_be_extrapolated_is_simulated_whole():
    whole = predict(kernels.ring, 1, 64, ring_args(5), constants=KNOWN)
    part = predict(kernels.ring, 1, 64, ring_args(5), along="turns", constants=KNOWN)
    assert part.duration == whole.duration


@pytest.mark.parametrize("grid", [4, 8, 40, 42])
def test_an_extrapolated_grid_takes_about_as_long_as_its_waves_one_by_one(grid):
    width = grid * 1024
    args, fit = (np.zeros(width * 4, np.int32), np.zeros(width * 4, np.int32), 4), KNOWN.changed(l2_size=1 << 30)
    one = predict(
        kernels.copies, 8, 1024, (np.zeros(8 * 4096, np.int32), np.zeros(8 * 4096, np.int32), 4), constants=fit
    )
    found = predict(kernels.copies, grid, 1024, args, constants=fit)
    assert (one.resident, found.waves) == (2, -(-grid // 8))
    at_most = found.waves * (one.duration - KNOWN["launch"] + KNOWN["cta_start"]) + KNOWN["launch"]
    assert (
        one.duration * 0.5 < found.duration <= 1.01 * at_most
    )  # those that share an SM do not wait in the same places


def test_an_extrapolated_loop_of_copies_by_threads_takes_as_long_as_the_whole_one_simulated():
    """Also where many CTAs start one after the other, so that the first turns of a loop are not like the others."""
    constants, turns = KNOWN.changed(l2_size=1 << 30), 96
    width = 4 * 16 * 128
    args = np.zeros(width * turns, np.int32), np.zeros(width * turns, np.int32), turns
    part = predict(kernels.copies, 4 * 16, 128, args, along="turns", constants=constants)
    whole = predict(kernels.copies, 4 * 16, 128, args, constants=constants)
    assert part.duration == pytest.approx(whole.duration, rel=0.02)


def test_the_ctas_of_the_last_wave_ask_l2_for_their_own_bytes_only():
    """Room for two CTAs on each of 4 SMs, and L2 is slow: 13 CTAs take it as much longer than 8 as they are more."""
    constants = KNOWN.changed(l2_size=1 << 30, l2_rate=20, l2_beside_rate=1e6, word_beside_rate=1e6, l2_write_rate=1e6)

    def duration(grid):
        array = np.zeros(grid * 1024 * 4, np.int32)
        return predict(kernels.copies, grid, 1024, (array, array.copy(), 4), constants=constants).duration

    assert duration(13) / duration(8) == pytest.approx(13 / 8, rel=0.05)


def test_a_kernel_whose_length_is_in_its_data_is_not_predicted_but_its_part_is_shown():
    lengths = np.arange(64, dtype=np.int32) % 5 + 1
    found = predict(kernels.as_long_as_data_say, 64, 1, (lengths, np.zeros(64, np.int64)), constants=KNOWN)
    assert found.duration is None
    assert "depends on the numbers" in found.summary()
    assert found.timeline.spans


def test_small_data_that_fit_come_from_the_cache_and_cold_or_large_ones_do_not():
    args = ring_args(16)
    warm, cold = (predict(kernels.ring, 1, 64, args, constants=KNOWN, warm=warm) for warm in (True, False))
    small = predict(kernels.ring, 1, 64, args, constants=KNOWN.changed(l2_size=1 << 10))
    assert warm.duration < cold.duration == small.duration


def test_what_many_sms_ask_for_takes_twice_its_room_in_the_cache():
    args = ring_args(8)
    tight, large = (KNOWN.changed(l2_size=size) for size in (1.5 * args[0].array.nbytes, 1 << 30))
    one, one_in_large = (predict(kernels.ring, 1, 64, args, constants=found).duration for found in (tight, large))
    all, all_in_large = (predict(kernels.ring, 4, 64, args, constants=found).duration for found in (tight, large))
    assert one == one_in_large
    assert all > all_in_large


def test_along_has_to_be_an_int_argument():
    with pytest.raises(ValueError, match="turns"):
        predict(kernels.ring, 1, 64, ring_args(4), along="length", constants=KNOWN)
    with pytest.raises(ValueError, match="turns"):
        predict(kernels.ring, 1, 64, ring_args(4), along="source", constants=KNOWN)


def test_a_prediction_changes_no_argument():
    out = np.zeros(1, np.int64)
    predict(kernels.ring, 1, 64, (kernels.tensor_map(), out, 4), constants=KNOWN)
    assert out[0] == 0


def square(size):
    a, b, c = (np.zeros((size, size), np.uint16) for _ in range(3))
    maps = gemm.bf16_map(a, specialized.BM, specialized.BK), gemm.bf16_map(b, specialized.BN, specialized.BK)
    grid = size // specialized.BN, size // specialized.BM
    return predict(
        specialized.gemm_warp_specialized, grid, specialized.THREADS, (*maps, c, size), along="k", constants=H200
    )


def test_a_product_of_8192_cubed_is_predicted_in_seconds_and_above_what_the_tensor_cores_can_do(monkeypatch):
    parts = []
    real = module.simulate_part
    monkeypatch.setattr(module, "simulate_part", lambda *what, **how: parts.append(real(*what, **how)) or parts[-1])
    began = time.process_time()
    found = square(8192)
    assert within(time.process_time() - began, 15)
    loads = sum(len(loads_of(programs)) for part in parts for programs in part.programs())
    assert loads <= 64  # of 256 of each of 2,048 CTAs
    assert found.duration >= 2 * 8192**3 / H200["tensor_rate"]
    assert found.waves == math.ceil((8192 // specialized.BM) * (8192 // specialized.BN) / 132)


def test_ctas_of_a_row_of_the_grid_share_their_tiles_of_a_and_those_of_a_column_their_tiles_of_b():
    class Copy:
        number = 0

        def __init__(self, address, coordinates):
            self.tensor_map = type("Map", (), {"global_address": address})
            self.coordinates = coordinates

    def programs(x, y):
        step = type("Step", (), {"kind": "load", "data": [(Copy(1, (0, 128 * y)),), (Copy(2, (0, 128 * x)),)]})
        return [type("Program", (), {"steps": [step]})]

    shares = first_askers(programs(0, 0), {0: programs(1, 0), 1: programs(0, 1)}, (8, 8, 1), 16)
    assert shares == {1: 2 / 16, 2: 8 / 16}


@pytest.mark.parametrize(
    ("threads", "shared", "registers", "expected"),
    [(1024, 0, None, 2), (32, 0, None, 32), (128, 113 * 1024, None, 2), (128, 200 * 1024, None, 1), (256, 0, 255, 1)],
)
def test_how_many_ctas_share_an_sm(threads, shared, registers, expected):
    assert resident(threads, shared, registers) == expected
