# The third lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 3: grouping
#
# A kernel wants a slice of 16 rows and 128 columns of fp16. Its rows are 256 bytes long, and the widest swizzle spans 128.
# The driver refuses such a box. In this lesson you get the slice all the same, swizzled and with a single instruction,
# without moving a byte of the matrix: by looking at it in another way.
#
# Afterwards you can
#
# - describe a matrix as (group, row, column), a tensor of rank 3 with strides of its own,
# - give the coordinates of any slice, and say what arrives at the edges,
# - tell where each element of a slice lies: groups, atoms, swizzle,
# - say which bank conflict grouping avoids, and count it,
# - read a grouped slice by rows and by columns in a kernel.
#
# It takes about 75 minutes. You need lessons 1 and 2.

# %% id="setup"
import numpy as np
from numba import cuda

import grader
from tmalab import DataType, Swizzle, TensorMap, TensorMapError, kernel, ptx, reference
from tmalab.banks import conflicts, tile_addresses
from tmalab.swizzle import swizzle_address

MATRIX_ROWS, MATRIX_COLS = 32, 512
ROWS, COLS = 16, 128  # a slice
GROUP = 64  # columns of a group: 128 bytes of fp16
SLICE_BYTES = ROWS * COLS * 2

# fp16 holds whole numbers up to 2,048; the numbers repeat, but never in the same column
matrix = (np.arange(MATRIX_ROWS * MATRIX_COLS).reshape(MATRIX_ROWS, MATRIX_COLS) % 2039).astype(np.float16)
memory = matrix.view(np.uint8).ravel()

# %% [markdown] id="too-wide"
# ## 1. A row that is too wide
#
# First see what the driver says to the box that we want:

# %% id="too-wide-example"
try:
    TensorMap.from_array(matrix, (ROWS, COLS), swizzle=Swizzle.B128)
except TensorMapError as error:
    print(error.violations[0][1])

# %% [markdown] id="too-wide-why"
# Is that only a rule, or is there a reason? Suppose that the hardware took it: rows of 256 bytes, one after the other, and
# the pattern of the 128-byte swizzle over the addresses, as in lesson 2. Eight lanes read one sector each, straight down a
# column: the way in which tensor cores read.
#
# Predict: in how many different places of a line do the eight sectors lie? How many turns does it take? And how many
# without a swizzle?
#
# *My guess:*

