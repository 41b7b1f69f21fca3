# The tenth lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 10: bug hunt
#
# Fifteen kernels, each wrong in one way. Such mistakes are made every day, and most of them look right: the output may be
# right a thousand times, or the report may be about a place where nothing is wrong. You are the one who is asked.
#
# Afterwards you can
#
# - find the line, from a report, from wrong numbers, or from reading alone,
# - tell what is noticed from what is the matter,
# - mend a kernel with the smallest change, and show that it is right now,
# - say of some things that are commonly believed about TMA what an H200 did.
#
# It takes about 90 minutes. You need all lessons before; for the last kernel lesson 8.

# %% id="setup"
import inspect

import numpy as np
from numba import cuda

import grader
from tmalab import Swizzle, TensorMap, kernel, ptx

ROWS, COLS, STAGES = 8, 32, 2
TILE_BYTES = ROWS * COLS * 4

tensor = np.arange(64 * 128).reshape(64, 128).astype(np.float32)
tall = np.arange(64 * COLS).reshape(64, COLS).astype(np.float32)
small = np.arange(64 * 8).reshape(64, 8).astype(np.float32)


first_line = {}  # the number of each kernel's def
for group in ("loads", "rings", "stores"):
    first_line |= grader.questions(f"hunt.find-{group}")["first"]


def numbered(suspect):
    """Print a kernel with the numbers of its lines, from its def."""
    lines = inspect.getsource(suspect.function).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("def"))
    for number, line in enumerate(lines[first:], first_line[suspect.function.__name__]):
        print(f"{number:3} {line}")


def arguments(name):
    """What the kernel of this name is launched with, and what its result must be."""
    if name.startswith("loads") or name == "stores_5":
        mode = Swizzle.B128 if name == "loads_2" else Swizzle.NONE
        wanted = tensor[8:16, 32:64] if name != "stores_5" else np.stack([tensor[8:16, 32:64]] * 2)
        return (TensorMap.from_array(tensor, (ROWS, COLS), swizzle=mode), 32, 8, np.zeros_like(wanted)), wanted
    if name.startswith("rings"):
        column, box = (small, (3, 8)) if name == "rings_5" else (tall, (ROWS, COLS))
        rows = 5 * box[0]
        return (TensorMap.from_array(column, box), 5, np.zeros((rows, box[1]), np.float32)), column[:rows]
    stored = np.full((3 * ROWS, COLS), 7, np.float32)
    wanted = 7 + tall[:24] if name == "stores_4" else 2 * tall[:24]
    return (tall, 3, TensorMap.from_array(stored, (ROWS, COLS))), wanted


def investigate(suspect, seed=0):
    """Launch a kernel once and say how it went."""
    given, wanted = arguments(suspect.function.__name__)
    ctas = 2 if suspect.function.__name__ == "stores_5" else 1
    run = suspect.run(grid=ctas, cluster=ctas, block=64, args=given, seed=seed)
    result = given[-1].array if isinstance(given[-1], TensorMap) else given[-1]
    print(f"--- {suspect.function.__name__}: {np.count_nonzero(result == wanted):,} of {wanted.size:,} elements right")
    print(*run.hazards or ["nothing is reported"], sep="\n")

# %% [markdown] id="how"
# ## How to go about it
#
# 1. **Read first.** Who initialises, who promises, who loads, who waits, who reads, who releases? Five questions, in this
#    order, find most mistakes. Write down your guess.
# 2. `investigate(kernel)` launches it once, `investigate(kernel, seed=1)` in another order. A report says what was *noticed*.
#    Where several are made, the first is not always the cause: too few arrivals make a wait wrong elsewhere.
# 3. No report, and wrong numbers? Then the protocol is right and a *place* is wrong: print where the right ones are.
# 4. Mend one line. If two must be changed, look again.
#
# `numbered(kernel)` prints the lines with their numbers: **the numbers that it prints are those that count**. If a line is
# missing, name the one before which it belongs.
#
# These are the names that a cause may have. There are more names than kernels, and none is used twice.

# %% id="names"
for name, meaning in grader.questions("hunt.find-loads")["names"].items():
    print(f"{name:20} {meaning}")

# %% [markdown] id="loads"
# ## 1. Loads
#
# Five kernels that copy one tile of 8 x 32 to `out`. All are launched with 64 threads, and a map of an fp32 tensor.
#
# 1. "It hangs, or it doesn't. We have put the tile's size there."
# 2. "Since we turned the swizzle on, only the first row is right."
# 3. "Right on the square test matrix, where all tiles are on the diagonal."
# 4. "Ran for months on the old cards."
# 5. "One thread waits, that saves instructions."

