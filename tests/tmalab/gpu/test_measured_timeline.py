"""Measured timelines: from what threads saw on the clock to spans."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from numba import cuda

import tmalab
from tmalab import TensorMap, ptx
from tmalab.gpu import clocked_ptx as at
from tmalab.gpu.bounded_waits import bound_waits
from tmalab.gpu.clocked_ptx import LOOK, ROW, Look, clocked, read_looks
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.measured_timeline import timeline_of_looks
from tmalab.gpu.ptxas import assembled

TILE = 2048  # bytes


@tmalab.kernel
def two_tiles(source, out):
    tiles = cuda.shared.array((2, 16, 32), np.int32, alignment=128)
    full = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for stage in range(2):
            ptx.mbarrier_init(full[stage], 1)
        ptx.fence_mbarrier_init()
        for stage in range(2):
            ptx.mbarrier_arrive_expect_tx(full[stage], TILE)
            ptx.cp_async_bulk_tensor_2d(tiles[stage], source, 0, stage * 16, full[stage])
    cuda.syncthreads()
    for stage in range(2):
        ptx.mbarrier_wait_parity(full[stage], 0)
        out[stage, tid] = tiles[stage, 0, tid]


def arguments():
    numbers = np.arange(32 * 32, dtype=np.int32).reshape(32, 32)
    return TensorMap.from_array(numbers, (16, 32)), np.zeros((2, 32), np.int32)


def thread(*looks, began=1000, clock=500):
    """A thread's row: it began at a time (ns) and a clock, then saw events after so many cycles."""
    row = [Look(began, at.BEGIN_TIME, 0), Look(clock, at.BEGIN, 0)]
    return row + [Look(clock + cycles, event, operand) for cycles, event, operand in looks]


PIPELINE = {
    (0, 0): thread((10, at.EXPECTS, 64), (20, at.LOADS, 64), (100, at.EXPECTS, 72), (110, at.LOADS, 72)),
    (0, 128): thread(
        (30, at.WAITS, 64),
        (400, at.WAITED, 64),
        (410, at.MULTIPLIES, 0),
        (600, at.MULTIPLIED, 0),
        (610, at.WAITS, 72),
        (620, at.WAITED, 72),
    ),
}


def spans(timeline, row):
    return [(span.what, span.start, span.end) for span in timeline.spans if span.row == row]


def test_a_copy_is_under_way_until_its_phase_is_seen_complete():
    timeline = timeline_of_looks(PIPELINE, cycles_per_ns=2.0)
    assert timeline.source == "measured"
    assert spans(timeline, "copy engine") == [("copy in flight", 10, 200), ("copy in flight", 55, 310)]
    assert spans(timeline, "stage 1")[0] == ("copy in flight", 55, 310)


def test_the_tensor_core_works_from_the_fence_to_the_end_of_the_wait():
    timeline = timeline_of_looks(PIPELINE, cycles_per_ns=2.0)
    assert spans(timeline, "tensor core") == [("compute", 205, 300)]
    assert spans(timeline, "consumer")[0] == ("wait", 15, 200)


def test_ctas_are_set_beside_each_other_by_the_clock_of_the_gpu():
    later = {(1, 0): thread((20, at.WAITS, 64), (40, at.WAITED, 64), began=1300, clock=9)}
    timeline = timeline_of_looks(PIPELINE | later, cycles_per_ns=2.0)
    assert [(span.start, span.end) for span in timeline.of_cta(1).spans] == [(310, 320)]


def test_a_long_run_tells_the_rate_of_its_clock_itself():
    row = [*thread((30_000, at.WAITS, 64), (60_000, at.WAITED, 64)), Look(150_500, at.END, 0)]
    row.append(Look(101_000, at.END_TIME, 0))
    timeline = timeline_of_looks({(0, 0): row}, cycles_per_ns=9.0)
    assert [(span.start, span.end) for span in timeline.spans] == [(20_000, 40_000)]


def test_a_thread_that_saw_nothing_but_its_beginning_adds_no_span():
    idle = {(0, 1): thread()}
    assert timeline_of_looks(PIPELINE | idle, 2.0).spans == timeline_of_looks(PIPELINE, 2.0).spans


def test_every_thread_begins_a_row_and_the_lowest_of_its_warp_goes_on():
    """Which thread is the lowest of a branch is not known at the beginning."""
    text = clocked(compile_kernel(two_tiles.function, arguments(), 32).ptx, 32)
    begins, rest = text.split("mov.u64 now, %clock64", 1)
    assert "activemask" not in begins
    assert "activemask" in rest


def test_a_row_that_is_full_is_told():
    row = thread(*((cycles, at.ARRIVES, 64) for cycles in range(ROW - 2)))
    assert any(str(ROW) in note for note in timeline_of_looks({(0, 0): row}, 2.0).notes)


def test_looks_are_read_by_cta_and_thread_up_to_the_first_that_was_not_taken():
    memory = bytearray(at.size_of(2))
    LOOK.pack_into(memory, 3 * ROW * LOOK.size, 7, at.LOADS, 64)
    assert read_looks(bytes(memory), 2) == {(1, 1): [Look(7, at.LOADS, 64)]}
    assert struct.calcsize("<QII") == LOOK.size == 16


def test_a_kernel_that_looks_at_the_clock_notes_every_event_and_assembles():
    compiled = compile_kernel(two_tiles.function, arguments(), 32)
    text = clocked(compiled.ptx, 32)
    statements = {
        at.EXPECTS: "arrive.expect_tx",
        at.LOADS: "cp.async.bulk.tensor",
        at.WAITS: "try_wait",
        at.BEGIN: ".entry",
    }
    for event, statement in statements.items():
        assert text.count(f"{{{event}, ") == compiled.ptx.count(statement) > 0
    assert assembled(bound_waits(text), compiled.name).cubin


@pytest.mark.gpu
def test_a_traced_run_has_the_same_results_and_a_measured_timeline():
    args = arguments()
    run = two_tiles.run(1, 32, args, on="gpu", trace=True)
    assert run.ok
    assert (args[1] == args[0].array[[0, 16]]).all()
    timeline = run.timeline
    assert timeline.source == "measured"
    flights = [span for span in timeline.spans if span.row == "copy engine"]
    assert len(flights) == 2
    assert all(100 < span.duration < 20_000 for span in flights)
