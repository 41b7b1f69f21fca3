# The seventh lesson, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 7: pipelines
#
# A load takes long to come, and there is nothing that one load could do about it. But while it is under way others can
# be, and threads can work on what has come before. In lesson 4 you built a ring that is in order; now it is about
# time. How long does a ring take? How many stages does it need? And how many can it have, before they cost more than
# they bring?
#
# Afterwards you can
#
# - work out when a ring of any depth is done, and where its bubbles are,
# - say how many stages hide a latency,
# - write a kernel whose loads run ahead, without and with a producer of its own,
# - read a timeline,
# - predict a depth, and say why a measured curve becomes flat, or turns back.
#
# It takes about 75 minutes. You need lesson 4.

# %% id="setup"
import numpy as np
from numba import cuda

import grader
from tmalab import TensorMap, kernel, ptx
from tmalab.figures import PipelineFigure
from tmalab.timing.measured import Measured

ROWS, COLS = 4, 64  # a tile of fp32
TILE_BYTES = ROWS * COLS * 4
STAGES, TILES = 4, 10

tensor = (np.arange(TILES * ROWS * COLS) * 7 % 1000).astype(np.float32).reshape(TILES * ROWS, COLS)
tile_map = TensorMap.from_array(tensor, (ROWS, COLS))
print(f"{TILES} tiles of {TILE_BYTES:,} bytes")

# %% [markdown] id="bubble"
# ## 1. The bubble
#
# Two things go on for every tile: its **load**, which takes a *latency* from the moment it is issued until it has
# landed, and the **work** on it, which occupies the threads (or the tensor core) for a time. With one stage they take
# turns: while the load is under way nobody works. That gap is a *bubble*. With two stages tile 1 is loaded while tile
# 0 is worked on.
#
# The figure is an example whose number of stages you can choose. Before you touch it: with what number does the row at
# the bottom work without a gap? It is told how long a load and the work on a tile take.
#
# *My guess:*

# %% id="bubble-figure"
from tmalab.figures.pipeline_example import COMPUTE, LATENCY

print(f"a load lands {LATENCY} ns after it was issued, a tile is worked on for {COMPUTE} ns")
PipelineFigure()

# %% [markdown] id="finish-task"
# ### Exercise 1: when is it done? (4 points)
#
# Write the function that says when a ring of `stages` stages is through with `tiles` tiles. The load of a tile may
# begin as soon as its stage is free: the first ones at 0, later ones when the tile that was in the stage before has
# been worked on. It lands `latency` later. Loads don't hinder each other. Tiles are worked on in their order, one
# after the other, for `compute` each. (The figure adds a little for issuing, and a limit to how fast bytes come. Leave
# both out.)
#
# One point is for one stage, one for two, two for any number.

# %% id="finish-answer" answer="pipelines.finish"
def done_after(tiles, stages, latency, compute):
    """When the last tile has been worked on; the first load begins at 0."""
    ### BEGIN SOLUTION
    ended = []
    for tile in range(tiles):
        issued = ended[tile - stages] if tile >= stages else 0
        begins = max([issued + latency, *ended[-1:]])
        ended.append(begins + compute)
    return ended[-1]
    ### END SOLUTION

# %% id="finish-check" check="pipelines.finish"
grader.check("pipelines.finish", done_after)

# %% [markdown] id="depth-task"
# ### Exercise 2: how many stages? (3 points)
#
# And now the other way round: how many stages does a ring need so that after the first tile there is no bubble any
# more, however many tiles there are? A load is issued at the moment in which its stage becomes free; by the time that
# all other stages have been worked on it should have landed.
#
# One point is for latencies that whole tiles fill exactly.

