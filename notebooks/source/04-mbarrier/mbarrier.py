# The fourth lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 4: mbarrier
#
# So far each of your kernels loaded one tile and waited for it once. A real kernel loads tile after tile, several at
# a time, into memory that is used again and again. What keeps that in order is the *mbarrier*: 64 bits in shared
# memory that count. In this lesson you find out what they count, build the counter yourself, and then a kernel in
# three steps: two loads on one barrier, a loop over tiles, a ring of two stages with a producer and consumers.
#
# Afterwards you can
#
# - say when a phase of a barrier is complete, and what is missing if it is not,
# - promise the bytes of several loads, and say which order of promise and load is safe,
# - give the parity of any wait, in any round of a ring,
# - write a loop and a ring that load tile after tile,
# - tell the four classic hangs apart, and mend them.
#
# It takes about 80 minutes. You need lesson 1; lessons 2 and 3 help with the tiles.

# %% id="setup"
import numpy as np
from numba import cuda

import grader
from tmalab import MBarrier, MBarrierError, TensorMap, kernel, ptx, recorded
from tmalab.figures import MbarrierFigure

ROWS, COLS = 16, 32  # a tile of fp32
STAGES = 2  # of the ring, from section 5 on
CONSUMERS = 32  # threads, and a warp for the producer

tensor = np.arange(64 * 128).reshape(64, 128).astype(np.float32)  # element [row, column] is 128 * row + column
tile_map = TensorMap.from_array(tensor, (ROWS, COLS))
TILE_BYTES = tile_map.transaction_bytes
print(f"a tile is {TILE_BYTES:,} bytes, a pair of tiles {2 * TILE_BYTES:,}")

# %% [markdown] id="two-counts"
# ## 1. Arrivals and bytes
#
# A barrier holds two counts for the **phase** in which it is:
#
# - `pending_count`: how many **arrivals** are still missing. `mbarrier_init(bar, n)` says how many every phase needs.
# - `tx_count`: how many **bytes** were promised and have not landed yet. `expect_tx` adds to it; a copy takes off
#   what has landed, by itself and without any thread.
#
# **A phase is complete as soon as both are zero.** At that moment the next phase begins: `phase` goes up by one, and
# `pending_count` is `n` again. Nobody has to reset anything.
#
# `MBarrier` is that counter alone, without threads or time; you can play with it. Here somebody arrives and promises
# the bytes of two tiles, and then the tiles land one after the other.
#
# Predict before you run the cell: what are the phase and both counts after each line?
#
# *My guess:*

# %% id="two-counts-reveal"
bar = MBarrier(1)
print("init(1):               ", bar)
bar.arrive_expect_tx(2 * TILE_BYTES)
print("arrive, promise both:  ", bar)
bar.complete_tx(TILE_BYTES)
print("the first tile lands:  ", bar)
bar.complete_tx(TILE_BYTES)
print("the second tile lands: ", bar)

# %% [markdown] id="figure"
# The figure shows the same in a kernel: two loads, one barrier, and threads that wait. Step through it with the arrow
# keys. The inner ring of the dial is the arrivals, the outer one the bytes.
#
# Note what does *not* happen when the first load lands: the barrier knows no loads, only a sum of bytes.

# %% id="figure-two-loads"
MbarrierFigure()

# %% [markdown] id="early"
# ### When the bytes come first
#
# Often you read that the promise must be made before the copy is issued. Suppose it is not: the copy is quick, its
# bytes land, and the promise comes afterwards. Predict: what does `tx_count` become? Is the phase complete in
# between? Does it matter whether an arrival is still pending?
#
# *My guess:*

# %% id="early-reveal"
bar = MBarrier(1)
bar.complete_tx(TILE_BYTES)
print("the tile has landed:           ", bar)
bar.arrive_expect_tx(TILE_BYTES)
print("then promise and arrive:       ", bar)

bar = MBarrier(1)
bar.arrive()
print("arrive, and nothing promised:  ", bar)
bar.expect_tx(TILE_BYTES)
print("then the promise:              ", bar)

# %% [markdown] id="early-hardware"
# So the count may go below zero on the way. **What holds the phase open is the pending arrival**, not the order of
# promise and copy. Once all arrivals are made and no bytes are outstanding, though, the phase is over, and a promise
# that comes then belongs to the *next* phase: that is the mistake that the advice wants to spare you. The safe form
# does both at once, in the right order: `mbarrier_arrive_expect_tx` promises first and arrives then.
#
# Does the hardware agree? In a recording an H200 went through sequences of such operations, drawn at random. The next
# cell goes through the same ones with `MBarrier`, and counts.

