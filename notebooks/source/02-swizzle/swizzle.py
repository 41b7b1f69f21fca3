# The second lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 2: swizzle
#
# In lesson 1 the swizzle was a pattern to look at: column XOR row. Now you work with it. You find out what it is good
# for, when it must be which one, and how a kernel reads a tile that was swizzled on its way in. At the end you turn a
# tile over, rows to columns, without a single thread waiting for another.
#
# Afterwards you can
#
# - say how many turns shared memory needs for an access of a warp, and why,
# - tell the address of any sector of a swizzled tile, wherever the tile begins,
# - choose between NONE, 32B, 64B and 128B for a box, and count what the choice costs,
# - recognise a reader that disagrees with the copy, from its wrong numbers,
# - read and transpose a swizzled tile in a kernel without bank conflicts.
#
# It takes about 75 minutes. You need lesson 1: a tensor map, a barrier, and a kernel that copies a tile.

# %% id="setup"
import numpy as np
from numba import cuda

import grader
from tmalab import DataType, Swizzle, TensorMap, TensorMapError, kernel, ptx, recorded, reference
from tmalab.banks import conflicts, tile_addresses

ROWS, COLS = 8, 64  # a tile of fp16: rows of 128 bytes
TILE_BYTES = ROWS * COLS * 2
SIDE = 32  # a square tile of fp32: rows of 128 bytes as well

tensor = np.arange(16 * 128).reshape(16, 128).astype(np.float16)  # element [row, column] is 128 * row + column
floats = np.arange(64 * 96).reshape(64, 96).astype(np.float32)  # element [row, column] is 96 * row + column

# %% [markdown] id="banks"
# ## 1. Banks
#
# Shared memory is built of 32 **banks**. Neighbouring words of 4 bytes lie in neighbouring banks; after 128 bytes, a
# *line*, it starts with bank 0 again. In one turn each bank can hand out one word, so a warp gets up to 128 bytes in a
# turn, if its 32 lanes ask 32 different banks.
#
# If lanes ask for *different* words of the same bank, the bank hands them out one after the other, and the whole warp
# waits: n words of one bank are an **n-way conflict** and take n turns. If lanes ask for the *same* word, they all get it
# in the same turn.
#
# `conflicts` counts that for the byte addresses that the lanes ask for.

# %% id="banks-example"
lanes = range(32)
print("one row of fp32:        ", conflicts([4 * lane for lane in lanes]))
print("one row, backwards:     ", conflicts([4 * (31 - lane) for lane in lanes]))
print("every second word:      ", conflicts([8 * lane for lane in lanes]))
print("one word, for all lanes:", conflicts([0 for lane in lanes]))

# %% [markdown] id="banks-column"
# Now a *column*: in a tile of fp32 with 32 elements in a row, lane i reads the element in row i of one column. How many
# turns does that take? Predict, then run.
#
# *My guess:*

# %% id="banks-column-reveal"
column = conflicts([128 * lane for lane in lanes])
print(column)
column.show()

# %% [markdown] id="ways-task"
# ### Exercise 1: count the ways (4 points)
#
# The tiles below have other row *pitches*: the next row starts so many words (of 4 bytes) further on. Lane i reads the
# word at column 0 of row i. With a pitch of 0 there is only one row, and all lanes read the same word.
#
# For each pitch: how many ways has the conflict (1 if there is none), and for which of these reasons?
#
# - `"a"` each lane asks a bank of its own
# - `"b"` all lanes ask the same bank for different words
# - `"c"` the lanes meet in a few banks only, because the pitch and 32 have a common divisor
# - `"d"` all lanes ask for the same word
#
# Two points are for the numbers, two for the reasons; a reason counts if the number beside it is right.

# %% id="ways-questions"
pitches = grader.questions("swizzle.ways")
for pitch in pitches:
    print(f"pitch {pitch}: ? ways, because of ?")

# %% id="ways-answer" answer="swizzle.ways"
ways = [(None, None), (None, None), (None, None), (None, None), (None, None)]  # (ways, "reason"), as the questions
### BEGIN SOLUTION
ways = []
for pitch in pitches:
    turns = conflicts([4 * pitch * lane for lane in range(32)]).ways
    ways.append((turns, {1: "a", 32: "b"}.get(turns, "c") if pitch else "d"))
### END SOLUTION

# %% id="ways-check" check="swizzle.ways"
grader.check("swizzle.ways", ways)