# %% id="loads-kernels"
@kernel
def loads_1(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, ROWS * COLS)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
    while not ptx.mbarrier_try_wait_parity(full, 0):
        pass
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def loads_2(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=1024)  # the map has the 128-byte swizzle
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        row = i // COLS
        column = i % COLS
        out[row, column] = tile[row, column ^ (row % 8)]


@kernel
def loads_3(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    leader = tid < 32 and ptx.elect_sync()
    if leader:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, y, x, full)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def loads_4(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, cuda.blockDim.x)  # everybody arrives, and waits for the state that it got
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
        state = ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
    else:
        state = ptx.mbarrier_arrive(full)
    ptx.mbarrier_try_wait(full, state)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def loads_5(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
        ptx.mbarrier_wait_parity(full, 0)  # one thread is enough to wait
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]

# %% [markdown] id="loads-guess"
# Predict, before you run the next cell: which of the five does the simulator report, and which write wrong numbers?
#
# *My guess:*

# %% id="loads-run"
for suspect in (loads_1, loads_2, loads_3, loads_4, loads_5):
    investigate(suspect)

# %% [markdown] id="loads-find-task"
# ### Exercise 1: name and find (10 points)
#
# A pair (line, name) for each: `(4, "exit-in-flight")` would be one.

# %% id="loads-find-answer" answer="hunt.find-loads"
found_loads = {
    "loads_1": (None, None),
    "loads_2": (None, None),
    "loads_3": (None, None),
    "loads_4": (None, None),
    "loads_5": (None, None),
}
### BEGIN SOLUTION
found_loads = {
    "loads_1": (first_line["loads_1"] + 9, "too-few-bytes"),
    "loads_2": (first_line["loads_2"] + 15, "swizzle-misread"),
    "loads_3": (first_line["loads_3"] + 9, "coordinates-swapped"),
    "loads_4": (first_line["loads_4"] + 13, "wait-ignored"),
    "loads_5": (first_line["loads_5"] + 11, "read-before-wait"),
}
### END SOLUTION

# %% id="loads-find-check" check="hunt.find-loads"
grader.check("hunt.find-loads", found_loads)

# %% [markdown] id="loads-mend-task"
# ### Exercise 2: mend them (10 points)
#
# Copy each kernel into this cell, give the copy a name of its own (`loads_1_mended`), mend it, and put it in the place of
# its `None`. A kernel counts when its bytes are right on inputs that you do not see, and nothing is reported in any order
# that the check tries.

# %% id="loads-mend-answer" answer="hunt.mend-loads"
mended_loads = {
    "loads_1": None,
    "loads_2": None,
    "loads_3": None,
    "loads_4": None,
    "loads_5": None,
}
### BEGIN SOLUTION
@kernel
def loads_1_mended(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
    while not ptx.mbarrier_try_wait_parity(full, 0):
        pass
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def loads_2_mended(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=1024)  # the map has the 128-byte swizzle
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        row = i // COLS
        column = i % COLS
        out[row, column] = tile[row, column ^ (row % 8) * 4]


@kernel
def loads_3_mended(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    leader = tid < 32 and ptx.elect_sync()
    if leader:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def loads_4_mended(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, cuda.blockDim.x)  # everybody arrives, and waits for the state that it got
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
        state = ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
    else:
        state = ptx.mbarrier_arrive(full)
    while not ptx.mbarrier_try_wait(full, state):
        pass
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def loads_5_mended(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full)
        ptx.mbarrier_wait_parity(full, 0)  # one thread waits, and tells the others
    cuda.syncthreads()
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


mended_loads = {
    "loads_1": loads_1_mended,
    "loads_2": loads_2_mended,
    "loads_3": loads_3_mended,
    "loads_4": loads_4_mended,
    "loads_5": loads_5_mended,
}
### END SOLUTION

# %% id="loads-mend-check" check="hunt.mend-loads"
grader.check("hunt.mend-loads", mended_loads)

# %% [markdown] id="figure-text"
# A hazard can be shown with the moments that matter: who wrote, who read, what lies between. Here is the one of the fifth
# kernel.

# %% id="figure"
given, _ = arguments("loads_5")
loads_5.run(block=64, args=given).show()

# %% [markdown] id="rings"
# ## 2. Rings
#
# Five kernels that copy a column of tiles through a ring of two stages. In the third and the fourth, one warp loads and the
# other one copies out.
#
# 1. "The first two tiles are always right."
# 2. "Right in the debugger, wrong at full speed."
# 3. "Every consumer says when it is done, to be on the safe side."
# 4. "Works for up to two tiles."
# 5. "The tile is small, so it can't be the shared memory."

# %% id="rings-kernels"
@kernel
def rings_1(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, steps)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    for k in range(steps):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k % 2)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
        cuda.syncthreads()
        if tid == 0 and k + STAGES < steps:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])