# %% id="early-recording"
from tmalab.recorded.barrier_case import OPERATIONS

recording = recorded.read("mbarrier")
same = early = 0
for case, seen in zip(recording.cases, recording.results):
    same += np.array_equal(case.by_model().ravel(), np.frombuffer(seen.tobytes(), np.int64))
    for operation, amount, _ in case.steps:
        name = OPERATIONS[operation]
        if name == "init":
            bar = MBarrier(amount)
        elif name not in ("inval", "test_wait", "test_wait_parity"):
            getattr(bar, name)(amount)
            early += bar.tx_count < 0 and bar.pending_count > 0
print(f"{same} of {len(recording.cases)} sequences went as MBarrier says;")
print(f"{early} times bytes had landed before their promise, while an arrival was pending")
print(f"({recording.provenance['gpu']}, {recording.provenance['date']})")

# %% [markdown] id="phases-task"
# ### Exercise 1: which phase is it? (4 points)
#
# Each question is a barrier and what happens to it, in order. How many phases are complete at the end? And what about
# the phase in which the barrier is now?
#
# - `"a"` it has just begun: nothing of it has happened yet
# - `"b"` only arrivals are missing: promise and bytes are even
# - `"c"` only bytes are missing: they were promised and have not landed
# - `"d"` bytes have landed that nobody has promised so far
#
# Two points are for the numbers, two for the letters; a letter counts if the number beside it is right.

# %% id="phases-questions"
def in_words(event):
    """0 is an arrival, a number above 0 a promise of so many bytes, a number below 0 so many bytes that land."""
    return "arrive" if event == 0 else f"expect {event}" if event > 0 else f"{-event} land"


barriers = grader.questions("mbarrier.phases")
for number, (count, events) in enumerate(barriers):
    print(f"barrier {number}: init({count}), {', '.join(map(in_words, events))}")

# %% id="phases-answer" answer="mbarrier.phases"
phases = [(None, None), (None, None), (None, None), (None, None), (None, None)]  # (phases, "letter"), as the questions
### BEGIN SOLUTION
phases = []
for count, events in barriers:
    bar = MBarrier(count)
    for event in events:
        if event == 0:
            bar.arrive()
        elif event > 0:
            bar.expect_tx(event)
        else:
            bar.complete_tx(-event)
    letter = "c" if bar.tx_count > 0 else "d" if bar.tx_count < 0 else "a" if bar.pending_count == count else "b"
    phases.append((bar.phase, letter))
### END SOLUTION

# %% id="phases-check" check="mbarrier.phases"
grader.check("mbarrier.phases", phases)

# %% [markdown] id="machine-task"
# ### Exercise 2: build one (4 points)
#
# Write the counter yourself, as a function without `MBarrier`. `count` is what `init` was given; then come the
# events, in order: 0 is an arrival, a number above 0 a promise of so many bytes, a number below 0 so many bytes that
# land. Return how many phases are complete at the end. So `phases_over(1, 2048, 0, -2048)` is a barrier with one
# load.
#
# One point is for arrivals alone, two for promises and bytes, one for bytes that land before their promise.

# %% id="machine-answer" answer="mbarrier.machine"
def phases_over(count, *events):
    """How many phases of a barrier of `count` arrivals are complete after all events."""
    ### BEGIN SOLUTION
    phase, pending, tx = 0, count, 0
    for event in events:
        if event == 0:
            pending -= 1
        else:
            tx += event
        if pending == 0 and tx == 0:
            phase, pending = phase + 1, count
    return phase
    ### END SOLUTION

# %% id="machine-check" check="mbarrier.machine"
grader.check("mbarrier.machine", phases_over)

# %% [markdown] id="pair"
# ## 2. Two loads on one barrier
#
# Here is a kernel that loads one tile, in the order that people warn of: thread 0 issues the load, then promises its
# bytes. `count` is the number of arrivals that the barrier counts: thread 0's, and those of as many others as are
# needed. Is the kernel right with 128? And with 1?
#
# *My guess:*

