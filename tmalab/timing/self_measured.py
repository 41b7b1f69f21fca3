"""The micro-benchmarks as the model runs them: what a GPU with given constants would measure.

Where the fit is right, it finds the constants again with which the model has measured itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.launch import Launch
from tmalab.timing.engine import Engine
from tmalab.timing.fit import first_of_common
from tmalab.timing.machine import Machine
from tmalab.timing.micro.benchmark import CLOCK, WAVES
from tmalab.timing.occupancy import resident
from tmalab.timing.part import simulate_part
from tmalab.timing.residence import Shares
from tmalab.timing.reuse import loads_of

if TYPE_CHECKING:
    from tmalab.timing.constants import Constants
    from tmalab.timing.micro import Benchmark

TURNS, MORE_TURNS = 2, 16  # a ring of 12 stages has to run steadily first, and writes have to hold their warps up
MEMORY = 1 << 20  # bytes


def sample(benchmark: Benchmark, constants: Constants) -> float:
    """What the benchmark measures on the model: cycles a turn, or ns a turn where whole launches are timed."""
    if benchmark.name == "clock":
        return constants["clock"]
    if not benchmark.turns:
        return _ran(benchmark, constants, 0).end + constants["launch"]
    turns = MORE_TURNS if "_ring" in benchmark.name or "_writes" in benchmark.name else TURNS
    short, long = (_ran(benchmark, constants, number) for number in (turns, 2 * turns))
    if benchmark.how == CLOCK:
        return (_between_looks(long) - _between_looks(short)) * constants["clock"] / turns
    return (long.end - short.end) / turns


def _between_looks(engine: Engine) -> float:
    """How long (ns) it was between the looks at the clock, two by two."""
    times = engine.clocks[0, 0]
    return sum(end - begin for begin, end in zip(times[::2], times[1::2], strict=True))


def _ran(benchmark: Benchmark, constants: Constants, turns: int) -> Engine:
    """The benchmark, run on one SM of the model, or one cluster's."""
    sms = int(constants["sms"])
    grid = benchmark.grid or sms * benchmark.ctas
    arguments = benchmark.arguments(turns, memory=MEMORY)
    launch = Launch.of(benchmark.kernel, grid, benchmark.block, arguments, benchmark.cluster, 0, False)
    part = simulate_part(launch, (0,))
    clusters = part.programs() * (turns if benchmark.how == WAVES else benchmark.ctas)
    cold = benchmark.cold or benchmark.name.endswith("_device")
    first = first_of_common(sms) if benchmark.name.endswith("_common") else 1.0
    maps = {copy.tensor_map.global_address: first for copy in loads_of(part.programs()[0])}
    machine = Machine(constants, weight=1 if benchmark.grid else sms // benchmark.cluster)
    room = resident(benchmark.block, part.shared_bytes)
    engine = Engine(clusters, machine, Shares(maps, cold), 1, room)
    engine.run()
    return engine
