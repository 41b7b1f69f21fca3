# The eighth lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 8: clusters and multicast
#
# In a matrix product, CTAs that work side by side want the same tiles. Each can load them for itself; or one load brings
# a tile to several CTAs at once. For that they must run at the same time, close together: as a *cluster*. From then on
# they send each other bytes and arrivals, and everything that lessons 4 and 5 said of one CTA is asked again of two.
#
# Afterwards you can
#
# - launch clusters, and say what a CTA may know of its peers, and from when on,
# - write the mask of a multicast, and say who must promise how many bytes,
# - load a tile in shares, so that global memory is read once for the whole cluster,
# - run a ring of stages across two CTAs, with arrives on the barriers of the peer,
# - say when a CTA may leave,
# - recognise five mistakes that only clusters know.
#
# It takes about 80 minutes. You need lessons 1 and 4, and 7 for the ring.

# %% id="setup"
import numpy as np
from numba import cuda

import grader
from tmalab import TensorMap, kernel, ptx, recorded
from tmalab.figures import MulticastFigure

CTAS = 2
HALF, COLS = 16, 32  # what one CTA loads, of fp32
ROWS = CTAS * HALF  # of a tile
STAGES = 2  # of the ring, from section 5 on

tensor = np.arange(64 * 128).reshape(64, 128).astype(np.float32)  # element [row, column] is 128 * row + column
half_map = TensorMap.from_array(tensor, (HALF, COLS))
HALF_BYTES = half_map.transaction_bytes
TILE_BYTES = CTAS * HALF_BYTES


def compare(seen, expected):
    """How many elements are right, in words."""
    return f"{np.count_nonzero(seen == expected):,} of {seen.size:,} elements right"

# %% [markdown] id="cluster"
# ## 1. Neighbours
#
# A launch can say that so many CTAs make a **cluster**: they run at the same time, on neighbouring SMs. (`grid` still
# counts CTAs; it must be a multiple.) In a kernel
#
# - `ptx.cluster_ctarank()` is the CTA's number in its cluster, its **rank**, and `ptx.cluster_nctarank()` how many there are;
# - `ptx.barrier_cluster_arrive()` and `ptx.barrier_cluster_wait()` together are a `syncthreads` for all threads of all
#   CTAs of the cluster.
#
# "At the same time" does not mean that they begin together, or that one knows how far the other is. Here CTA 0 sends
# half a tile to both, as soon as its own barrier is ready. Predict: what can go wrong?
#
# *My guess:*

# %% id="cluster-run"
@kernel
def send_at_once(tensor_map, out):
    tile = cuda.shared.array((HALF, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], HALF_BYTES)
        if rank == 0:
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full[0], 0b11)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, HALF * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


halves = np.zeros((CTAS, HALF, COLS), np.float32)
print(send_at_once.run(grid=2, cluster=2, block=64, args=(half_map, halves)))

# %% [markdown] id="cluster-rule"
# When the bytes come, CTA 1 may not have begun: its shared memory is somebody else's, and its barrier is no barrier. So
# every kernel with a cluster begins with the same four steps, in every CTA:
#
#     one thread: ptx.mbarrier_init(...)
#     the same:   ptx.fence_mbarrier_init()      shows the barrier to the cluster
#     all:        ptx.barrier_cluster_arrive()
#     all:        ptx.barrier_cluster_wait()     now every peer is there, and so are its barriers
#
# Replace the `syncthreads` above by the last two lines, and run it again.

# %% [markdown] id="multicast"
# ## 2. One load, several CTAs
#
# A **multicast** is a load with one more argument: a mask, in which **bit i is the CTA of rank i**.
#
#     ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, x, y, barrier, mask)
#
# The box is read once. In each CTA that the mask names it lands at the same place in shared memory, and credits the
# barrier at the same place there. The thread that issued it need not be in a CTA that is named.
#
# Play with the figure: change the mask, and who has promised. What happens to a CTA that gets bytes without a promise, and
# to one that has promised and gets none?

# %% id="multicast-figure"
MulticastFigure()

# %% [markdown] id="multicast-recorded-text"
# So it was on the hardware. Each line is a size of cluster: how many multicasts an H200 was asked for, how many CTAs their
# masks named together, and in how many of these multicasts the shared memory of just the CTAs of the mask had changed.

