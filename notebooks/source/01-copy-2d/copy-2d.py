# The first lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 1: copy a tile
#
# A tensor lies in global memory; a kernel wants a rectangle of it, a *tile*, in shared memory. On Hopper one thread can
# ask for the whole tile with a single instruction, and a piece of hardware, the tensor memory accelerator (TMA), does
# the rest. In this lesson you write that kernel.
#
# Afterwards you can
#
# - say what a tensor map holds and why one thread is enough,
# - give the coordinates of a tile, and say what arrives when the tile hangs over the edge,
# - tell where the 128-byte swizzle puts each piece of a row,
# - write a complete copy kernel, and say what each of its lines is there for,
# - recognise three frequent mistakes from what the simulator says about them.
#
# It takes about an hour. You need Python and the basics of CUDA: threads, blocks, shared memory, `syncthreads`. You
# don't need a GPU: kernels run in a simulator on your computer, and are compared with what an H200 did with the same
# copy. If there is a Hopper GPU in your computer, the checks use it as well.

# %% [markdown] id="how-a-check-reads"
# **How to work.** Run the cells from the top (Shift+Enter). Where a cell says `Write your code here`, it is your turn;
# where it holds `None`, replace it.
# The cell below it checks what you wrote, part by part: the points, what was expected, what was seen, and one hint.
# Check as often as you like; the hint becomes plainer each time. Before something is revealed you are asked to predict
# it. Do write your guess down: a wrong one costs nothing and is remembered best.

# %% id="setup"
import re

import numpy as np
from numba import cuda

import grader
from tmalab import DataType, Swizzle, TensorMap, kernel, ptx, reference

ROWS, COLS = 8, 64  # the tile
TILE_BYTES = ROWS * COLS * 2  # fp16: two bytes an element

tensor = np.arange(16 * 128).reshape(16, 128).astype(np.float16)  # element [row, column] is 128 * row + column
print(f"a tensor of {tensor.shape[0]} x {tensor.shape[1]}, a tile of {ROWS} x {COLS}: {TILE_BYTES:,} bytes")

# %% [markdown] id="three-ways"
# ## 1. Three ways to copy a tile
#
# **Element by element.** Each thread reads one element from global memory into a register and writes it to shared
# memory. Every GPU can do this. All bytes pass through registers, and every element needs two addresses.
#
# **`cp.async`** (A100). Each thread names a place in global and one in shared memory, and up to 16 bytes travel between
# them without passing through a register. There are still two addresses for every 16 bytes, worked out by threads.
#
# **TMA** (H100, H200). The tensor is described once, before the kernel starts: where it lies, how long its rows are, how
# large the tile is. That description is the *tensor map*. In the kernel, one thread says which tile it wants and where
# it should go. The hardware works out the addresses of all rows, and fills in what lies outside the tensor.
#
# Here are the first two. The third one you will write; a finished one is used below only to be counted.

