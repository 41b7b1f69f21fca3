"""Kernels in styles that few people write: right ones that must not be flagged, and each of them wrong in one way."""

from __future__ import annotations

import pytest

from tests.mutants.mutant import mutated, source_of
from tests.mutants.right import CASES
from tests.tmalab.simulator import unusual_barriers, unusual_copies

UNUSUAL = {**unusual_barriers.CASES, **unusual_copies.CASES}
SEEDS = (0, 1)  # copies land late, at once

INDENT = " " * 12
LATE = "ptx.cp_async_mbarrier_arrive(full[s])\n", "ptx.mbarrier_arrive(full[s])\n"
COUNT = "if lane == 5:\n                ptx.mbarrier_arrive_no_complete(full[s], 1)\n", "ptx.mbarrier_arrive(full[s])\n"
PUT = "box[s, lane] = k * 100 + lane\n"
PART = "ptx.mbarrier_expect_tx(bars[2 * s], TILE // 4)\n"
WROTE = "    ptx.cp_async_bulk_wait_group(0)\n"
MEET = "    ptx.barrier_cluster_arrive()\n"
READ = "ptx.cp_async_bulk_wait_group_read(1)"

# A right kernel, what stands in it, what stands there instead, and what is as right.
AS_RIGHT = [
    ("lagging", "if k >= 3:", "if k >= 2:"),  # waits for the phase before the first
    ("last_arriver", "pending_count(token) == 1", "pending_count(token) <= 2"),  # two write the same value
    ("in_order", "wait_group_read(0)\n        cuda.syncwarp()\n", "wait_group_read(0)\n"),  # all 32 arrive
    ("edited_aside", "x[2 * ROWS :])\n        cuda.syncwarp()\n", "x[2 * ROWS :])\n"),  # its own thread releases it
    ("stored_for_peer", "barrier_cluster_wait()\n", "barrier_cluster_wait()\n    ptx.barrier_cluster_arrive()\n"),
    (
        "counted_arrivals",  # the write is told by the arrive behind it
        PUT + INDENT + COUNT[0],
        COUNT[0] + INDENT + PUT,
    ),
]
# The same, and the names of which one must be reported.
WRONG = [
    (
        "split_expect",
        f"{PART}{INDENT}ptx.mbarrier_arrive(bars[2 * s])\n        elif",
        f"ptx.mbarrier_arrive(bars[2 * s])\n{INDENT}{PART}        elif",
        "expect-after-completion",
    ),
    ("split_expect", "mbarrier_init(bars[2 * s], 2)", "mbarrier_init(bars[2 * s], 1)", "over-arrival"),
    ("by_states", "s = k % 2", "s = 0", "overwrite-in-use"),
    ("by_states", "expect_tx(full[s], TILE)", "expect_tx(full[s], TILE - 32)", "too-few-bytes"),
    ("by_states", "init(full[1], n)", "init(full[1], n - 1)", "over-arrival"),
    ("by_states", "try_wait(full[s], token)", "try_wait(full[s ^ 1], token)", "missing-arrival"),
    ("counted_arrivals", "mbarrier_arrive(empty[s], 2)", "mbarrier_arrive(empty[s], 3)", "over-arrival"),
    ("counted_arrivals", COUNT[0] + INDENT + COUNT[1], COUNT[1] + INDENT + COUNT[0], "over-arrival"),
    ("dropping", "arrive_drop(bar)", "arrive(bar)", "missing-arrival"),
    ("dropping", "arrive_drop(bar)", "arrive_drop_relaxed(bar)", "data-race"),
    ("last_arriver", "        while not ptx.mbarrier_try_wait(bar, token):\n            pass\n", "", "data-race"),
    ("lagging", "if k >= 3:", "if k > 3:", "overwrite-in-use"),
    ("lagging", "bars[3:]", "bars[2:]", "barrier-reinit"),
    ("named96", "ptx.barrier_arrive(1 + s, 96)", "ptx.barrier_arrive(1 + s, 64)", "barrier-mismatch"),
    ("named96", "ptx.barrier_sync(3 + s, 96)", "ptx.barrier_sync(3, 96)", "barrier-mismatch"),
    (
        "split_cluster_barrier",
        "cluster_arrive()\n",
        "cluster_arrive()\n        ptx.barrier_cluster_arrive()\n",
        "barrier-mismatch",
    ),
    ("dynamic", "k = which[s]", "k = which[s ^ 1]", "data-race"),
    (
        "dynamic",
        "                ptx.mbarrier_arrive(bars[s])\n                break\n",
        "                break\n",
        "missing-arrival",
    ),
    ("either_first", "bars[s], 0):", "bars[s ^ 1], 0):", "read-before-wait"),
    ("in_order", "bulk_wait_group_read(0)", "bulk_wait_group_read(1)", "store-source-reuse"),
    ("elected_twice", f"ptx.elect_sync():\n{INDENT}{READ}", f"tid == 31:\n{INDENT}{READ}", "store-source-reuse"),
    ("unequal_masks", "TILE * (rank + 1)", "TILE * 4", "too-many-bytes"),
    ("unequal_masks", "mask = (0xF << rank) & 0xF", "mask = 0xF", "too-few-bytes"),
    ("unequal_masks", "mask = (0xF << rank) & 0xF", "mask = 0xF << rank", "multicast-mask"),
    ("uneven_slices", "row[96:], x[96:]", "row[92:], x[96:]", "overwrite-in-use"),
    ("uneven_slices", "x[96:], 128, bar, 3", "x[96:], 128, bar, 2", "too-many-bytes"),
    ("late_arrives", LATE[0] + "        " + LATE[1], LATE[1] + "        " + LATE[0], "expect-after-completion"),
    ("remote_sum", "    total[tid] = 0\n", "", "uninitialised-read"),
    (
        "remote_sum",
        "    ptx.fence_proxy_async()\n",
        "    if rank > 0:\n        ptx.fence_proxy_async()\n",
        "missing-proxy-fence",
    ),
    ("edited_aside", "acquire_sys(maps[0])", "acquire(maps[0])", "map-not-acquired"),
    ("edited_aside", "address(scratch[1], ", "address(maps[0], ", "map-edited"),
    ("stored_for_peer", "wait_group(0)", "wait_group_read(0)", "store-not-waited"),
    ("stored_for_peer", "ptx.barrier_cluster_arrive()\n", "ptx.barrier_cluster_arrive_relaxed()\n", "data-race"),
    (
        "stored_for_peer",
        "        " + WROTE + MEET,
        MEET + WROTE,
        "store-not-waited",
    ),
]


