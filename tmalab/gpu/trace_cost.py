"""What looks at the clock cost: some kernels, timed as they are written, with bounded waits, and with looks beside.

`run` launches a kernel with bounded waits, and with `trace=True` with looks at the clock as well, in the first CTAs of
the grid. Both may slow it down; so each is timed from launch to launch as the trials of the time model are, and
`tmalab record held-out` keeps that. Of the grids of four CTAs every one looks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from math import prod
from pathlib import Path
from typing import Any

from tmalab.gpu import launch as bounded
from tmalab.gpu.bounded_waits import LIMIT_NS, fresh_notes
from tmalab.gpu.clocked_ptx import CTAS, read_looks, size_of
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.device import call
from tmalab.gpu.prepared import Prepared
from tmalab.gpu.recorder import RecordingError
from tmalab.gpu.stopwatch import nanoseconds_each
from tmalab.launch import Kernel, Launch
from tmalab.texts import text
from tmalab.timing.trace_costs import FILE
from tmalab.timing.trials import Trial
from tmalab.timing.trials.columns import launch_columns
from tmalab.timing.trials.moves import launch_ring
from tmalab.timing.trials.products import launch_product
from tmalab.timing.trials.stores import launch_stores
from tmalab.timing.trials.trial import trial

_SMALL: dict[str, Any] = {"m": 256, "n": 256, "k": 4096, "consumers": 2, "bn": 128}  # a grid of four CTAs
_LARGE = {**_SMALL, "m": 2048, "n": 2048, "k": 2048}
TRACES: dict[str, Trial] = {
    made.name: made
    for made in (
        *(trial(launch_product, "traced product", **_SMALL, stages=stages) for stages in (1, 2, 4)),
        *(trial(launch_product, "traced product", **_LARGE, stages=stages) for stages in (1, 4)),
        trial(launch_ring, "traced ring copy", mib=64, rows=64, stages=1),
        trial(launch_ring, "traced ring copy", mib=64, rows=64, stages=4),
        trial(launch_columns, "traced columns", swizzled=1, passes=16, turns=128, stages=4, block=128),
        trial(launch_stores, "traced stores", rows=64, buffers=2, turns=128),
    )
}


class Bounded(Prepared):
    """A prepared launch of what `run` launches: with bounded waits; `looks`: and with looks at the clock."""

    looks = False

    def _load(self, threads: int) -> Any:
        self._threads = threads
        self.loaded = bounded.loaded(self.compiled, threads if self.looks else None)
        notes = fresh_notes(LIMIT_NS)
        call("cuMemcpyHtoD", self.loaded.notes, notes, len(notes))
        return self.loaded.kernel


class Looking(Bounded):
    """The same with looks at the clock."""

    looks = True

    def most_looks(self) -> int:
        """How many the thread took that took most of them."""
        size = size_of(self._threads)
        found = read_looks(bounded.memory_at(self.loaded.looks, size), self._threads)
        return max(map(len, found.values()), default=0)


def measure_traces(name: str, turn: AbstractContextManager | None = None) -> dict[str, Any]:
    """Of one kernel: ns from launch to launch, of several replays, `plain` as it is written, `bounded`, and `traced`;
    its `ctas`, how many of them are `looking`, and the most `looks` that a thread takes. `turn`: of this process on
    the GPU."""
    made = TRACES[name].launching()
    launch = Launch.of(made.kernel, made.grid, made.block, made.args, made.cluster, 0, False)
    compiled = compile_kernel(made.kernel.function, made.args, made.block)
    for code in (compiled.fast, compiled.bounded_cubin, bounded.looking_cubin(compiled, made.block)):
        assert code  # assembled while others use the GPU
    with turn or nullcontext():
        run = made.kernel.run(made.grid, made.block, made.args, made.cluster, on="gpu", trace=True)
        if not run.ok:
            raise RecordingError(text("gpu.record-failed", case=name, run=str(run)))
        return {"ctas": prod(launch.grid), "looking": min(CTAS, prod(launch.grid)), **_timed(made.kernel, launch)}


def _timed(kernel: Kernel, launch: Launch) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, how in (("plain", Prepared), ("bounded", Bounded), ("traced", Looking)):
        with how(kernel, launch.grid, launch.block, launch.args, launch.cluster) as prepared:
            found[kind] = nanoseconds_each(prepared)
            if isinstance(prepared, Looking):
                found["looks"] = prepared.most_looks()
    return found


def write_traces(folder: Path, provenance: Mapping[str, Any], traces: Mapping[str, Any]) -> None:
    """Write what was measured, a line for each kernel."""
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in traces.items())
    head = json.dumps({"provenance": provenance})[1:-1]
    (folder / FILE).write_text(f'{{{head},\n"traces": {{\n{rows}\n}}}}\n', "utf-8")