# %% [markdown] id="padding"
# So an odd pitch would do, 33 words say: one word of *padding* after each row, and each row begins one bank further on.
# Kernels that copy element by element do just that. Can the copy engine? A box that is one element wider would bring its own
# padding. See what the driver says to a box of 33 columns, and to the next wider one that it takes:

# %% id="padding-example"
for columns in (33, 36):
    try:
        padded = TensorMap.from_array(floats, (SIDE, columns))
        down = conflicts(tile_addresses(padded, lanes, 0))
        print(f"{columns} columns: {padded.transaction_bytes:,} bytes for {SIDE * SIDE * 4:,} that are used; {down}")
    except TensorMapError as error:
        print(f"{columns} columns: {error.violations[0][1]}")

# %% [markdown] id="padding-why-not"
# Rows of a box are multiples of 16 bytes, so padding by one word is out of reach; padding by four helps less, and moves
# bytes that nobody reads. Besides, the tensor cores can't read a padded tile. What the copy engine offers is better: it
# leaves the size as it is and changes the *order*.

# %% [markdown] id="pattern"
# ## 2. Column XOR row, once more
#
# The copy engine moves *sectors* of 16 bytes. With a swizzle, the eight sectors of a line change places:
#
#     physical sector = logical sector XOR (line mod 8)      with 128B
#
# The next cell loads a tile of 8 lines with each mode. Each printed row is a line of shared memory, and says what
# lies there: `2:5` is sector 5 of row 2 of the tile.

# %% id="pattern-table"
MODES = {Swizzle.NONE: 128, Swizzle.B32: 32, Swizzle.B64: 64, Swizzle.B128: 128}  # the length of a row, in bytes


def show_pattern(mode, row_bytes, base=0):
    """Which sector of which row lies where, for 1,024 bytes of tile that begin at the address `base`."""
    rows = 1024 // row_bytes
    numbers = np.arange(64, dtype=np.uint8).repeat(16).reshape(rows, row_bytes)  # each sector is full of its number
    image = reference.load(TensorMap.from_array(numbers, (rows, row_bytes), swizzle=mode), (0, 0), numbers.ravel(), base)
    per_row = row_bytes // 16
    names = [f"{number // per_row:3}:{number % per_row}" for number in image.data[::16]]
    for line in range(8):
        print(" ", *names[8 * line : 8 * line + 8])


for mode, row_bytes in MODES.items():
    print(f"{mode.name}, rows of {row_bytes} bytes:")
    show_pattern(mode, row_bytes)

# %% [markdown] id="pattern-read"
# Read a column in them, sector 0 say: without a swizzle it lies under itself, in the same four banks, row after row. With
# 128B it is in another place in each of the eight rows. With 64B and 32B the rows are shorter, and two or four of them
# share a line; again the eight rows lie in eight places.

# %% [markdown] id="addresses"
# ### The rule on addresses
#
# The copy engine knows nothing of rows. What it has is the **address** in shared memory to which a sector would go, and
# it changes some of its bits:
#
#     physical address = address XOR ((address >> 3) AND mask)
#
# | mode | mask | changes bits | by XOR with bits | repeats after |
# |---|---|---|---|---|
# | 32B | 16 | 4 | 7 | 256 bytes |
# | 64B | 48 | 4, 5 | 7, 8 | 512 bytes |
# | 128B | 112 | 4, 5, 6 | 7, 8, 9 | 1,024 bytes |
#
# Bits 4 to 6 number the sectors of a line; bits 7 to 9 number eight lines. So the pattern is painted on shared memory
# itself, once and for all: it begins at multiples of 1,024 bytes, whether a tile begins there or not.
#
# What if a tile begins elsewhere, at address 384? Predict: in which place of its line does sector 0 of row 0 lie, and
# where does sector 0 of row 1?
#
# *My guess:*

# %% id="addresses-reveal"
print("a tile with 128B that begins at address 384:")
show_pattern(Swizzle.B128, 128, base=384)

# %% [markdown] id="addresses-hardware"
# An H200 does the same. In this recording a tile of bytes was loaded to every line of the pattern; each was filled with
# numbers by which its sectors can be told. Where is sector 0 in each?

# %% id="addresses-recording"
loads = recorded.read("loads")
for case, image in zip(loads.cases, loads.results):
    if case.name.startswith("swizzle B128 at "):
        tile = case.memory().reshape(16, 256)[4:12, 128:].reshape(8, 8, 16)
        line = image[case.shared_address :][:128].reshape(8, 16)
        print(f"{case.name}: row 0 of the tile lies as", [tile[0].tolist().index(sector.tolist()) for sector in line])