# %% id="multicast-recorded"
multicasts = recorded.read("multicast")
print(f"{multicasts.provenance['gpu']}, recorded on {multicasts.provenance['date']}")
seen = {}
for case, result in zip(multicasts.cases, multicasts.results, strict=True):
    images = result.reshape(case.ctas, -1)
    before = case.before().reshape(case.ctas, -1)
    changed = sum(1 << rank for rank in range(case.ctas) if (images[rank] != before[rank]).any())
    loads, named, as_named = seen.get(case.ctas, (0, 0, 0))
    seen[case.ctas] = loads + 1, named + case.cta_mask.bit_count(), as_named + (changed == case.cta_mask)
for ctas, (loads, named, as_named) in sorted(seen.items()):
    print(f"clusters of {ctas}: {loads:3} multicasts to {named:3} CTAs; exactly those of the mask changed in {as_named}")

# %% [markdown] id="masks-task"
# ### Exercise 1: masks (3 points)
#
# Write the mask for each of these, as a number (`0b101` is one).

# %% id="masks-questions"
wishes = grader.questions("clusters.masks")
for number, wish in enumerate(wishes):
    print(f"{number}: {wish}")

# %% id="masks-answer" answer="clusters.masks"
masks = [None, None, None, None, None]  # in the order of the questions
### BEGIN SOLUTION
def mask_of(wish):
    numbers = [int(word) for word in wish.replace(",", "").split() if word.isdigit()]
    if wish.startswith("all CTAs"):
        return (1 << numbers[0]) - 1
    if wish.startswith("CTA"):
        return 1 << numbers[0]
    if wish.startswith("all of"):
        return 0b1111 - (1 << numbers[1])
    return 0b11 << (2 * numbers[0]) if wish.startswith("row") else 0b101 << numbers[0]


masks = [mask_of(wish) for wish in wishes]
### END SOLUTION

# %% id="masks-check" check="clusters.masks"
grader.check("clusters.masks", masks)

# %% [markdown] id="promises"
# ## 3. Who must promise what
#
# The barrier that is credited lies in the CTA where the bytes land. So **each CTA promises, to its own barrier, all that
# will land in it**: its own loads, and everything that peers send.
#
# Here only CTA 0, which loads, has promised; CTA 1 arrives without a promise, since it loads nothing. Predict for each of
# the two: does it get its half, does it wait for ever?
#
# *My guess:*