def edited(name, old, new):
    """A case with other text in its kernel's source, of which there must be one."""
    case = UNUSUAL[name]()
    source = source_of(case.kernel)
    assert source.count(old) == 1, source
    return mutated(case, source.replace(old, new))


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_kernel_is_not_flagged(name):
    for seed in SEEDS:
        case = UNUSUAL[name]()
        run = case.run(seed)
        assert run.ok, run
        assert case.is_right(), seed


@pytest.mark.parametrize(("name", "old", "new"), AS_RIGHT)
def test_nor_is_what_is_as_right(name, old, new):
    for seed in SEEDS:
        case = edited(name, old, new)
        assert case.run(seed).ok
        assert case.is_right(), seed


@pytest.mark.parametrize(("name", "old", "new", "hazard"), WRONG)
def test_a_mistake_in_it_is_reported(name, old, new, hazard):
    assert hazard in {found.name for found in edited(name, old, new).run(seed=1).hazards}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "old", "new", "hazard"), WRONG)
def test_a_mistake_in_it_is_reported_in_every_order(name, old, new, hazard):
    for seed in range(10):
        assert hazard in {found.name for found in edited(name, old, new).run(seed).hazards}, seed


def test_an_arrive_that_must_not_complete_the_phase_is_told_so():
    run = edited("counted_arrivals", COUNT[0] + INDENT + COUNT[1], COUNT[1] + INDENT + COUNT[0]).run()
    assert run.fault is None
    assert "which must not complete it" in str(run.hazards[0])


def test_a_wait_for_a_store_that_comes_after_the_barrier_is_called_late():
    case = CASES["read_back"]()
    source = source_of(case.kernel)
    wait, meet = "        ptx.cp_async_bulk_wait_group(0)\n", "    cuda.syncthreads()\n"
    late = source.replace(wait + meet, meet + "    if tid == 0:\n" + wait)
    line = late[: late.index(wait)].count("\n") + 1
    for seed in SEEDS:
        run = mutated(CASES["read_back"](), late).run(seed)
        assert {hazard.name for hazard in run.hazards} == {"store-not-waited"}
        assert f"line {line} comes too late" in run.hazards[0].message
    meets_nobody = mutated(case, source.replace(wait + meet, wait)).run()
    assert {hazard.name for hazard in meets_nobody.hazards} == {"data-race"}
