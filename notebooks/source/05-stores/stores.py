# The fifth lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 5: stores and reductions
#
# So far tiles came in. Now they go back: the copy engine takes a tile from shared memory and writes it to a tensor, or
# adds it to what is there. No mbarrier tells you when it is done; and the order between your threads and the copy engine
# is your affair.
#
# Afterwards you can
#
# - hand a tile from threads to the copy engine, and say what the proxy fence is for,
# - say what `commit_group`, `wait_group.read` and `wait_group` each wait for, and who may wait,
# - keep two buffers busy without overwriting one too early,
# - say what a store does at each edge of a tensor, and what it destroys there without a word,
# - add up results of many CTAs without a lock, and say how they are rounded,
# - recognise five frequent mistakes, most of which give the right bytes.
#
# It takes about 75 minutes. You need lesson 1.

# %% id="setup"
import numpy as np
from numba import cuda

import grader
from tmalab import DataType, TensorMap, TmaFault, kernel, ptx, recorded, reference

ROWS, COLS = 8, 32  # a tile of int32: its rows are 128 bytes
CTAS, COLUMNS = 4, 128  # section 6: CTAs that add to one row of sums

source = np.arange(1, ROWS * COLS + 1, dtype=np.int32).reshape(ROWS, COLS)
tensor = np.full((16, 96), -1, np.int32)
tensor_map = TensorMap.from_array(tensor, (ROWS, COLS))


def compare(seen, expected):
    """How many elements are right, in words."""
    return f"{np.count_nonzero(seen == expected):,} of {seen.size:,} elements right"

# %% [markdown] id="proxies"
# ## 1. Two ways to see memory
#
# A store names the same things as a load: map, coordinates, tile. It has no barrier.
#
#     ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
#
# There is something else to think of. Your threads read and write shared memory in the ordinary way: PTX calls that the
# **generic proxy**. The copy engine goes by a path of its own, the **asynchronous proxy**. What was written by one path
# need not be seen by the other, until `fence.proxy.async` has been executed. When a tile was *loaded*, the wait on the
# mbarrier was enough: a completed copy shows itself to both. In the other direction nothing does that for you.
#
# Here is a kernel that fills a tile and stores it, without the fence. Predict: what lies in the tensor afterwards?
#
# *My guess:*

