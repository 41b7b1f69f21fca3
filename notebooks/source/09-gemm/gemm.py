# The ninth lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 9: the pipelined GEMM
#
# Everything so far was about bringing tiles; here they are put to use. A matrix product is what TMA was made for: the
# tensor core multiplies faster than threads could ever load, and it reads its operands from shared memory, in the very
# layout in which a load has left them. You build **one** kernel, in five steps: one tile, one stage, a ring, roles,
# and at last a kernel that stays. At the end you see what each step brings on an H200, beside cuBLAS.
#
# Afterwards you can
#
# - write the descriptor that tells the tensor core where a swizzled tile lies, and move it on,
# - say what the fence, the commit and the wait of a wgmma are for, and what goes wrong without each,
# - keep the tensor core busy: loads ahead of it, and the next step issued before it is done with one,
# - give loads and multiplication to different warps, and hand stages back in time,
# - write a persistent kernel whose results leave by TMA while the next tile is loaded,
# - say why a large tile is fast, and what each step of the ladder is good for.
#
# It takes about 90 minutes. You need lessons 2, 5 and 7.

# %% id="setup"
import numpy as np
from numba import cuda

import grader
from tmalab import DataType, Swizzle, TensorMap, device, kernel, ptx
from tmalab.figures import GemmFigure, PipelineFigure
from tmalab.wgmma_descriptor import WgmmaDescriptor

BM, BN, BK = 64, 64, 64  # of a tile: rows of A, rows of B, and how far both reach along K
STAGE_BYTES = (BM + BN) * BK * 2  # of bf16
STAGES = 3
BYTES_8_ROWS = 8 * BK * 2
NEXT_K = 2  # added to a descriptor: 16 columns on


def bf16(x):
    """The bits of small whole numbers as bf16, which is the upper half of float32."""
    return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def product(a, b):
    """What A times B transposed must be, from the bits of both."""
    a, b = ((each.astype(np.uint32) << 16).view(np.float32) for each in (a, b))
    return a @ b.T


def maps_of(a, b, swizzle=Swizzle.B128):
    """The maps of A and B, in tiles of 64 rows and 64 columns: 128 bytes, the span of the swizzle."""
    return [TensorMap.from_array(each, (64, BK), swizzle, DataType.BFLOAT16) for each in (a, b)]


def compare(seen, expected):
    """How many elements are right, in words."""
    return f"{np.count_nonzero(seen == expected):,} of {seen.size:,} elements right"


rng = np.random.default_rng(9)
A, B = bf16(rng.integers(-8, 9, (64, 256))), bf16(rng.integers(-8, 9, (64, 256)))
A_MAP, B_MAP = maps_of(A, B)

# %% [markdown] id="wgmma"
# ## 1. Where the tensor core looks
#
# `wgmma` multiplies for a **warpgroup**: 128 threads, four warps, which execute it together. One instruction takes 64
# rows of A and N rows of B, both 16 columns of bf16 long (K), and adds all 64 x N sums of products to an
# **accumulator**, which lies in the registers of the 128 threads: with N = 64 each has 32 of them.
#
#     acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a, desc_b, 1)       C = A B' + C
#
# The last operand says whether it adds: with 0 in place of 1 the product replaces what the accumulator held.
#
# A and B are no arguments of the usual kind. The tensor core reads them from shared memory itself, and what it is given
# is a **descriptor**: 64 bits that say where the tile lies, and how.
#
# | bits | what | in units of |
# |---|---|---|
# | 0 to 13 | the address | 16 bytes |
# | 16 to 29 | the *leading* offset; not used with a swizzle and rows along K | 16 bytes |
# | 32 to 45 | the *stride* offset: from 8 rows to the next 8 | 16 bytes |
# | 49 to 51 | the base offset; 0 where the tile begins where the swizzle's pattern does | |
# | 62 and 63 | the swizzle: 0 none, **1 128B, 2 64B, 3 32B** | |
#
# In a tile that was loaded with a swizzle each row takes the swizzle's span, so that 8 rows take 8 spans. Note the
# order of the swizzles: a tensor map counts them the other way round.

# %% [markdown] id="descriptor-task"
# ### Exercise 1: a descriptor (4 points)
#
# Write the function that makes the descriptor of a tile that begins at `address` of shared memory, and was loaded with
# the swizzle that has a span of `span` bytes: 128, 64 or 32. The result is a number from 0 to 2**64 - 1. Two points are
# for the 128B swizzle alone.

# %% id="descriptor-answer" answer="gemm.descriptor"
def descriptor(address, span):
    """The 64 bits."""
    ### BEGIN SOLUTION
    swizzle = {128: 1, 64: 2, 32: 3}[span]
    return address // 16 | 8 * span // 16 << 32 | swizzle << 62
    ### END SOLUTION

# %% id="descriptor-look"
made = descriptor(0x8400, 128)
print("nothing yet" if made is None else WgmmaDescriptor.decode(made))

# %% id="descriptor-check" check="gemm.descriptor"
grader.check("gemm.descriptor", descriptor)

