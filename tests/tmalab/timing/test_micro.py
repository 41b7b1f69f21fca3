"""The micro-benchmarks: they are right kernels, and they compile."""

from __future__ import annotations

import pytest

from tmalab.timing.micro import BENCHMARKS

CHEAP = ("clock", "handoff", "peer_handoff", "access_many", "load_issue", "multicast", "load_ring", "store_read_1k")


def run(name):
    benchmark = BENCHMARKS[name]
    args = benchmark.arguments(3, memory=1 << 18)
    return benchmark.kernel.run(benchmark.grid or 2, benchmark.block, args, benchmark.cluster)


@pytest.mark.parametrize("name", CHEAP)
def test_a_benchmark_runs_without_a_hazard_and_leaves_what_it_measured(name):
    found = run(name)
    assert not found.hazards
    assert found.fault is None


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_is_a_right_kernel_and_compiles_for_a_hopper_gpu(name):
    found = run(name)
    assert found.ok, str(found)
    assert not found.warnings


def test_what_is_measured_is_not_moved_out_of_the_looks_at_the_clock():
    """In the PTX that is assembled the instructions stand between two looks at the clock."""
    from tmalab.gpu.compile import compile_kernel

    benchmark = BENCHMARKS["load_l2_1k"]
    ptx = compile_kernel(benchmark.kernel.function, benchmark.arguments(3, memory=1 << 18), benchmark.block).ptx
    first, last = ptx.index("%clock64"), ptx.rindex("%clock64")
    assert first < ptx.index("cp.async.bulk.tensor") < ptx.rindex("mbarrier.try_wait") < last
