"""What a bench on the GPU found, as plain data: every round, and what follows from them.

    {"bench", "schema", "provenance", "rounds", "settle_s", "clocks_mhz", "geometric_mean",
     "cases": [{"case", "work", "reference", "launches", "buffers", "contenders": {name: {"seconds", "ratio", "speed",
                "relative_error", "about"}}}]}

`case` is a product's [m, n, k] or a copy's bytes; `work` the floating-point operations of the one, the bytes read and
written of the other; `speed` is work per second in units of 10^12 or 10^9; `ratio` says how many times as fast as the
reference a contender is, the median over the rounds; `geometric_mean` is of the first contender's ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from tmalab.bench.rounds import geometric_mean, ratio
from tmalab.texts import text

SCHEMA = 1
_PRODUCT = 1e12, "TFLOP/s"
UNITS = {"gemm": _PRODUCT, "ladder": _PRODUCT, "tiles": _PRODUCT, "copy": (1e9, "GB/s")}


def case(
    name: str,
    what: Any,
    work: float,
    reference: str,
    seconds: Mapping[str, Sequence[float]],
    about: Mapping[str, Mapping[str, Any]],
    **more: Any,
) -> dict[str, Any]:
    """One case of the bench `name` from its rounds. `about`: what else is known of each contender."""
    unit, _ = UNITS[name]
    contenders = {
        contender: {
            "seconds": list(rounds),
            "ratio": ratio(seconds, contender, reference),
            "speed": work / median(rounds) / unit,
            **about.get(contender, {}),
        }
        for contender, rounds in seconds.items()
    }
    return {"case": what, "work": work, "reference": reference, **more, "contenders": contenders}


def result(
    name: str,
    cases: Sequence[Mapping[str, Any]],
    rounds: int,
    provenance: Mapping[str, Any],
    clocks: Sequence[int],
    settle: float = 0.0,
) -> dict[str, Any]:
    """A bench's result. `clocks`: of the SMs in MHz, one after each round; `settle`: seconds run before each timing."""
    first = [next(iter(found["contenders"].values()))["ratio"] for found in cases]
    return {
        "bench": name,
        "schema": SCHEMA,
        "provenance": dict(provenance),
        "rounds": rounds,
        "settle_s": settle,
        "clocks_mhz": list(clocks),
        "geometric_mean": geometric_mean(first),
        "cases": [dict(found) for found in cases],
    }


def rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """A result as a table: case, contender, speed with its unit, ratio to the reference."""
    _, unit = UNITS[found["bench"]]
    for one in found["cases"]:
        for name, contender in one["contenders"].items():
            yield called(one["case"]), name, f"{contender['speed']:,.0f} {unit}", f"{contender['ratio']:.3f}"


def called(what: Any) -> str:
    """A case as people write it.

    >>> called([8192, 8192, 1024]), called(2 << 30)
    ('8192 x 8192 x 1024', '2,048 MiB')
    """
    return " x ".join(map(str, what)) if isinstance(what, (list, tuple)) else f"{what / (1 << 20):,.0f} MiB"


def sentence(found: Mapping[str, Any]) -> str:
    """What a result comes to, in one sentence."""
    first = [next(iter(one["contenders"].items())) for one in found["cases"]]
    lowest = min(contender["ratio"] for _, contender in first)
    words = {"mean": f"{found['geometric_mean']:.3f}", "lowest": f"{lowest:.3f}", "rounds": found["rounds"]}
    clocks = found["clocks_mhz"]
    shown = text("bench.clocks", low=min(clocks), high=max(clocks)) if clocks else text("bench.no-clocks")
    return text("bench.mean", reference=found["cases"][0]["reference"], clocks=shown, **words)