# %% id="depth-answer" answer="pipelines.depth"
def stages_needed(latency, compute):
    """The fewest stages without a bubble."""
    ### BEGIN SOLUTION
    return 1 + -(-latency // compute)
    ### END SOLUTION

# %% id="depth-check" check="pipelines.depth"
grader.check("pipelines.depth", stages_needed)

# %% [markdown] id="timeline"
# ## 2. A timeline
#
# The simulator runs threads and copies in some order; it knows no nanoseconds. A second model does, with latencies and
# rates that were measured on an H200: `run.timeline` says when what happened, `run.show("timeline")` draws it. The
# kernel below has a producer and 64 consumers, and its number of stages can be chosen. Predict from your function:
# from what number on will more stages bring nothing? You will need to know how long a load and the work on a tile
# take; the cell says it.
#
# *My guess:*

# %% id="timeline-kernel"
def ring_of(stages):
    """A kernel with so many stages: thread 64 loads, threads 0 to 63 add up a column each."""

    @kernel
    def ring_sum(tensor_map, tiles, out):
        ring = cuda.shared.array((stages, ROWS, COLS), np.float32, alignment=128)
        full = ptx.mbarrier_array(stages)
        empty = ptx.mbarrier_array(stages)
        thread = cuda.threadIdx.x
        if thread == 0:
            for s in range(stages):
                ptx.mbarrier_init(full[s], 1)
                ptx.mbarrier_init(empty[s], 64)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        if thread == 64:
            for k in range(tiles):
                ptx.mbarrier_wait_parity(empty[k % stages], k // stages % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[k % stages], TILE_BYTES)
                ptx.cp_async_bulk_tensor_2d(ring[k % stages], tensor_map, 0, k * ROWS, full[k % stages])
        elif thread < 64:
            total = np.float32(0)
            for k in range(tiles):
                ptx.mbarrier_wait_parity(full[k % stages], k // stages % 2)
                for row in range(ROWS):
                    total += ring[k % stages, row, thread]
                ptx.mbarrier_arrive(empty[k % stages])
            out[thread] = total

    return ring_sum


def timeline_of(stages):
    """The timeline of this kernel on our tensor."""
    out = np.zeros(COLS, np.float32)
    return ring_of(stages).run(block=96, args=(tile_map, TILES, out)).timeline


one = timeline_of(1)
flights = [span.duration for span in one.spans if span.what == "copy in flight"]
works = [span.duration for span in one.spans if (span.row, span.what) == ("consumer", "compute")]
print(f"a load is under way for {np.median(flights):.0f} ns; there are {len(works)} pieces of work for {TILES} tiles,")
print(f"together {sum(works):.0f} ns, so {sum(works) / TILES:.0f} ns for a tile")

# %% id="timeline-reveal"
timelines = {stages: timeline_of(stages) for stages in range(1, 7)}
for stages, found in timelines.items():
    lost = sum(bubble.duration for bubble in found.bubbles())
    print(f"{stages} stages: {found.duration:6.0f} ns in all, {lost:6.0f} ns of them in bubbles")

print("your function:", stages_needed(round(np.median(flights)), round(sum(works) / TILES)), "stages are needed")

# %% [markdown] id="timeline-left"
# What is left with many stages is not the loads' fault: between two tiles the consumers arrive, and look at the next
# barrier. Below are the timelines with one stage and with three. In the second, find the load that is waited for
# first, and see how far ahead of it the producer is.

# %% id="timeline-figure"
PipelineFigure(timelines[1], timelines[3])

# %% [markdown] id="ahead"
# ## 3. Running ahead
#
# A kernel can have a pipeline without a producer of its own. All threads work; one of them, in passing, issues loads.
# It begins with as many as there are stages, before anybody waits; and after each tile, when all have read it, it
# fills the stage again, with the tile that comes `STAGES` later. A `cuda.syncthreads()` says that all have read.

# %% [markdown] id="ahead-task"
# ### Exercise 3: loads that run ahead (6 points)
#
# `sum_ahead` is launched with 64 threads. Thread t adds up column t of the tensor behind `tensor_map`: `tiles` tiles,
# one below the other. It writes the sum to `out[t]`. Use four stages and one barrier for each, and no empty barriers.
# One point is for **running ahead**: with ten tiles all four stages must be under way at once at some time. That is
# counted in a run in which loads land as late as they may.
#
# The check tries fewer tiles than stages as well.

# %% id="ahead-answer" answer="pipelines.ahead"
@kernel
def sum_ahead(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total
    ### END SOLUTION

# %% id="ahead-try"
out = np.full(COLS, -1, np.float32)
run = sum_ahead.run(block=64, args=(tile_map, TILES, out))
print(run)
print(f"columns that are right: {np.count_nonzero(out == tensor.sum(axis=0))} of {out.size}")

# %% id="ahead-check" check="pipelines.ahead"
grader.check("pipelines.ahead", sum_ahead)

# %% [markdown] id="ring"
# ## 4. A producer of its own
#
# In that kernel everybody meets everybody after each tile, and the thread that loads must work, too: its loads come
# when it comes. If a warp does nothing but load, it is always as far ahead as there are free stages, and the consumers
# never meet: each arrives on `empty` when it has read, and goes on. That is what the large kernels do.

# %% [markdown] id="ring-task"
# ### Exercise 4: producer and consumers (6 points)
#
# `sum_ring` computes the same sums. It is launched with 96 threads: 0 to 63 are the consumers, warp 2 is for the
# producer. Use four stages, with a full and an empty barrier each. After the barriers are made nobody meets at a
# `syncthreads` again.

# %% id="ring-answer" answer="pipelines.ring"
@kernel
def sum_ring(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ### BEGIN SOLUTION
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            ptx.mbarrier_arrive(empty[s])
        out[thread] = total
    ### END SOLUTION

# %% id="ring-try"
out = np.full(COLS, -1, np.float32)
run = sum_ring.run(block=96, args=(tile_map, TILES, out))
print(run)
print(f"columns that are right: {np.count_nonzero(out == tensor.sum(axis=0))} of {out.size}")

# %% id="ring-check" check="pipelines.ring"
grader.check("pipelines.ring", sum_ring)

# %% [markdown] id="room"
# ## 5. What a stage costs
#
# Each stage takes shared memory, and an SM has 228 KiB of it for all its CTAs, of which the system keeps 1,024 bytes
# for each. If a CTA takes more, fewer of them fit. That matters: two CTAs on an SM hide each other's beginnings and
# ends, in which a pipeline fills and drains. Registers are shared as well: 65,536 for all threads of an SM.

# %% [markdown] id="fit-task"
# ### Exercise 5: how many fit? (3 points)
#
# How many CTAs of the kernel that the next cell describes fit on an SM, with one to six stages?

# %% id="fit-questions"
stage_bytes, threads, registers = grader.questions("pipelines.fit")
print(f"{stage_bytes:,} bytes a stage, {threads} threads with {registers} registers each")

# %% id="fit-answer" answer="pipelines.fit"
ctas = [None, None, None, None, None, None]  # for 1 to 6 stages
### BEGIN SOLUTION
by_registers = 65_536 // (threads * registers)
ctas = [min(228 * 1024 // (stages * stage_bytes + 1024), by_registers) for stages in range(1, 7)]
### END SOLUTION

# %% id="fit-check" check="pipelines.fit"
grader.check("pipelines.fit", ctas)

# %% [markdown] id="curves-task"
# ## 6. Measured curves
#
# ### Exercise 6: predict (4 points)
#
# Three kernels were measured on an H200 with one to six stages. For each: what is the *smallest* number of stages with
# which it takes at most an eighth longer than with the best number? And why do more stages bring so little, or even
# harm?
#
# - `"a"` memory is busy all the time
# - `"b"` the tensor cores are busy all the time; the loads are hidden
# - `"c"` fewer CTAs fit on an SM
#
# Two points are for the numbers, two for the letters; a letter counts if the number beside it is right. The next cell
# says how many bytes the H200's memory gives each SM in a nanosecond, and how long a load from there takes. A measured
# curve follows no formula to the letter: if your prediction fails, look at the curves below, and answer again.

# %% id="curves-questions"
from tmalab.timing.constants import Constants

measured = Measured.read()
micro = {name: middle for name, (middle, _) in measured.middles().items()}
rate, latency = Constants.read()["device_rate"] / measured.sms, micro["load_device_8k"] / micro["clock"]
print(f"memory gives an SM {rate:.0f} bytes in a nanosecond; a load of 8 KiB from there takes {latency:.0f} ns")
kernels = grader.questions("pipelines.curves")
for number, description in enumerate(kernels):
    print(f"kernel {number}: {description}")

# %% id="curves-answer" answer="pipelines.curves"
predicted = [(None, None), (None, None), (None, None)]  # (stages, "letter"), in the order of the questions
### BEGIN SOLUTION
def prediction(description):
    if "copies" in description:
        return 4, "a"
    return (2, "c") if "where they fit" in description else (3, "b")


predicted = [prediction(description) for description in kernels]
### END SOLUTION

# %% id="curves-check" check="pipelines.curves"
grader.check("pipelines.curves", predicted)

# %% [markdown] id="curves-reveal"
# And this is what was measured. Look at the kernel for which your table says how many CTAs fit: where does it turn
# back?

# %% id="curves-measured"
print(f"{measured.provenance['gpu']}, {measured.provenance['date']}; microseconds for 1 to 6 stages")
for name in (
    "ring copy mib=512 rows=64",
    "product bn=128 consumers=2 k=2048 m=2048 n=2048",
    "product bn=128 consumers=1 k=4096 m=2048 n=2048",
):
    curve = [measured.times()[f"{name} stages={stages}"] / 1000 for stages in range(1, 7)]
    print(f"{name:50}", " ".join(f"{took:6.1f}" for took in curve))

# %% [markdown] id="curves-both"
# The same as curves, and beside them what the time model predicts, which draws the timelines of this lesson. For one of
# the three it does not see what another stage costs. For which?

# %% id="curves-drawn"
from tmalab.bench import timing_plots

timing_plots.depths(
    [
        "ring copy mib=512 rows=64",
        "product bn=128 consumers=2 k=2048 m=2048 n=2048",
        "product bn=128 consumers=1 k=4096 m=2048 n=2048",
    ]
)

# %% [markdown] id="hunt"
# ## 7. Bug hunt
#
# Four kernels add up columns as yours do, with 64 threads and four stages. Each has one mistake; one of them gives the
# right sums, and nothing is reported. Read each before you run the cell below them. Then say in exercise 7 which
# mistake it is. The next cell lists the mistakes.

# %% id="hunt-causes"
causes = grader.questions("pipelines.hunt")
for letter in sorted(causes):
    print(letter, causes[letter])

# %% id="hunt-kernels"
@kernel
def bug_a(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        if thread == 0:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
    out[thread] = total


@kernel
def bug_b(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total


@kernel
def bug_c(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        if thread == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total


@kernel
def bug_d(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(STAGES):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total

# %% id="hunt-run"
def names(run):
    """What a run is reported for; where there is much, the rest often follows from the first."""
    return [hazard.name for hazard in run.hazards] or ["nothing is reported"]


for suspect in (bug_a, bug_b, bug_c, bug_d):
    out = np.full(COLS, -1, np.float32)
    run = suspect.run(block=64, args=(tile_map, TILES, out))
    same = np.count_nonzero(out == tensor.sum(axis=0))
    print(f"--- {suspect.__name__}: {same} of {out.size} columns right;", ", ".join(dict.fromkeys(names(run))))
    print(*[hazard.message for hazard in run.hazards[:1]], "", sep="\n")

# %% [markdown] id="hunt-task"
# ### Exercise 7: name the mistakes (4 points)

# %% id="hunt-answer" answer="pipelines.hunt"
culprits = {"bug_a": None, "bug_b": None, "bug_c": None, "bug_d": None}
### BEGIN SOLUTION
letters = dict(zip("abcdef", causes))  # of the public course, and yours
culprits = {"bug_a": letters["c"], "bug_b": letters["d"], "bug_c": letters["a"], "bug_d": letters["e"]}
### END SOLUTION

# %% id="hunt-check" check="pipelines.hunt"
grader.check("pipelines.hunt", culprits)

# %% [markdown] id="hunt-mend"
# Mend all four in the cell with the kernels, and run the next one again. The timeline of `bug_a`, before and after,
# says whether you have mended it.

# %% [markdown] id="summary"
# ## Summary
#
# One stage works for the load that is under way, the others hold the work that hides it: 1 + latency / compute,
# rounded up. What goes wrong most often:
#
# | pitfall | what you see |
# |---|---|
# | a load is waited for right after it was issued | right sums, a bubble for each tile |
# | a load is issued before all have read the stage | `overwrite-in-use`, wrong numbers now and then |
# | the parity flips with each tile | `wrong-parity`, or it hangs |
# | fewer tiles than stages are not thought of | it hangs, or loads that nobody waits for |
# | loads past the last tile | `exit-in-flight` |
# | as many stages as fit | fewer CTAs on an SM; it may become slower |

# %% [markdown] id="deeper"
# ## Going deeper
#
# - The next cell predicts a launch of the kernel on all SMs, from its simulated beginning. Which of its sentences
#   would be another with one stage? `json.dump(run.timeline.to_perfetto(), file)` gives a trace for ui.perfetto.dev.
# - With small tiles the issuing thread becomes the limit: each load costs it some tens of cycles. What would you
#   change?
# - Stages can be empty at the end as well. When a CTA has several results to compute, the producer may begin with the
#   next one while the last is being written. Which bubble does that remove? (Lesson 9's persistent kernel does it.)

# %% id="deeper-predict"
from tmalab.timing.predict import predict

tall = np.ones((512 * ROWS, COLS), np.float32)
tall_map = TensorMap.from_array(tall, (ROWS, COLS))
print(predict(ring_of(STAGES), 132, 96, (tall_map, 512, np.zeros(COLS, np.float32)), along="tiles").summary())