# %% id="promises-run"
@kernel
def only_the_loader_promises(tensor_map, out):
    tile = cuda.shared.array((HALF, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        if rank == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], HALF_BYTES)
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full[0], 0b11)
        else:
            ptx.mbarrier_arrive(full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, HALF * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


for seed in range(3):
    halves[:] = -1
    run = only_the_loader_promises.run(grid=2, cluster=2, block=64, args=(half_map, halves), seed=seed)
    right = [compare(half, tensor[:HALF, :COLS]) for half in halves]
    print(f"seed {seed}: CTA 0: {right[0]}; CTA 1: {right[1]}; {[hazard.name for hazard in run.hazards]}")

# %% [markdown] id="promises-why"
# CTA 0 is served. CTA 1's phase is complete with its arrive, if that comes before the bytes: it reads a tile that has not
# come yet. If bytes come first, its count is below zero, and it waits for ever. One mistake, two symptoms, by chance.

# %% [markdown] id="expect-task"
# ### Exercise 2: promises (4 points)
#
# How many bytes does **CTA 1** promise for one phase? Each barrier counts one phase of all that is said. And why: what
# lands in CTA 1 is
#
# - `"a"` only what others send,
# - `"b"` what it loads itself, and what its peers send,
# - `"c"` only what it loads itself,
# - `"d"` nothing.

# %% id="expect-questions"
ways = grader.questions("clusters.expect")
for number, way in enumerate(ways):
    print(f"{number}: {way}")

# %% id="expect-answer" answer="clusters.expect"
promised = [(None, None), (None, None), (None, None), (None, None), (None, None)]  # (bytes, letter)
### BEGIN SOLUTION
def promise_of(way):
    words = way.replace(",", "").split()
    sizes = [int(word) for word, unit in zip(words, words[1:]) if unit == "bytes"]
    if way.startswith("CTA 0"):
        return (0, "d") if "0b1101" in way else (sizes[0], "a")
    if "without a multicast" in way:
        return sizes[0], "c"
    return (int(words[2]) * sizes[0], "b") if len(sizes) == 1 else (sizes[0] + 2 * sizes[1], "b")


promised = [promise_of(way) for way in ways]
### END SOLUTION

# %% id="expect-check" check="clusters.expect"
grader.check("clusters.expect", promised)

# %% [markdown] id="shares"
# ## 4. Shares
#
# If CTA 0 loads everything for all, its copy engine does all the work. Better: every CTA loads a **share** and
# multicasts it to all. Each then has the whole tile, global memory was read once, and the work is spread.
#
#     CTA 0: rows 0 to 15  ─┬─► CTA 0, tile[0]     CTA 1: rows 16 to 31 ─┬─► CTA 0, tile[16]
#                           └─► CTA 1, tile[0]                           └─► CTA 1, tile[16]
#
# Predict: both CTAs together need two tiles of 4,096 bytes. How many bytes are read from global memory, and how many
# land in shared memory, with shares and without a multicast?
#
# *My guess:*

# %% [markdown] id="share-task"
# ### Exercise 3: a tile for two (7 points)
#
# `share_tile` is launched as one cluster of two CTAs of 64 threads. `tensor_map` has boxes of 16 x 32: half a tile. Each
# CTA writes the whole tile of 32 x 32 whose upper left corner is column `x`, row `y`, to its own part of `out`
# (2, 32, 32). Two points are for the **traffic**: the check counts what your loads read from global memory.

# %% id="share-answer" answer="clusters.share"
@kernel
def share_tile(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    ### BEGIN SOLUTION
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d_multicast(tile[rank * HALF], tensor_map, x, y + rank * HALF, full[0], 0b11)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]
    ### END SOLUTION

# %% id="share-try"
tiles = np.full((CTAS, ROWS, COLS), -1, np.float32)
run = share_tile.run(grid=CTAS, cluster=CTAS, block=64, args=(half_map, 64, 16, tiles))
print(run)
print(compare(tiles, np.stack([tensor[16:48, 64:96]] * CTAS)))

# %% id="share-check" check="clusters.share"
grader.check("clusters.share", share_tile)

# %% [markdown] id="measured"
# What is it worth? The time model's trials ran one matrix product with clusters of two that share a tile of B, and
# without, otherwise the same kernel. Predict: how much faster is it?
#
# *My guess:*

# %% id="measured-run"
from tmalab.timing.measured import Measured

measured = Measured.read()
times = measured.times()
print(f"{measured.provenance['gpu']}, recorded on {measured.provenance['date']}; microseconds, alone and shared")
for name, shared in times.items():
    if "shares=1" in name:
        alone = times[name.replace("shares=1", "shares=0")]
        print(f"{name.replace(' shares=1', ''):58} {alone / 1000:7.1f} {shared / 1000:7.1f}  {alone / shared:.2f} x")

# %% [markdown] id="measured-why"
# A factor below 1 means that sharing has *cost* time. The traffic is saved for certain: half of the loads of B are gone. But
# time is won only where one waited for those bytes, and L2 serves two neighbours that want the same tile quickly; while now
# a stage is free only when the slower of two CTAs is done with it. So: count the bytes, and measure the time, each time anew.

# %% [markdown] id="ring-text"
# ## 5. A ring across two CTAs
#
# In a ring (lesson 7) the producer waits until its consumers have released a stage. With a multicast it overwrites the
# stage **in every CTA that its mask names**: so it must wait for the consumers of all of them.
#
# For this a thread can arrive on a peer's barrier:
#
#     ptx.mbarrier_arrive_cluster(barrier, rank)     on the barrier at the same place in the CTA of that rank
#
# Peers may arrive and promise; only the barrier's own CTA can wait. And since a consumer warp now speaks to each CTA,
# an empty barrier hears from each CTA.

# %% [markdown] id="counts-task"
# ### Exercise 4: arrivals (3 points)
#
# With how many arrivals is each of these barriers initialised? Each line begins with the barrier that is asked for.

# %% id="counts-questions"
barriers = grader.questions("clusters.counts")
for number, barrier in enumerate(barriers):
    print(f"{number}: {barrier}")

# %% id="counts-answer" answer="clusters.counts"
arrivals = [None, None, None, None, None]  # in the order of the questions
### BEGIN SOLUTION
def arrivals_of(barrier):
    if barrier.startswith("full"):
        return 1
    if "square" in barrier:
        return 3
    ctas, warps = [int(word) for word in barrier.split() if word.isdigit()][:2]
    return ctas if "meet" in barrier else ctas * warps


arrivals = [arrivals_of(barrier) for barrier in barriers]
### END SOLUTION

# %% id="counts-check" check="clusters.counts"
grader.check("clusters.counts", arrivals)

# %% [markdown] id="ring-task"
# ### Exercise 5: a row of tiles for two (8 points)
#
# `share_row` loads `steps` tiles, side by side: tile k is at column 32k, row `y`. Again each CTA loads half of each tile
# for both, and each writes all of them to its own part of `out` (2, 32, 32 `steps`). One cluster of two CTAs, 64 threads
# each: let warp 0 load (one thread of it) and warp 1 write.
#
# Two stages, a full and an empty barrier for each. Think of the end: who may still arrive on a barrier of yours when you
# are done? (Section 6 has more on this; a cluster barrier at the end is one way.)

# %% id="ring-answer" answer="clusters.ring"
@kernel
def share_row(tensor_map, y, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    ### BEGIN SOLUTION
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], CTAS)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d_multicast(
                ring[s, rank * HALF], tensor_map, k * COLS, y + rank * HALF, full[s], 0b11
            )
    elif thread >= 32:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for i in range(ROWS):
                out[rank, i, k * COLS + thread - 32] = ring[s, i, thread - 32]
            cuda.syncwarp()
            if thread - 32 < CTAS:
                ptx.mbarrier_arrive_cluster(empty[s], thread - 32)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    ### END SOLUTION

