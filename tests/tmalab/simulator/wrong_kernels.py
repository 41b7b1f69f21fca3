"""Wrong kernels, each made from a right one by one edit, and the names under which each must be reported.

An edit is (what stands in the source, what stands there instead); a mistake may have several right names, since a wrong
parity is an early pass in one order and a hang in another.
"""

from __future__ import annotations

import inspect
import linecache
from typing import Any, NamedTuple

import right_kernels
from right_kernels import CASES, Case

from tmalab import kernel


class Mutant(NamedTuple):
    """`case` of right_kernels.CASES; `old` -> `new` in its kernel's source; `names`: one of them at least, always."""

    case: str
    old: str
    new: str
    names: set[str]


def mutated(mutant: Mutant) -> Case:
    """The case with the edited kernel, whose source has a file of its own."""
    case = CASES[mutant.case]()
    lines = inspect.getsource(case.kernel.function).splitlines(keepends=True)
    source = "".join(lines[next(i for i, line in enumerate(lines) if line.startswith("def ")) :])
    assert source.count(mutant.old) == 1, f"{mutant.old!r} stands {source.count(mutant.old)} times in {mutant.case}"
    return Case(
        kernel(function_of(source.replace(mutant.old, mutant.new))), case.args, case.is_right, case.block, case.grid
    )


def function_of(source: str) -> Any:
    """The function that a source defines, in the namespace of right_kernels."""
    file = f"mutant-{abs(hash(source))}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope = dict(vars(right_kernels))
    before = set(scope)
    exec(compile(source, file, "exec"), scope)
    return scope[
        next(name for name in (*set(scope) - before, source.split("(")[0].removeprefix("def ")) if name in source)
    ]


COPY, RING = "copy_tile", "copy_column, 5 tiles"
ROLES, STORES = "producer_and_consumers, 5 tiles", "store_ring, 5 tiles"
SYNC, WAIT = "    cuda.syncthreads()\n", "while not ptx.mbarrier_try_wait_parity(bar, 0):\n        pass"
COPY_OUT = (
    "\n    for i in range(tid, ROWS * COLS, cuda.blockDim.x):\n"
    "        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]"
)
READ_STAGE = (
    "            for i in range(tid, ROWS * COLS, 32):\n"
    "                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]\n"
)
RELEASE_STAGE = "            ptx.mbarrier_arrive(empty[s])\n"
FILL = "    for i in range(tid, ROWS * COLS, cuda.blockDim.x):\n        tile[i // COLS, i % COLS] = np.float32(i)\n"
FENCE = "    ptx.fence_proxy_async()\n"
STORE = "    cuda.syncthreads()\n    if tid == 0:\n        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)\n"