# %% id="without-fence"
@kernel
def store_without_fence(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = source[i // COLS, i % COLS]
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


tensor[:] = -1
run = store_without_fence.run(block=128, args=(source, 32, 4, tensor_map))
print(compare(tensor[4:12, 32:64], source))
print(run)

# %% [markdown] id="fence-rule"
# The bytes are right, and the kernel is wrong. Here the simulator and the hardware agree: an H200 nearly always gives the
# right bytes without the fence as well. Nothing promises it, and what has gone well so far may fail with the next compiler,
# the next chip, or a busier memory. So the simulator does not judge by luck. It asks whether there is an *order*: each
# write of a thread, then a fence by that thread, then a barrier, then the store.
#
#     the writes, in all threads
#     ptx.fence_proxy_async()        in each thread that wrote
#     cuda.syncthreads()             all are through with it
#     if thread == 0: the store
#
# The fence comes *before* the barrier, since only the thread itself can show what it has written. A barrier without a
# fence lets the storing thread know; a fence without a barrier tells the copy engine, but lets nobody wait.
#
# You will also see kernels in which the storing thread alone executes the fence, after the barrier. The letter of PTX does
# not say that this is enough, and nobody has seen it fail. The checks let it pass; see "Going deeper".

# %% [markdown] id="groups"
# ## 2. When is it done?
#
# A store is asynchronous, like a load. The thread that issued it can ask, and no other:
#
# - `ptx.cp_async_bulk_commit_group()` closes all stores that this thread has issued since its last commit into a **group**.
# - `ptx.cp_async_bulk_wait_group_read(n)` waits until at most the `n` newest groups have not yet *read* their tile. Then the
#   older ones' shared memory may be overwritten. What they have read may still be on its way.
# - `ptx.cp_async_bulk_wait_group(n)` waits until at most the `n` newest groups have not yet *written* global memory.
#
# A store without a commit is in no group, and no wait knows of it. A commit without a store makes an empty group, which
# counts. And a CTA (a block, in PTX's words) must not end before its stores have been read: its shared memory goes to
# another CTA.
#
# Step through the figure: three tiles go through two buffers. Where a buffer is hatched, nobody may write to it; beside each
# stands whether one may, and why.

# %% id="groups-figure"
from tmalab.figures import StoreFigure

StoreFigure()

# %% [markdown] id="store-task"
# ### Exercise 1: store a tile (6 points)
#
# `store_double` is launched with 128 threads. It fills a tile with the numbers of `source` (8 x 32, int32), each doubled,
# and stores it at column `x`, row `y` of the tensor behind `tensor_map`. The kernel above shows the instructions; one line
# is missing there.
#
# The check looks at all of the tensor: what the tile does not cover must stay as it was. Some tiles hang over the tensor's
# last row or column. Three points are for the *order*.

# %% id="store-answer" answer="stores.store"
@kernel
def store_double(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    ### END SOLUTION

# %% id="store-try"
tensor[:] = -1
run = store_double.run(block=128, args=(source, 32, 4, tensor_map))
print(run)
print(compare(tensor[4:12, 32:64], 2 * source))

# %% id="store-check" check="stores.store"
grader.check("stores.store", store_double)

# %% [markdown] id="safe-task"
# ### Exercise 2: what is safe? (3 points)
#
# A and B are two buffers in shared memory, both filled before. The steps below are those of one thread, unless others are
# named. Is what is asked for safe afterwards?
#
# - `"a"` yes
# - `"b"` no: a store may still be reading the buffer
# - `"c"` no: what was stored may not have arrived yet
# - `"d"` no: the store is in no group, so nothing was waited for
# - `"e"` no: the thread that waits is not the one that stored

# %% id="safe-questions"
situations = grader.questions("stores.safe")
for number, situation in enumerate(situations):
    print(f"{number}: {situation}")

# %% id="safe-answer" answer="stores.safe"
safe = [None, None, None, None, None, None]  # letters, in the order of the questions
### BEGIN SOLUTION
def letter(situation):
    steps, _, question = situation.rpartition(": ")
    if "thread 1: wait" in steps:
        return "e"
    buffer = "store B" if "may B" in question else "store A"
    commits = steps[steps.index(buffer) :].count("commit")  # the first of them closes its group
    if commits == 0:
        return "d"
    if "global memory" in question:
        return "c" if ".read" in steps else "a"
    return "a" if commits - 1 >= int(steps[-1]) else "b"


safe = [letter(steps) for steps in situations]
### END SOLUTION

# %% id="safe-check" check="stores.safe"
grader.check("stores.safe", safe)

# %% [markdown] id="early"
# ## 3. Overwriting too early
#
# A kernel that stores many tiles has to use its buffer again. Below, one buffer takes two tiles, and the line that waits is
# missing. Predict: which tiles arrive in the tensor?
#
# *My guess:*

# %% id="early-run"
@kernel
def one_buffer(source, tiles, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, tile)
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


TILES = 5
tall = np.arange(1, TILES * ROWS * COLS + 1, dtype=np.int32).reshape(TILES * ROWS, COLS)
tall_out = np.full((TILES * ROWS + ROWS, COLS), -1, np.int32)
tall_map = TensorMap.from_array(tall_out, (ROWS, COLS))
run = one_buffer.run(block=128, args=(tall, 2, tall_map))
for k in range(2):
    rows = slice(k * ROWS, (k + 1) * ROWS)
    print(f"tile {k}: {compare(tall_out[rows], tall[rows])}")
print(run)

# %% [markdown] id="early-why"
# The hardware may forgive it for long: an H200 reads the source soon after the store was issued, and kernels of this kind
# gave it right bytes in launch after launch (the documentation counts them, "Right and wrong kernels"). The simulator reads
# the source as late as it may, so you see it every time. The same run as a figure: look for the moment when the second tile
# is written and the first one's band is still hatched.

# %% id="early-figure"
run.show("stores")

# %% [markdown] id="ring"
# ## 4. Two buffers
#
# One could wait for each store before the next tile is filled: right, and slow, since threads and copy engine then take
# turns. With **two buffers** one tile is filled while the other is read. When the third tile comes, the first must have been
# read, but the second need not: at most the *one* newest group may still be open.
#
#     ptx.cp_async_bulk_wait_group_read(1)
#
# It must be executed by the thread that stored; the others, who are going to write to the buffer, learn of it at a barrier.
# The `.read` form is enough: for the buffer it does not matter when the numbers arrive. At the end all must be waited for.

# %% [markdown] id="ring-task"
# ### Exercise 3: a pipeline of stores (6 points)
#
# `store_tiles` stores `tiles` tiles, one below the other: tile k holds rows 8k to 8k + 7 of `source`, doubled, and goes to
# the same rows of the tensor, at column 0. Use the two buffers in turn, and never wait for more than you must: one point is
# for **two stores under way at once**, counted in a run whose copies end as late as they may. Three are for the order.

# %% id="ring-answer" answer="stores.ring"
@kernel
def store_tiles(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(1)  # for the first two tiles there is nothing to wait for
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)
    ### END SOLUTION

# %% id="ring-try"
tall_out[:] = -1
run = store_tiles.run(block=128, args=(tall, TILES, tall_map))
print(run)
print(compare(tall_out[:-ROWS], 2 * tall))

# %% id="ring-check" check="stores.ring"
grader.check("stores.ring", store_tiles)

# %% [markdown] id="edges"
# ## 5. Edges
#
# Loads may begin outside of the tensor. Stores may not: predict what `x = -4` does, then run. And a tile that hangs over the
# last column of a tensor with 44 columns: which elements are written?
#
# *My guess:*

# %% id="edges-run"
run = store_without_fence.run(block=128, args=(source, -4, 4, tensor_map))
print("x = -4:", run.fault)

narrow = np.full((16, 44), -1, np.int32)
narrow_map = TensorMap.from_array(narrow, (ROWS, COLS))
memory = narrow.view(np.uint8).ravel()
reference.store(narrow_map, (32, 12), source.view(np.uint8).ravel(), memory)
rows, columns = np.nonzero(narrow != -1)
print(f"x = 32, y = 12: written rows {rows.min()} to {rows.max()}, columns {columns.min()} to {columns.max()}")

# %% [markdown] id="edges-clip"
# What hangs over the upper edges is dropped, so a kernel needs no test there. But look closely at the innermost one. The
# tensor below holds bytes, and its rows are shorter than the distance from one to the next: the bytes between the end of a
# row and the next row belong to somebody else.

# %% id="edges-clip-map"
buffer = np.zeros((32, 512), np.uint8)
bytes_map = TensorMap(DataType.UINT8, 0x10000000, (466, 32), (512,), (64, 8))
length, pitch = bytes_map.global_dim[0], bytes_map.global_strides[0]
print(f"a row has {length} bytes, the next one begins after {pitch}: {pitch - length} bytes lie between them")

# %% [markdown] id="edges-clip-guess"
# A tile is stored at column 448, row 8, and hangs over the end of the rows. Predict which of the bytes between are
# overwritten.
#
# *My guess:*

# %% id="edges-clip-run"
reference.store(bytes_map, (448, 8), np.full(8 * 64, 7, np.uint8), buffer.ravel())
written = np.flatnonzero(buffer[8])
print(f"row 8: bytes {written.min()} to {written.max()} are written; the row ends with byte {length - 1}")
print(*bytes_map.warnings, sep="\n")

# %% [markdown] id="edges-rule"
# **The innermost edge is clipped in steps of 16 bytes, not of elements.** The last sector of a row is written whole, with
# whatever the tile holds there. No document says so; it was measured. The other edges are exact. Whoever keeps something
# of worth between the rows loses it: make rows a multiple of 16 bytes long, or leave the gap alone. The simulator reports
# such a store as `clip-overwrites`.

# %% [markdown] id="clip-task"
# ### Exercise 4: how many bytes? (3 points)
#
# Five tensors, with 64 bytes from the start of a row to the next. A store of a box of 64 bytes begins at the start of a row.
# How many bytes *after the end of the row* are overwritten?

# %% id="clip-questions"
tails = grader.questions("stores.clip")
for kind, columns in tails:
    print(f"{kind}, {columns} columns: ? bytes after the end of the row")

# %% id="clip-answer" answer="stores.clip"
overwritten = [None, None, None, None, None]  # in the order of the questions
### BEGIN SOLUTION
overwritten = [-columns * DataType[kind].size % 16 for kind, columns in tails]
### END SOLUTION

# %% id="clip-check" check="stores.clip"
grader.check("stores.clip", overwritten)

# %% [markdown] id="clip-reveal"
# And so it was on the hardware: the next cell counts in the recording how many bytes of a row's tail a store has changed, for
# rows of each length. (Bytes that a store overwrites with the same value can't be seen.)

# %% id="clip-recorded"
stores = recorded.read("stores")
print(f"{stores.provenance['gpu']}, recorded on {stores.provenance['date']}")
for case, result in zip(stores.cases, stores.results, strict=True):
    if case.name.startswith("FLOAT16, ") and case.name.endswith("columns"):
        row = slice(4 * 64, 5 * 64)  # the first row of the box
        changed = np.flatnonzero(result[row] != case.memory()[row])
        end = 2 * case.tensor_map.global_dim[0]
        print(f"row of {end:2} bytes: {np.count_nonzero(changed >= end):2} bytes after its end have changed")

# %% [markdown] id="reductions"
# ## 6. Reductions
#
# Instead of replacing what memory holds, the copy engine can combine it with the tile, element by element, where the tensor
# lies: `cp.reduce`. In all else it is a store: fence, one thread, commit, wait, the same edges. Several CTAs may reduce into
# the same tile at the same time; nothing is lost, and there is no order between them. Here six CTAs add a tile of ones to
# the same place. Predict the sum.
#
# *My guess:*

# %% id="reductions-run"
@kernel
def add_ones(tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 1
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(tensor_map, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


tensor[:] = 100
run = add_ones.run(grid=6, block=128, args=(tensor_map,))
print(run, set(tensor[:ROWS, :COLS].ravel().tolist()))

# %% [markdown] id="reductions-types"
# Which operations there are depends on the type that the map names. The table is made from what the hardware was asked to do
# when it was recorded; the cell after it tries one that is missing.

# %% id="reductions-table"
reductions = recorded.read("reductions")
done = {}
for case in reductions.cases:
    done.setdefault(case.tensor_map.data_type.name, set()).add(case.operation)
for kind, operations in done.items():
    print(f"{kind:14} {' '.join(sorted(operations))}")
print("on no recorded map:", ", ".join(kind.name for kind in DataType if kind.name not in done))

# %% id="reductions-refused"
halves = np.zeros((8, 64), np.int16)
halves_map = TensorMap.from_array(halves, (8, 64), data_type=DataType.UINT16)  # maps know no signed 16-bit type
try:
    reference.reduce("add", halves_map, (0, 0), halves.view(np.uint8).ravel(), halves.view(np.uint8).ravel())
except TmaFault as refused:
    print(refused)

# %% [markdown] id="results-task"
# ### Exercise 5: one element (3 points)
#
# Sums are made in the map's type, and rounded to it at every addition: to the nearest number, halfway to the one whose last
# bit is even. Integers wrap around. `inc` and `dec` count, and what comes is their limit:
#
# - `inc`: 0 where d >= s, else d + 1
# - `dec`: s where d == 0 or d > s, else d - 1
#
# with d in memory and s in the tile. fp16 has 11 significant bits, bf16 has 8. What does memory hold after each of these?

# %% id="results-questions"
elements = grader.questions("stores.results")
for operation, kind, found, brought in elements:
    print(f"{operation}, {kind}: memory holds {found:,}, the tile {brought:,}: afterwards ?")

# %% id="results-answer" answer="stores.results"
results = [None, None, None, None, None, None, None]  # in the order of the questions
### BEGIN SOLUTION
def reduced(operation, kind, d, s):
    if kind == "FLOAT16":
        return int(np.float16(d) + np.float16(s))
    if kind == "BFLOAT16":
        return int(np.round((d + s) / 2)) * 2  # between 256 and 512 there is every second number
    if operation in ("inc", "dec"):
        return (0 if d >= s else d + 1) if operation == "inc" else s if d == 0 or d > s else d - 1
    return {"add": (d + s) % 2**32, "min": min(d, s), "max": max(d, s), "xor": d ^ s, "and": d & s}[operation]


results = [reduced(*element) for element in elements]
### END SOLUTION

# %% id="results-check" check="stores.results"
grader.check("stores.results", results)

# %% [markdown] id="sums-task"
# ### Exercise 6: sums of columns (5 points)
#
# Now a kernel that needs all of it. `values` has 128 columns, and `rows` rows for each of four CTAs: CTA 0 has the first
# `rows` of them, CTA 1 the next, and so on. `add_columns` adds each column's sum over *all* rows to the row of 128 numbers
# that lies behind `tensor_map`, a map of rank 1. It is launched with four CTAs of 128 threads.
#
# Let thread t add up column t of its CTA's rows in a register, and put the sum into shared memory; the copy engine does the
# rest. The numbers that the row holds already must be kept: they count as well.

# %% id="sums-setup"
values = (np.arange(CTAS * 4 * COLUMNS, dtype=np.int32).reshape(CTAS * 4, COLUMNS) * 7) % 1000
totals = np.full(COLUMNS, 100, np.int32)
totals_map = TensorMap.from_array(totals, (COLUMNS,))

# %% id="sums-answer" answer="stores.sums"
@kernel
def add_columns(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[cuda.blockIdx.x * rows + row, thread]
    sums[thread] = total
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    ### END SOLUTION

# %% id="sums-try"
totals[:] = 100
run = add_columns.run(grid=CTAS, block=128, args=(values, 4, totals_map))
print(run)
print(compare(totals, 100 + values.sum(axis=0)))

# %% id="sums-check" check="stores.sums"
grader.check("stores.sums", add_columns)

# %% [markdown] id="hunt"
# ## 7. Bug hunt
#
# Five kernels, each with one mistake. Several of them give the right bytes. Read each before you run the cell below
# them. Then say in exercise 7 which mistake it is. The next cell lists the mistakes.

# %% id="hunt-causes"
causes = grader.questions("stores.hunt")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hunt-kernels"
@kernel
def bug_a(source, tiles, tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = source[i // COLS, i % COLS]
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
    ptx.fence_proxy_async()
    if thread == 0:
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def bug_b(source, tiles, tensor_map, out):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(2)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def bug_c(source, tiles, tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
        ptx.cp_async_bulk_wait_group(0)


@kernel
def bug_d(source, tiles, tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)
    cuda.syncthreads()
    out[thread] = out[thread] + 1  # a row that has just been stored is counted up


@kernel
def bug_e(source, tiles, tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)

# %% id="hunt-run"
SUSPECTS = (bug_a, bug_b, bug_c, bug_d, bug_e)


def try_suspect(suspect):
    """Run one of them: its run, what it stored, what it should have."""
    stored = np.full((TILES * ROWS, COLS), -1, np.int32)
    columns = 30 if suspect is bug_e else COLS  # of the tensor of bug_e; its rows are 128 bytes apart, as the others'
    its_map = TensorMap(DataType.INT32, 0x10000000, (columns, TILES * ROWS), (4 * COLS,), (COLS, ROWS)).bind(stored)
    tiles = TILES if suspect is bug_b else 1
    wanted = np.full_like(stored, -1)
    wanted[: tiles * ROWS, :columns] = tall[: tiles * ROWS, :columns]
    if suspect is bug_d:
        wanted[:4] += 1  # 128 numbers
    return suspect.run(block=128, args=(tall, tiles, its_map, stored.reshape(-1))), stored, wanted


for suspect in SUSPECTS:
    run, stored, wanted = try_suspect(suspect)
    print(f"--- {suspect.__name__}: {compare(stored, wanted)}", run, "", sep="\n")

# %% [markdown] id="hunt-task"
# ### Exercise 7: name the mistakes (5 points)

# %% id="hunt-answer" answer="stores.hunt"
culprits = {"bug_a": None, "bug_b": None, "bug_c": None, "bug_d": None, "bug_e": None}
### BEGIN SOLUTION
letters = dict(zip("abcdef", causes))  # of the public course, and yours
culprits = {"bug_a": letters["b"], "bug_b": letters["a"], "bug_c": letters["e"], "bug_d": letters["c"], "bug_e": letters["d"]}
### END SOLUTION

# %% id="hunt-check" check="stores.hunt"
grader.check("stores.hunt", culprits)

# %% [markdown] id="hunt-mend"
# Mend all five, in the cell with the kernels or in the one that runs them, until every element is right and nothing is
# reported.

# %% [markdown] id="summary"
# ## Summary
#
# Threads write, each fences, all meet, one stores, commits and waits: `.read` before the buffer is filled again, the full
# form before what was stored is read. Reductions do the same and combine. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | no `fence.proxy.async`, or only after the store | mostly nothing; `missing-proxy-fence` |
# | no barrier between the writes and the store | parts of the tile are old; `data-race` |
# | no commit, or the commit before the store | `store-not-committed`: the wait returns at once |
# | another thread waits | the wait returns at once; the buffer is overwritten, or the CTA ends too early |
# | `wait_group.read(n)` with n as large as the number of buffers | wrong tiles; `store-source-reuse` |
# | `.read`, and then global memory is read | old numbers, now and then; `store-not-waited` |
# | no wait at the end | `exit-in-flight` |
# | a negative coordinate | a fault |
# | rows that are no multiple of 16 bytes | what lies after them is overwritten; `clip-overwrites` |
# | sums of many parts in fp16 or bf16 | they stop growing: each addition is rounded |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - `strict=True` has the simulator hold kernels to the letter of PTX. Run a kernel in which only thread 0 executes the fence,
#   after the barrier, with and without it. What is the argument for each reading?
# - The next cell tries a hundred orders of your pipeline. Take out a line of it and try again: in how many orders is the
#   mistake reported, and in how many are the bytes wrong?
# - fp16 sums: how many ones must be added to 0 until nothing changes any more? The last cell does it. What would you do
#   instead, to sum a million of them?
# - Reductions in another order give other last bits in floats. How would you make a sum the same in every run?
# - A store reads shared memory *with the map's swizzle undone*: fill a tile as lesson 2 has it, store it through a swizzled
#   map, and see that the tensor holds plain rows. Which bank conflicts does that save when threads write down columns?

# %% id="deeper-orders"
from tmalab import explore

print(explore(store_tiles, 1, 128, (tall, TILES, tall_map)))

# %% id="deeper-rounding"
half, one = np.zeros((1, 8), np.float16), np.ones(8, np.float16)
half_map = TensorMap.from_array(half, (1, 8))
added, last = 0, -1.0
while half[0, 0] != last:
    last = float(half[0, 0])
    reference.reduce("add", half_map, (0, 0), one.view(np.uint8), half.view(np.uint8).ravel())
    added += 1
print(f"after {added:,} additions of 1 the sum is {half[0, 0]:,.0f}, and stays there")