# %% id="too-wide-reveal"
down = [256 * row for row in range(8)]  # sector 0 of rows 0 to 7, without a swizzle
moved = [swizzle_address(address, Swizzle.B128) for address in down]
print("places without a swizzle:", [address % 128 // 16 for address in down], conflicts(down, size=16))
print("places under the pattern:", [address % 128 // 16 for address in moved], conflicts(moved, size=16))

# %% [markdown] id="too-wide-rule"
# The pattern has a step for each *line*, and rows of 256 bytes are two lines apart: every second step is left out, and two
# rows meet in each place. So the swizzle would do half of its work. With rows of 128 bytes it does all of it.
#
# One could load the slice as two tiles of 64 columns, with two instructions and two promises. That works, and for two
# tiles it isn't bad. But there is a way with one.

# %% [markdown] id="view"
# ## 2. (group, row, column)
#
# Cut the matrix into **groups** of 64 columns, 128 bytes each. An element is then found by three numbers: the group, the
# row, the column within the group. Nothing is moved; NumPy calls it a view of the same memory, with other strides. Here is
# another matrix, of fp32, for which 128 bytes are 32 columns.

# %% id="view-example"
weights = np.arange(40 * 96).reshape(40, 96).astype(np.float32)
view = weights.reshape(40, 3, 32).transpose(1, 0, 2)  # (row, group, column), then (group, row, column)
print("shape", view.shape, " strides", view.strides, " the same memory:", np.shares_memory(view, weights))
print("row 7, column 70:", weights[7, 70], " group 2, row 7, column 6:", view[2, 7, 6])
print(TensorMap.from_array(view, (2, 8, 32), swizzle=Swizzle.B128))

# %% [markdown] id="view-map"
# The map of a view of rank 3 has three sizes, innermost first, and two strides: from row to row, and from group to group.
# The second is *smaller* than the first, which looks odd and is allowed: strides needn't grow.
#
# A box of two groups has rows of 128 bytes, and the 128-byte swizzle takes that. It is delivered in the order of its
# dimensions: the columns of a group, then its rows, then the next group.

# %% [markdown] id="view-task"
# ### Exercise 1: describe the view (6 points)
#
# Describe this matrix of fp16 as (group, row, column), with groups of 64 columns, and a box of two groups and 16 rows, with
# the 128-byte swizzle. The rows of the matrix follow each other without a gap.

# %% id="view-questions"
rows_here, columns_here = grader.questions("grouping.view")
print(f"a matrix of {rows_here} rows and {columns_here} columns of fp16")

# %% id="view-answer" answer="grouping.view"
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
    "global_dim": (64, rows_here, columns_here // 64),
    "global_strides": (2 * columns_here, 128),
    "box_dim": (64, 16, 2),
    "swizzle": Swizzle.B128,
}
### END SOLUTION

# %% id="view-check" check="grouping.view"
grader.check("grouping.view", fields)

# %% [markdown] id="coordinates"
# ## 3. Coordinates
#
# A copy of rank 3 takes three coordinates, innermost first: `x` counts columns *within a group*, `y` rows, `z` groups. The
# slice that begins at column 64, in the second group, has `z = 1` and `x = 0`.
#
# From here on the lesson uses a map of its own matrix, made from NumPy's view. Predict: what arrives for `x = 32`, a slice
# that begins in the middle of a group? And what for `z = 7`, the last group, of which there is only one? How many bytes
# are delivered?
#
# *My guess:*

# %% id="coordinates-reveal"
groups = matrix.reshape(MATRIX_ROWS, MATRIX_COLS // GROUP, GROUP).transpose(1, 0, 2)
slice_map = TensorMap.from_array(groups, (2, ROWS, GROUP), swizzle=Swizzle.B128)
plain_map = TensorMap.from_array(groups, (2, ROWS, GROUP))

for x, y, z in ((0, 16, 2), (32, 16, 2), (0, 16, 7)):
    image = reference.load(plain_map, (x, y, z), memory)
    slice_ = image.data.view(np.float16).reshape(2, ROWS, GROUP)
    zeros = [int(np.count_nonzero(~group.any(axis=0))) for group in slice_]
    print(f"x = {x}, y = {y}, z = {z}: columns of zeros in each group {zeros}; delivered {image.transaction_bytes:,} bytes")

# %% [markdown] id="coordinates-rule"
# In this view a group ends after 64 columns: what lies to its right is *outside*, though the matrix goes on there. So a
# slice must begin with a group, at a multiple of 64 columns. The edges of the matrix are edges of the view as well, and
# bring zeros as always; and as always all bytes of the box are delivered.

# %% [markdown] id="coordinates-task"
# ### Exercise 2: coordinates (3 points)
#
# Two slices of 16 rows and 128 columns are given by their first row and column. What are their coordinates?

# %% id="coordinates-questions"
slices = grader.questions("grouping.coordinates")
for row, column in slices:
    print(f"row {row}, column {column}: x = ?, y = ?, z = ?")

# %% id="coordinates-answer" answer="grouping.coordinates"
coordinates = [None, None, None, None, None, None]  # x, y, z of the first, then of the second
### BEGIN SOLUTION
coordinates = [number for row, column in slices for number in (0, row, column // 64)]
### END SOLUTION

# %% id="coordinates-check" check="grouping.coordinates"
grader.check("grouping.coordinates", coordinates)

# %% [markdown] id="atoms"
# ## 4. Atoms
#
# Eight rows of 128 bytes, 1,024 bytes in all, are what the 128-byte swizzle works on: after that the pattern begins again.
# People call this an **atom**. A slice of 16 rows and two groups consists of four of them. In which order do they lie?
# Predict: which row and which sectors of the slice are in the lines 0, 1, 8, 16 and 17 of shared memory?
#
# *My guess:*

# %% id="atoms-reveal"
numbers = np.zeros((MATRIX_ROWS, MATRIX_COLS), np.float16)  # in each sector of the first slice its own number
numbers[:ROWS, :COLS] = np.arange(ROWS * 16).reshape(ROWS, 16).repeat(8, axis=1)
image = reference.load(slice_map, (0, 0, 0), numbers.view(np.uint8).ravel()).data.view(np.float16)
for line in (0, 1, 7, 8, 15, 16, 17, 31):
    sectors = image.reshape(-1, 8, 8)[line, :, 0].astype(int)
    print(f"line {line:2}: row {sectors[0] // 16:2}, sectors {(sectors % 16).tolist()}")

# %% [markdown] id="atoms-rule"
# So the lines 0 to 15 are the first group, its two atoms one under the other, and 16 to 31 the second. A group begins at a
# multiple of 1,024 bytes, and with the pattern, as long as the slice has a multiple of 8 rows. If it has not, the next group
# begins in the middle of the pattern. The rule on addresses holds in any case.
#
# The figure shows the three views of the same thing, for a matrix of 16 x 256: the matrix, the box, and shared memory with
# its groups and atoms. Point at a sector in any of them; switch the swizzle; move the box.

# %% id="atoms-figure"
from tmalab.figures import GroupingFigure

GroupingFigure()

# %% [markdown] id="address-task"
# ### Exercise 3: where is it? (4 points)
#
# Write the function that gives the byte address in shared memory of an element of a slice. The slice begins at address 0, is
# 128 columns of fp16 wide and `rows` rows high; it was loaded as two groups with the 128-byte swizzle. Two points are for 16
# rows, one for other multiples of 8, one for slices of 4 rows.

# %% id="address-answer" answer="grouping.address"
def address_of(row, column, rows):
    """The byte address of the element at (row, column) of a slice of `rows` rows."""
    ### BEGIN SOLUTION
    group, inside = divmod(column, 64)
    address = (group * rows + row) * 128 + inside * 2
    return address ^ (address >> 3 & 112)
    ### END SOLUTION

# %% id="address-check" check="grouping.address"
grader.check("grouping.address", address_of)

# %% [markdown] id="places-task"
# ## 5. The conflict that grouping avoids
#
# ### Exercise 4: eight lanes down a column (4 points)
#
# Eight lanes read 16 bytes each: the same sector of eight rows, one under the other. Below are five ways in which the rows
# may lie, each with the distance from row to row and the swizzle's pattern (some of them no box can have; they could come
# from a kernel that writes its tile itself). How many ways has the conflict, 1 if there is none, and why?
#
# - `"a"` the eight sectors lie in eight places
# - `"b"` rows are several lines apart, so only some steps of the pattern come up
# - `"c"` each row begins a line, and nothing moves its sectors: all lie in the same place
# - `"d"` several rows share a line, and so lie in different places; but nothing moves them, and the next line repeats it
#
# Two points are for the numbers, two for the reasons; a reason counts if the number beside it is right.

# %% id="places-questions"
layouts = grader.questions("grouping.places")
for pitch, span in layouts:
    print(f"rows of {pitch} bytes, {f'{span}B' if span else 'NONE'}: ? ways, because of ?")

# %% id="places-answer" answer="grouping.places"
ways = [(None, None), (None, None), (None, None), (None, None), (None, None)]  # (ways, "reason"), as the questions
### BEGIN SOLUTION
ways = []
for pitch, span in layouts:
    mode = {0: Swizzle.NONE, 32: Swizzle.B32, 64: Swizzle.B64, 128: Swizzle.B128}[span]
    turns = conflicts([swizzle_address(pitch * row, mode) for row in range(8)], size=16).ways
    reason = "a" if turns == 1 else "b" if span else "d" if pitch < 128 else "c"
    ways.append((turns, reason))
### END SOLUTION

# %% id="places-check" check="grouping.places"
grader.check("grouping.places", ways)

# %% [markdown] id="places-reveal"
# And now look, at a slice of 16 rows and 256 bytes. Eight lanes read a column; switch between two groups and rows of 256
# bytes, between NONE and 128B, and move the column and the first row.

# %% id="places-figure"
from tmalab.figures import BanksFigure

BanksFigure()

# %% id="places-count"
two_groups, long_rows = [], []  # for each column of sectors: the addresses of eight lanes
for column in range(0, COLS, 8):
    two_groups.append(tile_addresses(slice_map, column // GROUP, range(8), column % GROUP))
    long_rows.append([swizzle_address(256 * row + 2 * column, Swizzle.B128) for row in range(8)])
for name, columns in (("two groups", two_groups), ("rows of 256 bytes", long_rows)):
    places = {len({address % 128 // 16 for address in column}) for column in columns}
    turns = sum(conflicts(column, size=16).wavefronts for column in columns)
    print(f"{name}: {places} different places; {turns} turns for all {len(columns)} columns of sectors")

# %% [markdown] id="rows-task"
# ## 6. In a kernel
#
# ### Exercise 5: by rows (5 points)
#
# `read_rows` loads the slice that begins at `row` and `column` (a multiple of 64) through a map like `slice_map`, and writes
# it to `out`, 16 x 128, in the matrix's order. The array for it has the shape of the box: group, row, column. The
# instruction is `ptx.cp_async_bulk_tensor_3d(destination, tensor_map, x, y, z, barrier)`.
#
# The check tries other slices, at edges too, other matrices, and bf16.

# %% id="rows-answer" answer="grouping.rows"
@kernel
def read_rows(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], SLICE_BYTES)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, column // GROUP, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        c = j % GROUP
        out[i, j] = tile[j // GROUP, i, (c // 8 ^ i % 8) * 8 + c % 8]
    ### END SOLUTION

# %% id="rows-try"
out = np.full((ROWS, COLS), -1, np.float16)
expected = matrix[16:32, 128:256]
run = read_rows.run(block=128, args=(slice_map, 16, 128, out))
print(run)
print(run.explain(out, expected) or "all elements are right")

# %% id="rows-check" check="grouping.rows"
grader.check("grouping.rows", read_rows)

# %% [markdown] id="columns-task"
# ### Exercise 6: by columns (6 points)
#
# `read_columns` loads the same slice and writes it turned over: `out` is 128 x 16, and holds in row j column j of the slice.
# So the slice is read down its columns. As in lesson 2, two points are for *banks*: one if no access has more than two ways,
# both if there is no conflict; and an access may write to no more than 4 sectors of global memory.
#
# A column has 16 rows, in two atoms. In which places do rows 0 and 8 lie?

# %% id="columns-answer" answer="grouping.columns"
@kernel
def read_columns(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], SLICE_BYTES)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, column // GROUP, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    lane = thread % 32
    for block in range(thread // 32, ROWS * COLS // 32, cuda.blockDim.x // 32):  # 8 rows and 4 columns, for a warp
        i = block % 2 * 8 + lane % 8
        j = block // 2 * 4 + lane // 8
        c = j % GROUP
        out[j, i] = tile[j // GROUP, i, (c // 8 ^ i % 8) * 8 + c % 8]
    ### END SOLUTION

# %% id="columns-try"
out = np.full((COLS, ROWS), -1, np.float16)
run = read_columns.run(block=128, args=(slice_map, 16, 128, out))
print(run)
print(f"elements that are right: {np.count_nonzero(out == expected.T)} of {out.size}")
print(run.bank_conflicts)
print(run.global_sectors)

# %% id="columns-check" check="grouping.columns"
grader.check("grouping.columns", read_columns)

# %% [markdown] id="hunt"
# ## 7. Bug hunt
#
# Four kernels, each with one mistake; `bug_c` loads a slice of 12 rows. Read each before you run the cell below them.
# Then say in exercise 7 which mistake it is. The next cell lists the mistakes.

# %% id="hunt-causes"
causes = grader.questions("grouping.hunt")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hunt-kernels"
@kernel
def bug_a(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], SLICE_BYTES)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, column, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // 64, i, (j % 64 // 8 ^ i % 8) * 8 + j % 8]


@kernel
def bug_b(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], ROWS * GROUP * 2)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, column // 64, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // 64, i, (j % 64 // 8 ^ i % 8) * 8 + j % 8]


@kernel
def bug_c(tensor_map, row, column, out):  # its box is two groups of 12 rows
    tile = cuda.shared.array((2, 12, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * 12 * GROUP * 2)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, column // 64, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, 12 * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // 64, i, (j % 64 // 8 ^ i % 8) * 8 + j % 8]


@kernel
def bug_d(tensor_map, row, column, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], SLICE_BYTES)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, column // 64, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, j // 64 * 64 + (j % 64 // 8 ^ i % 8) * 8 + j % 8]

# %% id="hunt-run"
low_map = TensorMap.from_array(groups, (2, 12, GROUP), swizzle=Swizzle.B128)
for suspect, its_map in ((bug_a, slice_map), (bug_b, slice_map), (bug_c, low_map), (bug_d, slice_map)):
    height = its_map.box_dim[1]
    out, wanted = np.full((height, COLS), -1, np.float16), matrix[16 : 16 + height, 128:256]
    run = suspect.run(block=128, args=(its_map, 16, 128, out))
    print(f"--- {suspect.__name__}: {np.count_nonzero(out == wanted)} of {out.size} elements right", run, sep="\n")
    print("rows that are right in group 0:", np.flatnonzero((out == wanted)[:, :64].all(axis=1)).tolist())
    print("rows that are right in group 1:", np.flatnonzero((out == wanted)[:, 64:].all(axis=1)).tolist())
    print("row 1 begins with", out[1, :4].tolist(), "and should begin with", wanted[1, :4].tolist(), end="\n\n")

# %% [markdown] id="hunt-task"
# ### Exercise 7: name the mistakes (4 points)

# %% id="hunt-answer" answer="grouping.hunt"
culprits = {"bug_a": None, "bug_b": None, "bug_c": None, "bug_d": None}
### BEGIN SOLUTION
letters = dict(zip("abcdef", causes))  # of the public course, and yours
culprits = {"bug_a": letters["e"], "bug_b": letters["b"], "bug_c": letters["d"], "bug_d": letters["c"]}
### END SOLUTION

# %% id="hunt-check" check="grouping.hunt"
grader.check("grouping.hunt", culprits)

# %% [markdown] id="hunt-mend"
# Mend all four in the cell with the kernels and run the next one again, until every element is right and nothing is
# reported.

# %% [markdown] id="summary"
# ## Summary
#
# A box may be no wider than its swizzle, so a wide slice is seen as groups of 128 bytes: a view of rank 3, whose strides say
# how far it is to the next row and to the next group. Shared memory then holds one group after the other, each a swizzled
# tile of its own, and eight rows of a column lie in eight places. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | the matrix's columns as the innermost size, instead of the group's | at the matrix's edge the next row arrives instead of zeros |
# | strides in the order (group, row), or in elements | a map that is refused, or another slice |
# | the column as `x`, or as `z` | zeros |
# | a slice that begins in the middle of a group | half of each group is zeros |
# | one group's bytes are promised | the wait ends early in some runs |
# | a reader that takes the slice for rows of 256 bytes | the first row's first half is right, little else |
# | a height that is no multiple of 8, and a reader that goes by rows | the first group is right, the second is not |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - **Tensor cores** want exactly this. `wgmma` takes its operands from shared memory, and is told by a *descriptor* where
#   they are: with the 128-byte swizzle an operand is a tile whose rows are 64 elements of fp16 or bf16 along K, one group. It
#   goes down the rows in atoms, and the descriptor holds their distance: 1,024 bytes. One `wgmma` takes 16 elements along K,
#   32 bytes; the next one's descriptor begins 32 bytes further on, *within* the swizzled row. The cell below encodes one and
#   takes it apart. That is why kernels load K in pieces of 64, and why lesson 9 begins here.
# - The slice must begin with a group, you have seen. Not in every view: say in the map that the innermost dimension has all
#   512 columns, and leave the strides as they are. Groups then overlap. What are the coordinates of a slice that begins at
#   column 40? And what arrives now where the matrix ends, and what would be read behind its last row? (The last cell tries
#   the first two.)
# - `read_columns` writes `out` in pieces of eight fp16, half a sector of global memory each; with sixteen rows to a warp the
#   sectors are full, and shared memory has two ways. Which of the two is cheaper, if `out` stays in L2? With lanes that read
#   32 bits, two columns at once, can you have both?
# - Count the lines of a slice with 3 groups and 24 rows. Does every group begin with the pattern?

# %% id="deeper-descriptor"
from tmalab.wgmma_descriptor import WgmmaDescriptor

ATOM_BYTES = 8 * 128
for step in range(GROUP // 16):
    bits = WgmmaDescriptor(32 * step, Swizzle.B128, stride_bytes=ATOM_BYTES).encode()
    print(f"columns {16 * step:2} to {16 * step + 15} of the group: {bits:#x}")
print(WgmmaDescriptor.decode(bits))

# %% id="deeper-overlap"
overlapping = TensorMap(
    DataType.FLOAT16, 0x10000000, (MATRIX_COLS, MATRIX_ROWS, 8), (2 * MATRIX_COLS, 128), (GROUP, ROWS, 2)
)
for x in (40, MATRIX_COLS - GROUP):
    slice_ = reference.load(overlapping, (x, 0, 0), memory).data.view(np.float16).reshape(2, ROWS, GROUP)
    arrived, columns = np.concatenate(slice_, axis=1), matrix[:ROWS, x : x + COLS]
    same = np.count_nonzero((arrived[:, : columns.shape[1]] == columns).all(axis=0))
    print(f"x = {x}: {same} of {columns.shape[1]} columns as in the matrix; row 0 ends with", arrived[0, -3:].tolist())
print("row 1 of the matrix begins with", matrix[1, :GROUP][-3:].tolist(), "in columns 61 to 63")