MUTANTS: dict[str, Mutant] = {
    # waits
    "wait removed": Mutant(COPY, WAIT, "pass", {"read-before-wait"}),
    "read long before the load": Mutant(
        COPY,
        SYNC + "    if tid == 0:\n        ptx.mbarrier_arrive",
        SYNC
        + "    out[tid // 64, tid % 64] = tile[tid // 64, tid % 64]\n"
        + SYNC
        + "    if tid == 0:\n        ptx.mbarrier_arrive",
        {"read-before-wait"},
    ),
    "wait asked once": Mutant(COPY, WAIT, "ptx.mbarrier_try_wait_parity(bar, 0)", {"wait-ignored"}),
    "test asked once": Mutant(COPY, WAIT, "ptx.mbarrier_test_wait_parity(bar, 0)", {"wait-ignored"}),
    "wait negated and dropped": Mutant(COPY, WAIT, "not ptx.mbarrier_try_wait_parity(bar, 0)", {"wait-ignored"}),
    "wait's result looked at once": Mutant(
        COPY, WAIT, "seen = ptx.mbarrier_try_wait_parity(bar, 0)", {"read-before-wait"}
    ),
    "parity 1 of a fresh barrier": Mutant(COPY, "wait_parity(bar, 0)", "wait_parity(bar, 1)", {"wrong-parity"}),
    "parity never flipped": Mutant(RING, "parity ^= 1", "parity ^= 0", {"wrong-parity", "read-before-wait"}),
    "parity flipped at every step": Mutant(
        RING, "        stage += 1\n", "        stage += 1\n        parity ^= 1\n", {"wrong-parity", "read-before-wait"}
    ),
    "wait for the other stage": Mutant(
        RING, "try_wait_parity(full[stage], parity)", "try_wait_parity(full[1 - stage], parity)", {"read-before-wait"}
    ),
    "full barrier not waited for": Mutant(
        "every_consumer_arrives, 4 tiles",
        "ptx.mbarrier_wait_parity(full[s], (k // STAGES) & 1)",
        "pass",
        {"read-before-wait"},
    ),
    "one thread waits, nothing tells the others": Mutant(
        "one_waits_for_all",
        "        ptx.fence_proxy_async()\n    cuda.syncthreads()\n",
        "        ptx.fence_proxy_async()\n",
        {"read-before-wait"},
    ),
    # bytes
    "half of the bytes expected": Mutant(
        COPY, "arrive_expect_tx(bar, TILE)", "arrive_expect_tx(bar, TILE // 2)", {"too-few-bytes"}
    ),
    "no bytes expected": Mutant(COPY, "arrive_expect_tx(bar, TILE)", "arrive_expect_tx(bar, 0)", {"too-few-bytes"}),
    "arrive without an expectation": Mutant(
        COPY, "mbarrier_arrive_expect_tx(bar, TILE)", "mbarrier_arrive(bar)", {"too-few-bytes"}
    ),
    "twice the bytes expected": Mutant(
        COPY, "arrive_expect_tx(bar, TILE)", "arrive_expect_tx(bar, 2 * TILE)", {"too-many-bytes"}
    ),
    "one load of two missing": Mutant(
        "loads_before_the_expectation",
        "        ptx.cp_async_bulk_tensor_2d(tile[1], tensor_map, 64, 0, bar)\n",
        "",
        {"too-many-bytes"},
    ),
    "one load of two not expected": Mutant(
        "loads_before_the_expectation",
        "arrive_expect_tx(bar, 2 * TILE)",
        "arrive_expect_tx(bar, TILE)",
        {"too-few-bytes"},
    ),
    # arrivals
    "expect_tx is no arrival": Mutant(COPY, "mbarrier_arrive_expect_tx", "mbarrier_expect_tx", {"missing-arrival"}),
    "count one too large": Mutant(COPY, "mbarrier_init(bar, 1)", "mbarrier_init(bar, 2)", {"missing-arrival"}),
    "count one too small": Mutant(
        "loads_before_the_expectation", "mbarrier_init(bar, 128)", "mbarrier_init(bar, 127)", {"over-arrival"}
    ),
    "an arrival too many": Mutant(
        "handed_over_by_mbarrier",
        "        ptx.mbarrier_arrive(bar)\n",
        "        ptx.mbarrier_arrive(bar, 2)\n",
        {"over-arrival"},
    ),
    "consumers do not arrive": Mutant(
        ROLES, "                ptx.mbarrier_arrive(empty[s])\n", "                pass\n", {"missing-arrival"}
    ),
    "every lane arrives": Mutant(
        ROLES, "            if tid % 32 == 0:\n", "            if tid >= 0:\n", {"over-arrival"}
    ),
    "empty barrier's count too small": Mutant(
        ROLES, "empty[s], WARPS - 1", "empty[s], WARPS - 2", {"over-arrival", "overwrite-in-use"}
    ),
    "dropped threads arrive on": Mutant(
        "fewer_from_phase_to_phase",
        "            ptx.mbarrier_arrive_drop(bar)\n",
        "            ptx.mbarrier_arrive(bar)\n",
        {"missing-arrival"},
    ),
    # life of a barrier
    "no init": Mutant(COPY, "        ptx.mbarrier_init(bar, 1)\n", "", {"barrier-not-initialised"}),
    "no barrier after the init": Mutant(
        COPY, "        ptx.fence_mbarrier_init()\n    cuda.syncthreads()\n", "", {"barrier-not-initialised"}
    ),
    "every thread initialises": Mutant(
        COPY,
        "    if tid == 0:\n        ptx.mbarrier_init",
        "    if tid >= 0:\n        ptx.mbarrier_init",
        {"barrier-reinit"},
    ),
    "initialised again for the second tile": Mutant(
        "load_change_store",
        "        if tid == 0:\n            ptx.mbarrier_arrive",
        "        if tid == 0:\n            ptx.mbarrier_init(bar, 1)\n            ptx.mbarrier_arrive",
        {"barrier-reinit"},
    ),
    "barrier used as memory": Mutant(COPY, WAIT, WAIT + "\n    bar[0, 0] = 1", {"barrier-as-memory"}),
    "barrier read as memory": Mutant(COPY, WAIT, WAIT + "\n    out[0, 0] = bar[0, 0]", {"barrier-as-memory"}),
    # stages in use
    "stage refilled while it is read": Mutant(
        RING, "        cuda.syncthreads()\n        if tid == 0 and", "        if tid == 0 and", {"overwrite-in-use"}
    ),
    "empty barrier not waited for": Mutant(
        ROLES, "                ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)\n", "", {"overwrite-in-use"}
    ),
    "elected arrive without syncwarp": Mutant(ROLES, "            cuda.syncwarp()\n", "", {"overwrite-in-use"}),
    "arrive before the last read": Mutant(
        "every_consumer_arrives, 4 tiles",
        READ_STAGE + RELEASE_STAGE,
        RELEASE_STAGE + READ_STAGE,
        {"overwrite-in-use"},
    ),
    "two loads into one stage": Mutant(
        RING, "ring[s], tensor_map, 0, s * ROWS", "ring[0], tensor_map, 0, s * ROWS", {"overwrite-in-use"}
    ),
    "load over a source that is stored": Mutant(
        "load_change_store", "            ptx.cp_async_bulk_wait_group_read(0)\n", "", {"overwrite-in-use"}
    ),
    # stores
    "no proxy fence": Mutant(STORES, "        ptx.fence_proxy_async()\n", "", {"missing-proxy-fence"}),
    "proxy fence before the writes": Mutant(
        "read_back",
        FILL + FENCE,
        FENCE + FILL,
        {"missing-proxy-fence"},
    ),
    "proxy fence after the store": Mutant(
        "read_back",
        FENCE + STORE,
        STORE + "    " + FENCE,
        {"missing-proxy-fence"},
    ),
    "proxy fence by one writer of many": Mutant(
        STORES,
        "        ptx.fence_proxy_async()\n",
        "        if tid == 1:\n            ptx.fence_proxy_async()\n",
        {"missing-proxy-fence"},
    ),
    "proxy fence for global memory": Mutant(
        STORES, "fence_proxy_async()", "fence_proxy_async_global()", {"proxy-fence-space"}
    ),
    "no barrier between the writes and the store": Mutant(
        "read_back",
        "    ptx.fence_proxy_async()\n    cuda.syncthreads()\n",
        "    ptx.fence_proxy_async()\n",
        {"data-race"},
    ),
    "source reused before it is read": Mutant(
        STORES, "            ptx.cp_async_bulk_wait_group_read(1)\n", "            pass\n", {"store-source-reuse"}
    ),
    "wait one group too weak": Mutant(STORES, "wait_group_read(1)", "wait_group_read(2)", {"store-source-reuse"}),
    "waited for by another thread": Mutant(
        STORES,
        "        if tid == 0:\n            ptx.cp_async_bulk_wait_group_read(1)",
        "        if tid == 1:\n            ptx.cp_async_bulk_wait_group_read(1)",
        {"store-source-reuse"},
    ),
    "result read after .read alone": Mutant(
        "read_back", "cp_async_bulk_wait_group(0)", "cp_async_bulk_wait_group_read(0)", {"store-not-waited"}
    ),
    "result read, nothing waited for": Mutant(
        "read_back", "        ptx.cp_async_bulk_wait_group(0)\n", "", {"store-not-waited"}
    ),
    "store not committed": Mutant(
        "read_back", "        ptx.cp_async_bulk_commit_group()\n", "", {"store-not-committed"}
    ),
    "no wait before the exit": Mutant(
        "one_warp_stores_its_own", "            ptx.cp_async_bulk_wait_group_read(0)\n", "", {"exit-in-flight"}
    ),
    "stored before it was loaded": Mutant(
        "store_what_was_loaded", "        ptx.mbarrier_wait_parity(bar, 0)\n", "", {"read-before-wait"}
    ),
    "exit before the load": Mutant(
        COPY,
        WAIT + COPY_OUT,
        "pass",
        {"exit-in-flight"},
    ),
    # memory
    "too small an alignment": Mutant(COPY, "alignment=1024", "alignment=16", {"misaligned"}),
    "no alignment": Mutant(COPY, ", alignment=1024", "", {"misaligned"}),
    "half a tile": Mutant(
        "load_change_store", "((ROWS, COLS), np.float16", "((ROWS // 2, COLS), np.float16", {"out-of-bounds"}
    ),
    "uninitialised tile stored": Mutant(
        "one_warp_stores_its_own",
        "range(tid, ROWS * COLS, 32)",
        "range(tid, ROWS * COLS - 32, 32)",
        {"uninitialised-read"},
    ),
    "row too far": Mutant(COPY, "= tile[i // COLS, i % COLS]", "= tile[i // COLS + 1, i % COLS]", {"out-of-bounds"}),
    "column before the first": Mutant(
        COPY, "= tile[i // COLS, i % COLS]", "= tile[i // COLS, i % COLS - 1]", {"out-of-bounds"}
    ),
    "no syncthreads in the tree": Mutant(
        "reduction",
        "            part[tid] += part[tid + n]\n        cuda.syncthreads()\n",
        "            part[tid] += part[tid + n]\n",
        {"data-race"},
    ),
    "no syncthreads before the tree": Mutant(
        "reduction", "cuda.grid(1)]\n    cuda.syncthreads()\n", "cuda.grid(1)]\n", {"data-race"}
    ),
    "plain addition of several CTAs": Mutant(
        "reduction", "cuda.atomic.add(out, 0, part[0])", "out[0] += part[0]", {"data-race"}
    ),
    "two CTAs write one tile": Mutant(
        "a_tile_for_each_cta", "out[cta * ROWS + i // COLS", "out[cta // 2 * ROWS + i // COLS", {"data-race"}
    ),
    "flags of different values": Mutant("the_same_flag", "flag[0] = 7", "flag[0] = cuda.threadIdx.x", {"data-race"}),
    "relaxed arrive without a fence": Mutant(
        "relaxed_with_fences",
        "    ptx.fence_acq_rel_cluster()\n    ptx.mbarrier_arrive_relaxed",
        "    ptx.mbarrier_arrive_relaxed",
        {"data-race"},
    ),
    "relaxed wait without a fence": Mutant(
        "relaxed_with_fences", "        pass\n    ptx.fence_acq_rel_cluster()\n", "        pass\n", {"data-race"}
    ),
    # the copy of the A100
    "cp.async not waited for": Mutant(
        "cp_async_and_syncthreads", "        ptx.cp_async_wait_group(0)\n", "", {"read-before-wait"}
    ),
    "cp.async not committed": Mutant(
        "cp_async_and_syncthreads", "        ptx.cp_async_commit_group()\n", "", {"read-before-wait"}
    ),
    "cp.async not handed over": Mutant(
        "cp_async_and_syncthreads",
        "        ptx.cp_async_wait_group(0)\n    cuda.syncthreads()\n",
        "        ptx.cp_async_wait_group(0)\n",
        {"read-before-wait"},
    ),
    "cp.async arrives for nobody": Mutant(
        "cp_async_and_mbarrier", "        ptx.cp_async_mbarrier_arrive_noinc(bar)\n", "", {"missing-arrival"}
    ),
    # groups of threads
    "syncthreads in a role": Mutant(
        "named_barriers",
        "            ptx.barrier_sync(2, 64)\n",
        "            cuda.syncthreads()\n",
        {"barrier-mismatch"},
    ),
    "named barrier for too many": Mutant(
        "named_barriers",
        "            ptx.barrier_sync(1, 64)\n",
        "            ptx.barrier_sync(1, 96)\n",
        {"barrier-mismatch"},
    ),
    "elected by part of a warp": Mutant(
        ROLES,
        "    if tid < 32:\n        if ptx.elect_sync()",
        "    if tid < 16:\n        if ptx.elect_sync()",
        {"partial-warp"},
    ),
}