# %% id="pair-example"
@kernel
def load_first(tensor_map, x, y, count, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], count)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
    elif thread < count:
        ptx.mbarrier_arrive(full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


for count in (128, 1):
    out = np.zeros((ROWS, COLS), np.float32)
    run = load_first.run(block=128, args=(tile_map, 32, 16, count, out))
    print(f"{count} arrivals:", run, "" if np.array_equal(out, tensor[16:32, 32:64]) else "but the bytes are wrong")
run.show("barriers")

# %% [markdown] id="pair-example-why"
# Both are right: while thread 0 has not arrived, the phase can't end, whatever has landed. It is another matter if
# the promise comes after the arrive:

# %% id="pair-late"
@kernel
def promise_late(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
        ptx.mbarrier_arrive(full[0])
        ptx.mbarrier_expect_tx(full[0], TILE_BYTES)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


print(promise_late.run(block=128, args=(tile_map, 32, 16, np.zeros((ROWS, COLS), np.float32))))

# %% [markdown] id="pair-task"
# ### Exercise 3: a pair of tiles (5 points)
#
# A matrix product needs a tile of A and a tile of B before it can begin, and it is one barrier that tells when both
# are there. Do the same with two tiles of one tensor: `load_pair` loads the tile at column `x`, row `y`, and its
# right neighbour, which begins 32 columns further on, with **two loads on one barrier**, and writes both to `out`, 16
# x 64. Let one thread do the asking, and be exact with the promise: a load is no arrival.
#
# The check tries other places, over edges too, and other tensors.

# %% id="pair-answer" answer="mbarrier.pair"
@kernel
def load_pair(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        row, col = i // COLS, i % COLS
        out[row, col] = left[row, col]
        out[row, COLS + col] = right[row, col]
    ### END SOLUTION

# %% id="pair-try"
out = np.full((ROWS, 2 * COLS), -1, np.float32)
run = load_pair.run(block=128, args=(tile_map, 32, 16, out))
print(run)
print(f"elements that are right: {np.count_nonzero(out == tensor[16:32, 32:96])} of {out.size}")

# %% id="pair-check" check="mbarrier.pair"
grader.check("mbarrier.pair", load_pair)

# %% [markdown] id="parity"
# ## 3. Phases and parity
#
# Threads can't ask "is phase 17 over?", since the barrier has no room for large numbers. They ask by the phase's
# **parity**: 0 for phases 0, 2, 4..., 1 for phases 1, 3, 5.... The hardware compares one bit:
#
# - the parity of the *current* phase: not over, wait;
# - the other parity: that is the *preceding* phase, and it is over.
#
# Predict: on a fresh barrier, what is the answer for parity 0, and what for parity 1? And after one phase?
#
# *My guess:*

# %% id="parity-reveal"
bar = MBarrier(1)
for _ in range(4):
    print(f"in phase {bar.phase}: parity 0 over? {bar.test_wait_parity(0)!s:5}  parity 1 over? {bar.test_wait_parity(1)}")
    bar.arrive()

# %% [markdown] id="parity-rule"
# Two things follow.
#
# - **A wait for the wrong parity does one of two things**: it returns at once, and you read what has not arrived; or
#   it waits for a phase that nobody will complete.
# - **On a fresh barrier a wait for parity 1 returns at once.** That looks like a fault and is a gift: who waits for a
#   stage to be *empty* finds it empty in the first round, without a special case.
#
# Large kernels have several buffers and use them in turn. That is a **ring**, and each buffer is a **stage** of it. Tile
# k uses stage `k % stages`, and comes to it in round `k // stages`. Each stage has a barrier `full`, for which the consumers wait before they read, and a barrier `empty`, for which the producer waits
# before it fills the stage again: in round r it must know that the consumers are done with round r - 1.

# %% [markdown] id="parity-task"
# ### Exercise 4: which parity? (3 points)
#
# Write the function that gives the parity to wait for. `tile` is the tile's number, `stages` the number of stages,
# and `producer` is 0 for a consumer that waits for `full`, 1 for the producer that waits for `empty`. Two points are
# for consumers, one for the producer.

# %% id="parity-answer" answer="mbarrier.parity"
def wait_parity(tile, stages, producer):
    """The parity for which a consumer waits on full (0), or the producer on empty (1), before tile number `tile`."""
    ### BEGIN SOLUTION
    return tile // stages % 2 ^ producer
    ### END SOLUTION

# %% id="parity-check" check="mbarrier.parity"
grader.check("mbarrier.parity", wait_parity)

# %% [markdown] id="loop"
# ## 4. A loop over tiles
#
# One buffer, one barrier, many tiles. Before the next pair may be loaded, all threads must have read this one. With
# one buffer a `cuda.syncthreads()` at the end of each round does that. Here is the loop with single tiles and with a
# mistake: it waits for parity 0 in each round. Predict: what will the first wrong element of `out` be, and what will
# the run report?
#
# *My guess:*

# %% id="loop-example"
@kernel
def always_parity_0(tensor_map, x, steps, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        cuda.syncthreads()


out = np.full((2 * ROWS, COLS), -1, np.float32)
run = always_parity_0.run(block=128, args=(tile_map, 32, 2, out))
print(run)
print("tiles that are right:", [bool((out[at : at + ROWS] == tensor[at : at + ROWS, 32:64]).all()) for at in (0, ROWS)])

# %% id="loop-figure"
run.show("barriers")

# %% [markdown] id="loop-task"
# ### Exercise 5: pair after pair (5 points)
#
# `copy_pairs` loads `steps` pairs of tiles, one under the other: pair k has its left tile at column `x`, row `16 *
# k`, and its right one 32 columns further on. It writes them to `out`, which has `16 * steps` rows and 64 columns.
# There is one buffer for each side, and one barrier.

# %% id="loop-answer" answer="mbarrier.loop"
@kernel
def copy_pairs(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], 2 * TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, k * ROWS, full[0])
            ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            row, col = i // COLS, i % COLS
            out[k * ROWS + row, col] = left[row, col]
            out[k * ROWS + row, COLS + col] = right[row, col]
        cuda.syncthreads()
    ### END SOLUTION

# %% id="loop-try"
out = np.full((4 * ROWS, 2 * COLS), -1, np.float32)
run = copy_pairs.run(block=128, args=(tile_map, 32, 4, out))
print(run)
right_pairs = (out == tensor[:, 32:96]).reshape(4, -1).all(axis=1)
print(f"pairs that are right: {right_pairs.tolist()}")

# %% id="loop-check" check="mbarrier.loop"
grader.check("mbarrier.loop", copy_pairs)

# %% [markdown] id="ring"
# ## 5. Full and empty
#
# In that loop nothing is on its way while the threads read, and nothing is read while a tile is on its way. With two
# stages one can be filled while the other is read. And then `syncthreads` is too much: it makes everybody wait for
# everybody. Two barriers for each stage say just what has to be said:
#
# | barrier | says | arrivals of a phase | bytes |
# |---|---|---|---|
# | `full[s]` | stage s may be read | one, the producer's, with the promise | those of the loads |
# | `empty[s]` | stage s may be filled again | the consumers' | none |
#
# A **producer** waits for `empty`, arrives on `full` with the promise, and loads. The **consumers** wait for `full`,
# read, and arrive on `empty`. Each arrive says "all that I have read before this, I have read".
#
# How many arrivals must `empty[s]` count? That depends on who arrives. The cell below says how many arrivals the
# barriers of a phase get for 32 and for 128 consumers, in three ways. Predict them first. Which way needs something
# more, before the arrive?
#
# *My guess:*

# %% id="ring-counts"
for consumers in (32, 128):
    lanes = range(consumers)
    print(f"{consumers} consumers:")
    print("  every thread arrives:                     ", len(lanes))
    print("  lane 0 of each warp, after a syncwarp:    ", len([thread for thread in lanes if thread % 32 == 0]))
    print("  one for all, after a barrier among them:  ", len([thread for thread in lanes if thread == 0]))

# %% [markdown] id="ring-task"
# ### Exercise 6: a ring of two stages (6 points)
#
# `copy_ring` does what `copy_pairs` did, with two stages. The block has 64 threads: threads 0 to 31 are the
# consumers, the second warp is for the producer, of which one thread is enough. After the barriers are made, the two
# roles never meet at a `syncthreads` again.
#
# The check tries numbers of steps below and above the number of stages, and looks at many orders. It runs the kernel
# alone, so work out the parity inside of it. (A function that a kernel calls needs `@device`, from `tmalab`.)

# %% id="ring-answer" answer="mbarrier.ring"
@kernel
def copy_ring(tensor_map, x, steps, out):
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], CONSUMERS)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], 2 * TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(left[s], tensor_map, x, k * ROWS, full[s])
            ptx.cp_async_bulk_tensor_2d(right[s], tensor_map, x + COLS, k * ROWS, full[s])
    elif thread < CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                out[k * ROWS + row, thread] = left[s, row, thread]
                out[k * ROWS + row, COLS + thread] = right[s, row, thread]
            ptx.mbarrier_arrive(empty[s])
    ### END SOLUTION