print(f"({loads.provenance['gpu']}, {loads.provenance['date']})")

# %% [markdown] id="place-task"
# ### Exercise 2: any sector, anywhere (4 points)
#
# Write the function that gives the address in shared memory of a sector's first byte. `base` is the address at which the
# tile begins, a multiple of 128; `row` and `sector` count from 0; `span` is 128, 64 or 32, which is also the length of a
# row in bytes. Rows follow each other without a gap.
#
# One point is for tiles that begin with the pattern (and rows beyond the eighth), two for tiles that begin elsewhere, one
# for the narrower swizzles.

# %% id="place-answer" answer="swizzle.place"
def place(base, row, sector, span):
    """The byte address of logical `sector` of `row`, in a tile that begins at `base` and has rows of `span` bytes."""
    ### BEGIN SOLUTION
    address = base + row * span + sector * 16
    return address ^ (address >> 3 & span - 16)
    ### END SOLUTION

# %% id="place-check" check="swizzle.place"
grader.check("swizzle.place", place)

# %% [markdown] id="choose"
# ## 3. Which swizzle?
#
# Two rules of the hardware decide.
#
# - **A row of the box must fit into the span.** The driver refuses a box that is wider than 32, 64 or 128 bytes with 32B,
#   64B or 128B.
# - **A row takes the whole span.** If the box is narrower, the next row begins a span further on all the same. What lies
#   between is not written; and it does not count as delivered.
#
# Predict: a box of 48 columns and 8 rows of fp16, with 128B. How many bytes of shared memory does the tile take up? How
# many must the barrier be promised?
#
# *My guess:*

# %% id="choose-reveal"
narrow_map = TensorMap.from_array(tensor, (8, 48), swizzle=Swizzle.B128)
print(f"takes up {8 * narrow_map.pitch:,} bytes, delivers {narrow_map.transaction_bytes:,}: promise the latter")

# %% [markdown] id="choose-table"
# The same for more boxes, all of them 8 rows of fp16 high. `-` is a map that the driver refuses. The last number is the
# conflict of eight lanes that read one sector each, straight down a column: that is how tensor cores, and `ldmatrix`,
# take a tile.

# %% id="choose-print"
print("columns  bytes   " + "".join(f"{mode.name:>16}" for mode in MODES))
for columns in (8, 16, 24, 32, 48, 64, 128):
    cells = []
    for mode in MODES:
        try:
            box = TensorMap.from_array(tensor, (8, columns), swizzle=mode)
            turns = conflicts(tile_addresses(box, range(8), 0), size=16).ways
            cells.append(f"{8 * box.pitch:,} B {turns}-way")
        except TensorMapError:
            cells.append("-")
    print(f"{columns:7}  {2 * columns:5}   " + "".join(f"{cell:>16}" for cell in cells))

# %% [markdown] id="choose-rule"
# A narrow box with a wide swizzle has no conflicts, and wastes memory. A box of exactly one span wastes none, and has
# none either. What about rows that are longer than a span? They needn't come in one box: two boxes of 64 columns bring
# 128. (They can even come with one instruction; that is lesson 3.) So the usual choice is:
#
# > the widest span that the row is made of, without a gap; and boxes as wide as that span.

# %% [markdown] id="widest-task"
# ### Exercise 3: the widest that fits (3 points)
#
# Write the function that makes this choice. `row_bytes` is the length of a tile's rows, a multiple of 16. Return the span
# in bytes: 128, 64 or 32; or 0, if none of them fills the row. Two points are for rows of up to 128 bytes, one for longer
# ones.

# %% id="widest-answer" answer="swizzle.widest"
def widest(row_bytes):
    """The widest span of which rows of `row_bytes` are made without a gap; 0 if there is none."""
    ### BEGIN SOLUTION
    for span in (128, 64, 32):
        if row_bytes % span == 0:
            return span
    return 0
    ### END SOLUTION

# %% id="widest-check" check="swizzle.widest"
grader.check("swizzle.widest", widest)

# %% [markdown] id="disagree"
# ## 4. When copy and reader disagree
#
# The kernel from lesson 1, `out[i, j] = tile[i, j]`, reads the tile as it lies. Give it a map with a swizzle, and copy
# and reader disagree. Predict: which number of the tensor stands in `out[1, 0]`? (The tile begins at column 64, row 8;
# element [row, column] of the tensor is 128 * row + column.) And what will the run report?
#
# *My guess:*