# %% id="two-old-kernels"
@kernel
def copy_elements(source, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = source[y + i // COLS, x + i % COLS]
    cuda.syncthreads()
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def copy_cp_async(source, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=16)
    thread = cuda.threadIdx.x
    for i in range(8 * thread, ROWS * COLS, 8 * cuda.blockDim.x):  # eight elements are 16 bytes
        ptx.cp_async(tile[i // COLS, i % COLS :], source[y + i // COLS, x + i % COLS :], 16)
    ptx.cp_async_commit_group()
    ptx.cp_async_wait_group(0)
    cuda.syncthreads()
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


for old in (copy_elements, copy_cp_async):
    out = np.zeros((ROWS, COLS), np.float16)
    run = old.run(block=128, args=(tensor, 64, 8, out))
    print(old.__name__, "copied the tile" if run.ok and np.array_equal(out, tensor[8:16, 64:128]) else run)

# %% [markdown] id="count-them"
# `k.ptx(args)` shows what a kernel compiles to; that needs no GPU either. The next cell compiles all three and looks for
# the instruction that reads global memory: how many bytes does one of them move, and how many does the tile take?

# %% id="count-table"
from tmalab.kernels.copy_2d import copy_2d

tile_map = TensorMap.from_array(tensor, (ROWS, COLS))
WAYS = {  # a kernel with its arguments, what to look for in its PTX, and how many bytes one of these moves
    "element by element": (copy_elements, (tensor, 64, 8, out), r"ld\.global\S*\.[bu]16", 2),
    "cp.async": (copy_cp_async, (tensor, 64, 8, out), r"cp\.async\.ca", 16),
    "TMA": (copy_2d, (tile_map, out, 64, 8), r"cp\.async\.bulk\.tensor", tile_map.transaction_bytes),
}
for way, (k, args, pattern, size) in WAYS.items():
    found = re.search(rf"^\s*({pattern}\S*)", k.ptx(args), re.MULTILINE)[1]
    print(f"{way}: {size:,} bytes each, {TILE_BYTES // size:,} for the tile\n    {found}")

# %% [markdown] id="count-task"
# ### Exercise 1: count (3 points)
#
# Now for another tile, with larger elements: the next cell says how large. How many of these instructions must all threads
# together issue to bring it into shared memory, in each of the three ways? `cp.async` moves 16 bytes at a time here as
# well, and the map's box may be as large as this tile.

# %% id="count-questions"
tile_rows, tile_cols, size = grader.questions("copy-2d.count")
print(f"a tile of {tile_rows} x {tile_cols} elements of fp{8 * size}, {size} bytes each")

# %% id="count-answer" answer="copy-2d.count"
counts = {"element by element": None, "cp.async": None, "TMA": None}
### BEGIN SOLUTION
elements = tile_rows * tile_cols
counts = {"element by element": elements, "cp.async": elements * size // 16, "TMA": 1}
### END SOLUTION

# %% id="count-check" check="copy-2d.count"
grader.check("copy-2d.count", counts)

# %% [markdown] id="map"
# ## 2. The tensor map
#
# | field | says |
# |---|---|
# | `data_type` | what an element is, and so how many bytes it has |
# | `global_address` | where the tensor starts |
# | `global_dim` | how many elements it has along each dimension |
# | `global_strides` | how many **bytes** lie between neighbours, for each dimension but the innermost (there it is one element) |
# | `box_dim` | how many elements the tile has along each dimension |
# | `swizzle` | how the tile is laid out in shared memory (section 5) |
#
# All lists start with the **innermost** dimension, the one whose elements lie side by side. NumPy's shapes start with
# the outermost: an array of shape `(40, 96)` has `global_dim` `(96, 40)`. More TMA kernels fail on this than on anything
# else.
#
# The driver packs these fields into 128 bytes. It refuses maps that the hardware can't work with, but never says why.
# `TensorMap` follows the same rules and does say why.

# %% id="map-example"
weights = np.zeros((40, 96), np.float32)
by_hand = TensorMap(
    data_type=DataType.FLOAT32,
    global_address=0x10000000,
    global_dim=(96, 40),
    global_strides=(96 * 4,),
    box_dim=(32, 4),
)
print(by_hand)
print("the same from the array, in NumPy's order:", TensorMap.from_array(weights, (4, 32)) == by_hand)

# %% [markdown] id="map-broken"
# What does the driver not take? Change a number in the next cell and see. (A row of 100 fp32 numbers would be fine:
# why is a row of 99 not?)

# %% id="map-broken-example"
from tmalab import TensorMapError

try:
    TensorMap(DataType.FLOAT32, 0x10000000, global_dim=(99, 40), global_strides=(99 * 4,), box_dim=(32, 4))
except TensorMapError as error:
    for rule, message in error.violations:
        print(f"{rule}: {message}")

# %% [markdown] id="map-task"
# ### Exercise 2: fill in a map (6 points)
#
# Describe our tensor, 16 rows of 128 fp16 elements, and the tile that the next cell asks for. The rows of the tensor follow
# each other without a gap.

# %% id="map-questions"
box_cols, span = grader.questions("copy-2d.map")
print(f"a tile of 8 rows of {box_cols} elements, with the {span}-byte swizzle")

# %% id="map-answer" answer="copy-2d.map"
fields = {
    "data_type": None,
    "global_dim": None,
    "global_strides": None,
    "box_dim": None,
    "swizzle": None,
}
### BEGIN SOLUTION
fields = {
    "data_type": DataType.FLOAT16,
    "global_dim": (128, 16),
    "global_strides": (256,),
    "box_dim": (box_cols, 8),
    "swizzle": {32: Swizzle.B32, 64: Swizzle.B64, 128: Swizzle.B128}[span],
}
### END SOLUTION

# %% id="map-check" check="copy-2d.map"
grader.check("copy-2d.map", fields)

# %% [markdown] id="figure"
# ## 3. The box and its coordinates
#
# The map says how large a tile is; the instruction says *which* one, by the coordinates of its first element: `x` counts
# columns, `y` counts rows, innermost first again. Tiles needn't lie on a grid.
#
# Drag the box in the figure, or give it the focus and use the arrow keys. Point at a sector, 16 bytes, to see where it
# lies in shared memory. Leave the swizzle at NONE for now.

# %% id="figure-none"
from tmalab.figures import TileFigure

TileFigure(tile_map, (64, 8))

# %% [markdown] id="edge"
# ## 4. Over the edge
#
# A box may hang over the edge of the tensor, or lie outside altogether. Then the hardware fills in. Predict, before you
# run the next cell: the box at `x = 112, y = 12` covers columns 112 to 175 and rows 12 to 19. How many elements of it
# come from the tensor? What are the others? And how many bytes does the copy report as delivered?
#
# *My guess:*

# %% id="edge-reveal"
image = reference.load(tile_map, (112, 12), tensor.view(np.uint8).ravel())
tile = image.data.view(np.float16).reshape(ROWS, COLS)
print(f"from the tensor: {np.count_nonzero(tile)} of {tile.size} elements; the others are {set(tile[tile == 0].tolist())}")
print(f"delivered: {image.transaction_bytes:,} bytes")

# %% [markdown] id="edge-rules"
# Three things to keep:
#
# - What lies outside arrives as zeros. No thread has to test for the edge.
# - **All bytes of the box count as delivered, those outside included.** This matters as soon as somebody waits for a
#   number of bytes.
# - Coordinates may be negative. But the innermost one, times the size of an element, must be a multiple of 16 bytes: for
#   fp16, `x` must be a multiple of 8. The other coordinates are free.

# %% id="edge-coordinates"
from tmalab import TmaFault

for x, y in ((-8, -1), (-8, -3), (-1, 0)):
    try:
        corner = reference.load(tile_map, (x, y), tensor.view(np.uint8).ravel()).data.view(np.float16).reshape(ROWS, COLS)
        print(f"x = {x}, y = {y}: the first row that is not zero is {np.flatnonzero(corner.any(axis=1))[0]}")
    except TmaFault as fault:
        print(f"x = {x}, y = {y}: {fault.kind}\n  {fault}")

# %% [markdown] id="swizzle"
# ## 5. The swizzle: column XOR row
#
# Shared memory has 32 banks of 4 bytes: 128 bytes, exactly one row of our tile, go once through all of them. So all
# sectors of one column lie in the same banks, and threads that read down a column queue up for them. The copy engine can
# avoid that on the way in. With the 128-byte swizzle, a row's eight sectors change places:
#
#     physical sector = logical sector XOR (row mod 8)
#
# XOR works bit by bit (`^` in Python): a bit of the result is 1 where the two bits differ. In row 0 everything stays. In row 1 neighbours are exchanged: 0 and
# 1, 2 and 3... In row 2 pairs are exchanged. Each column is now spread over all eight places, and whoever reads the tile
# must look for a sector where the swizzle has put it.

# %% [markdown] id="predict-task"
# ### Exercise 3: predict, then look (3 points)
#
# For each of these sectors of the tile: in which physical sector of its row does it lie? The tile starts at a multiple of
# 1,024 bytes, where the pattern begins. Work it out by hand.

# %% id="predict-questions"
questions = grader.questions("copy-2d.predict")
for row, sector in questions:
    print(f"row {row}, sector {sector}: physical sector ?")

# %% id="predict-answer" answer="copy-2d.predict"
prediction = [None, None, None, None, None, None]  # in the order of the questions
### BEGIN SOLUTION
prediction = [sector ^ row for row, sector in questions]
### END SOLUTION

# %% id="predict-check" check="copy-2d.predict"
grader.check("copy-2d.predict", prediction)

# %% [markdown] id="reveal"
# And now look. The next cell loads the tile with the swizzle, and prints which logical sector lies in each place: first
# as the reference has it, then as an H200 left it. In the figure after it, switch between NONE, 32B, 64B and 128B, and
# point at a sector.

# %% id="reveal-table"
from tmalab import recorded

swizzled_map = TensorMap.from_array(tensor, (ROWS, COLS), swizzle=Swizzle.B128)


def logical_sectors(image):
    """Which sector of the tile lies in each place, from the numbers there: element [row, column] is 128 * row + column."""
    return (image.reshape(ROWS, 8, 8)[:, :, 0].astype(int) % 128 - 64) // 8


print("reference:")
print(logical_sectors(reference.load(swizzled_map, (64, 8), tensor.view(np.uint8).ravel()).data.view(np.float16)))

lesson = recorded.read("lesson-1")
seen = lesson.results[lesson.find("load", swizzled_map, (64, 8))][:TILE_BYTES]  # of a tensor of 16-bit integers
print(f"{lesson.provenance['gpu']}, recorded on {lesson.provenance['date']}:")
print(logical_sectors(seen.view(np.uint16)))

# %% id="figure-swizzle"
TileFigure(swizzled_map, (64, 8))

# %% [markdown] id="swizzle-address"
# The hardware knows nothing of rows: it works on **addresses** in shared memory. Written like that, the three modes are one
# rule with three widths:
#
# | mode | rows are at most | the swizzle changes | by XOR with |
# |---|---|---|---|
# | 32B | 32 bytes | address bit 4 | bit 7 |
# | 64B | 64 bytes | bits 4 and 5 | bits 7 and 8 |
# | 128B | 128 bytes | bits 4, 5 and 6 | bits 7, 8 and 9 |
#
# Bits 0 to 3 count the bytes in a sector, so sectors stay whole. Bits 7 to 9 count lines of 128 bytes. If rows are 128
# bytes long, a line is a row, and the rule is the one above. If rows are shorter, several of them share a line.

# %% [markdown] id="swizzle-task"
# ### Exercise 4: write the swizzle (4 points)
#
# Write the function that gives a sector's physical place in its row. `span` is the length of a row in bytes: 128 with
# the 128-byte swizzle, 64 and 32 with the others; a row of 64 bytes has sectors 0 to 3. Rows follow each other without a
# gap from address 0 on, and there may be more than eight. Two points are for 128, one each for 64 and 32.

# %% id="swizzle-answer" answer="copy-2d.swizzle"
def physical_sector(row, sector, span):
    """Where logical `sector` of `row` lies within its row of `span` bytes."""
    ### BEGIN SOLUTION
    address = row * span + sector * 16
    mask = span - 16  # the bits that count a row's sectors: 16, 48 or 112
    return (address ^ (address >> 3 & mask)) % span // 16
    ### END SOLUTION

# %% id="swizzle-check" check="copy-2d.swizzle"
grader.check("copy-2d.swizzle", physical_sector)

# %% [markdown] id="wait"
# ## 6. Asking, and waiting
#
# The copy is **asynchronous**. The instruction only places the order; the thread goes on at once, and the bytes come when
# they come, in pieces and in any order. Somebody has to tell the threads that the tile is complete: an **mbarrier**, 8
# bytes of shared memory that the hardware counts on.
#
# An mbarrier counts two things, *arrivals* of threads and *bytes* of copies. It starts with a number of arrivals to wait
# for. A thread that arrives may promise bytes as well; each piece of a copy that lands pays off a part of the promise.
# When no arrival is missing and all promised bytes have landed, the **phase** is complete, and everybody who waits for
# it goes on. The first phase has parity 0.
#
# Here is a complete kernel. It copies one row of 128 elements through a map of rank 1. Read the comments: each says what
# would go wrong without the line.

# %% id="copy-row"
ROW = 128


@kernel
def copy_row(row_map, x, out):
    # the copy engine wants its destination at a multiple of 128 bytes
    row = cuda.shared.array(ROW, np.float16, alignment=128)
    arrived = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        # one arrival completes a phase, together with the bytes; before this the barrier is any 8 bytes
        ptx.mbarrier_init(arrived[0], 1)
        # other blocks of a cluster would not see the init without this; we have one block, and keep the habit
        ptx.fence_mbarrier_init()
    # until here the other threads may not touch the barrier: it might not be one yet
    cuda.syncthreads()
    if thread == 0:
        # arrive, and promise the bytes that the copy will bring: without the promise the phase would end at once
        ptx.mbarrier_arrive_expect_tx(arrived[0], ROW * 2)
        # one thread places the order; `arrived` is told of each piece that lands
        ptx.cp_async_bulk_tensor_1d(row, row_map, x, arrived[0])
    # every thread that reads must wait itself; try_wait may give up after a while, so it stands in a loop
    while not ptx.mbarrier_try_wait_parity(arrived[0], 0):
        pass
    for i in range(thread, ROW, cuda.blockDim.x):
        out[i] = row[i]


line = np.arange(512).astype(np.float16)
row_map = TensorMap.from_array(line, (ROW,))
out = np.zeros(ROW, np.float16)
run = copy_row.run(block=128, args=(row_map, 256, out))
print(run)
print("out[:4] =", out[:4].tolist(), " expected", line[256:260].tolist())

# %% [markdown] id="without-wait"
# ### Without the wait
#
# What if the two lines of the wait are missing? Predict what `out` holds, then run.
#
# *My guess:*

# %% id="without-wait-run"
@kernel
def copy_row_no_wait(row_map, x, out):
    row = cuda.shared.array(ROW, np.float16, alignment=128)
    arrived = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(arrived[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(arrived[0], ROW * 2)
        ptx.cp_async_bulk_tensor_1d(row, row_map, x, arrived[0])
    for i in range(thread, ROW, cuda.blockDim.x):
        out[i] = row[i]


run = copy_row_no_wait.run(block=128, args=(row_map, 256, out))
print("out[:4] =", out[:4].tolist())
print(run)

# %% [markdown] id="without-wait-why"
# The simulator fills shared memory with a pattern first, and lets copies land as late as they may. So you see garbage,
# and you see it every time. A real GPU is less honest: the bytes may well be there before anybody looks, or the same
# bytes lie there from an earlier launch, and the kernel passes its tests until the day when the memory is busy. That is
# why the simulator doesn't judge by the bytes alone. It asks whether anything *orders* the read after the copy, and
# reports a hazard where nothing does, even if this run came out right.

# %% [markdown] id="kernel-task"
# ### Exercise 5: write the kernel (5 points)
#
# Your turn: copy an 8 x 64 tile. `copy_tile` is launched with one block of 128 threads. It loads the tile at column `x`,
# row `y` of the tensor behind `tensor_map` into shared memory, and copies shared memory to `out` as it lies there:
# `out[i, j] = tile[i, j]`.
#
# The check has four parts. *compiles*: for a Hopper GPU. *bytes*: `out` against the reference, for this tensor and for
# others, with other coordinates and swizzles. *order*: hazards, in many orders of threads and copies. *hardware*: the
# same copy on an H200, live or recorded; it gives no points, so that nobody needs a GPU for them.

# %% id="kernel-answer" answer="copy-2d.kernel"
@kernel
def copy_tile(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]
    ### END SOLUTION

# %% id="kernel-try"
out = np.full((ROWS, COLS), -1, np.float16)
run = copy_tile.run(block=128, args=(tile_map, 64, 8, out))
print(run)
print("out[0, :4] =", out[0, :4].tolist(), " expected", tensor[8, 64:68].tolist())

# %% id="kernel-check" check="copy-2d.kernel"
grader.check("copy-2d.kernel", copy_tile)

# %% [markdown] id="halo-task"
# ### Exercise 6: a tile with a rim (4 points)
#
# Filters look at neighbours: to work on a tile they need the elements around it too. So the box is larger than the tile:
# one row more above and below, and eight columns more on either side (one would do, but see the rule for `x` in section
# 4). At the tensor's border the rim hangs over the edge, and zeros come in: that is exactly what most filters want there.
#
# `copy_rim` gets the tile's place in the grid of 8 x 64 tiles: `tile_row` and `tile_col` count tiles, from 0. It loads the
# tile with its rim, a box of 10 x 80 elements, and copies it to `out`. Start from your `copy_tile`.

# %% id="halo-setup"
BOX_ROWS, BOX_COLS = ROWS + 2, COLS + 16
rim_map = TensorMap.from_array(tensor, (BOX_ROWS, BOX_COLS))

# %% id="halo-answer" answer="copy-2d.rim"
@kernel
def copy_rim(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((BOX_ROWS, BOX_COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], BOX_ROWS * BOX_COLS * 2)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, tile_col * COLS - 8, tile_row * ROWS - 1, full[0])
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass
    for i in range(thread, BOX_ROWS * BOX_COLS, cuda.blockDim.x):
        out[i // BOX_COLS, i % BOX_COLS] = box[i // BOX_COLS, i % BOX_COLS]
    ### END SOLUTION

# %% id="halo-try"
out = np.full((BOX_ROWS, BOX_COLS), -1, np.float16)
run = copy_rim.run(block=128, args=(rim_map, 0, 0, out))
print(run)
print(out[:3, :12])

# %% id="halo-check" check="copy-2d.rim"
grader.check("copy-2d.rim", copy_rim)

# %% [markdown] id="hunt"
# ## 7. Bug hunt
#
# Three kernels, each with one mistake. One of them even gives the right answer. Read each before you run the cell below
# it, and write your guess here:
#
# - `bug_a`:
# - `bug_b`:
# - `bug_c`:

# %% id="hunt-kernels"
@kernel
def bug_a(row_map, x, out):
    row = cuda.shared.array(ROW, np.float16, alignment=128)
    arrived = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(arrived[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(arrived[0], ROW)
        ptx.cp_async_bulk_tensor_1d(row, row_map, x, arrived[0])
    while not ptx.mbarrier_try_wait_parity(arrived[0], 0):
        pass
    for i in range(thread, ROW, cuda.blockDim.x):
        out[i] = row[i]


@kernel
def bug_b(row_map, x, out):
    row = cuda.shared.array(ROW, np.float16, alignment=128)
    arrived = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(arrived[0], cuda.blockDim.x)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(arrived[0], ROW * 2)
        ptx.cp_async_bulk_tensor_1d(row, row_map, x, arrived[0])
    while not ptx.mbarrier_try_wait_parity(arrived[0], 0):
        pass
    for i in range(thread, ROW, cuda.blockDim.x):
        out[i] = row[i]


@kernel
def bug_c(row_map, x, out):
    row = cuda.shared.array(ROW, np.float16, alignment=128)
    arrived = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(arrived[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(arrived[0], ROW * 2)
        ptx.cp_async_bulk_tensor_1d(row, row_map, x, arrived[0])
    while not ptx.mbarrier_try_wait_parity(arrived[0], 0):
        pass
    for i in range(thread, ROW, cuda.blockDim.x):
        out[i] = row[i]

# %% id="hunt-run"
for suspect in (bug_a, bug_b, bug_c):
    out = np.zeros(ROW, np.float16)
    run = suspect.run(block=128, args=(row_map, 256, out))
    print(f"--- {suspect.__name__}: bytes {'right' if np.array_equal(out, line[256:384]) else 'wrong'}", run, "", sep="\n")

# %% [markdown] id="hunt-mend"
# Mend all three in the cell above and run both again until nothing is reported.

# %% [markdown] id="summary"
# ## Summary
#
# A tensor map describes the tensor and the tile once; one thread asks for a tile by its coordinates; an mbarrier counts
# the bytes in; every reader waits. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | lists written outermost first | another tile, or a map that is refused |
# | strides in elements instead of bytes | skewed rows, or a map that is refused |
# | innermost coordinate not a multiple of 16 bytes | illegal instruction |
# | tile without `alignment=128` (1,024 with a swizzle) | misaligned address; a shifted pattern |
# | too few bytes promised | the wait ends early in some runs |
# | too many promised, or only those inside the tensor counted | a hang; a wait that ends early |
# | no `syncthreads` after the init | threads wait on 8 bytes that are no barrier yet |
# | only one thread waits, the others read | garbage, or luck |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - A seed decides when copies land and which thread runs next. Run the mended and the broken kernels with other seeds
#   (`seed=1`...): which mistakes change what you see, and which reports stay the same?
# - Below is your kernel in PTX, the lines that this lesson is about. Which line of yours became which?
# - A map may be legal and still not what you meant: make one with a row of 100 fp16 elements in a pitch of 208 bytes
#   (`global_strides=(208,)`) and look at its `warnings`.
# - Reading a swizzled tile, and what happens when reader and map disagree about it, is a lesson of its own. Try it: read
#   the tile of `swizzled_map` with `out[i, j] = tile[i, j]`, and find where each sector went.

# %% id="deeper-ptx"
for line_of_ptx in copy_tile.ptx((tile_map, 64, 8, np.zeros((ROWS, COLS), np.float16))).splitlines():
    if re.search(r"mbarrier|cp\.async|bar\.sync|barrier\.", line_of_ptx) and "//" not in line_of_ptx:
        print(line_of_ptx.strip())
