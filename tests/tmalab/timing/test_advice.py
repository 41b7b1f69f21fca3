"""What bounds a kernel, and what one more stage would bring."""

from __future__ import annotations

import numpy as np
import pytest
import timed_kernels as kernels
from known_constants import KNOWN

from tmalab.timing.advice import Advice
from tmalab.timing.predict import predict
from tmalab.timing.trials.moves import launch_threads
from tmalab.timing.trials.products import launch_product

FREE = KNOWN.changed(sms=4, l2_size=1 << 30, l2_rate=1e6, tensor_rate=1e7)


def predicted(stages, constants, k=1024):
    found = launch_product(256, 128, k, consumers=1, bn=64, stages=stages)
    return predict(found.kernel, found.grid, found.block, found.args, along="k", constants=constants)


def test_one_more_stage_brings_what_the_kernel_with_one_more_stage_is_faster():
    one, two = predicted(1, FREE, 1 << 14), predicted(2, FREE, 1 << 14)  # long: only the loop matters, in which
    # the kernel with two stages has a little more to compute
    assert one.advice.one_more == pytest.approx(1 - two.duration / one.duration, abs=0.05)
    assert "one more stage would save" in one.summary()


def test_where_the_tensor_cores_are_busy_all_the_time_one_more_stage_brings_nothing():
    found = predicted(4, FREE.changed(wgmma_column=4))
    assert found.advice.bound == "tensor"
    assert found.advice.share > 0.85
    assert found.advice.one_more == pytest.approx(0, abs=0.03)
    assert "bound by the tensor cores" in found.summary()


def test_a_stage_that_brings_nothing_is_told():
    assert "bring nothing" in "\n".join(Advice("tensor", 0.99, 0.001).sentences())


def test_loads_that_the_sm_cannot_take_in_faster_are_the_bound():
    found = predicted(4, FREE.changed(load_rate=8))
    assert found.advice.bound == "inward"
    assert found.advice.share > 0.9


def test_a_kernel_that_waits_for_late_data_is_bound_by_nothing_but_waiting():
    found = predicted(1, FREE)
    assert found.advice.share < 0.85
    assert "bound by waiting" in found.summary()


def test_of_a_kernel_without_stages_nothing_is_said_about_them():
    found = launch_threads(1, 128, 1)
    advice = predict(found.kernel, 4, 128, found.args, along="turns", constants=KNOWN).advice
    assert advice.one_more is None
    assert len(advice.sentences()) == 1


def test_a_stage_that_has_no_room_is_told():
    assert "4096 bytes" in "\n".join(Advice("inward", 0.5, 0.2, 4096).sentences())
    assert "4096 bytes" not in "\n".join(Advice("tensor", 0.99, 0.0, 4096).sentences())


def test_a_ring_of_two_stages_can_be_looked_one_stage_ahead():
    args = kernels.tensor_map(64), np.zeros(1, np.int64), 64
    advice = predict(kernels.ring, 1, 64, args, along="turns", constants=FREE).advice
    assert 0.2 < advice.one_more < 0.4  # three in flight instead of two
