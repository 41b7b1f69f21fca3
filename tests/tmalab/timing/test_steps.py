"""The rules of the time model: times that can be added up by hand from the constants."""

from __future__ import annotations

import numpy as np
import pytest
import timed_kernels as kernels
from known_constants import KNOWN
from numba import cuda

from tmalab import Swizzle, kernel, ptx
from tmalab.timing.model import timeline_of


def timed(made, args, grid=1, block=64, constants=KNOWN, **more):
    run = made.run(grid, block, args, **more)
    assert run.deadlock is None
    assert run.fault is None
    return timeline_of(run, constants)


def cycles(*names, **times):
    return sum(KNOWN[name] for name in names) + sum(KNOWN[name] * count for name, count in times.items())


def test_a_load_takes_its_issue_its_latency_and_its_bytes_at_the_rate_of_the_sm():
    timeline = timed(kernels.one_load, (kernels.tensor_map(),))
    assert timeline.duration == cycles("instruction", "arrive", "load_issue", "load_latency_device") + 8192 / 64


def test_two_loads_share_the_bandwidth_and_overlap_their_latency():
    timeline = timed(kernels.two_loads, (kernels.tensor_map(),))
    assert timeline.duration == cycles("instruction", "arrive", "load_issue", "load_latency_device") + 2 * 8192 / 64


def test_what_was_loaded_before_comes_from_the_cache():
    @kernel
    def twice(source):
        tile = cuda.shared.array((kernels.ROWS, kernels.COLUMNS), np.uint16, alignment=1024)
        full = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(full[0], 1)
            for parity in range(2):
                ptx.mbarrier_arrive_expect_tx(full[0], kernels.BYTES)
                ptx.cp_async_bulk_tensor_2d(tile, source, 0, 0, full[0])
                ptx.mbarrier_wait_parity(full[0], parity)

    once = timed(kernels.one_load, (kernels.tensor_map(),)).duration
    again = timed(twice, (kernels.tensor_map(),)).duration - once
    assert again == cycles("arrive", "load_issue", "load_latency_l2") + 8192 / 64


def test_loads_of_all_sms_share_what_device_memory_moves():
    slow = KNOWN.changed(device_rate=64)
    alone = timed(kernels.one_load, (kernels.tensor_map(),), constants=slow).duration
    source = kernels.tensor_map()

    @kernel
    def each(source):
        tile = cuda.shared.array((kernels.ROWS, kernels.COLUMNS), np.uint16, alignment=1024)
        full = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(full[0], 1)
            ptx.mbarrier_arrive_expect_tx(full[0], kernels.BYTES)
            ptx.cp_async_bulk_tensor_2d(tile, source, 0, cuda.blockIdx.x * kernels.ROWS, full[0])
            ptx.mbarrier_wait_parity(full[0], 0)

    together = timed(each, (source,), grid=4, constants=slow).duration
    assert together - alone == 3 * 8192 / 64


def test_a_multicast_comes_out_of_the_cache_once_and_into_each_sm_whole():
    timeline = timed(kernels.multicast, (kernels.tensor_map(),), grid=2, block=32, cluster=2, constants=KNOWN)
    flights = [span for span in timeline.spans if span.row == "copy engine"]
    assert [span.cta for span in flights] == [0, 1]
    assert {span.duration for span in flights} == {cycles("load_latency_device", "multicast_latency") + 8192 / 64}


@pytest.mark.parametrize(("stride", "ways"), [(1, 1), (2, 2), (8, 8), (32, 32)])
def test_a_read_of_shared_memory_takes_a_turn_for_each_way_of_its_conflict(stride, ways):
    @kernel
    def read(out):
        tile = cuda.shared.array(1024, np.int32)
        at = cuda.threadIdx.x * stride
        out[cuda.threadIdx.x] = tile[at]

    timeline = timed(read, (np.zeros(32, np.int32),), block=32)
    reading, writing = cycles("access", "shared_latency") + ways, cycles("access")
    arrived = 4 * 32 / KNOWN["store_rate"]
    assert timeline.duration == reading + writing + arrived


def test_a_loop_of_reads_waits_for_each_before_the_next_one():
    @kernel
    def reads(out):
        tile = cuda.shared.array(256, np.int32)
        total = 0
        for i in range(8):
            total += tile[i * 32]
        out[0] = total

    eight = timed(reads, (np.zeros(1, np.int32),), block=1).duration
    assert eight == 8 * (cycles("access", "shared_latency") + 1) + cycles("access", "line_write")