# %% [markdown] id="steps-text"
# In a kernel `ptx.wgmma_descriptor(tile, Swizzle.B128, stride_bytes)` does the same. But a wgmma takes 16 columns, and
# a tile has 64: four instructions, each of which begins further on. No new descriptor is needed for that: the address
# stands in its lowest bits, so one **adds** to it. The swizzle is no obstacle, since it is applied to addresses, and
# not to the tile (lesson 2): the tensor core adds up the address first, and exchanges bits then.

# %% [markdown] id="steps-task"
# ### Exercise 2: moving on (3 points)
#
# What is added to a descriptor, to get where each of these is? All tiles are bf16, 64 columns wide, with the 128B
# swizzle.

# %% id="steps-questions"
moves = grader.questions("gemm.steps")
for number, move in enumerate(moves):
    print(f"{number}: {move}")

# %% id="steps-answer" answer="gemm.steps"
added = [None, None, None, None, None]  # in the order of the questions


### BEGIN SOLUTION
def added_for(move):
    numbers = [int(word) for word in move.replace(",", "").split() if word.isdigit()]
    row_bytes = 128
    if "columns" in move.split(":")[0]:
        return numbers[0] * 2 // 16
    return numbers[0] * (numbers[1] if "stage" in move else 1) * row_bytes // 16


added = [added_for(move) for move in moves]
### END SOLUTION

# %% id="steps-check" check="gemm.steps"
grader.check("gemm.steps", added)

# %% [markdown] id="first"
# ## 2. The first product
#
# A wgmma is asynchronous, like a load. Four things go with it:
#
# - `ptx.wgmma_fence()` **before** the first one: what the threads have done to the accumulator's registers is done.
# - `ptx.wgmma_commit_group()` after the last one: those so far make a group.
# - `ptx.wgmma_wait_group(0)`: until at most 0 groups are under way. Only then may the accumulator be read, and only
#   then may the tiles be overwritten.
# - no `fence_proxy_async`: the tiles were written by a load, and both belong to the asynchronous proxy. (If threads had
#   written them, it would be owed.)
#
# All four warps execute all of these. `ptx.wgmma_zero_64()` makes an accumulator of zeros. Which element of C is in
# which register looks strange, and is always the same: the helper below writes all of them out.

# %% id="first-helper"
@device
def write_out(acc, c, row, column, thread):
    """Write a warpgroup's 64 x 64 sums to c, from (row, column) on; `thread` is 0 to 127."""
    row += thread // 32 * 16 + thread % 32 // 4
    column += thread % 4 * 2
    for i in range(32):
        r = row + i // 2 % 2 * 8
        j = column + i // 4 * 8 + i % 2
        if r < c.shape[0] and j < c.shape[1]:
            c[r, j] = acc[i]

# %% [markdown] id="multiply-task"
# ### Exercise 3: one tile (6 points)
#
# `multiply` is launched with 128 threads. It loads the first 64 columns of A and of B (64 rows each) through their
# maps, and writes their product to `c` (float32). Everything you need is above, and in lesson 1: one barrier, one
# promise for both loads. The check tries smaller matrices as well: what lies outside arrives as zeros, and `write_out`
# leaves out what `c` does not have.

