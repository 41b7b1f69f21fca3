"""Results of benches that were kept."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from docs.tables.markdown import html, picture, table
from tmalab.bench import ON_GPU, command, plots
from tmalab.bench.drawing import as_svg
from tmalab.bench.rounds import ratio
from tmalab.figures.gemm import GemmFigure


def gains() -> str:
    """How many times as fast as the one before each step of the ladder is: the median over the recorded rounds."""
    found = command.recorded("ladder")["cases"][0]["contenders"]
    steps = [name for name in reversed(found) if name.startswith("gemm")]
    seconds = {name: found[name]["seconds"] for name in steps}
    gained = ["", *(f"{ratio(seconds, now, before):.3f}" for before, now in pairwise(steps))]
    rows = [(f"`{name}`", f"{found[name]['speed']:,.0f}", times) for name, times in zip(steps, gained, strict=True)]
    return table(("step", "TFLOP/s", "times the one before"), rows)


def benches() -> str:
    """The results of the benches on a GPU that were kept: a table, a sentence, a drawing."""
    parts = []
    for name in (file for bench in ON_GPU for file in (bench, f"{bench}-settled")):
        found = command.recorded(name)
        if found is None:
            continue
        where = found["provenance"]
        run = found["bench"] + (f" --settle {found['settle_s']}" if name != found["bench"] else "")
        parts.append(f"**`tmalab bench {run}`**, {where['gpu']}, driver {where['driver']}, {where['date']}")
        parts.append(table(("case", "contender", "speed", "ratio"), command.rows(found)))
        parts.append(command.sentence(found))
        parts.append(html(as_svg(plots.figure_of(found, command.bandwidth()))))
    return "\n\n".join(parts)


def gemm_picture() -> str:
    """Figure 9, from the results that are kept."""
    return picture(GemmFigure())


def throughput() -> str:
    """A run of `grader bench` that was kept in throughput.json."""
    found = json.loads((Path(__file__).parents[1] / "throughput.json").read_text("utf-8"))
    of_both = (
        ("submissions", "submissions", "stock_submissions"),
        ("seconds", "seconds", "stock_seconds"),
        ("seconds of the processor", "cpu_seconds", "stock_cpu_seconds"),
        ("submissions a minute", "per_minute", "stock_per_minute"),
    )
    rows = [(name, str(found[ours]), str(found[stock])) for name, ours, stock in of_both]
    rows.append(("workers, memory in MiB", f"{found['jobs']}, {found['memory_mib']}", ""))
    said = (
        f"They took turns, {found['turns']} each; stock nbgrader had {found['stock_submissions']} of the same mixture. "
        f"By the clock {found['ratio']} times as many submissions, and for one second of the processor "
        f"{found['cpu_ratio']} times as many. {found['cluster_submissions']} submissions took one Dask worker "
        f"{found['cluster_seconds_1_worker']} seconds and two {found['cluster_seconds_2_workers']}: "
        f"{found['cluster_ratio']} times as fast. All processes together used {found['cluster_cpu_seconds_1_worker']} "
        f"and {found['cluster_cpu_seconds_2_workers']} seconds of the processor."
    )
    where = (
        f"{found['date']}, {found['cpus']} processors ({found['processor']}), of which others wanted "
        f"{found['load']} when it began; {found['system']}, Python {found['python']}, "
        f"nbgrader {found['nbgrader']}, tmalab {found['tmalab']}"
    )
    return f"{table(('', 'here, in sandboxes', 'stock nbgrader'), rows)}\n\n{said}\n\n{where}."


TABLES = (gains, benches, gemm_picture, throughput)
