"""Micro-benchmarks: small kernels, each of which measures one constant of the time model on an H200.

Each reads the SM's clock before and after what it measures, or is timed as a whole where all SMs take part. They are
kernels as learners write them, so they run in the simulator too; and since the model knows the clock, a model with
known constants can measure itself, which is how the fit is tested.
"""

from tmalab.timing.micro.benchmark import Benchmark
from tmalab.timing.micro.copies import COPIES
from tmalab.timing.micro.launches import LAUNCHES
from tmalab.timing.micro.rings import RINGS
from tmalab.timing.micro.tensor import TENSOR
from tmalab.timing.micro.threads import THREADS
from tmalab.timing.micro.words import WORDS

BENCHMARKS: dict[str, Benchmark] = {made.name: made for made in (*THREADS, *LAUNCHES, *WORDS, *COPIES, *RINGS, *TENSOR)}

__all__ = ["BENCHMARKS", "Benchmark"]
