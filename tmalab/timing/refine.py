"""Refining constants on whole kernels: those for fitting, and never those that judge the model.

A micro-benchmark measures a part alone; in a kernel the parts stand in each other's way. So some constants, those that
stand for what is shared or compiled, are tried a little higher and lower, one after the other, and what makes the
predictions of the fitting trials better is kept. None may leave the range that its reason allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log
from statistics import mean

from tmalab.timing.constants import Constant, Constants

# The constants that may be refined, and by which factor at most: how reads and writes hold each other up no benchmark
# tells alone; under load latencies are longer, and rates are what all SMs together reach.
RANGES = {
    "common_rate": 1.25,
    "device_crowding": 5.0,
    "device_write_rate": 1.5,
    "load_latency_l2": 1.5,
    "line_rate": 1.2,
}
STEPS = (1.5, 1.2, 1.1, 1.05)  # factors that are tried, one round with each


def refine(
    constants: Constants,
    predictions: Mapping[str, Callable[[Constants], float]],
    measured: Mapping[str, float],
    begin: Mapping[str, float] | None = None,
) -> Constants:
    """Constants that predict the trials better. `predictions`: by trial, its time (ns) by constants; `measured`: the
    same as measured. `begin`: values that an earlier refinement has found, to go on from where they are better."""

    def wrong(candidate: Constants) -> float:
        return mean(abs(log(predict(candidate) / measured[name])) for name, predict in predictions.items())

    best, error = constants, wrong(constants)
    if begin is not None:
        found = {name: _refined(constants, name, begin[name]) for name in RANGES if name in constants and name in begin}
        candidate = Constants({**constants.found, **_within(found, constants)}, constants.provenance)
        if (there := wrong(candidate)) < error:
            best, error = candidate, there
    for factor in STEPS:
        for name in (name for name in RANGES if constants.get(name)):
            for times in (factor, 1 / factor):
                value = best[name] * times
                if not _is_within(name, value, constants):
                    continue
                candidate = Constants({**best.found, name: _refined(best, name, value)}, best.provenance)
                if (there := wrong(candidate)) < error:
                    best, error = candidate, there
                    break
    return best


def _within(found: Mapping[str, Constant], constants: Constants) -> dict[str, Constant]:
    return {name: row for name, row in found.items() if constants[name] and _is_within(name, row.value, constants)}


def _is_within(name: str, value: float, constants: Constants) -> bool:
    return 0.999 / RANGES[name] <= value / constants[name] <= 1.001 * RANGES[name]


def _refined(constants: Constants, name: str, value: float) -> Constant:
    source = constants.found[name].source
    mark = ", refined on the fitting trials"
    return replace(constants.found[name], value=value, source=source if source.endswith(mark) else source + mark)
