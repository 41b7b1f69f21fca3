# The start of the course, as it is written and reviewed; `python -m grader release notebooks` makes the notebooks from it.
# A cell starts with `# %%`; its id names it for ever (translations are keyed by it). `answer` and `check` name exercises.

# %% [markdown] id="aims"
# # Lesson 0: start
#
# You have a matrix in a GPU's memory and want it fast in the hands of the tensor cores. Since Hopper (H100, H200) there is
# a piece of hardware for the way between: the **tensor memory accelerator**, TMA. This course takes you from a first
# copied tile to a matrix product that keeps up with the vendor's library, by doing.
#
# Here you find out how the course works. Afterwards you can
#
# - say what your computer has and what it lacks, and that you need no GPU,
# - read what a check prints, and use its hints,
# - say of each result where it comes from: a rule, a simulated run, a recording, or a GPU,
# - tell whether you know enough of CUDA to begin.
#
# It takes about 45 minutes, less if you know CUDA well.

# %% id="setup"
import numpy as np
from numba import cuda

import grader
from tmalab import TensorMap, kernel, ptx, recorded, reference
from tmalab.doctor import examine

# %% [markdown] id="computer"
# ## 1. Your computer
#
# Run a cell with Shift+Enter. This one looks at what is installed. An absent GPU is no fault: without a Hopper GPU kernels run
# in the simulator, on any computer, and are compared with what an H200 did.

# %% id="computer-run"
for finding in examine():
    print(f"{finding.name:<9} {finding.state:<7} {finding.found}")
    if finding.mend:
        print(f"{'':17} {finding.mend}")

# %% [markdown] id="lessons"
# ## 2. The lessons, and how far you are
#
# This reads your own notebooks, as they were last saved: how many answers you have written, and the points that your checks
# showed. Nothing is sent anywhere. Come back to this cell whenever you like; `python3 -m tmalab progress` in a terminal
# shows the same.

# %% id="lessons-run"
from tmalab.progress import progress

progress()

# %% [markdown] id="check"
# ## 3. How a check reads
#
# A lesson is text, cells to run, and exercises. Before something is revealed you are asked to predict it: write the guess
# down in the cell, in your own words. A wrong one costs nothing, and is what one remembers.
#
# An exercise is a cell with `None` or `Write your code here`, and below it a cell that checks it. Here is the first: three
# numbers.
#
# A **tile** is a rectangle of a matrix. The matrix lies in memory row by row.

# %% [markdown] id="numbers-task"
# ### Exercise 1: three numbers (3 points)
#
# The next cell asks for them.

# %% id="numbers-questions"
rows, cols, columns, size, row, column = grader.questions("start.numbers")
print(f"0. A tile of {rows} rows and {cols} columns of fp{8 * size} ({size} bytes an element): how many bytes is it?")
print(f"1. The matrix has {columns} columns. How many bytes lie between the beginnings of two rows that follow each other?")
print(f"2. How many bytes lie between the matrix's first byte and the element in row {row}, column {column}?")

# %% id="numbers-answer" answer="start.numbers"
numbers = [None, None, None]  # in the order of the questions
### BEGIN SOLUTION
numbers = [rows * cols * size, columns * size, (row * columns + column) * size]
### END SOLUTION

# %% id="numbers-check" check="start.numbers"
grader.check("start.numbers", numbers)

# %% [markdown] id="report"
# What you see has the same form everywhere:
#
# - in the first line the exercise, and the points;
# - a line for each **part**: ✔ all of its points, ✘ not all, – nothing could be judged here; what was expected and seen;
# - at most one **hint**. It is for the first part that failed. Check again, and it becomes plainer: first a nudge, then
#   the idea, then the shape of the code. Hints cost no points.
#
# Put a wrong number into exercise 1, check three times, and read the hints. Then put the right one back.
#
# Parts are judged one by one, and most give points in part.
#
# A kernel can be run without a check as well. The next cell runs somebody's, in the simulator, and prints what it says. You
# need not understand the kernel yet: it copies a part of one row of a matrix to `out`. `cell:14` in a report is line 14 of
# the cell; if you see no numbers beside the lines, Shift+L shows them.