@kernel
def rings_2(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, steps)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    stage = 0
    parity = 0
    for k in range(steps):
        ptx.mbarrier_wait_parity(full[stage], parity)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = ring[stage, i // COLS, i % COLS]
        if tid == 0 and k + STAGES < steps:
            ptx.mbarrier_arrive_expect_tx(full[stage], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[stage], tensor_map, 0, (k + STAGES) * ROWS, full[stage])
        stage += 1
        if stage == STAGES:
            stage = 0
            parity ^= 1


@kernel
def rings_3(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid < 32:
        if ptx.elect_sync():
            for k in range(steps):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
                ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    else:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for row in range(ROWS):
                out[k * ROWS + row, tid - 32] = ring[s, row, tid - 32]
            ptx.mbarrier_arrive(empty[s])  # this lane is done with the stage


@kernel
def rings_4(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid < 32:
        if ptx.elect_sync():
            for k in range(steps):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
                ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    else:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for row in range(ROWS):
                out[k * ROWS + row, tid - 32] = ring[s, row, tid - 32]
            cuda.syncwarp()
            if tid == 0:
                ptx.mbarrier_arrive(empty[s])


@kernel
def rings_5(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, 3, 8), np.float32, alignment=128)  # the map has boxes of 3 rows of 8
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for k in range(steps):
        s = k % STAGES
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full[s], 3 * 8 * 4)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * 3, full[s])
        ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
        if tid < 24:
            out[k * 3 + tid // 8, tid % 8] = ring[s, tid // 8, tid % 8]
        cuda.syncthreads()

# %% [markdown] id="rings-guess"
# Predict, before you run the next cell: which of the five does the simulator report, and which write wrong numbers?
#
# *My guess:*

# %% id="rings-run"
for suspect in (rings_1, rings_2, rings_3, rings_4, rings_5):
    investigate(suspect)

# %% [markdown] id="rings-find-task"
# ### Exercise 3: name and find (10 points)
#
# A pair (line, name) for each: `(4, "exit-in-flight")` would be one.

# %% id="rings-find-answer" answer="hunt.find-rings"
found_rings = {
    "rings_1": (None, None),
    "rings_2": (None, None),
    "rings_3": (None, None),
    "rings_4": (None, None),
    "rings_5": (None, None),
}
### BEGIN SOLUTION
found_rings = {
    "rings_1": (first_line["rings_1"] + 14, "wrong-parity"),
    "rings_2": (first_line["rings_2"] + 18, "overwrite-in-use"),
    "rings_3": (first_line["rings_3"] + 8, "over-arrival"),
    "rings_4": (first_line["rings_4"] + 25, "missing-arrival"),
    "rings_5": (first_line["rings_5"] + 1, "misaligned"),
}
### END SOLUTION

# %% id="rings-find-check" check="hunt.find-rings"
grader.check("hunt.find-rings", found_rings)

# %% [markdown] id="rings-mend-task"
# ### Exercise 4: mend them (10 points)
#
# Copy each kernel into this cell, give the copy a name of its own (`rings_1_mended`), mend it, and put it in the place of
# its `None`. A kernel counts when its bytes are right on inputs that you do not see, and nothing is reported in any order
# that the check tries.

# %% id="rings-mend-answer" answer="hunt.mend-rings"
mended_rings = {
    "rings_1": None,
    "rings_2": None,
    "rings_3": None,
    "rings_4": None,
    "rings_5": None,
}
### BEGIN SOLUTION
@kernel
def rings_1_mended(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, steps)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    for k in range(steps):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
        cuda.syncthreads()
        if tid == 0 and k + STAGES < steps:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])


