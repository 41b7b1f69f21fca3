"""Contests with a fake PyTorch: buffers take turns, graphs are captured and replayed, wrong results are told."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import fake_torch
import pytest

from tmalab.bench import contest, device_copy, on_gpu, products
from tmalab.bench.on_gpu import BenchError
from tmalab.gpu.errors import GpuUnavailable


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", fake_torch)
    monkeypatch.setattr(on_gpu, "hopper", lambda: SimpleNamespace(use=lambda: None))
    monkeypatch.setattr(contest, "clock", lambda: 1700)


def multiplies(used=None, wrong=0.0):
    """A contender that computes the product, off by a share."""

    def prepare(a, b, c):
        def launch(stream):
            fake_torch.launched()
            if used is not None and stream is not None:
                used.append((id(c), stream.cuda_stream))
            c.array[:] = (a.array @ b.array.T) * (1 + wrong)

        return launch

    return prepare


def test_a_product_is_checked_and_timed_on_buffers_that_take_turns():
    used = []
    contenders = {"tmalab": multiplies(used), products.CUBLAS: multiplies()}
    case, clocks = products.compare("gemm", (64, 128, 64), contenders, 3)
    assert case["buffers"] == on_gpu.MOST_BUFFERS  # 24 KiB: the cache holds far more of them
    ours = case["contenders"]["tmalab"]
    assert ours["relative_error"] < 1e-6
    assert ours["seconds"] == pytest.approx([1e-6] * 3)  # a launch of the fake
    assert ours["launches"] % case["buffers"] == 0
    assert ours["launches"] * 1e-6 >= on_gpu.SECONDS / 4
    turns = [buffer for buffer, _ in used][-ours["launches"] :]
    assert len(set(turns)) == case["buffers"]
    assert turns[: case["buffers"]] == turns[case["buffers"] : 2 * case["buffers"]]
    assert {stream for _, stream in used} == {11}  # the one that is captured
    assert clocks == [1700] * 6
    assert ours["tile"]["consumers"] in (1, 2)


def test_a_contender_runs_for_a_while_before_it_is_timed():
    took = []
    sets = [products._matrices((64, 64, 64), 0)]
    for settle in (0.0, 0.05):
        began = fake_torch.cuda.now
        contest.hold({"tmalab": multiplies()}, sets, lambda name, found: {}, 2, settle)
        took.append((fake_torch.cuda.now - began) / 1e3)
    assert took[1] - took[0] == pytest.approx(2 * 0.05, rel=0.1)  # in each of two rounds


@pytest.mark.parametrize("wrong", [0.004, float("nan")])
def test_a_wrong_product_has_no_speed(wrong):
    with pytest.raises(BenchError, match="theirs is wrong: its relative error"):
        products.compare("gemm", (64, 64, 64), {"theirs": multiplies(wrong=wrong)}, 1)


def test_what_is_not_written_stays_poison_and_is_found():
    with pytest.raises(BenchError, match="relative error is nan"):
        products.compare("gemm", (64, 64, 64), {"idle": lambda a, b, c: lambda stream: None}, 1)


def test_a_copy_is_compared_byte_for_byte():
    def copies(source, target):
        return lambda stream: (fake_torch.launched(), target.copy_(source))

    given = {"ours": copies, device_copy.REFERENCE: copies}
    case, _ = device_copy.compare(64 << 10, given, 2)
    assert case["work"] == 2 * (64 << 10)
    with pytest.raises(BenchError, match="idle is wrong: it did not copy every byte"):
        device_copy.compare(4096, {"idle": lambda source, target: lambda stream: None}, 1)


class Kernel:
    """A kernel of ours: a run with bounded waits, and a prepared launch."""

    __name__ = "gemm_ours"

    def __init__(self, ok):
        self.ok, self.runs, self.prepared = ok, [], []

    def run(self, on, **how):
        self.runs.append((on, how))
        return SimpleNamespace(ok=self.ok, __str__=lambda self: "deadlock")

    def prepare(self, **how):
        self.prepared.append(how)
        return lambda stream: None


def test_a_kernel_of_ours_runs_once_with_bounded_waits_before_it_is_prepared():
    made = Kernel(ok=True)
    contender = contest.ours(lambda a, tile: {"kernel": made, "grid": a, "tile": tile}, "small")
    contender(1), contender(2)
    assert made.runs == [("gpu", {"grid": 1, "tile": "small"})]
    assert made.prepared == [{"grid": 1, "tile": "small"}, {"grid": 2, "tile": "small"}]


def test_a_kernel_that_hangs_is_a_sentence_and_is_not_timed():
    made = Kernel(ok=False)
    with pytest.raises(BenchError, match="gemm_ours is not right, so its speed says nothing"):
        contest.ours(lambda a: {"kernel": made})(1)
    assert made.prepared == []


def test_the_ladder_has_its_steps_in_order_and_the_others_last():
    assert list(products.steps((8192,) * 3)) == [
        "gemm_naive",
        "gemm_pipelined, 2 stages",
        "gemm_pipelined, 3 stages",
        "gemm_warp_specialized",
        "gemm_persistent",
        "gemm_cluster",
    ]
    assert next(iter(products.others())) == products.CUBLAS


def test_without_pytorch_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(GpuUnavailable, match="install torch"):
        on_gpu.torch()


def test_buffers_leave_the_cache_before_their_turn_comes_again():
    for size in (1 << 20, 6 << 20, 50 << 20, 119 << 20):
        sets = on_gpu.buffers(size)
        assert sets * size >= 2 * on_gpu.L2_BYTES or sets == on_gpu.MOST_BUFFERS
    assert on_gpu.buffers(2 * on_gpu.L2_BYTES) == 1