# %% id="ring-try"
row = np.full((CTAS, ROWS, 3 * COLS), -1, np.float32)
run = share_row.run(grid=CTAS, cluster=CTAS, block=64, args=(half_map, 0, 3, row))
print(run)
print(compare(row, np.stack([tensor[:ROWS, : 3 * COLS]] * CTAS)))

# %% id="ring-check" check="clusters.ring"
grader.check("clusters.ring", share_row)

# %% [markdown] id="leave-text"
# ## 6. When may a CTA leave?
#
# When a CTA ends, its shared memory is given to the next one. Whatever a peer still sends there then hits a stranger. So a
# CTA stays until
#
# - every byte that is sent to it has landed,
# - every arrive on its barriers has come,
# - its own stores have been read (lesson 5).
#
# What it has sent *to others* is no reason to stay: a load reads global memory.
#
# Two ways are usual: all meet in the cluster barrier at the end, or the producer waits for its empty barriers once more,
# as if it had further tiles to load (its **tail**).

# %% [markdown] id="leave-task"
# ### Exercise 6: may it leave? (3 points)
#
# Clusters of two CTAs. May all threads of the CTA that is asked for end now?
#
# - `"a"` yes
# - `"b"` no: bytes of a peer may still come into its shared memory
# - `"c"` no: a peer may still arrive on one of its barriers
# - `"d"` no: a store may still read its shared memory

# %% id="leave-questions"
moments = grader.questions("clusters.leave")
for number, moment in enumerate(moments):
    print(f"{number}: {moment}")

# %% id="leave-answer" answer="clusters.leave"
leave = [None, None, None, None, None]  # letters, in the order of the questions
### BEGIN SOLUTION
def verdict(moment):
    if "store" in moment and "commit" in moment:
        return "d"
    if "release" in moment or "will tell" in moment:
        return "c"
    return "b" if "0b11" in moment or "halves" in moment else "a"


leave = [verdict(moment) for moment in moments]
### END SOLUTION

# %% id="leave-check" check="clusters.leave"
grader.check("clusters.leave", leave)

# %% [markdown] id="hunt"
# ## 7. Bug hunt
#
# Five kernels, each with one mistake. Read each before you run the cell below them, and say in exercise 7 which it is.
# The next cell lists the mistakes.