@kernel
def rings_2_mended(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, steps)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    stage = 0
    parity = 0
    for k in range(steps):
        ptx.mbarrier_wait_parity(full[stage], parity)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = ring[stage, i // COLS, i % COLS]
        cuda.syncthreads()
        if tid == 0 and k + STAGES < steps:
            ptx.mbarrier_arrive_expect_tx(full[stage], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[stage], tensor_map, 0, (k + STAGES) * ROWS, full[stage])
        stage += 1
        if stage == STAGES:
            stage = 0
            parity ^= 1


@kernel
def rings_3_mended(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 32)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid < 32:
        if ptx.elect_sync():
            for k in range(steps):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
                ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    else:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for row in range(ROWS):
                out[k * ROWS + row, tid - 32] = ring[s, row, tid - 32]
            ptx.mbarrier_arrive(empty[s])  # this lane is done with the stage


@kernel
def rings_4_mended(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid < 32:
        if ptx.elect_sync():
            for k in range(steps):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
                ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    else:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for row in range(ROWS):
                out[k * ROWS + row, tid - 32] = ring[s, row, tid - 32]
            cuda.syncwarp()
            if tid == 32:
                ptx.mbarrier_arrive(empty[s])


@kernel
def rings_5_mended(tensor_map, steps, out):
    ring = cuda.shared.array((STAGES, 4, 8), np.float32, alignment=128)  # the map has boxes of 3 rows of 8
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for k in range(steps):
        s = k % STAGES
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full[s], 3 * 8 * 4)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * 3, full[s])
        ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
        if tid < 24:
            out[k * 3 + tid // 8, tid % 8] = ring[s, tid // 8, tid % 8]
        cuda.syncthreads()


mended_rings = {
    "rings_1": rings_1_mended,
    "rings_2": rings_2_mended,
    "rings_3": rings_3_mended,
    "rings_4": rings_4_mended,
    "rings_5": rings_5_mended,
}
### END SOLUTION

# %% id="rings-mend-check" check="hunt.mend-rings"
grader.check("hunt.mend-rings", mended_rings)

# %% [markdown] id="stores"
# ## 3. Stores, sums and a cluster
#
# Five more. The first three store the source, doubled, tile by tile; the fourth adds it to what the tensor holds; the fifth is
# a cluster of two CTAs that want the same tile.
#
# 1. "It has always been right, on every card we have."
# 2. "We commit, and we wait for 0, so nothing can be open."
# 3. "Two buffers, so two stores may be under way."
# 4. "The sums are too large, but by a whole number."
# 5. "The second CTA is fine, the first one hangs."

# %% id="stores-kernels"
@kernel
def stores_1(source, tiles, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
        cuda.syncthreads()


@kernel
def stores_2(source, tiles, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, tile)
            ptx.cp_async_bulk_wait_group(0)
        cuda.syncthreads()


@kernel
def stores_3(source, tiles, tensor_map):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):
        if tid == 0:
            ptx.cp_async_bulk_wait_group_read(2)
        cuda.syncthreads()
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            ring[k % STAGES, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % STAGES])
            ptx.cp_async_bulk_commit_group()
    if tid == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def stores_4(source, tiles, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):  # the tensor holds something already, to which the source is added
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid < 32:
            ptx.cp_reduce_async_bulk_tensor_2d_add(tensor_map, 0, k * ROWS, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
        cuda.syncthreads()


@kernel
def stores_5(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)  # a cluster of two: CTA 0 loads for both
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        if rank == 0:
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, x, y, full, ptx.cluster_nctarank())
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]

# %% [markdown] id="stores-guess"
# Predict, before you run the next cell: which of the five does the simulator report, and which write wrong numbers?
#
# *My guess:*

# %% id="stores-run"
for suspect in (stores_1, stores_2, stores_3, stores_4, stores_5):
    investigate(suspect)

# %% [markdown] id="stores-find-task"
# ### Exercise 5: name and find (10 points)
#
# A pair (line, name) for each: `(4, "exit-in-flight")` would be one.

# %% id="stores-find-answer" answer="hunt.find-stores"
found_stores = {
    "stores_1": (None, None),
    "stores_2": (None, None),
    "stores_3": (None, None),
    "stores_4": (None, None),
    "stores_5": (None, None),
}
### BEGIN SOLUTION
found_stores = {
    "stores_1": (first_line["stores_1"] + 6, "missing-proxy-fence"),
    "stores_2": (first_line["stores_2"] + 9, "store-not-committed"),
    "stores_3": (first_line["stores_3"] + 5, "store-source-reuse"),
    "stores_4": (first_line["stores_4"] + 8, "multiple-issue"),
    "stores_5": (first_line["stores_5"] + 12, "multicast-mask"),
}
### END SOLUTION

