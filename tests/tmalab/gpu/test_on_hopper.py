"""On a real Hopper GPU: launches, waits that give up, faults, recordings. Left out where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from numba import cuda

from tmalab import TensorMap, kernel, ptx, recorded
from tmalab.gpu.recorder import describe, record
from tmalab.recorded.barrier_case import BarrierCase
from tmalab.recorded.cases import GROUPS
from tmalab.recorded.perform import perform
from tmalab.recorded.plain import to_plain

pytestmark = pytest.mark.gpu

TWICE = """
import json, sys
from tmalab.gpu.errors import GpuStopped
from tmalab.recorded.perform import perform
from tmalab.recorded.plain import from_plain
case = from_plain(json.loads(sys.stdin.read()))
print(perform(case, "gpu")[0].fault.kind)
try:
    perform(case, "gpu")
except GpuStopped:
    print("stopped")
"""

ENDLESS = """
import numpy as np
from tmalab import kernel, ptx
from tmalab.gpu import launch
from tmalab.gpu.errors import GpuStopped
launch.ENDLESS_SECONDS = 1
@kernel
def endless(out):
    while ptx.clock64() > 0:
        pass
try:
    endless.run(args=(np.zeros(1),), on="gpu")
except GpuStopped:
    print("stopped")
"""


@kernel
def stuck(out, arrivals):
    full = ptx.mbarrier_array(2)
    t = cuda.threadIdx.x
    if t == 0:
        ptx.mbarrier_init(full[0], 5)
        ptx.mbarrier_init(full[1], 1)
    cuda.syncthreads()
    if t < arrivals:
        ptx.mbarrier_arrive(full[0])
    if t < 32:
        while not ptx.mbarrier_try_wait_parity(full[0], 0):
            pass
    else:
        ptx.mbarrier_wait_parity(full[1], 0)
    out[t] = 1


def test_a_hang_ends_within_seconds_and_names_its_barriers():
    out = np.zeros(64, np.int64)
    begin = time.monotonic()
    run = stuck.run(block=64, args=(out, 3), on="gpu")
    assert time.monotonic() - begin < 20
    assert [waiter.threads for waiter in run.deadlock.waiters] == [tuple(range(32)), tuple(range(32, 64))]
    assert [waiter.parity for waiter in run.deadlock.waiters] == [0, 0]
    assert out.sum() == 0


def test_threads_that_do_not_hang_finish_and_the_gpu_goes_on():
    out = np.zeros(64, np.int64)
    run = stuck.run(block=64, args=(out, 5), on="gpu")
    assert [waiter.threads for waiter in run.deadlock.waiters] == [tuple(range(32, 64))]
    assert out.tolist() == [1] * 32 + [0] * 32


def test_every_kind_of_argument_arrives():
    @kernel
    def kinds(flag, single, double, n, strided, frozen, out):
        out[0], out[1], out[2] = strided[1, 2], np.float32(single), double
        out[3], out[4], out[5] = n, 1 if flag else 0, frozen[3]

    strided = np.arange(64, dtype=np.float64).reshape(8, 8).T[::2]
    frozen = np.arange(10, dtype=np.int8)[::-1]
    frozen.flags.writeable = False
    out = np.zeros(6)
    assert kinds.run(block=1, args=(True, np.float32(0.1), 0.1, -3, strided, frozen, out), on="gpu").ok
    assert out.tolist() == [18.0, float(np.float32(0.1)), 0.1, -3.0, 1.0, 6.0]


def test_clusters_are_launched():
    @kernel
    def ranks(out):
        out[cuda.blockIdx.x] = cuda.blockIdx.x + 1

    out = np.zeros(8, np.int32)
    assert ranks.run(grid=8, block=1, cluster=4, args=(out,), on="gpu").ok
    assert out.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


@kernel
def waits_for_a_peer(out, arrivals):
    """CTA 0 waits for two arrivals of CTA 1, which makes `arrivals` and goes to the cluster barrier."""
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if t == 0:
        ptx.mbarrier_init(full[0], 2)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1 and t == 0:
        ptx.mbarrier_arrive_cluster_cluster_scope(full[0], 0, arrivals)
    if rank == 0:
        while not ptx.mbarrier_try_wait_parity_cluster_scope(full[0], 0):
            pass
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    out[cuda.blockIdx.x] = 1


def test_a_wait_for_a_peer_that_never_ends_is_told_and_the_gpu_goes_on():
    out = np.zeros(4, np.int64)
    begin = time.monotonic()
    run = waits_for_a_peer.run(grid=4, block=32, cluster=2, args=(out, 1), on="gpu")
    assert time.monotonic() - begin < 20
    assert [waiter.threads for waiter in run.deadlock.waiters] == [tuple(range(32)), tuple(range(64, 96))]
    assert out.tolist() == [0, 1, 0, 1]  # whoever waits for the exited at the cluster barrier goes on
    assert waits_for_a_peer.run(grid=4, block=32, cluster=2, args=(out, 2), on="gpu").ok
    assert out.tolist() == [1, 1, 1, 1]


def test_a_cta_uses_all_of_227_kib():
    @kernel
    def reverse(out, n):
        tile = cuda.shared.array(232_448, np.uint8, alignment=128)
        for k in range(cuda.threadIdx.x, n, cuda.blockDim.x):
            tile[k] = k % 251
        cuda.syncthreads()
        for k in range(cuda.threadIdx.x, n, cuda.blockDim.x):
            out[k] = tile[n - 1 - k]

    out = np.zeros(232_448, np.uint8)
    assert reverse.run(args=(out, out.size), on="gpu").ok
    assert (out == (232_447 - np.arange(232_448)) % 251).all()


def test_two_maps_of_one_buffer_load_their_own_tiles():
    @kernel
    def both(a, b, out):
        tile = cuda.shared.array((2, 8, 64), np.float16, alignment=1024)
        full = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(full[0], 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        if cuda.threadIdx.x < 32 and ptx.elect_sync():
            ptx.prefetch_tensormap(a)
            ptx.mbarrier_arrive_expect_tx(full[0], 2048)
            ptx.cp_async_bulk_tensor_2d(tile[0], a, 0, 0, full[0])
            ptx.cp_async_bulk_tensor_2d(tile[1], b if out.size > 3 else a, 0, 0, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        for k in range(cuda.threadIdx.x, 512, cuda.blockDim.x):
            for i in range(2):
                out[i, k // 64, k % 64] = tile[i, k // 64, k % 64]

    base = np.arange(32 * 128, dtype=np.uint16).view(np.float16).reshape(32, 128)
    out = np.zeros((2, 8, 64), np.float16)
    maps = [TensorMap.from_array(view, (8, 64)) for view in (base[:, :64], base[8:, 64:])]
    assert both.run(args=(*maps, out), on="gpu").ok
    assert (out.view(np.uint16) == np.stack([base[:8, :64], base[8:16, 64:]]).view(np.uint16)).all()


def test_a_kernel_that_never_ends_costs_its_process_and_nothing_else():
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=25)
    assert done.stdout == "stopped\n"
    assert stuck.run(block=64, args=(np.zeros(64, np.int64), 5), on="gpu").deadlock is not None


@pytest.mark.parametrize("number", range(3))
def test_a_fault_is_told_by_its_kind(number):
    case = GROUPS["faults"].fixed()[number * 4]
    done = subprocess.run(
        [sys.executable, "-c", TWICE], input=json.dumps(to_plain(case)), capture_output=True, text=True
    )
    reading = recorded.read("faults")
    assert done.stdout.split() == [reading.results[reading.cases.index(case)], "stopped"]


def test_the_recorded_results_are_those_of_this_gpu():
    for name in GROUPS.keys() - {"maps", "faults"}:
        reading = recorded.read(name)
        for case, result in list(zip(reading.cases, reading.results))[::5]:
            assert np.array_equal(perform(case, on="gpu")[1], result), case.name


def test_one_arrival_too_many_fails_the_launch():
    described = to_plain(BarrierCase("two arrivals of one", ((0, 1, 0), (2, 2, 0))))
    done = subprocess.run([sys.executable, "-c", TWICE], input=json.dumps(described), capture_output=True, text=True)
    assert done.stdout.split() == ["launch_failed", "stopped"]


def test_a_recording_says_where_it_was_made(tmp_path):
    assert record(tmp_path, ["lesson-1"], command="a test") == {"lesson-1": len(GROUPS["lesson-1"].fixed())}
    provenance = json.loads((tmp_path / "lesson-1.json").read_text())
    assert provenance == describe("a test")
    assert "\0" not in provenance["gpu"]
