"""The benches on the GPU as a command: what was asked for, what it says where that can't be, what it keeps.

A result that is kept lies in `tmalab/recorded/bench-NAME.json`, with every round and its provenance; one for which the
contenders were given other time to settle than they have by themselves, in `bench-NAME-settled.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from tmalab.bench import ON_GPU, shapes
from tmalab.bench.results import rows, sentence
from tmalab.bench.rounds import FEWEST
from tmalab.texts import text

__all__ = ["Refused", "bandwidth", "recorded", "rows", "run", "sentence"]


class Refused(Exception):
    """A bench that was not run, or failed, in one sentence. `no_gpu`: it would run on a machine with a Hopper GPU."""

    def __init__(self, reason: str, no_gpu: bool = False):
        super().__init__(reason)
        self.no_gpu = no_gpu


def run(
    name: str,
    given: str | None = None,
    rounds: int | None = None,
    settle: float | None = None,
    plot: Path | None = None,
    record: bool = False,
) -> dict[str, Any]:
    """Measure, draw, keep. Refused for cases, rounds or files that make no sense, before anything is measured."""
    module, function, reader = ON_GPU[name]
    rounds = FEWEST if rounds is None else rounds
    if record and rounds < FEWEST:
        raise Refused(text("bench.few-rounds", rounds=rounds, fewest=FEWEST))
    try:
        cases = [getattr(shapes, reader)(given)] if given else []
    except ValueError as error:
        raise Refused(str(error)) from None
    if plot is not None:
        _check_plot(plot)
    options = {"rounds": rounds} | ({} if settle is None else {"settle": settle})
    found = _measure(module, function, cases, options)
    if plot is not None:
        from tmalab.bench.plots import save

        save(found, plot, bandwidth())
    if record:
        _file(name if settle is None else f"{name}-settled").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return found


def recorded(name: str) -> dict[str, Any] | None:
    """The result of a bench that was kept; None where there is none."""
    file = _file(name)
    return json.loads(file.read_text("utf-8")) if file.is_file() else None


def _measure(module: str, function: str, cases: list[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    from tmalab.gpu.device import why_no_gpu

    if sentence := why_no_gpu():
        raise Refused(sentence, no_gpu=True)
    try:
        return getattr(import_module(module), function)(*cases, **options)
    except RuntimeError as error:  # no PyTorch, a wrong result, a kernel that hung or faulted
        raise Refused(str(error), no_gpu=type(error).__name__ == "GpuUnavailable") from None


def _check_plot(path: Path) -> None:
    """Refused where matplotlib could not write the file: told before minutes of measuring."""
    from matplotlib.figure import Figure

    kinds = Figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in kinds:
        raise Refused(text("bench.plot-kind", path=path, kinds=", ".join(sorted(kinds))))
    try:
        path.touch()
    except OSError as error:
        raise Refused(text("bench.no-file", path=path, reason=error.strerror)) from None


def bandwidth() -> float | None:
    """Bytes per second of the fastest copy that was recorded, for the roofline."""
    found: Mapping[str, Any] | None = recorded("copy")
    if found is None:
        return None
    return 1e9 * max(contender["speed"] for contender in found["cases"][0]["contenders"].values())


def _file(name: str) -> Path:
    return Path(str(resources.files("tmalab") / "recorded" / f"bench-{name}.json"))