# %% id="ring-try"
out = np.full((4 * ROWS, 2 * COLS), -1, np.float32)
run = copy_ring.run(block=2 * CONSUMERS, args=(tile_map, 32, 4, out))
print(run)
print(f"pairs that are right: {(out == tensor[:, 32:96]).reshape(4, -1).all(axis=1).tolist()}")

# %% id="ring-check" check="mbarrier.ring"
grader.check("mbarrier.ring", copy_ring)

# %% [markdown] id="hangs"
# ## 6. Four classic hangs
#
# A barrier that is never complete stops a kernel for good. On a GPU you see nothing but a program that does not
# return. The simulator sees that nobody can go on, and says who waits for what.
#
# Here are the four that people meet most. Each is run with 128 threads. Read them; don't run the cell after them yet.

# %% id="hangs-kernels"
@kernel
def hang_a(tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], cuda.blockDim.x)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def hang_b(tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def hang_c(tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    empty = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_init(empty[0], 32)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 32:
        for k in range(2):
            ptx.mbarrier_wait_parity(empty[0], k % 2)
            ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[0])
    elif thread < 32:
        for k in range(2):
            ptx.mbarrier_wait_parity(full[0], k % 2)
            for row in range(ROWS):
                out[row, thread] = tile[row, thread]
            ptx.mbarrier_arrive(empty[0])


@kernel
def hang_d(tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]

# %% [markdown] id="hangs-task"
# ### Exercise 7: what is missing? (4 points)
#
# When nothing moves any more: how many arrivals does the phase of `full[0]` still lack, for which threads wait? And
# why does it never complete? The next cell lists four reasons.
#
# Two points are for the numbers, two for the letters; a letter counts if the number beside it is right.

# %% id="hangs-causes"
causes = grader.questions("mbarrier.hangs")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hangs-answer" answer="mbarrier.hangs"
missing = {"hang_a": (None, None), "hang_b": (None, None), "hang_c": (None, None), "hang_d": (None, None)}
### BEGIN SOLUTION
letters = dict(zip("abcd", causes))  # of the public course, and yours
missing = {"hang_a": (127, letters["a"]), "hang_b": (0, letters["b"]), "hang_c": (1, letters["c"]), "hang_d": (1, letters["d"])}
### END SOLUTION

# %% id="hangs-check" check="mbarrier.hangs"
grader.check("mbarrier.hangs", missing)

# %% [markdown] id="hangs-reveal"
# And now see what the simulator says. Mend each of them, and run both cells again. (For `hang_c` recall what a fresh
# barrier says to parity 1.)

# %% id="hangs-run"
for hang in (hang_a, hang_b, hang_c, hang_d):
    hung = hang.run(block=128, args=(tile_map, np.zeros((ROWS, COLS), np.float32)))
    print(f"--- {hang.__name__}", hung, sep="\n", end="\n\n")
hung.show("barriers")

# %% [markdown] id="hunt"
# ## 7. Bug hunt
#
# Four kernels copy tiles, and each has one mistake. They don't all hang. Read each before you run the cell below
# them; then say in exercise 8 which mistake it is. The next cell lists the mistakes.

# %% id="hunt-causes"
causes = grader.questions("mbarrier.hunt")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hunt-kernels"
@kernel
def bug_a(tensor_map, out):  # two columns of three tiles, through one buffer
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for column in range(2):
        for k in range(3):
            if thread == 0:
                ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
                ptx.cp_async_bulk_tensor_2d(tile, tensor_map, column * COLS, k * ROWS, full[0])
            ptx.mbarrier_wait_parity(full[0], k % 2)
            for i in range(thread, ROWS * COLS, cuda.blockDim.x):
                out[k * ROWS + i // COLS, column * COLS + i % COLS] = tile[i // COLS, i % COLS]
            cuda.syncthreads()


@kernel
def bug_b(tensor_map, out):  # pairs of tiles, through one buffer
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for k in range(3):
        if thread == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(left, tensor_map, 0, k * ROWS, full[0])
            ptx.cp_async_bulk_tensor_2d(right, tensor_map, COLS, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            row, col = i // COLS, i % COLS
            out[k * ROWS + row, col] = left[row, col]
            out[k * ROWS + row, COLS + col] = right[row, col]
        cuda.syncthreads()


@kernel
def bug_c(tensor_map, out):  # a ring for 128 consumers, of which lane 0 of each warp arrives; thread 128 is the producer
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 128)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 128:
        for k in range(3):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 128:
        for k in range(3):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for i in range(thread, ROWS * COLS, 128):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            cuda.syncwarp()
            if thread % 32 == 0:
                ptx.mbarrier_arrive(empty[s])


@kernel
def bug_d(tensor_map, out):  # a ring for 128 consumers, all of which arrive; thread 128 is the producer
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 128)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 128:
        for k in range(3):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 128:
        for k in range(3):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            ptx.mbarrier_arrive(empty[s])
            for i in range(thread, ROWS * COLS, 128):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]