def test_warps_of_a_scheduler_take_turns_and_those_of_others_do_not_wait():
    @kernel
    def instructions():
        ptx.fence_proxy_async()

    assert timed(instructions, (), block=4 * 32).duration == cycles("fence")
    assert timed(instructions, (), block=8 * 32).duration == cycles("fence") + cycles("instruction")


def test_who_waits_for_an_arrive_goes_on_a_handoff_later():
    @kernel
    def handoff():
        bar = ptx.mbarrier_array(1)
        tid = cuda.threadIdx.x
        if tid == 0:
            ptx.mbarrier_init(bar[0], 1)
        cuda.syncthreads()
        if tid == 0:
            ptx.fence_proxy_async()
            ptx.mbarrier_arrive(bar[0])
        if tid == 32:
            ptx.mbarrier_wait_parity(bar[0], 0)

    met = cycles("instruction", "instruction", "sync")
    assert timed(handoff, ()).duration == met + cycles("fence", "arrive", "handoff")


def test_a_wait_for_what_is_there_costs_a_look():
    @kernel
    def look():
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar[0], 1)
            ptx.mbarrier_arrive(bar[0])
            for _ in range(50):
                ptx.fence_proxy_async()
            ptx.mbarrier_wait_parity(bar[0], 0)

    assert timed(look, (), block=32).duration == cycles("instruction", "arrive", "wait", fence=50)


def test_a_store_is_read_before_it_has_arrived_and_the_two_waits_tell_them_apart():
    def storing(reads):
        @kernel
        def store(target):
            tile = cuda.shared.array((kernels.ROWS, kernels.COLUMNS), np.uint16, alignment=1024)
            if cuda.threadIdx.x == 0:
                ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
                ptx.cp_async_bulk_commit_group()
                if reads:
                    ptx.cp_async_bulk_wait_group_read(0)
                else:
                    ptx.cp_async_bulk_wait_group(0)
                ptx.fence_proxy_async()

        spans = timed(store, (kernels.tensor_map(),), block=32).spans
        return next(span.end for span in spans if span.what == "wait")

    read = cycles("store_issue", "store_read_latency", "store_issue") + 8192 / KNOWN["store_rate"]
    arrived = cycles("store_issue", "store_latency", "store_issue") + 8192 / KNOWN["store_rate"]
    assert (storing(reads=True), storing(reads=False)) == (read, arrived)


def test_wgmmas_of_two_warpgroups_follow_each_other_on_the_tensor_cores():
    @kernel
    def multiply(out):
        a = cuda.shared.array((128, 64), np.uint16, alignment=1024)
        desc = ptx.wgmma_descriptor(a, Swizzle.B128, 1024)
        acc = ptx.wgmma_zero_64()
        ptx.wgmma_fence()
        acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc, desc, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
        ptx.fence_proxy_async()

    for block, warpgroups in ((128, 1), (256, 2)):
        timeline = timed(multiply, (np.zeros(1),), block=block, constants=KNOWN.changed(tensor_rate=1e9))
        spans = [span for span in timeline.spans if span.row == "tensor core"]
        assert [span.duration for span in spans] == [32] * warpgroups
        assert timeline.bubbles() == []
    assert spans[1].start == spans[0].end


def test_a_cluster_barrier_lets_all_go_on_when_the_last_one_has_come():
    @kernel
    def meeting():
        if cuda.blockIdx.x == 1:
            ptx.fence_proxy_async()
        ptx.barrier_cluster_arrive()
        ptx.barrier_cluster_wait()

    assert timed(meeting, (), grid=2, block=32, cluster=2).duration == cycles("fence", "instruction", "cluster_sync")


def test_ctas_that_do_not_fit_follow_when_one_has_ended():
    @kernel
    def wide():
        tile = cuda.shared.array(200 * 1024, np.uint8)
        if cuda.threadIdx.x == 0:
            tile[0] = 1
        ptx.fence_proxy_async()

    one, nine = (timed(wide, (), grid=grid, block=32).duration for grid in (1, 9))
    assert nine == 3 * one + 2 * KNOWN["cta_start"]


def test_cp_async_is_waited_for_by_group():
    @kernel
    def fetch(source):
        tile = cuda.shared.array(128, np.int32, alignment=16)
        at = cuda.threadIdx.x * 4
        ptx.cp_async(tile[at:], source[at:], 16)
        ptx.cp_async_commit_group()
        ptx.cp_async_wait_group(0)

    timeline = timed(fetch, (np.zeros(128, np.int32),), block=32)
    moved = 512 / KNOWN["load_rate"]
    assert timeline.duration == cycles("access", "global_latency_device", "instruction") + moved