# %% id="disagree-run"
@kernel
def read_as_it_lies(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


swizzled_map = TensorMap.from_array(tensor, (ROWS, COLS), swizzle=Swizzle.B128)
out, expected = np.zeros((ROWS, COLS), np.float16), tensor[8:16, 64:128]
run = read_as_it_lies.run(block=128, args=(swizzled_map, 64, 8, out))
print(run)
for row in range(3):
    print(f"row {row}, every eighth: {out[row, ::8].astype(int).tolist()}  expected {expected[row, ::8].astype(int).tolist()}")

# %% [markdown] id="disagree-why"
# No hazard, no fault, and no error on the GPU either: every access is ordered, only the places are wrong. Row 0 is even
# right, since XOR with 0 changes nothing; whoever tests with one row finds nothing. And each row holds the right numbers,
# in the wrong order, so a test that adds up rows finds nothing.
#
# When values are wrong and nothing is reported, ask the run: `run.explain` runs the kernel once more, finds out from which
# element of the tensor each element of the output came, and says whether a swizzle explains it.

# %% id="disagree-explain"
print(run.explain(out, expected))

lesson = recorded.read("lesson-1")
seen = lesson.results[lesson.find("load", swizzled_map, (64, 8))][:TILE_BYTES].view(np.uint16).reshape(ROWS, COLS)
print(f"\nrow 1 on an {lesson.provenance['gpu']} ({lesson.provenance['date']}): {seen[1, ::8].tolist()}")

# %% [markdown] id="reading"
# ## 5. Reading through a swizzle
#
# The swizzle undoes itself: XOR with the same number twice changes nothing. So the reader does what the copy did. It takes
# the sector in which its element lies, XORs the sector's number with the line, and finds the element there, at the same
# place within the sector. The figure shows both sides: point at a sector of the tile, and see where it lies.

# %% id="reading-figure"
from tmalab.figures import TileFigure

TileFigure(swizzled_map, (64, 8))

# %% [markdown] id="read-task"
# ### Exercise 4: read what the swizzle has moved (5 points)
#
# `read_tile` loads the tile at column `x`, row `y`, through a map with the 128-byte swizzle, and writes it to `out` in the
# tensor's order: `out[i, j]` is row i, column j of the tile. Start from the kernel above; only one line has to change.
#
# The check tries other places and other tensors, and one of bf16.

# %% id="read-answer" answer="swizzle.read"
@kernel
def read_tile(tensor_map, x, y, out):
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
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        row, col = i // COLS, i % COLS
        out[row, col] = tile[row, (col // 8 ^ row % 8) * 8 + col % 8]
    ### END SOLUTION

# %% id="read-try"
out = np.full((ROWS, COLS), -1, np.float16)
run = read_tile.run(block=128, args=(swizzled_map, 64, 8, out))
print(run)
print(run.explain(out, expected) or "all elements are right")

# %% id="read-check" check="swizzle.read"
grader.check("swizzle.read", read_tile)

# %% [markdown] id="shifted-task"
# ### Exercise 5: a tile that begins in the middle (4 points)
#
# Tiles don't always begin where the pattern does. Here is a buffer of 16 lines, of bytes this time, that begins at a
# multiple of 1,024; the tile, 8 rows of 128 bytes, begins at its line `first`. (This happens as soon as the stages of a
# ring are no multiple of 1,024 bytes.) `read_shifted` loads the tile to `buffer[first]` and writes it to `out` in the
# tensor's order. The check tries other lines than the cell below does.
#
# A run warns of such a tile. It is legal, and it is right if the reader goes by lines; here that is on purpose.

# %% id="shifted-setup"
LINE, LINES = 128, 16  # bytes of a line, lines of the buffer
bytes_tensor = np.arange(16 * 128, dtype=np.uint16).view(np.uint8).reshape(16, 256)  # no two sectors of it are alike
bytes_map = TensorMap.from_array(bytes_tensor, (ROWS, LINE), swizzle=Swizzle.B128)

# %% id="shifted-answer" answer="swizzle.shifted"
@kernel
def read_shifted(tensor_map, x, y, first, out):
    buffer = cuda.shared.array((LINES, LINE), np.uint8, alignment=1024)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], ROWS * LINE)
        ptx.cp_async_bulk_tensor_2d(buffer[first], tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * LINE, cuda.blockDim.x):
        row, byte = i // LINE, i % LINE
        line = first + row
        out[row, byte] = buffer[line, (byte // 16 ^ line % 8) * 16 + byte % 16]
    ### END SOLUTION

# %% id="shifted-try"
out = np.zeros((ROWS, LINE), np.uint8)
run = read_shifted.run(block=128, args=(bytes_map, 128, 4, 3, out))
print(run)
wrong_rows = np.flatnonzero((out != bytes_tensor[4:12, 128:]).any(axis=1))
print(f"rows that are not right: {wrong_rows.tolist()}")

# %% id="shifted-check" check="swizzle.shifted"
grader.check("swizzle.shifted", read_shifted)

# %% [markdown] id="transpose"
# ## 6. Turning a tile over
#
# Now for what all this is good. A tile of 32 x 32 fp32 is to be transposed: what is in row i and column j of the tile goes
# to row j and column i of `out`. In whichever order the threads take the elements, they go along rows on one side and down
# columns on the other. Here they write `out` along its rows, which is what global memory likes, and so read the tile down
# its columns. The map has no swizzle.
#
# `run.bank_conflicts` counts, for each line of a kernel, what the warps asked of shared memory. Predict: how many accesses
# does the block make to read the tile, and how many turns do they take?
#
# *My guess:*

# %% id="transpose-plain"
@kernel
def transpose_plain(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], SIDE * SIDE * 4)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, SIDE * SIDE, cuda.blockDim.x):
        i, j = k % SIDE, k // SIDE  # the lanes of a warp go down column j
        out[j, i] = tile[i, j]


out = np.zeros((SIDE, SIDE), np.float32)
run = transpose_plain.run(block=128, args=(TensorMap.from_array(floats, (SIDE, SIDE)), 64, 16, out))
print(run, "" if np.array_equal(out, floats[16:48, 64:96].T) else "but the bytes are wrong")
print(run.bank_conflicts)
print(run.global_sectors)

# %% [markdown] id="transpose-swizzled"
# With the 128-byte swizzle the column is spread over the eight sectors of a line. Does that make the conflict go away, if
# the lanes go on to read one column? Predict the number of ways first.
#
# *My guess:*

# %% id="transpose-swizzled-reveal"
floats_map = TensorMap.from_array(floats, (SIDE, SIDE), swizzle=Swizzle.B128)
print(conflicts(tile_addresses(floats_map, range(32), 0)))

# %% [markdown] id="transpose-task"
# ### Exercise 6: without a conflict (6 points)
#
# `transpose_tile` gets a map with the 128-byte swizzle. Write the tile to `out`, turned over. Two of the points are for
# *banks*: one if no access has more than four ways, both if there is no conflict at all.
#
# For the second one the lanes of a warp must divide the work differently. The swizzle gives eight rows eight different
# sectors, and a sector has four words, in four banks: which 32 elements can a warp read at once?
#
# (One can also get rid of the conflicts by reading along the rows and writing down the columns of `out`. Then global
# memory pays: it is written in sectors of 32 bytes, and each lane needs one of its own. `run.global_sectors` counts them,
# and the check allows 4 to an access.)

# %% id="transpose-answer" answer="swizzle.transpose"
@kernel
def transpose_tile(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], SIDE * SIDE * 4)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    lane = thread % 32
    for block in range(thread // 32, SIDE * SIDE // 32, cuda.blockDim.x // 32):  # 8 rows and 4 columns, for a warp
        i = block % 4 * 8 + lane % 8
        j = block // 4 * 4 + lane // 8
        out[j, i] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]
    ### END SOLUTION