# %% id="stores-find-check" check="hunt.find-stores"
grader.check("hunt.find-stores", found_stores)

# %% [markdown] id="stores-mend-task"
# ### Exercise 6: mend them (10 points)
#
# Copy each kernel into this cell, give the copy a name of its own (`stores_1_mended`), mend it, and put it in the place of
# its `None`. A kernel counts when its bytes are right on inputs that you do not see, and nothing is reported in any order
# that the check tries.

# %% id="stores-mend-answer" answer="hunt.mend-stores"
mended_stores = {
    "stores_1": None,
    "stores_2": None,
    "stores_3": None,
    "stores_4": None,
    "stores_5": None,
}
### BEGIN SOLUTION
@kernel
def stores_1_mended(source, tiles, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
        cuda.syncthreads()


@kernel
def stores_2_mended(source, tiles, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
        cuda.syncthreads()


@kernel
def stores_3_mended(source, tiles, tensor_map):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):
        if tid == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            ring[k % STAGES, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % STAGES])
            ptx.cp_async_bulk_commit_group()
    if tid == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def stores_4_mended(source, tiles, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):  # the tensor holds something already, to which the source is added
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_reduce_async_bulk_tensor_2d_add(tensor_map, 0, k * ROWS, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
        cuda.syncthreads()


@kernel
def stores_5_mended(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)  # a cluster of two: CTA 0 loads for both
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE_BYTES)
        if rank == 0:
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, x, y, full, (1 << ptx.cluster_nctarank()) - 1)
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


mended_stores = {
    "stores_1": stores_1_mended,
    "stores_2": stores_2_mended,
    "stores_3": stores_3_mended,
    "stores_4": stores_4_mended,
    "stores_5": stores_5_mended,
}
### END SOLUTION

# %% id="stores-mend-check" check="hunt.mend-stores"
grader.check("hunt.mend-stores", mended_stores)

# %% [markdown] id="orders"
# ## 4. How often does it show?
#
# The same mistake shows in some orders only. The next cell runs two wrong kernels in many orders. Predict for each in how
# many the numbers are wrong, and in how many something is reported.
#
# *My guess:*

# %% id="orders-run"
for suspect in (loads_5, stores_1):
    name, wrong, reported = suspect.function.__name__, 0, 0
    for seed in range(25):
        given, wanted = arguments(name)
        run = suspect.run(block=64, args=given, seed=seed)
        wrong += not np.array_equal(given[-1].array if name == "stores_1" else given[-1], wanted)
        reported += bool(run.hazards)
    print(f"{name}: of 25 orders {wrong} with wrong numbers, {reported} with a report")

# %% [markdown] id="said"
# ## 5. Commonly said, and what the H200 did
#
# Many of these mistakes begin with a sentence that somebody was told. The next cell prints the sentences. Predict of each
# whether an H200 agrees; then run the cell after it, which counts in the recordings.
#
# *My guess:*

# %% id="said-sentences"
from tmalab.commonly_said import commonly_said

for number, row in enumerate(commonly_said()):
    print(f"{number:2}  {row.said}")

# %% id="said-reveal"
for number, row in enumerate(commonly_said()):
    print(f"{number:2}  {row.said}\n    {row.did}\n    [{row.recorded}]\n")

# %% [markdown] id="summary"
# ## Summary
#
# | what you see | what it often is |
# |---|---|
# | it hangs at once, always | bytes or arrivals that nobody makes; a mask that leaves a CTA out |
# | it hangs now and then | too few bytes promised |
# | the first laps are right, then all is wrong | the parity of a ring |
# | right now and then, parts are old | a wait that only some threads made, or whose answer nobody looked at |
# | a tile of the next step, or a mixture | a stage filled again too early |
# | everything right, and a report | the proxy fence: nothing but luck keeps it so |
# | nothing reported, first row right | the swizzle is undone wrongly |
# | nothing reported, another tile | coordinates |
# | a fault before anything | an address: of a stage, of a coordinate times the element |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - Choose a right kernel of yours from lesson 7 or 9, and take out one line at a time. For which lines does the output stay
#   right? Does the simulator report each of them?
# - `docs/hazards.md` has all hazards, each with an example; `docs/mutants.md` what became of thousands of wrong lines.
# - If you have a Hopper GPU: run the fifteen there (`on="gpu"`). Which of them give the right numbers?