# %% id="hunt-causes"
causes = grader.questions("clusters.hunt")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hunt-kernels"
@kernel
def bug_a(tensor_map, steps, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d_multicast(tile[rank * HALF], tensor_map, 0, rank * HALF, full[0], 0b11)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def bug_b(tensor_map, steps, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], HALF_BYTES)
        ptx.cp_async_bulk_tensor_2d_multicast(tile[rank * HALF], tensor_map, 0, rank * HALF, full[0], 0b11)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def bug_c(tensor_map, steps, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d_multicast(tile[rank * HALF], tensor_map, 0, rank * HALF, full[0], 1 << rank)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def bug_d(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d_multicast(ring[s, rank * HALF], tensor_map, k * COLS, rank * HALF, full[s], 0b11)
    elif thread >= 32:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for i in range(ROWS):
                out[rank, i, k * COLS + thread - 32] = ring[s, i, thread - 32]
            cuda.syncwarp()
            if thread == 32:
                ptx.mbarrier_arrive(empty[s])
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def bug_e(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], CTAS)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d_multicast(ring[s, rank * HALF], tensor_map, k * COLS, rank * HALF, full[s], 0b11)
    elif thread >= 32:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for i in range(ROWS):
                out[rank, i, k * COLS + thread - 32] = ring[s, i, thread - 32]
            cuda.syncwarp()
            if thread - 32 < CTAS:
                ptx.mbarrier_arrive_cluster(empty[s], thread - 32)

# %% id="hunt-run"
SUSPECTS = (bug_a, bug_b, bug_c, bug_d, bug_e)


def try_suspect(suspect, seed=0):
    """Run one of them: its run, what it wrote, what it should have."""
    steps = 3 if suspect in (bug_d, bug_e) else 1
    out = np.full((CTAS, ROWS, steps * COLS), -1, np.float32)
    run = suspect.run(grid=CTAS, cluster=CTAS, block=64, args=(half_map, steps, out), seed=seed)
    return run, out, np.stack([tensor[:ROWS, : steps * COLS]] * CTAS)


for suspect in SUSPECTS:
    run, out, wanted = try_suspect(suspect)
    print(f"--- {suspect.__name__}: {compare(out, wanted)}", run, "", sep="\n")

# %% [markdown] id="hunt-task"
# ### Exercise 7: name the mistakes (5 points)

# %% id="hunt-answer" answer="clusters.hunt"
culprits = {"bug_a": None, "bug_b": None, "bug_c": None, "bug_d": None, "bug_e": None}
### BEGIN SOLUTION
letters = dict(zip("abcdef", causes))  # of the public course, and yours
culprits = {"bug_a": letters["c"], "bug_b": letters["d"], "bug_c": letters["f"], "bug_d": letters["b"], "bug_e": letters["e"]}
### END SOLUTION

# %% id="hunt-check" check="clusters.hunt"
grader.check("clusters.hunt", culprits)

# %% [markdown] id="hunt-mend"
# Mend all five, until every element is right and nothing is reported.

# %% [markdown] id="summary"
# ## Summary
#
# All initialise and meet; each CTA promises all that will land in it; each loads a share for all; each consumer tells every
# CTA that sends to it; and nobody leaves before the last byte and the last arrive have come. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | no cluster barrier before the first multicast | `peer-not-started`, `init-not-visible`; works nearly always |
# | only the loading CTA promises | `multicast-mask`: the peer reads too early, or waits for ever |
# | the promise covers the own share alone | `too-few-bytes` |
# | a mask of ranks or counts in place of bits | `multicast-mask`, `too-many-bytes`, or a fault beyond the cluster |
# | stages released to the own CTA alone | `overwrite-in-use`: the peer's tile is overwritten |
# | empty barriers that count one CTA | `over-arrival`, `missing-arrival` |
# | the end without a tail or a meeting | `exit-in-flight` |
# | every CTA loads all for itself | right, and global memory is read once for each CTA |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - The next cell shows the multicasts of `bug_d`, event by event, with the barriers of both CTAs. Find the moment at which a
#   stage is overwritten; then have it show your own ring.
# - Take the cluster barrier at the end of `share_row` away, and give the producer a tail instead: wait for the empty
#   barriers of the last `STAGES` tiles as for further ones. Which of the two lets the fast CTA leave earlier?
# - A fast CTA waits for a slow one at every lap of the ring. How many stages make up for it?
# - Threads can hand data to a peer as well: `ptx.mbarrier_arrive_cluster_cluster_scope` releases what the thread has written
#   to the whole cluster, the plain form to its own CTA alone. Why did the ring not need it?
# - `tmalab.kernels.gemm_cluster` has all of this in a matrix product: find its mask, its promise, its release and its end.

# %% id="deeper-figure"
run, _, _ = try_suspect(bug_d)
run.show("multicast")