# %% id="report-run"
@kernel
def copy_a_row(tensor_map, out):
    row = cuda.shared.array(64, np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full, 64 * 2)
        ptx.cp_async_bulk_tensor_2d(row, tensor_map, 64, 3, full)
        ptx.mbarrier_wait_parity(full, 0)
    out[thread] = row[thread]


matrix = np.arange(16 * 128).reshape(16, 128).astype(np.float16)
copied = np.zeros(64, np.float16)
run = copy_a_row.run(block=64, args=(TensorMap.from_array(matrix, (1, 64)), copied), seed=3)
print(f"{np.count_nonzero(copied == matrix[3, 64:])} of {copied.size} elements right\n")
print(run)

# %% [markdown] id="report-task"
# ### Exercise 2: read a report (3 points)
#
# The report above has a name for what is wrong, the lines where it is noticed, what is missing, and what to write. The next
# cell asks three questions about it, with three answers each.

# %% id="report-questions"
asked = grader.questions("start.report")
for number, (question, options) in enumerate(asked):
    print(number, question)
    for letter in sorted(options):
        print("  ", letter, options[letter])

# %% id="report-answer" answer="start.report"
report = [None, None, None]  # letters, in the order of the questions
### BEGIN SOLUTION
right = ["b", "c", "c"]  # in the public course
report = [list(options)["abc".index(letter)] for (_, options), letter in zip(asked, right)]
### END SOLUTION

# %% id="report-check" check="start.report"
grader.check("start.report", report)

# %% [markdown] id="sources"
# ## 4. Where results come from
#
# There are four sources, and the course says each time which it is.
#
# - **The reference** works out what a copy must leave in memory, by rules. It runs nothing. `reference.load(...)`
# - **The simulator** runs your kernel, thread by thread, in an order that a *seed* chooses. It knows what may happen, and
#   reports a mistake even if nothing went wrong this time. `my_kernel.run(...)`
# - **A recording** is what an NVIDIA H200 did with a copy, byte for byte, with the date and the driver. The reference and the
#   simulator are held to thousands of them. `recorded.read(...)`
# - **A live run** on the Hopper GPU in your computer, if there is one. `my_kernel.run(..., on="gpu")`
#
# The same tile from three of them. Predict: will all three agree?
#
# *My guess:*

# %% id="sources-run"
lesson_1 = recorded.read("lesson-1")
case = lesson_1.cases[2]
print(f"{case.name}, recorded on an {lesson_1.provenance['gpu']} on {lesson_1.provenance['date']}")

by_rule = reference.load(case.tensor_map, case.coordinates, case.memory(), case.shared_address).data
by_hardware = lesson_1.results[2][case.shared_address :][: by_rule.size]
print(f"reference and H200: {np.count_nonzero(by_rule == by_hardware):,} of {by_rule.size:,} bytes the same")

from tmalab.recorded.perform import perform

_, simulated = perform(case, on="simulator")
by_simulator = simulated[case.shared_address :][: by_rule.size]
print(f"simulator and H200: {np.count_nonzero(by_simulator == by_hardware):,} of {by_rule.size:,} bytes the same")

# %% [markdown] id="sources-figure-text"
# And this is a tile as you will see it often: where it lies in the tensor, and where each element goes in shared memory. Move
# over it with the pointer, or with the arrow keys.

# %% id="sources-figure"
TensorMap.from_array(matrix, (8, 64)).show()

