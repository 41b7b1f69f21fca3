# The sixth lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 6: the whole map
#
# So far a tensor map was two or three sizes and a swizzle. It can say a good deal more: tensors of up to five
# dimensions, every second pixel, the pixels under a filter. And it can say it wrongly in more ways than the driver
# cares to explain. In this lesson you use all of it on a stack of photos, mend what others have got wrong, and let a
# kernel edit its map.
#
# Afterwards you can
#
# - describe any regular tensor, with strides and steps, and say what a copy of a box delivers,
# - copy patches of images, over edges too,
# - follow an im2col copy through an image,
# - name the limit that a refused map breaks, why it is there, and the way around it,
# - say where a map may live and which fence it needs there,
# - replace a map's address in a kernel.
#
# It takes about 85 minutes. You need lessons 1 and 4.

# %% id="setup"
import json

import numpy as np
from numba import cuda

import grader
from tmalab import DataType, Interleave, TensorMap, kernel, map_rows, ptx, recorded, reference
from tmalab.map_command import judge

PATCH, CHANNELS = 4, 16  # a patch is 4 x 4 pixels, each of 16 numbers
PATCH_BYTES = PATCH * PATCH * CHANNELS * 4

photos = np.arange(2 * 10 * 12 * CHANNELS, dtype=np.float32).reshape(2, 10, 12, CHANNELS)  # image, row, column, channel
photo_map = TensorMap.from_array(photos, (1, PATCH, PATCH, CHANNELS))
print(photo_map)

# %% [markdown] id="ranks"
# ## 1. Dimensions and strides
#
# A map has one to five dimensions, **innermost first**: `global_dim` are the sizes, and `global_strides` the distances
# in *bytes* from one element to the next along each dimension but the first, whose elements always follow each other.
# The address of an element is the sum of its indices times the strides; nothing else is known about the tensor. So a
# map can describe a part of a larger array, leave room between rows, show the same memory in another shape (that was
# lesson 3), or even let rows overlap.
#
# The hardware never multiplies the sizes. They say only where the tensor *ends*: what lies beyond is filled on a load
# and dropped on a store, in each dimension for itself. Predict: a patch begins at column -1, row -1 of image 1. Where
# do the pixels of its first column come from, if you think of memory: is there anything before column 0?
#
# *My guess:*

# %% id="ranks-reveal"
def loaded(tensor_map, coordinates, shape):
    """What a load brings, by the reference."""
    memory = photos.view(np.uint8).ravel()
    return reference.load(tensor_map, coordinates, memory).data.view(np.float32).reshape(shape)


corner = loaded(photo_map, (0, -1, -1, 1), (PATCH, PATCH, CHANNELS))
print("channel 0 of each pixel:")
print(corner[:, :, 0])
print("in memory, before row 0 of image 1:", photos[0, -1, -1, 0])

# %% [markdown] id="ranks-figure"
# In memory the last pixel of image 0 lies just before the first of image 1; but the coordinate -1 is outside, and
# outside is zero. A kernel needs no test for the border of an image. That is one reason to spend a dimension on the
# images.
#
# The figure shows one photo as a map of rank 3. Move the box over the edge, and find out which pixels are filled.

# %% id="ranks-figure-run"
TensorMap.from_array(photos[1], (PATCH, PATCH, CHANNELS)).show((0, -1, -1))

# %% [markdown] id="steps"
# ### Steps
#
# `element_strides` are steps, counted in elements: with a step of 2 a copy takes every second element *of its box*.
# The box then says how far the copy reaches, not how much it brings. Predict what comes along a dimension where the
# box is 8 and the step 3. And what does a step in the innermost dimension do?
#
# *My guess:*

