"""Kernels in styles that few people write: right ones that must not be flagged, and each of them wrong in one way."""

from __future__ import annotations

import pytest

from tests.mutants.mutant import mutated, source_of
from tests.mutants.right import CASES
from tests.portion import portion
from tests.tmalab.simulator import unusual_barriers, unusual_copies, unusual_pipelines, unusual_products

UNUSUAL = unusual_barriers.CASES | unusual_copies.CASES | unusual_pipelines.CASES | unusual_products.CASES
SEEDS = (0, 1)  # copies land late, at once

INDENT = " " * 12
LATE = "ptx.cp_async_mbarrier_arrive(full[s])\n", "ptx.mbarrier_arrive(full[s])\n"
COUNT = "if lane == 5:\n                ptx.mbarrier_arrive_no_complete(full[s], 1)\n", "ptx.mbarrier_arrive(full[s])\n"
PUT = "box[s, lane] = k * 100 + lane\n"
PART = "ptx.mbarrier_expect_tx(bars[2 * s], TILE // 4)\n"
WROTE = "    ptx.cp_async_bulk_wait_group(0)\n"
MEET = "    ptx.barrier_cluster_arrive()\n"
READ = "ptx.cp_async_bulk_wait_group_read(1)"
FENCE = "        ptx.fence_proxy_async_shared_cta()\n"
POLLS = (
    f"{INDENT}while not ptx.mbarrier_test_wait_parity(full, k & 1):\n{INDENT}    cuda.nanosleep(ns)\n"
    f"{INDENT}    ns = min(2 * ns, 320)\n"
)
WAIT = f"{INDENT}while not ptx.mbarrier_try_wait(empty[s], state):\n{INDENT}    pass\n"