# %% id="hunt-run"
for suspect, columns in ((bug_a, 2 * COLS), (bug_b, 2 * COLS), (bug_c, COLS), (bug_d, COLS)):
    out = np.zeros((3 * ROWS, columns), np.float32)
    run = suspect.run(block=160, args=(tile_map, out))
    same = np.count_nonzero(out == tensor[: 3 * ROWS, :columns])
    print(f"--- {suspect.__name__}: {same:,} of {out.size:,} elements right", run, sep="\n", end="\n\n")

# %% [markdown] id="hunt-task"
# ### Exercise 8: name the mistakes (4 points)

# %% id="hunt-answer" answer="mbarrier.hunt"
culprits = {"bug_a": None, "bug_b": None, "bug_c": None, "bug_d": None}
### BEGIN SOLUTION
letters = dict(zip("abcdef", causes))  # of the public course, and yours
culprits = {"bug_a": letters["a"], "bug_b": letters["c"], "bug_c": letters["d"], "bug_d": letters["b"]}
### END SOLUTION

# %% id="hunt-check" check="mbarrier.hunt"
grader.check("mbarrier.hunt", culprits)

# %% [markdown] id="hunt-mend"
# Mend all four in the cell with the kernels, and run the next one again, until every element is right and nothing is
# reported.