# %% [markdown] id="sources-task"
# ### Exercise 3: who can say that? (3 points)
#
# Who can answer these questions? The next cell lists three who might.
#
# 0. Which bytes must a load leave in shared memory, whatever kernel issues it?
# 1. Is a wait missing in my kernel, although its output is right?
# 2. What does real hardware do where no document says anything?
# 3. In which of twenty orders of the threads does my kernel go wrong?

# %% id="sources-who"
who = grader.questions("start.sources")
for letter in sorted(who):
    print(letter, who[letter])

# %% id="sources-answer" answer="start.sources"
sources = [None, None, None, None]  # letters, in the order of the questions
### BEGIN SOLUTION
letters = dict(zip("abc", who))  # of the public course, and yours
sources = [letters["a"], letters["b"], letters["c"], letters["b"]]
### END SOLUTION

# %% id="sources-check" check="start.sources"
grader.check("start.sources", sources)

# %% [markdown] id="know"
# ## 5. What you need to know
#
# Python with NumPy, and the basics of CUDA. Kernels here are `numba.cuda` Python: `cuda.threadIdx.x`, `cuda.blockDim.x`,
# `cuda.shared.array`, `cuda.syncthreads()` mean what they mean in CUDA C++. A block of threads is called a **CTA** in PTX
# (cooperative thread array), in the simulator's reports, and from lesson 5 on here as well. If the four questions below are
# easy, go on to lesson 1. If not, read an introduction to CUDA first; any will do that explains blocks, shared memory and
# barriers.

# %% [markdown] id="know-task"
# ### Exercise 4: ready? (4 points)
#
# The next cell asks four questions. A kernel's loop goes over `range(cuda.threadIdx.x, length, cuda.blockDim.x)`.

# %% id="know-questions"
blocks, threads, length, thread = grader.questions("start.know")
print(f"0. A kernel is launched with {blocks} blocks of {threads} threads. How many threads is that?")
print(f"1. length is {length}, and a block has {threads} threads: how often does thread {thread} go through the loop?")
print("2. How many threads make a warp?")
print("3. An array in shared memory is written by thread 0 and read by thread 1 of the same block, without anything between.")
print("   In how many of the possible orders is what thread 1 reads CERTAIN to be new: 0, 1, or 2?")

# %% id="know-answer" answer="start.know"
ready = [None, None, None, None]  # in the order of the questions
### BEGIN SOLUTION
ready = [blocks * threads, len(range(thread, length, threads)), 32, 0]
### END SOLUTION

# %% id="know-check" check="start.know"
grader.check("start.know", ready)

# %% [markdown] id="words"
# ## 6. Words
#
# A lesson explains a word where it first needs it. Later it can be looked up, in English or Chinese; the page *glossary* of
# the documentation (`docs/glossary.md`) has them all.

# %% id="words-run"
from tmalab.glossary import look_up

for word in ("tile", "CTA"):
    print(look_up(word))

# %% [markdown] id="summary"
# ## Summary
#
# | what | where |
# |---|---|
# | run a cell | Shift+Enter |
# | an exercise | `None` or *Write your code here*, and the check below it |
# | a hint | one at a time, plainer each time, for nothing |
# | the pitfall of right bytes | a kernel can be wrong and right by luck: look at the part `order` |
# | how far you are | the cell in section 2, or `python3 -m tmalab progress` |
# | a word | `look_up("phase")`; the documentation's pages *glossary*, *hazards*, and the kernel language in the learner's guide |
#
# Lesson 1 comes next: your first tile.

# %% [markdown] id="deeper"
# ## Going deeper
#
# - Mend `copy_a_row` above, so that nothing is reported with any seed.
# - The next cell runs it in fifty orders and counts in how many something is reported. Predict the number, for the kernel as
#   it is and for yours.
# - `python3 -m tmalab demo` in a terminal compares a few copies with recordings, and shows them.

# %% id="deeper-orders"
from tmalab import explore

print(explore(copy_a_row, 1, 64, (TensorMap.from_array(matrix, (1, 64)), copied), seeds=50))