# %% id="steps-reveal"
for box, steps in (((16, 8, 1, 1), (1, 3, 1, 1)), ((16, 1, 1, 1), (2, 1, 1, 1))):
    sizes, strides = photo_map.global_dim, photo_map.global_strides
    stepped = TensorMap(DataType.FLOAT32, 0x10000000, sizes, strides, box, steps)
    seen = loaded(stepped, (0, 0, 0, 0), (-1, CHANNELS))
    print(f"box {box}, steps {steps}: {stepped.transaction_bytes} bytes")
    print("    of the columns", *(seen[:, 0] // CHANNELS).astype(int), "; channels of the first:", *seen[0].astype(int))
    print(*stepped.warnings, sep="\n")

# %% [markdown] id="view-task"
# ### Exercise 1: every second pixel (6 points)
#
# A stack of photos in fp32 lies in memory as NumPy has it, `(images, rows, columns, channels)`. A copy should reach
# over 8 x 8 pixels of one image, with all channels, and bring every second pixel in both directions: 4 x 4 of them.
# Describe it. The next cell says how large the stack is.

# %% id="view-questions"
images, rows, columns, channels = grader.questions("maps.view")
print(f"{images} images of {rows} rows and {columns} columns, {channels} channels")

# %% id="view-answer" answer="maps.view"
thinned = {
    "data_type": None,
    "global_dim": None,
    "global_strides": None,  # bytes
    "box_dim": None,
    "element_strides": None,
}
### BEGIN SOLUTION
thinned = {
    "data_type": DataType.FLOAT32,
    "global_dim": (channels, columns, rows, images),
    "global_strides": (4 * channels, 4 * channels * columns, 4 * channels * columns * rows),
    "box_dim": (channels, 8, 8, 1),
    "element_strides": (1, 2, 2, 1),
}
### END SOLUTION

# %% id="view-check" check="maps.view"
grader.check("maps.view", thinned)

# %% [markdown] id="counts-task"
# ### Exercise 2: how many bytes? (3 points)
#
# Whoever loads must promise the barrier exactly what comes. For each of these maps: how many bytes does one load at
# these coordinates credit?

# %% id="counts-questions"
loads = grader.questions("maps.counts")
for kind, sizes, box, steps, at in loads:
    print(f"{kind}, sizes {sizes}, box {box}, element strides {steps}, at {at}")

# %% id="counts-answer" answer="maps.counts"
credited = [None, None, None, None, None]  # bytes, in the order of the questions
### BEGIN SOLUTION
credited = []
for kind, sizes, box, steps, at in loads:
    elements = box[0]
    for side, step in zip(box[1:], steps[1:]):
        elements *= -(-side // step)
    credited.append(elements * DataType[kind].size)
### END SOLUTION

# %% id="counts-check" check="maps.counts"
grader.check("maps.counts", credited)

# %% [markdown] id="patch-task"
# ### Exercise 3: a patch (5 points)
#
# Now a kernel. `copy_patch` copies the patch of 4 x 4 pixels that begins at image `n`, row `h`, column `w` to `out`,
# which has rows, columns and channels. It is launched with 64 threads. The map has rank 4, and so has the instruction:
#
#     ptx.cp_async_bulk_tensor_4d(tile, tensor_map, ..., ..., ..., ..., full[0])
#
# Some patches of the check begin before the first row and column, or hang over the last.

# %% id="patch-answer" answer="maps.patch"
@kernel
def copy_patch(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]
    ### END SOLUTION

# %% id="patch-try"
out = np.full((PATCH, PATCH, CHANNELS), -1, np.float32)
run = copy_patch.run(block=64, args=(photo_map, 1, 3, 6, out))
print(run)
print(f"elements that are right: {np.count_nonzero(out == photos[1, 3:7, 6:10])} of {out.size}")

# %% id="patch-check" check="maps.patch"
grader.check("maps.patch", copy_patch)

# %% [markdown] id="im2col"
# ## 2. Two other ways to read an image
#
# **im2col.** A convolution is a matrix product if the pixels under a filter are laid out as rows of a matrix. An
# *im2col* map does that on the way. It has no box. One copy takes `pixels_per_column` pixels, one after the other,
# each with `channels_per_pixel` channels: from the pixel that its coordinates name to the right, at the end of the row
# to the next row, and after the last row into the next image. Its rows do not end where the image ends: they run
# through a **bounding box**, along each direction from the `lower corner` to size - 1 + the `upper corner`. A lower
# corner of -1 makes a border of zeros. The other taps of the filter are the same walk, shifted by the copy's offsets.
#
# Predict which pixels the copy in the next cell takes. The box goes one pixel beyond the first column and row, and
# ends one before the last.
#
# *My guess:*

# %% id="im2col-reveal"
sizes, strides = photo_map.global_dim, photo_map.global_strides
walk_map = TensorMap.im2col(DataType.FLOAT32, 0x10000000, sizes, strides, (-1, -1), (-1, -1), CHANNELS, 14)
seen = loaded(walk_map, (0, 9, 0, 1), (-1, CHANNELS))
places = [tuple(map(int, np.argwhere(photos[..., 0] == pixel)[0])) if pixel else "filled" for pixel in seen[:, 0]]
print("image, row and column of each pixel:", *places, sep="\n  ")

# %% [markdown] id="column-task"
# ### Exercise 4: where does it end? (3 points)
#
# Three im2col copies. Where is the *last* pixel of each, as column `w`, row `h`, image `n`? A pixel outside of the
# image has a place as well; -1 is the column before the first.

# %% id="column-questions"
walks = grader.questions("maps.column")
for number, ((wide, tall, deep), low, high, pixels, at) in enumerate(walks):
    print(f"copy {number}: {pixels} pixels from (w, h, n) = {at}; {deep} images of {tall} rows and {wide} columns")
    print(f"        lower corner (w, h) = {low}, upper corner {high}")

# %% id="column-answer" answer="maps.column"
last = [None, None, None, None, None, None, None, None, None]  # w, h, n of copy 0, then of copy 1, then of copy 2
### BEGIN SOLUTION
last = []
for (wide, tall, _), low, high, pixels, (w, h, n) in walks:
    for _ in range(pixels - 1):
        w += 1
        if w > wide - 1 + high[0]:
            w, h = low[0], h + 1
        if h > tall - 1 + high[1]:
            h, n = low[1], n + 1
    last += [w, h, n]
### END SOLUTION

# %% id="column-check" check="maps.column"
grader.check("maps.column", last)

# %% [markdown] id="interleave"
# **Interleave.** Some libraries keep channels in slices of 16 or 32 bytes: all pixels with their first eight fp16
# channels, then all with the next eight (NC/8HWC8). With `INTERLEAVE_16B` the first dimension counts *slices*, one for
# each pixel of a row, and the dimension before the last counts the slices of a pixel's channels, of which a copy takes
# one. The next cell loads 8 x 2 pixels of slice 1. You will rarely need it: tensors of today keep their channels
# together.

# %% id="interleave-run"
sliced = np.arange(2 * 10 * 12 * 8, dtype=np.float16).reshape(2, 10, 12, 8)  # slice, row, column, 8 channels
slices = TensorMap(
    DataType.FLOAT16, 0x10000000, (12, 10, 2, 1), (192, 1920, 3840), (8, 2, 1, 1), interleave=Interleave.B16
)
image = reference.load(slices, (3, 5, 1, 0), sliced.view(np.uint8).ravel())
same = np.array_equal(image.data.view(np.float16).reshape(2, 8, 8), sliced[1, 5:7, 3:11])
print(slices.transaction_bytes, "bytes, those of slice 1:", same)

# %% [markdown] id="limits"
# ## 3. Limits
#
# The driver encodes a map into 128 bytes, and refuses what does not fit. It says `CUDA_ERROR_INVALID_VALUE`, whatever
# is wrong. The rules are few, and most have a reason in the hardware. Here they are, as the library has them; it
# judged maps near each limit as the driver did.

# %% id="limits-rules"
from tmalab.tensor_map_rules import RULES
from tmalab.texts import text

for rule in RULES:
    print(f"{rule.name:20} {text(rule.why)}")

# %% [markdown] id="doctor"
# `python3 -m tmalab map FILE` is a doctor for maps: from JSON, or from the 128 bytes as a debugger prints them. In a
# notebook `judge` does the same.

# %% id="doctor-run"
fields = {"data_type": "FLOAT16", "global_address": 4096, "global_dim": [100, 64], "global_strides": [200]}
for rule, sentence in judge(json.dumps(fields | {"box_dim": [80, 8], "swizzle": "B128"})).violations:
    print(f"{rule}: {sentence}\n")

# %% [markdown] id="doctor-task"
# ### Exercise 5: ten maps from practice (5 points)
#
# Ten maps that people have written, each with what was wanted. What is wrong? Decide before you ask the doctor; one of
# them it will find nothing wrong with.
#
# - `"a"` an address or a stride is no multiple of 16 bytes
# - `"b"` a row of the box is no multiple of 16 bytes
# - `"c"` a row of the box is longer than the swizzle's span
# - `"d"` the box is too long along one dimension
# - `"e"` the box is too large for shared memory
# - `"f"` the element type does not go with an option
# - `"g"` there are too few or too many entries
# - `"h"` a step is too large
# - `"i"` the map is legal, and describes another tile

# %% id="doctor-questions"
patients = grader.questions("maps.doctor")
for number, (wanted, arguments) in enumerate(patients):
    print(f"map {number}: {wanted}\n    {arguments}")

# %% id="doctor-answer" answer="maps.doctor"
diagnoses = [None] * 10  # letters, in the order of the maps
### BEGIN SOLUTION
LETTER_OF = {"stride-multiple": "a", "address-multiple": "a", "box-row-multiple": "b", "swizzle-span": "c"}
LETTER_OF |= {"box-range": "d", "box-bytes": "e", "nan-fill": "f", "stride-count": "g", "element-stride-range": "h"}
diagnoses = []
for _, arguments in patients:
    broken = judge(json.dumps(arguments)).violations
    diagnoses.append(LETTER_OF[broken[0][0]] if broken else "i")
### END SOLUTION

# %% id="doctor-check" check="maps.doctor"
grader.check("maps.doctor", diagnoses)

# %% [markdown] id="mend-task"
# ### Exercise 6: mend four of them (4 points)
#
# A rule that is broken can mostly be got around. Write a map for each of these: a `TensorMap`, or a dict of its
# arguments (the address is not asked for). It must be legal, cover the whole tensor, and its copy at the origin must
# bring the tile, row by row and without a swizzle. The next cell has the sizes.
#
# - `padded`: a matrix of fp16. Its owner has moved the rows apart: each now begins at the first multiple of 16 bytes
#   after the end of the one before.
# - `long`: rows of bytes, and a tile whose rows are long. It must come in *one* copy.
# - `steps`: a matrix of fp32, of which only some rows are wanted, as a tensor that has no others; a tile is 8 of these, with
#   all columns.
# - `flipped`: a matrix of fp16. Somebody had exchanged rows and columns.

# %% id="mend-sizes"
sizes = grader.questions("maps.mend")
for name in ("padded", "flipped"):
    rows, columns, tile_columns = sizes[name]
    print(f"{name}: {rows} rows and {columns:,} columns of fp16; a tile is 8 rows of {tile_columns} columns")
long_rows, row_bytes, tile_bytes = sizes["long"]
print(f"long: {long_rows} rows of {row_bytes:,} bytes; a tile is 8 rows of {tile_bytes} bytes")
step_rows, step_columns, every = sizes["steps"]
print(f"steps: {step_rows} rows and {step_columns} columns of fp32; one row in {every} is wanted, {step_rows // every} in all")

# %% id="mend-answer" answer="maps.mend"
mended = {"padded": None, "long": None, "steps": None, "flipped": None}
### BEGIN SOLUTION
def described(data_type, sizes, strides, box):
    return {"data_type": data_type, "global_dim": sizes, "global_strides": strides, "box_dim": box}


padded_rows, padded_columns, padded_tile = sizes["padded"]
flipped_rows, flipped_columns, flipped_tile = sizes["flipped"]
pitch = -(-2 * padded_columns // 16) * 16
kept = step_columns, step_rows // every
mended = {
    "padded": described(DataType.FLOAT16, (padded_columns, padded_rows), (pitch,), (padded_tile, 8)),
    "long": described(DataType.UINT16, (row_bytes // 2, long_rows), (row_bytes,), (tile_bytes // 2, 8)),
    "steps": described(DataType.FLOAT32, kept, (every * 4 * step_columns,), (step_columns, 8)),
    "flipped": described(DataType.FLOAT16, (flipped_columns, flipped_rows), (2 * flipped_columns,), (flipped_tile, 8)),
}
### END SOLUTION

# %% id="mend-check" check="maps.mend"
grader.check("maps.mend", mended)

# %% [markdown] id="life"
# ## 4. Where a map may live
#
# So far each map was an argument of the kernel: 128 bytes among its parameters, which the copy engine can read from
# the start, and which nobody can change. (In C++ such a parameter is declared `const __grid_constant__ CUtensorMap`.)
# A kernel that works on many tensors may want them in **global memory** instead: as an array of which it picks a row.
#
# The copy engine reads maps through a cache of its own, by the **tensormap proxy**. Nothing that is written to memory
# reaches it by itself, not even what the host wrote before the launch. A CTA that uses such a map must **acquire** it:
#
#     ptx.fence_proxy_tensormap_acquire_sys(maps[i])    what the host has written
#     ptx.fence_proxy_tensormap_acquire(maps[i])        what was written on this GPU, and released by who wrote it
#
# The kernel below forgets it. Predict: are the bytes right? What does the run say?
#
# *My guess:*

# %% id="life-reveal"
@kernel
def without_acquire(maps, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[1], 0, 6, 3, 1, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


others = 10_000 + np.arange(3 * 8 * 16 * CHANNELS, dtype=np.float32).reshape(3, 8, 16, CHANNELS)
album = map_rows(TensorMap.from_array(each, (1, PATCH, PATCH, CHANNELS)) for each in (others, photos))
out = np.full((PATCH, PATCH, CHANNELS), -1, np.float32)
run = without_acquire.run(block=64, args=(album, out))
print("the bytes are right:", np.array_equal(out, photos[1, 3:7, 6:10]))
print(run)

# %% [markdown] id="life-task"
# ### Exercise 7: what does it need? (3 points)
#
# Six places for a map. What must a kernel do before its copies use it?
#
# - `"a"` nothing
# - `"b"` acquire it at system scope
# - `"c"` release it where it was written, and acquire it where it is used
# - `"d"` copies can't use a map there

# %% id="life-questions"
homes = grader.questions("maps.life")
for number, home in enumerate(homes):
    print(f"{number}: {home}")

# %% id="life-answer" answer="maps.life"
needs = [None, None, None, None, None, None]  # letters, in the order of the questions
### BEGIN SOLUTION
def need(home):
    if "shared" in home or "local" in home:
        return "d"
    if "host" in home and "global" in home:
        return "b"
    return "c" if "global" in home else "a"


needs = [need(home) for home in homes]
### END SOLUTION

# %% id="life-check" check="maps.life"
grader.check("maps.life", needs)

# %% [markdown] id="rows-task"
# ### Exercise 8: a map out of an array (5 points)
#
# `copy_from` does what `copy_patch` did, with the map in row `which` of `maps`. The tensors behind the maps have
# different shapes; the kernel need not know.

# %% id="rows-answer" answer="maps.rows"
@kernel
def copy_from(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.fence_proxy_tensormap_acquire_sys(maps[which])
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]
    ### END SOLUTION

# %% id="rows-try"
out = np.full((PATCH, PATCH, CHANNELS), -1, np.float32)
run = copy_from.run(block=64, args=(album, 1, 1, 3, 6, out))
print(run)
print(f"elements that are right: {np.count_nonzero(out == photos[1, 3:7, 6:10])} of {out.size}")

# %% id="rows-check" check="maps.rows"
grader.check("maps.rows", copy_from)

# %% [markdown] id="replace"
# ## 5. Replacing an address
#
# Tensors that differ only in where they begin need no map each. On the host `tensor_map.with_address(...)` gives the
# map of another place (the driver has `cuTensorMapReplaceAddress`). And a kernel may edit a map itself, field by
# field:
#
#     ptx.tensormap_replace_global_address(own[0], images[k])    an array stands for the address of its first element
#
# `own[0]` is a map in global memory, here a row of 128 bytes that belongs to the kernel. Nobody checks what is
# written: a wrong field shows itself only when a copy faults. Three things keep an edit in order:
#
# 1. **Before it**: every copy that uses the map is complete. The engine may look at the map until then.
# 2. **After it**: `ptx.fence_proxy_tensormap_release()`, by the thread that edited.
# 3. **Before the next copy**: `ptx.fence_proxy_tensormap_acquire(own[0])`.
#
# Which fields can be replaced, and what is checked? The next cell asks the recordings, in which an H200 made edits
# that no driver would have made.

# %% id="replace-recorded"
edits = recorded.read("map-edits")
fields_edited = {}
for case in edits.cases:
    for field, *_ in case.edits:
        fields_edited[field] = fields_edited.get(field, 0) + 1
print(f"{len(edits.cases)} maps, edited on an {edits.provenance['gpu']} on {edits.provenance['date']}:")
for field, count in sorted(fields_edited.items()):
    print(f"  {field:20} {count} times")

# %% [markdown] id="each-task"
# ### Exercise 9: image after image (6 points)
#
# `images` is a stack of `steps` images. `maps[0]` is a map of rank 3 of the first of them, made by the host.
# `copy_each` copies the patch at row `h`, column `w` of *each* image to `out[k]`, through a map of its own in
# `own[0]`, whose address it replaces in each round. The first lines are there: thread 0 copies the host's map, byte by
# byte. Reading `maps[0]` as memory needs no fence; it is a copy *through* a map that does.

# %% id="each-setup"
stack = photos[[0, 1, 0]] + np.array([0, 0, 5000], np.float32)[:, None, None, None]
first_map = map_rows([TensorMap.from_array(stack[0], (PATCH, PATCH, CHANNELS))])
own = np.zeros((1, 128), np.uint8)

# %% id="each-answer" answer="maps.each"
@kernel
def copy_each(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    ### BEGIN SOLUTION
    for k in range(steps):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_release()
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()
    ### END SOLUTION

# %% id="each-try"
out = np.full((3, PATCH, PATCH, CHANNELS), -1, np.float32)
run = copy_each.run(block=64, args=(first_map, own, stack, 3, 3, 6, out))
print(run)
print(f"images that are right: {(out == stack[:, 3:7, 6:10]).reshape(3, -1).all(axis=1).tolist()}")

# %% id="each-check" check="maps.each"
grader.check("maps.each", copy_each)

# %% [markdown] id="hunt"
# ## 6. Bug hunt
#
# Four kernels, each with one mistake. Read each before you run the cell below them. Then say in exercise 10 which
# mistake it is. The next cell lists the mistakes.

# %% id="hunt-causes"
causes = grader.questions("maps.hunt")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hunt-kernels"
@kernel
def bug_a(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, h, w, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[0, row, column, channel] = tile[row, column, channel]


@kernel
def bug_b(thinned_map, n, h, w, out):  # every second of 8 x 8 pixels
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 4 * PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, thinned_map, 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[0, row, column, channel] = tile[row, column, channel]


@kernel
def bug_c(maps, own, images, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(2):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_acq_rel_gpu()
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


@kernel
def bug_d(maps, own, images, h, w, out):
    tile = cuda.shared.array((2, PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(2)
    thread = cuda.threadIdx.x
    if thread == 0:
        for k in range(2):
            ptx.mbarrier_init(full[k], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
        for k in range(2):  # both loads at once, each with a buffer and a barrier of its own
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_release()
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[k], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile[k], own[0], 0, w, h, full[k])
    cuda.syncthreads()
    for k in range(2):
        ptx.mbarrier_wait_parity(full[k], 0)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[k, row, column, channel]

# %% id="hunt-run"
def try_suspect(suspect):
    """Run one of them: its run, what it wrote, what it should have."""
    wrote = np.full((2, PATCH, PATCH, CHANNELS), -1, np.float32)
    if suspect in (bug_a, bug_b):
        step = 2 if suspect is bug_b else 1
        box, steps = (CHANNELS, step * PATCH, step * PATCH, 1), (1, step, step, 1)
        its_map = TensorMap(DataType.FLOAT32, 0x10000000, photo_map.global_dim, photo_map.global_strides, box, steps)
        run = suspect.run(block=64, args=(its_map.bind(photos), 1, 1, 3, wrote))
        return run, wrote[:1], photos[1:, 1 : 1 + step * PATCH : step, 3 : 3 + step * PATCH : step]
    return suspect.run(block=64, args=(first_map, own, stack, 1, 3, wrote)), wrote, stack[:2, 1:5, 3:7]


for suspect in (bug_a, bug_b, bug_c, bug_d):
    run, wrote, wanted = try_suspect(suspect)
    same = np.count_nonzero(wrote == wanted)
    print(f"--- {suspect.__name__}: {same:,} of {wanted.size:,} elements right", run, "", sep="\n")

# %% [markdown] id="hunt-task"
# ### Exercise 10: name the mistakes (4 points)

# %% id="hunt-answer" answer="maps.hunt"
culprits = {"bug_a": None, "bug_b": None, "bug_c": None, "bug_d": None}
### BEGIN SOLUTION
letters = dict(zip("abcdef", causes))  # of the public course, and yours
culprits = {"bug_a": letters["a"], "bug_b": letters["c"], "bug_c": letters["d"], "bug_d": letters["f"]}
### END SOLUTION

# %% id="hunt-check" check="maps.hunt"
grader.check("maps.hunt", culprits)

# %% [markdown] id="hunt-mend"
# Mend all four in the cell with the kernels, and run the next one again, until every element is right and nothing is
# reported. For `bug_d` there are two ways: wait in between, or a map for each load.

# %% [markdown] id="summary"
# ## Summary
#
# A map is sizes, strides in bytes, a box, and steps, all innermost first. Sizes say where the tensor ends, the box how
# far a copy reaches, steps what of it comes. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | sizes or coordinates in NumPy's order | another tile; sometimes a fault |
# | a promise of the whole box where steps thin it | it hangs; `too-many-bytes` |
# | a step in the innermost dimension | it is ignored; the map warns |
# | rows that are no multiple of 16 bytes | the driver refuses the map; pad them, or choose another type |
# | more than 256 elements along a side | refused; a wider type, or one more dimension |
# | an instruction of another rank than the map's | a fault |
# | a map in global memory that is not acquired | mostly nothing; `map-not-acquired` |
# | an edit without release, or while a copy is under way | an old map, or half of a new one; `map-not-acquired`, `map-edited` |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - `print(photo_map.encode().hex())` are the 128 bytes. Change one size and see which change. The documentation has the
#   table of all fields, found by asking the driver.
# - Strides may be shorter than what lies inside, so that rows overlap: describe all windows of 8 numbers of a long row
#   as a tensor of rank 2. Which windows can be reached, and why not all? The last cell does it.
# - A map of rank 5 can hold (head, position, batch...) of an attention layer. Which order of dimensions makes the tile
#   of one head a single copy?
# - In C++: pass the struct by value as `const __grid_constant__ CUtensorMap map`, and take `&map` in the kernel. What
#   goes wrong if `__grid_constant__` is left out, and the compiler makes a copy in local memory?

# %% id="deeper-windows"
numbers = np.arange(64, dtype=np.float32)
windows = TensorMap(DataType.FLOAT32, 0x10000000, (8, 15), (16,), (8, 15))
seen = reference.load(windows, (0, 0), numbers.view(np.uint8)).data.view(np.float32).reshape(15, 8)
print(seen[:3], *windows.warnings, sep="\n")
