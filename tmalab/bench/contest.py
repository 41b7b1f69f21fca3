"""A contest: contenders for one case, checked, then timed in interleaved rounds.

Every kernel of ours runs once with bounded waits first: a hang is then a sentence, and costs neither the GPU nor the
session. What a contender writes is poisoned before it is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tmalab.bench.on_gpu import BenchError, Launch, Timer, clock
from tmalab.bench.rounds import interleaved
from tmalab.run import Run
from tmalab.texts import text

Buffers = tuple[Any, ...]  # of a case: what a launch reads, and last what it writes
Contender = Callable[..., Launch]  # from a set of buffers to a launch on them
WARM = 3  # replays of each contender before the first round


def ours(launch_of: Callable[..., dict[str, Any]], *options: Any) -> Contender:
    """A kernel of the ladder as a contender: `launch_of(*buffers, *options)` says how it is launched."""
    tried: list[Run] = []

    def prepare(*buffers: Any) -> Launch:
        how = dict(launch_of(*buffers, *options))
        kernel = how.pop("kernel")
        if not tried:
            run = kernel.run(on="gpu", **how)
            if not run.ok:
                raise BenchError(text("bench.not-right", contender=kernel.__name__, run=run))
            tried.append(run)
        return kernel.prepare(**how)

    return prepare


def hold(
    contenders: Mapping[str, Contender],
    sets: Sequence[Buffers],
    check: Callable[[str, Buffers], dict[str, Any]],
    rounds: int,
    settle: float = 0.0,
) -> tuple[dict[str, list[float]], dict[str, dict[str, Any]], list[int]]:
    """Seconds of each contender in each round, what its check said of it, and the clocks after each round.

    `settle`: seconds that a contender runs in each round before it is timed. At its limit of power a GPU lowers its
    clock some hundredths of a second late, so that whoever follows a light contender would look fast.
    Raises BenchError where `check` does, or a kernel of ours hangs or faults.
    """
    timers, about = {}, {}
    for name, contender in contenders.items():
        on_sets = [contender(*buffers) for buffers in sets]
        sets[0][-1].fill_(float("nan") if sets[0][-1].dtype.is_floating_point else -1)
        on_sets[0](None)
        about[name] = check(name, sets[0])
        timers[name] = Timer(on_sets)
        about[name]["launches"] = timers[name].launches
    for timer in timers.values():
        for _ in range(WARM):
            timer()
    clocks: list[int] = []

    def noted(timer: Timer) -> Callable[[], float]:
        def once() -> float:
            spent = 0.0
            while spent < settle:
                spent += timer() * timer.launches
            seconds = timer()
            clocks.extend(filter(None, [clock()]))
            return seconds

        return once

    return interleaved({name: noted(timer) for name, timer in timers.items()}, rounds), about, clocks
