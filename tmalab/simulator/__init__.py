"""The simulator: a Hopper GPU's threads, shared memory and copy engine, in Python.

It runs a kernel's own source on greenlets, lands copies as late as the hardware may, and finds by order, not by luck,
whatever two accesses nothing orders. `kernel.run(...)` is the way in.
"""

from tmalab.simulator.verdict import simulate

__all__ = ["simulate"]