# %% id="multiply-answer" answer="gemm.multiply"
@kernel
def multiply(a_map, b_map, c):
    a = cuda.shared.array((BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], STAGE_BYTES)
        ptx.cp_async_bulk_tensor_2d(a, a_map, 0, 0, full[0])
        ptx.cp_async_bulk_tensor_2d(b, b_map, 0, 0, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    desc_a = ptx.wgmma_descriptor(a, Swizzle.B128, BYTES_8_ROWS)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, BYTES_8_ROWS)
    acc = ptx.wgmma_zero_64()
    ptx.wgmma_fence()
    for i in range(BK // 16):
        acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    write_out(acc, c, 0, 0, thread)
    ### END SOLUTION

# %% id="multiply-try"
c = np.full((BM, BN), -1, np.float32)
run = multiply.run(block=128, args=(A_MAP, B_MAP, c))
print(run)
print(compare(c, product(A[:, :BK], B[:, :BK])))

# %% id="multiply-check" check="gemm.multiply"
grader.check("gemm.multiply", multiply)

# %% [markdown] id="disagree"
# Copy and descriptor must agree. Here the same kernel gets maps *without* a swizzle, while its descriptors still say
# 128B: the tensor core exchanges the chunks of each row, though nobody had exchanged them. A and B are both read
# wrongly, in the same way. Predict: which elements of C are right all the same? (Row r has its chunks exchanged by r %
# 8.)
#
# *My guess:*

# %% id="disagree-run"
c = np.full((BM, BN), -1, np.float32)
run = multiply.run(block=128, args=(*maps_of(A, B, Swizzle.NONE), c))
print(run.hazards[0].message if run.hazards else "nothing is reported")
right = c == product(A[:, :BK], B[:, :BK])
print("\nrows 0 to 15, columns 0 to 31 of C, right where there is a #")
for row in right[:16, :32]:
    print("".join("#" if element else "." for element in row))

# %% [markdown] id="disagree-why"
# Where row r of A and row s of B are exchanged alike, r % 8 == s % 8, each number still meets its partner: only the order
# of the sum has changed. An eighth of C is right, and a tensor core reports nothing. So test with more than one element.

# %% [markdown] id="one-stage"
# ## 3. Along K, with one stage
#
# Matrices are longer than 64 columns. The kernel goes along K in steps of 64: load, wait, multiply, wait, and again;
# the accumulator stays where it is, and a wgmma adds to it. And C is wider than one tile: each CTA computes another
# one.
#
# A matrix whose K is no multiple of 64 needs no care: what lies outside arrives as zeros, and counts as bytes.

# %% [markdown] id="one-stage-task"
# ### Exercise 4: one stage (6 points)
#
# `gemm_one_stage` is launched with several CTAs of 128 threads. CTA i computes columns 64i to 64i + 63 of `c`: all of
# A's rows (64 at most) times rows 64i to 64i + 63 of B, along all of `k`. Use the two tiles and the one barrier that
# are there.

# %% id="one-stage-answer" answer="gemm.one-stage"
@kernel
def gemm_one_stage(a_map, b_map, k, c):
    a = cuda.shared.array((BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    steps = (k + BK - 1) // BK
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    column = cuda.blockIdx.x * BN
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    desc_a = ptx.wgmma_descriptor(a, Swizzle.B128, BYTES_8_ROWS)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, BYTES_8_ROWS)
    acc = ptx.wgmma_zero_64()
    for step in range(steps):
        if thread == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], STAGE_BYTES)
            ptx.cp_async_bulk_tensor_2d(a, a_map, step * BK, 0, full[0])
            ptx.cp_async_bulk_tensor_2d(b, b_map, step * BK, column, full[0])
        ptx.mbarrier_wait_parity(full[0], step % 2)
        ptx.wgmma_fence()
        for i in range(BK // 16):
            acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
    write_out(acc, c, 0, column, thread)
    ### END SOLUTION

# %% id="one-stage-try"
def try_gemm(built, block):
    """Run a kernel for one tile on all four steps of A and B: its run."""
    c = np.full((BM, BN), -1, np.float32)
    run = built.run(block=block, args=(A_MAP, B_MAP, A.shape[1], c))
    print(run)
    print(compare(c, product(A, B)))
    return run


one_stage_run = try_gemm(gemm_one_stage, 128)

# %% id="one-stage-check" check="gemm.one-stage"
grader.check("gemm.one-stage", gemm_one_stage)

# %% [markdown] id="busy"
# No barrier says that the tiles may be overwritten, and none is needed: the wait for a wgmma is a wait for what all
# four warps have issued.
#
# Predict: for which part of the time, in percent, is the tensor core busy with this kernel?
#
# *My guess:*

# %% id="busy-run"
def busy(run):
    """What the timeline says of the tensor core, in words."""
    found = run.timeline
    lost, works = sum(bubble.duration for bubble in found.bubbles()), found.busy("tensor core")
    share = 100 * works / found.duration if found.duration else 0
    return f"{found.duration:6,.0f} ns; the tensor core is busy for {share:2.0f} %, and has {lost:5,.0f} ns of bubbles"


print("one stage: ", busy(one_stage_run))

# %% [markdown] id="tiles"
# ## 4. How large a tile?
#
# Before the bubbles are removed, look at how much must be loaded at all. Each CTA loads, for its tile of BM x BN
# elements of C, BM rows of A and BN rows of B in full length. So every row of A is loaded once for each column of
# tiles, and every row of B once for each row of tiles. Where a pair of CTAs in a cluster shares the tile of B (lesson
# 8), only half of it is loaded by each.

# %% [markdown] id="tiles-task"
# ### Exercise 5: what is loaded (3 points)
#
# How many **MiB** (2**20 bytes) do the loads of all CTAs together bring from L2, for one product C = A B'? A has m
# rows, B has n rows, both k columns of bf16. Each is a whole number.

# %% id="tiles-questions"
tilings = grader.questions("gemm.tiles")
for number, tiling in enumerate(tilings):
    print(f"{number}: {tiling}")

# %% id="tiles-answer" answer="gemm.tiles"
mebibytes = [None, None, None, None, None]  # in the order of the questions


### BEGIN SOLUTION
def mebibytes_of(tiling):
    numbers = [int(word) for word in tiling.replace(",", "").replace(":", "").split() if word.isdigit()]
    m, n, k, bm, bn = numbers[:5]
    pair = 2 if "pairs" in tiling else 1
    tiles = (m // bm) * (n // bn)
    return tiles * (bm + bn // pair) * k * 2 // 2**20


mebibytes = [mebibytes_of(tiling) for tiling in tilings]
### END SOLUTION

# %% id="tiles-check" check="gemm.tiles"
grader.check("gemm.tiles", mebibytes)

# %% [markdown] id="tiles-reveal"
# Which tile is the best for which product? The next cell shows what was measured: for each product the fastest of the
# shapes that were tried. Predict: which product will *not* want the largest tile?
#
# *My guess:*

# %% id="tiles-measured"
from tmalab.bench.command import recorded
from tmalab.timing.measured import Measured

tiles = recorded("tiles")
print(f"{tiles['provenance']['gpu']}, recorded on {tiles['provenance']['date']}")
print(f"{Measured.read().sms} SMs; TFLOP/s of the fastest shape, and of the largest tile")
for found in tiles["cases"]:
    shapes = {name: tried for name, tried in found["contenders"].items() if name != found["reference"]}
    ordered = sorted(shapes.items(), key=lambda item: item[1]["speed"])
    large = [tried["speed"] for name, tried in ordered if name.startswith("128 x 256")]
    fast, high = ordered[-1]
    count = -(-found["case"][0] // 128) * -(-found["case"][1] // 256)
    sizes = " x ".join(f"{size:,}" for size in found["case"])
    print(f"{sizes:22} {high['speed']:4.0f}  {fast:52} {large[-1]:4.0f}  {count:5,} tiles of 128 x 256")

# %% [markdown] id="tiles-why"
# The smallest product has far fewer large tiles than there are SMs, so most of them would have nothing to do: there
# smaller tiles win, though they load more. Among the large products 128 x 128 and 128 x 256 are close to each other, and
# either may be ahead: both load little enough, and how far the chip's power lets its clock go decides more.

# %% [markdown] id="ahead"
# ## 5. Running ahead
#
# The ring of lesson 7, with a tensor core at its end. Loads run ahead through three stages; and there is a second thing
# to overlap. If every step ends with `wgmma_wait_group(0)`, the tensor core has nothing to do until the threads have
# looked at the next barrier and issued the next step. So leave the newest group running: **`wgmma_wait_group(1)`**
# returns when all but the newest are done. That means two things:
#
# - the tensor core always has its next step in hand,
# - when step s has been issued, only step s - 1 is known to be done. Only *its* stage may be loaded anew: **one step
#   late**.
#
# So of three stages one is being multiplied, and two may be under way. After the last step wait for everything.

# %% [markdown] id="ahead-task"
# ### Exercise 6: a ring (8 points)
#
# `gemm_ahead` computes the same as `gemm_one_stage`, with `STAGES` stages. One thread issues loads in passing, as in
# exercise 3 of lesson 7. It is launched with one CTA of 128 threads here, so that the check is quick, and with fewer
# steps than stages, too. One point is for **loads ahead** (of two stages: four loads are under way at once), two for
# the **overlap**: the check counts the steps that are issued while the tensor core still multiplies the step before.

# %% id="ahead-answer" answer="gemm.ahead"
@kernel
def gemm_ahead(a_map, b_map, k, c):
    a = cuda.shared.array((STAGES, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    steps = (k + BK - 1) // BK
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    column = cuda.blockIdx.x * BN
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for step in range(min(STAGES - 1, steps)):
            ptx.mbarrier_arrive_expect_tx(full[step], STAGE_BYTES)
            ptx.cp_async_bulk_tensor_2d(a[step], a_map, step * BK, 0, full[step])
            ptx.cp_async_bulk_tensor_2d(b[step], b_map, step * BK, column, full[step])
    cuda.syncthreads()
    acc = ptx.wgmma_zero_64()
    for step in range(steps):
        s = step % STAGES
        ptx.mbarrier_wait_parity(full[s], step // STAGES % 2)
        desc_a = ptx.wgmma_descriptor(a[s], Swizzle.B128, BYTES_8_ROWS)
        desc_b = ptx.wgmma_descriptor(b[s], Swizzle.B128, BYTES_8_ROWS)
        ptx.wgmma_fence()
        for i in range(BK // 16):
            acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(1)
        ahead = step + STAGES - 1
        if thread == 0 and ahead < steps:
            free = ahead % STAGES
            ptx.mbarrier_arrive_expect_tx(full[free], STAGE_BYTES)
            ptx.cp_async_bulk_tensor_2d(a[free], a_map, ahead * BK, 0, full[free])
            ptx.cp_async_bulk_tensor_2d(b[free], b_map, ahead * BK, column, full[free])
    ptx.wgmma_wait_group(0)
    write_out(acc, c, 0, column, thread)
    ### END SOLUTION

# %% id="ahead-try"
ahead_run = try_gemm(gemm_ahead, 128)

# %% id="ahead-check" check="gemm.ahead"
grader.check("gemm.ahead", gemm_ahead)

# %% [markdown] id="roles"
# ## 6. Roles
#
# Now the loads move to a warp of their own: **warp specialization**. The producer waits for empty stages and fills
# them, and does nothing else; the warpgroup that multiplies never issues a load. Stages are handed back by an arrive on
# `empty`: by *one* thread of the warpgroup, after its wait for the wgmma, which speaks for all four warps. Again one
# step late: with step s issued, hand back the stage of step s - 1.
#
# In the large kernels there are two such warpgroups, which share each tile of B. The producer gives most of its
# registers to them (`ptx.setmaxnreg_dec` and `_inc`), since the accumulators of 128 x 256 elements need 128 registers
# of each consumer.

# %% [markdown] id="roles-task"
# ### Exercise 7: producer and consumers (8 points)
#
# `gemm_roles` is launched with one CTA of 160 threads: 0 to 127 multiply, warp 4 is the producer's. Three stages, a
# full and an empty barrier each; after the barriers are made nobody meets at a `syncthreads` again. All six loads of
# three stages must be under way at once at some time, and the steps must overlap as before.

# %% id="roles-answer" answer="gemm.roles"
@kernel
def gemm_roles(a_map, b_map, k, c):
    a = cuda.shared.array((STAGES, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    steps = (k + BK - 1) // BK
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    column = cuda.blockIdx.x * BN
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 128:
        for step in range(steps):
            s = step % STAGES
            ptx.mbarrier_wait_parity(empty[s], step // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], STAGE_BYTES)
            ptx.cp_async_bulk_tensor_2d(a[s], a_map, step * BK, 0, full[s])
            ptx.cp_async_bulk_tensor_2d(b[s], b_map, step * BK, column, full[s])
    elif thread < 128:
        acc = ptx.wgmma_zero_64()
        for step in range(steps):
            s = step % STAGES
            ptx.mbarrier_wait_parity(full[s], step // STAGES % 2)
            desc_a = ptx.wgmma_descriptor(a[s], Swizzle.B128, BYTES_8_ROWS)
            desc_b = ptx.wgmma_descriptor(b[s], Swizzle.B128, BYTES_8_ROWS)
            ptx.wgmma_fence()
            for i in range(BK // 16):
                acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(1)
            if thread == 0 and step > 0:
                ptx.mbarrier_arrive(empty[(step - 1) % STAGES])
        ptx.wgmma_wait_group(0)
        write_out(acc, c, 0, column, thread)
    ### END SOLUTION

# %% id="roles-try"
roles_run = try_gemm(gemm_roles, 160)

# %% id="roles-check" check="gemm.roles"
grader.check("gemm.roles", gemm_roles)

# %% [markdown] id="roles-compare"
# Below are the three kernels on the same product, and their timelines: one stage, and roles. Look for the bubbles in
# the row of the tensor core. A product of one tile and four steps is mostly beginning and end: roles may be no faster
# here than the ring, and show what they bring in long products (section 8). The next section is about both ends.

# %% id="roles-busy"
print("one stage: ", busy(one_stage_run))
print("a ring:    ", busy(ahead_run))
print("roles:     ", busy(roles_run))

# %% id="roles-figure"
timelines = [run.timeline for run in (one_stage_run, roles_run)]
PipelineFigure(*[timeline for timeline in timelines if timeline.bubbles()])

# %% [markdown] id="persistent"
# ## 7. A kernel that stays
#
# Each CTA so far fills its ring, drains it, writes C, and ends; then the next CTA begins from nothing. A **persistent**
# kernel is launched with as many CTAs as there are SMs, and each takes one tile of C after the other: tile
# `blockIdx.x`, then `gridDim.x` further on, and so on. The producer does not stop at the end of a tile: while the last
# one is being stored, the stages fill up with the next.
#
# For that, two things must go on from tile to tile: the number of the stage, and the parity. Count them, rather than
# work them out from the step.
#
# The results leave by TMA as well (lesson 5). The warpgroup writes its sums to a tile in shared memory; then the fence,
# a barrier, and one thread issues the store and commits. Before that tile is written again, the store must have read
# it, and everybody must know. `ptx.barrier_sync(1, 128)` is a barrier of 128 threads alone: the producer is not in it.

# %% [markdown] id="persistent-task"
# ### Exercise 8: one tile after the other (8 points)
#
# `gemm_persistent` is launched with two CTAs of 160 threads, in the roles of exercise 7. C has `tiles` tiles of 64 x 64,
# `columns` of them in a row: tile t is in row t // columns and column t % columns. `c_map` has boxes of 64 x 64 float32
# without a swizzle; what hangs over the edge is not stored. Two points are for **loads ahead** across tiles: with the
# public input each CTA has two tiles of one step, and only a producer that goes on to the next tile has all four loads
# under way. The check also tries fewer tiles than CTAs.

# %% id="persistent-answer" answer="gemm.persistent"
@kernel
def gemm_persistent(a_map, b_map, columns, tiles, k, c_map):
    a = cuda.shared.array((STAGES, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, BN, BK), np.uint16, alignment=1024)
    out = cuda.shared.array((BM, BN), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    steps = (k + BK - 1) // BK
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    s = 0
    parity = 0
    if thread == 128:
        for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
            row = tile // columns * BM
            column = tile % columns * BN
            for step in range(steps):
                ptx.mbarrier_wait_parity(empty[s], parity ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], STAGE_BYTES)
                ptx.cp_async_bulk_tensor_2d(a[s], a_map, step * BK, row, full[s])
                ptx.cp_async_bulk_tensor_2d(b[s], b_map, step * BK, column, full[s])
                s += 1
                if s == STAGES:
                    s = 0
                    parity ^= 1
    elif thread < 128:
        for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
            acc = ptx.wgmma_zero_64()
            previous = 0
            for step in range(steps):
                ptx.mbarrier_wait_parity(full[s], parity)
                desc_a = ptx.wgmma_descriptor(a[s], Swizzle.B128, BYTES_8_ROWS)
                desc_b = ptx.wgmma_descriptor(b[s], Swizzle.B128, BYTES_8_ROWS)
                ptx.wgmma_fence()
                for i in range(BK // 16):
                    acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
                ptx.wgmma_commit_group()
                ptx.wgmma_wait_group(1)
                if thread == 0 and step > 0:
                    ptx.mbarrier_arrive(empty[previous])
                previous = s
                s += 1
                if s == STAGES:
                    s = 0
                    parity ^= 1
            ptx.wgmma_wait_group(0)
            if thread == 0:
                ptx.mbarrier_arrive(empty[previous])
                ptx.cp_async_bulk_wait_group_read(0)
            ptx.barrier_sync(1, 128)
            write_out(acc, out, 0, 0, thread)
            ptx.fence_proxy_async_shared_cta()
            ptx.barrier_sync(1, 128)
            if thread == 0:
                ptx.cp_async_bulk_tensor_2d_store(c_map, tile % columns * BN, tile // columns * BM, out)
                ptx.cp_async_bulk_commit_group()
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(0)
    ### END SOLUTION

# %% id="persistent-try"
A_WIDE, B_WIDE = bf16(rng.integers(-8, 9, (128, 64))), bf16(rng.integers(-8, 9, (128, 64)))
c = np.full((128, 128), -1, np.float32)
arguments = (*maps_of(A_WIDE, B_WIDE), 2, 4, 64, TensorMap.from_array(c, (BM, BN)))
run = gemm_persistent.run(grid=2, block=160, args=arguments)
print(run)
print(compare(c, product(A_WIDE, B_WIDE)))

# %% id="persistent-check" check="gemm.persistent"
grader.check("gemm.persistent", gemm_persistent)

# %% [markdown] id="ladder"
# ## 8. Full size
#
# What is all that worth? The ladder has the same steps as your kernel, at full size: tiles up to 128 x 256, two
# warpgroups that multiply, results as bf16, and on its last rung clusters of two that share B. All were measured on an
# H200, in turns with cuBLAS, NVIDIA's own library. Predict: which share of cuBLAS's speed has the first kernel, with
# one stage? And the last one?
#
# *My guess:*

# %% id="ladder-figure"
GemmFigure()

# %% [markdown] id="ladder-live"
# Those are recordings; they say on what and when. Where this computer has a Hopper GPU, `python3 -m tmalab bench
# ladder` measures the ladder on it, and `python3 -m tmalab bench gemm` the last kernel over eight products;
# `GemmFigure(ladder=..., gemm=...)` draws such results. Your own kernel runs there with `on="gpu"`.

# %% [markdown] id="ladder-task"
# ### Exercise 9: what brings what (3 points)
#
# For each of these steps: why is the second kernel as fast as it is, against the first? Name what is new in it.
#
# - `"a"` loads are under way while the tensor core multiplies; and a larger tile wants fewer bytes for each product
# - `"b"` more of a load's latency is covered, and a second CTA still fits on the SM
# - `"c"` who multiplies issues no loads; and registers are handed over, so that a tile can be twice as wide
# - `"d"` the next tile is loaded while this one is stored, and the newest step is left running
# - `"e"` fewer bytes come from memory and from L2: CTAs that run at the same time take tiles that share rows and columns,
#   and two of them share each tile of B
# - `"f"` the numbers have fewer bits, so that a tensor core multiplies more of them at once

# %% id="ladder-questions"
rungs = grader.questions("gemm.ladder")
for number, rung in enumerate(rungs):
    print(f"{number}: {rung}")

# %% id="ladder-answer" answer="gemm.ladder"
reasons = [None, None, None, None, None]  # letters, in the order of the questions
### BEGIN SOLUTION
NEW = {"gemm_pipelined, 2 stages": "a", "gemm_pipelined, 3 stages": "b", "gemm_warp_specialized": "c"}
NEW |= {"gemm_persistent": "d", "gemm_cluster": "e"}
reasons = [NEW[rung.split(" to ")[1].split(":")[0]] for rung in rungs]
### END SOLUTION

# %% id="ladder-check" check="gemm.ladder"
grader.check("gemm.ladder", reasons)

# %% [markdown] id="hunt"
# ## 9. Bug hunt
#
# Five kernels multiply 64 rows of A by 128 rows of B, two tiles of C one after the other. Each has one mistake; one of
# them has wrong sums, and nothing is reported. Read each before you run the cell below them, and say in exercise 10
# which it is. The next cell lists the mistakes.

# %% id="hunt-causes"
causes = grader.questions("gemm.hunt")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hunt-kernels"
TILES = 2


@device
def load_stage(a, b, bar, a_map, b_map, x, y):
    """Promise and load one stage: columns x on, rows y on of B."""
    ptx.mbarrier_arrive_expect_tx(bar, STAGE_BYTES)
    ptx.cp_async_bulk_tensor_2d(a, a_map, x, 0, bar)
    ptx.cp_async_bulk_tensor_2d(b, b_map, x, y, bar)


@device
def multiply_stage(acc, a, b):
    """Issue the products of one stage, as a group."""
    desc_a = ptx.wgmma_descriptor(a, Swizzle.B128, BYTES_8_ROWS)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, BYTES_8_ROWS)
    ptx.wgmma_fence()
    for i in range(BK // 16):
        acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
    ptx.wgmma_commit_group()
    return acc


@kernel
def bug_a(a_map, b_map, c_map, c, k):
    a = cuda.shared.array((BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    parity = 0
    acc = ptx.wgmma_zero_64()
    for tile in range(TILES):
        for step in range(k // BK):
            if thread == 0:
                load_stage(a, b, full[0], a_map, b_map, step * BK, tile * BN)
            ptx.mbarrier_wait_parity(full[0], parity)
            parity ^= 1
            acc = multiply_stage(acc, a, b)
            ptx.wgmma_wait_group(0)
        write_out(acc, c, 0, tile * BN, thread)


@kernel
def bug_b(a_map, b_map, c_map, c, k):
    a = cuda.shared.array((STAGES, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    turns = k // BK * TILES
    if thread == 128:
        for turn in range(turns):
            s = turn % STAGES
            ptx.mbarrier_wait_parity(empty[s], turn // STAGES % 2 ^ 1)
            load_stage(a[s], b[s], full[s], a_map, b_map, turn % (k // BK) * BK, turn // (k // BK) * BN)
    elif thread < 128:
        for tile in range(TILES):
            acc = ptx.wgmma_zero_64()
            for step in range(k // BK):
                turn = tile * (k // BK) + step
                s = turn % STAGES
                ptx.mbarrier_wait_parity(full[s], turn // STAGES % 2)
                acc = multiply_stage(acc, a[s], b[s])
                ptx.wgmma_wait_group(1)
                if thread == 0:
                    ptx.mbarrier_arrive(empty[s])
            ptx.wgmma_wait_group(0)
            write_out(acc, c, 0, tile * BN, thread)


@kernel
def bug_c(a_map, b_map, c_map, c, k):
    a = cuda.shared.array((BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    parity = 0
    for tile in range(TILES):
        acc = ptx.wgmma_zero_64()
        for step in range(k // BK):
            if thread == 0:
                load_stage(a, b, full[0], a_map, b_map, step * BK, tile * BN)
            ptx.mbarrier_wait_parity(full[0], parity)
            parity ^= 1
            desc_a = ptx.wgmma_descriptor(a, Swizzle.B128, BYTES_8_ROWS)
            desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, BYTES_8_ROWS)
            ptx.wgmma_fence()
            for i in range(BK // 16):
                acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a + i * 32, desc_b + i * 32, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0)
        write_out(acc, c, 0, tile * BN, thread)


@kernel
def bug_d(a_map, b_map, c_map, c, k):
    a = cuda.shared.array((STAGES, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 128:
        for turn in range(k // BK * TILES):
            s = turn % STAGES
            ptx.mbarrier_wait_parity(empty[s], turn // STAGES % 2 ^ 1)
            load_stage(a[s], b[s], full[s], a_map, b_map, turn % (k // BK) * BK, turn // (k // BK) * BN)
    elif thread < 128:
        for tile in range(TILES):
            acc = ptx.wgmma_zero_64()
            for step in range(k // BK):
                s = step % STAGES
                ptx.mbarrier_wait_parity(full[s], step // STAGES % 2)
                acc = multiply_stage(acc, a[s], b[s])
                ptx.wgmma_wait_group(0)
                if thread == 0:
                    ptx.mbarrier_arrive(empty[s])
            write_out(acc, c, 0, tile * BN, thread)


@kernel
def bug_e(a_map, b_map, c_map, c, k):
    a = cuda.shared.array((BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    out = cuda.shared.array((BM, BN), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    parity = 0
    for tile in range(TILES):
        acc = ptx.wgmma_zero_64()
        for step in range(k // BK):
            if thread == 0:
                load_stage(a, b, full[0], a_map, b_map, step * BK, tile * BN)
            ptx.mbarrier_wait_parity(full[0], parity)
            parity ^= 1
            acc = multiply_stage(acc, a, b)
            ptx.wgmma_wait_group(0)
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncthreads()
        write_out(acc, out, 0, 0, thread)
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(c_map, tile * BN, 0, out)
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group_read(0)

# %% id="hunt-run"
B_TALL = bf16(rng.integers(-8, 9, (128, 256)))


def try_suspect(suspect, seed=0):
    """Run one of them on four steps: its run, what it wrote, what it should have."""
    c = np.full((64, 128), -1, np.float32)
    block = 160 if suspect in (bug_b, bug_d) else 128
    arguments = (*maps_of(A, B_TALL), TensorMap.from_array(c, (BM, BN)), c, A.shape[1])
    run = suspect.run(block=block, args=arguments, seed=seed)
    return run, c, product(A, B_TALL)


for suspect in (bug_a, bug_b, bug_c, bug_d, bug_e):
    run, c, wanted = try_suspect(suspect)
    names = list(dict.fromkeys(hazard.name for hazard in run.hazards)) or ["nothing is reported"]
    print(f"--- {suspect.__name__}: {compare(c[:, :64], wanted[:, :64])} in the first tile,", end=" ")
    print(f"{compare(c[:, 64:], wanted[:, 64:])} in the second;", ", ".join(names))
    print(*[hazard.message for hazard in run.hazards[:1]], "", sep="\n")

# %% [markdown] id="hunt-task"
# ### Exercise 10: name the mistakes (5 points)

# %% id="hunt-answer" answer="gemm.hunt"
culprits = {"bug_a": None, "bug_b": None, "bug_c": None, "bug_d": None, "bug_e": None}
### BEGIN SOLUTION
letters = dict(zip("abcdef", causes))  # of the public course, and yours
culprits = {"bug_a": letters["a"], "bug_b": letters["e"], "bug_c": letters["c"], "bug_d": letters["d"], "bug_e": letters["f"]}
### END SOLUTION

# %% id="hunt-check" check="gemm.hunt"
grader.check("gemm.hunt", culprits)

# %% [markdown] id="hunt-mend"
# Mend all five, until every element is right and nothing is reported.

# %% [markdown] id="summary"
# ## Summary
#
# The tensor core reads what a load has left: same swizzle, and a descriptor that counts 16 bytes. Around each product
# stand a fence, a commit and a wait; the wait for all but the newest keeps it busy, and makes a stage free one step
# late. A producer of its own fills stages ahead, across the ends of tiles as well, and the results leave by TMA
# meanwhile. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | map and descriptor name different swizzles | `layout-mismatch`; some elements are right |
# | the swizzle's number in a descriptor is that of the map | 32B for 128B: `layout-mismatch` |
# | addresses, strides or steps in bytes instead of units of 16 | `layout-mismatch`, `out-of-bounds` |
# | no `wgmma_fence` before the first wgmma | `wgmma-fence`; the simulator's sums are right all the same |
# | the accumulator is read before the wait | `wgmma-registers` |
# | after `wait_group(1)` the newest stage is handed back | `overwrite-in-use` |
# | the wait for 0 groups in each step | right, and a bubble after each |
# | all four warps hand a stage back that counts one | `over-arrival` |
# | stage and parity begin anew with each tile | `wrong-parity`, or it hangs |
# | the accumulator is not cleared for the next tile | wrong sums, and nothing reported |
# | a store without the fence, or a tile written before it was read | `missing-proxy-fence`, `store-source-reuse` |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - The kernels of the ladder are in `tmalab/kernels`: `gemm_naive`, `gemm_pipelined`, `gemm_warp_specialized`,
#   `gemm_persistent` and `gemm_cluster`, each on a page or two. The next cell counts what becomes of three of them, and
#   of yours: wgmmas, copies, registers. What is different in theirs?
# - Give `gemm_roles` a second warpgroup that multiplies, for a tile of 128 x 64: 288 threads, two arrives to an empty
#   barrier, and `a[s, 64:]` for the descriptor of the second. By which part are fewer bytes loaded?
# - Your `write_out` to shared memory is slow: lanes of a warp meet in the same banks (`run.bank_conflicts` counts it).
#   The ladder's kernels write bf16 by `stmatrix`, in the swizzle of C's map. Why does that need no padding?
# - Tiles that are computed at the same time should share rows of A and columns of B, which L2 then reads from memory
#   once. In which order would you go through them? (`tmalab.kernels.gemm.place_of`)
# - `wgmma` can take A from registers. Which of the two operands could then have its type changed on the way?
# - Do you go on to C++? Each kernel of the ladder has a twin in CUDA C++ that calls the same instructions in the same
#   order: `from tmalab.kernels import twins` and `print(twins.source("gemm_pipelined").read_text())`. `docs/twins.md` has
#   all of them, call by call with their PTX. Which lines of your kernel would hardly change?

# %% id="deeper-counts"
from tmalab.kernels import gemm_naive, gemm_pipelined, gemm_warp_specialized
from tmalab.kernels.gemm import small_integers

a, b, c = small_integers(128, 64, 1), small_integers(256, 64, 2), np.zeros((128, 256), np.uint16)
launches = [module.launch_of(a, b, c) for module in (gemm_naive, gemm_pipelined, gemm_warp_specialized)]
ladder = [(how["kernel"].function.__name__, how["kernel"].ptx(how["args"])) for how in launches]
for name, ptx_text in [*ladder, ("yours", gemm_persistent.ptx(arguments))]:
    loads, stores = (ptx_text.count(f"cp.async.bulk.tensor.2d.{way}") for way in ("shared::", "global"))
    wgmmas, registers = ptx_text.count("wgmma.mma_async"), ptx_text.count("setmaxnreg")
    print(f"{name:22} {wgmmas:2} wgmmas, {loads} loads, {stores} stores, {registers} setmaxnreg")
