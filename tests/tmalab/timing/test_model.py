"""The timeline of simulated runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import timed_kernels as kernels
from known_constants import KNOWN
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.kernels import copy_2d, gemm, gemm_naive, gemm_pipelined, gemm_warp_specialized, store_tile
from tmalab.run import Run
from tmalab.timing.constants import Constants
from tmalab.timing.model import timeline_of

SCALED = KNOWN.changed(tensor_rate=1e6)


def product(module, k=256):
    a, b = gemm.small_integers(module.BM, k, 1), gemm.small_integers(module.BN, k, 2)
    maps = gemm.bf16_map(a, module.BM, module.BK), gemm.bf16_map(b, module.BN, module.BK)
    made = getattr(module, module.__name__.rpartition(".")[2])
    return made.run(1, module.THREADS, (*maps, np.zeros((module.BM, module.BN), np.uint16), k))


@pytest.mark.parametrize("module", [gemm_naive, gemm_pipelined, gemm_warp_specialized])
def test_the_timeline_of_a_product_has_all_its_loads_and_wgmmas(module):
    timeline = timeline_of(product(module), SCALED)
    steps = 256 // module.BK
    warpgroups = module.BM // 64
    loads = [span for span in timeline.spans if (span.row, span.what) == ("copy engine", "copy in flight")]
    wgmmas = [span for span in timeline.spans if span.row == "tensor core"]
    assert len(loads) == 2 * steps
    assert len(wgmmas) == steps * warpgroups * module.BK // 16
    assert timeline.duration >= max(span.end for span in wgmmas)


def test_a_pipeline_is_faster_than_loads_and_products_in_turn():
    naive, pipelined = (timeline_of(product(module, 512), SCALED) for module in (gemm_naive, gemm_pipelined))
    assert sum(bubble.duration for bubble in pipelined.bubbles()) < sum(bubble.duration for bubble in naive.bubbles())


def test_every_stage_has_a_row_and_spans_that_do_not_overlap_its_next_copies():
    timeline = timeline_of(product(gemm_pipelined, 512), SCALED)
    stages = [f"stage {number}" for number in range(gemm_pipelined.STAGES)]
    assert [row for row in timeline.rows if row.startswith("stage")] == stages
    for row in timeline.rows:
        flights = [span for span in timeline.spans if (span.row, span.what) == (row, "copy in flight")]
        for full in (span for span in timeline.spans if (span.row, span.what) == (row, "full")):
            assert all(flight.end <= full.start or flight.start >= full.end for flight in flights)


def test_spans_know_the_learners_line():
    timeline = timeline_of(product(gemm_pipelined), SCALED)
    source = Path(gemm_pipelined.__file__).read_text("utf-8").splitlines()
    lines = {source[span.line - 1].strip() for span in timeline.spans if span.row == "tensor core"}
    assert len(lines) == 1
    assert "wgmma_m64n128k16" in lines.pop()


def test_a_run_has_its_timeline_and_makes_it_once(monkeypatch):
    monkeypatch.setattr(Constants, "read", classmethod(lambda cls: KNOWN))
    run = kernels.one_load.run(1, 64, (kernels.tensor_map(),))
    assert run.timeline is run.timeline
    assert run.timeline.source == "model"


@pytest.mark.parametrize("demonstrated", [copy_2d, store_tile])
def test_kernels_without_a_tensor_core_have_a_timeline_too(demonstrated):
    for _, run, _, _ in demonstrated.demonstrate("simulator"):
        timeline = timeline_of(run, KNOWN)
        assert timeline.duration > KNOWN["load_issue"]
        assert timeline.spans


def test_what_was_not_measured_is_said_in_one_sentence():
    without = Constants({name: value for name, value in KNOWN.found.items() if name != "load_rate"})
    with pytest.raises(RuntimeError, match=r"`load_rate` .* was not measured"):
        timeline_of(kernels.one_load.run(1, 64, (kernels.tensor_map(),)), without)


def test_what_a_run_does_not_need_may_be_missing():
    without = Constants({name: value for name, value in KNOWN.found.items() if not name.startswith("wgmma")})
    assert timeline_of(kernels.one_load.run(1, 64, (kernels.tensor_map(),)), without).duration > 0


def test_a_run_on_a_gpu_has_no_predicted_timeline():
    with pytest.raises(ValueError, match="trace=True"):
        timeline_of(Run(on="gpu"), KNOWN)


def test_a_run_that_hangs_has_a_timeline_until_then_and_says_so():
    @kernel
    def hangs(source):
        tile = cuda.shared.array((kernels.ROWS, kernels.COLUMNS), np.uint16, alignment=1024)
        full = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(full[0], 1)
            ptx.mbarrier_arrive_expect_tx(full[0], 2 * kernels.BYTES)
            ptx.cp_async_bulk_tensor_2d(tile, source, 0, 0, full[0])
            ptx.mbarrier_wait_parity(full[0], 0)

    run = hangs.run(1, 32, (kernels.tensor_map(),))
    assert run.deadlock is not None
    timeline = timeline_of(run, KNOWN)
    assert timeline.notes
    assert any(span.row == "copy engine" for span in timeline.spans)


@pytest.mark.parametrize(
    "name",
    [
        "fewer_from_phase_to_phase",
        "barrier_ends_and_begins",
        "in_step_by_mbarrier",
        "filter_taps",
        "work_while_it_comes",
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_no_warp_of_a_right_kernel_is_left_waiting(monkeypatch, name, seed):
    from tests.mutants.right import CASES
    from tmalab.timing import engine

    warps = []
    made = engine.Warp.__init__
    monkeypatch.setattr(engine.Warp, "__init__", lambda self, *args: (warps.append(self), made(self, *args))[1])
    timeline_of(CASES[name]().run(seed), KNOWN)
    assert warps
    assert all(warp.at == len(warp.steps) for warp in warps)


@pytest.mark.slow
def test_every_right_kernel_has_a_timeline():
    from tests.mutants.right import CASES

    for make in CASES.values():
        assert timeline_of(make().run(), KNOWN).duration > 0


def test_the_timeline_does_not_depend_on_the_seed():
    durations = set()
    for seed in range(4):
        args = (kernels.tensor_map(), np.zeros(1, np.int64), 6)
        durations.add(timeline_of(kernels.ring.run(1, 64, args, seed=seed), KNOWN).duration)
    assert len(durations) == 1


def test_a_store_leaves_the_epilogues_row_when_it_has_arrived():
    tensor, tile = np.zeros((16, 128), np.float16), np.ones((8, 64), np.float16)
    run = store_tile.store_tile.run(1, 128, (TensorMap.from_array(tensor, (8, 64)), tile, 0, 0))
    (store,) = [span for span in timeline_of(run, KNOWN).spans if span.what == "store"]
    assert store.duration == KNOWN["store_latency"] + 1024 / KNOWN["store_rate"]