# %% id="transpose-try"
out = np.full((SIDE, SIDE), -1, np.float32)
run = transpose_tile.run(block=128, args=(floats_map, 64, 16, out))
print(run)
print(f"elements that are right: {np.count_nonzero(out == floats[16:48, 64:96].T)} of {out.size}")
print(run.bank_conflicts)
print(run.global_sectors)

# %% id="transpose-check" check="swizzle.transpose"
grader.check("swizzle.transpose", transpose_tile)

# %% [markdown] id="hunt"
# ## 7. Bug hunt
#
# Four kernels load a tile of fp16 and write it to `out`. Each has one mistake. Read each before you run the cell below
# them. Then say which mistake it is, in exercise 7. The next cell lists the mistakes.

# %% id="hunt-causes"
causes = grader.questions("swizzle.hunt")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hunt-kernels"
@kernel
def bug_a(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, (j // 8 ^ i) * 8 + j % 8]


@kernel
def bug_b(tensor_map, x, y, out):  # its map is narrow_map: a box of 48 columns
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, ROWS * 48, cuda.blockDim.x):
        i, j = k // 48, k % 48
        out[i, j] = tile[i, (j // 8 ^ i) * 8 + j % 8]


@kernel
def bug_c(tensor_map, x, y, out):  # its map has no swizzle
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, ROWS * COLS, cuda.blockDim.x):
        i, j = k % ROWS, k // ROWS
        out[i, j] = tile[i, j]


@kernel
def bug_d(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, (j // 8 ^ i // 2 % 4) * 8 + j % 8]

# %% id="hunt-run"
plain_map = TensorMap.from_array(tensor, (ROWS, COLS))
for suspect, its_map in ((bug_a, swizzled_map), (bug_b, narrow_map), (bug_c, plain_map), (bug_d, swizzled_map)):
    columns = its_map.box_dim[0]
    out, wanted = np.zeros((ROWS, columns), np.float16), tensor[8:16, 64 : 64 + columns]
    run = suspect.run(block=128, args=(its_map, 64, 8, out))
    print(f"--- {suspect.__name__}: {np.count_nonzero(out == wanted)} of {out.size} elements right", run, sep="\n")
    print(run.bank_conflicts)
    print("wrong sectors by row:", [np.flatnonzero((a != b)[::8]).tolist() for a, b in zip(out, wanted)], end="\n\n")

# %% [markdown] id="hunt-task"
# ### Exercise 7: name the mistakes (4 points)

# %% id="hunt-answer" answer="swizzle.hunt"
culprits = {"bug_a": None, "bug_b": None, "bug_c": None, "bug_d": None}
### BEGIN SOLUTION
letters = dict(zip("abcdef", causes))  # of the public course, and yours
culprits = {"bug_a": letters["c"], "bug_b": letters["a"], "bug_c": letters["d"], "bug_d": letters["b"]}
### END SOLUTION

# %% id="hunt-check" check="swizzle.hunt"
grader.check("swizzle.hunt", culprits)

# %% [markdown] id="hunt-mend"
# Mend all four in the cell with the kernels and run the next one again, until every element is right and no access has
# more than one way. (`bug_c` needs two changes.)

# %% [markdown] id="summary"
# ## Summary
#
# A bank hands out one word in a turn; rows of 128 bytes put a column into one bank; the swizzle moves sectors so that eight
# rows lie in eight places. It works on addresses, and undoes itself. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | the reader overlooks the swizzle | right numbers at wrong places; row 0 is right; nothing is reported |
# | the reader undoes another mode than the map has | right numbers at other wrong places; row 0 is right |
# | XOR of elements or bytes instead of sectors | numbers mixed within a few sectors |
# | a base that is no multiple of 1,024, and a reader that counts rows | the pattern is shifted |
# | the gaps of a narrow box are promised to the barrier | the wait never ends |
# | the gaps are forgotten when memory is divided up | the next tile is overwritten |
# | a column read element by element down more than eight rows | rows share places again: some of the conflict is left |
# | a box wider than the span | a map that is refused |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - Your transpose writes `out` in pieces of eight elements, the plain one in whole rows of 32. Why are both as good for
#   global memory, as far as sectors go? What would become of it with fp16?
# - With fp16, two elements share a word. Which 32 elements of a tile of 64 x 64 fp16 can a warp read without a conflict,
#   and can you find a way in which each lane reads 32 bits, so that it takes half as many accesses?
# - `conflicts` also counts accesses of 8 and 16 bytes a lane; a warp then goes in halves or quarters. The cell below
#   counts, for each mode, eight lanes that read 16 bytes down a column, from every line of the pattern on. Why does the
#   number never change?
# - Write `place` for a box that is narrower than its span. What changes, the pitch, the mask or both?

# %% id="deeper-lines"
for mode, row_bytes in MODES.items():
    box = TensorMap(DataType.UINT8, 0x10000000, (row_bytes, 16), (row_bytes,), (row_bytes, 16), swizzle=mode)
    from_line = [conflicts(tile_addresses(box, range(row, row + 8), 0), size=16).ways for row in range(8)]
    print(f"{mode.name:>5}: ways from row 0, 1, 2... on: {from_line}")