# %% [markdown] id="summary"
# ## Summary
#
# A barrier counts arrivals and bytes; when both are even, a phase is over and the next one has begun. Loads are not
# arrivals, and promises are not either. Waits ask by parity. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | the count is not the number of arrivals of a phase | too many counted: the wait never ends; too few: a phase that ends too early |
# | more promised than comes | the wait never ends |
# | less promised than comes | an early end in some runs, a hang in others: bytes land in pieces, in any order |
# | a promise without an arrival | the wait never ends, although all bytes are there |
# | a promise after the last arrival | it counts for the next phase |
# | the wrong parity | old or unfinished bytes; or a wait that never ends |
# | a round counter that starts again for the next row of tiles | right at first, then as with the wrong parity |
# | a producer that waits for parity 0 first | nobody ever begins |
# | an arrive on `empty` before the last read | the next tile overwrites this one; often the bytes are right all the same |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - **How far do the counts go?** Arrivals and bytes have 20 bits each, bytes with a sign. What is the largest
#   promise, and why does a single box never come near it? What happens beyond it? (An H200 ends the kernel.) The cell
#   below asks.
# - **The word.** The 64 bits are not documented; `bar.word` is what an H200 has there. Which bits change with an
#   arrival, which with a promise? While a barrier is live the hardware keeps the word elsewhere: a memory dump of a
#   running kernel shows an old one.
# - **test_wait and try_wait.** `mbarrier_test_wait_parity` answers at once; `mbarrier_try_wait_parity` may let the
#   thread sleep for a while, and may still come back with no. Both belong into a loop. Write the wait of exercise 3
#   with each. Which one would you want in 128 threads that have nothing else to do?
# - **States in place of parities.** An arrive returns a state, and `mbarrier_try_wait(bar, state)` waits for the
#   phase of that arrive. Who can use it, and why not a consumer that never arrives on `full`?
# - **Other CTAs.** Within a cluster a thread may arrive on a barrier of a neighbour, `mbarrier_arrive_cluster(bar,
#   rank)`, and load with a credit there; but only the owner's threads may wait. Which of the barriers of a ring would
#   that be good for, if one CTA's loads feed two? That is lesson 8.

# %% id="deeper-ranges"
for bytes_ in (2**20 - 1, 2**20):
    try:
        MBarrier(1).expect_tx(bytes_)
        print(f"expect_tx({bytes_:,}) is taken")
    except MBarrierError as error:
        print(f"expect_tx({bytes_:,}): {error.rule}: {error}")

bar = MBarrier(2)
words = [bar.word]
for change in (bar.arrive, lambda: bar.expect_tx(16), lambda: bar.complete_tx(16), bar.arrive):
    change()
    words.append(bar.word)
for before, after in zip(words, words[1:]):
    print(f"{after:#018x}, changed bits {[bit for bit in range(64) if (before ^ after) >> bit & 1]}")