# A right kernel, what stands in it, what stands there instead, and what is as right.
AS_RIGHT = [
    ("lagging", "if k >= 3:", "if k >= 2:"),  # waits for the phase before the first
    ("last_arriver", "pending_count(token) == 1", "pending_count(token) <= 2"),  # two write the same value
    ("in_order", "wait_group_read(0)\n        cuda.syncwarp()\n", "wait_group_read(0)\n"),  # all 32 arrive
    ("edited_aside", "x[2 * ROWS :])\n        cuda.syncwarp()\n", "x[2 * ROWS :])\n"),  # its own thread releases it
    ("stored_for_peer", "barrier_cluster_wait()\n", "barrier_cluster_wait()\n    ptx.barrier_cluster_arrive()\n"),
    (
        "grouped",
        "fenceproxy(scratch[s], mine)\n            cuda.syncwarp()\n",
        "fenceproxy(scratch[s], mine)\n",
    ),  # is one
    ("acquired_for_all", "    if tid == 32:\n", "    if tid == 0:\n"),
    ("in_place", f"{FENCE}        cuda.syncthreads()\n", f"        cuda.syncthreads()\n{FENCE}"),  # by the issuer too
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
    ("push_to_leader", "arrive_cluster_cluster_scope(free", "arrive_cluster(free", "scope-too-narrow"),
    ("push_to_leader", "try_wait_parity_cluster_scope(free", "try_wait_parity(free", "scope-too-narrow"),
    ("push_to_leader", "inbox[rank], 0, mine", "inbox[1], 0, mine", "overwrite-in-use"),
    ("push_to_leader", "if 0 < tid < 4:", "if 0 < tid < 3:", "missing-arrival"),
    ("pushed_and_acked", "expect_tx(full, 256)", "expect_tx(full, 128)", "too-few-bytes"),
    ("pushed_and_acked", "expect_tx(full, 256)", "expect_tx(full, 0)", "too-few-bytes"),
    ("cutlass_epilogue", "wait_group_read(1)", "wait_group_read(2)", "store-source-reuse"),
    ("polled_with_sleep", POLLS, f"{INDENT}cuda.nanosleep(1000)\n", "read-before-wait"),
    ("grouped", "acquire(scratch[s])", "acquire(scratch[s ^ 1])", "map-not-acquired"),
    (
        "grouped",
        "            cuda.syncwarp()\n            ptx.tensormap_cp",
        "            ptx.tensormap_cp",
        "data-race",
    ),
    ("grouped", f"{INDENT}ptx.mbarrier_wait_parity(empty[s], k // 2 % 2 ^ 1)\n", "", "map-edited"),
    ("ping_pong_groups", "arrive(2 - group, 256)", "arrive(1 + group, 256)", "barrier-mismatch"),
    ("ping_pong_groups", "        ptx.mbarrier_wait_parity(once, 0)\n", "", "read-before-wait"),
    ("top_first", "    ptx.wgmma_commit_group()\n    for", "    for", "wgmma-registers"),
    ("top_first", "    keep(top, c, tid, 0)\n", "    keep(bottom, c, tid, 0)\n", "wgmma-registers"),
    ("staged_by_states", "k + 2 < tiles:", "k + 1 < tiles:", "exit-in-flight"),
    ("acquired_for_all", "acquire_sys(maps[0])", "acquire(maps[0])", "map-not-acquired"),
    ("in_place", "wait_group_read(1)", "wait_group_read(2)", "overwrite-in-use"),
    ("in_place", "n = k + S - 1", "n = k + S", "overwrite-in-use"),
    ("histogram_to_peer", "cuda.atomic.add(bins, x[rank, i], 1)", "bins[x[rank, i]] += 1", "data-race"),
    ("handed_on_by_bits", "ring[s, r * 8], tensor_map", "ring[s, r * 4], tensor_map", "overwrite-in-use"),
]
# What of several hazards says most of the mistake, and is told first.
FIRST = [
    ("staged_by_states", WAIT, "", {"over-arrival"}, {"wrong-parity"}),  # a missing wait; no waiter has a wrong parity
    ("push_to_leader", "if 0 < tid < 4:", "if 0 < tid < 3:", {"missing-arrival"}, {"too-many-bytes"}),
    ("polled_with_sleep", POLLS, "", {"over-arrival", "read-before-wait"}, {"wrong-parity"}),
    ("push_to_leader", "        ptx.fence_mbarrier_init()\n    ptx.barrier_cluster_arrive()",
     "    ptx.barrier_cluster_arrive_relaxed()", {"init-not-visible"}, set()),
    ("in_place", "            ptx.cp_async_bulk_commit_group()\n", "", {"store-not-committed"}, set()),
]  # fmt: skip


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
        assert [*run.hazards, run.deadlock, run.fault] == [None, None], run
        assert case.is_right(), seed


@pytest.mark.parametrize("name", portion(UNUSUAL, 4))
def test_an_unusual_kernel_compiles(name):
    assert UNUSUAL[name]().run().compile_error is None


@pytest.mark.parametrize(("name", "old", "new"), AS_RIGHT)
def test_nor_is_what_is_as_right(name, old, new):
    for seed in SEEDS:
        case = edited(name, old, new)
        run = case.run(seed)
        assert [*run.hazards, run.deadlock, run.fault] == [None, None], run
        assert case.is_right(), seed


@pytest.mark.parametrize(("name", "old", "new", "hazard"), portion(WRONG, 2, kind=lambda *edit: edit[-1]))
def test_a_mistake_in_it_is_reported(name, old, new, hazard):
    assert hazard in {found.name for found in edited(name, old, new).run(seed=1).hazards}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "old", "new", "hazard"), WRONG)
def test_a_mistake_in_it_is_reported_in_every_order(name, old, new, hazard):
    for seed in range(10):
        assert hazard in {found.name for found in edited(name, old, new).run(seed).hazards}, seed


@pytest.mark.parametrize(("name", "old", "new", "first", "never"), FIRST)
def test_what_says_most_is_told_first_and_what_only_follows_is_not_blamed(name, old, new, first, never):
    for seed in SEEDS:
        found = [hazard.name for hazard in edited(name, old, new).run(seed).hazards]
        assert found[0] in first, found
        assert not never & set(found), found


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
