"""`tmalab bench`: how fast things are, here and on a Hopper GPU."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from tmalab.bench import BENCHES, ON_GPU, measure
from tmalab.cli.output import AS_JSON, NO_GPU, UNREADABLE, fail, print_json, say
from tmalab.texts import text


@click.command(help=text("cli.help-bench"))
@click.argument("name", type=click.Choice(sorted([*BENCHES, *ON_GPU])))
@AS_JSON
@click.option("--shapes", help=text("cli.help-bench-shapes"))
@click.option("--rounds", type=click.IntRange(1), help=text("cli.help-bench-rounds"))
@click.option("--settle", type=click.FloatRange(0, 10), metavar="SECONDS", help=text("cli.help-bench-settle"))
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help=text("cli.help-bench-plot"))
@click.option("--record", is_flag=True, help=text("cli.help-bench-record"))
def bench(
    name: str,
    as_json: bool,
    shapes: str | None,
    rounds: int | None,
    settle: float | None,
    plot: Path | None,
    record: bool,
) -> None:
    if name in ON_GPU:
        bench_on_gpu(name, as_json, shapes, rounds, settle, plot, record)
        return
    if name == "timing" and not (shapes or rounds or settle):
        bench_timing(as_json, plot, record)
        return
    if shapes or rounds or settle or plot or record:
        fail(text("bench.only-on-gpu", name=name, names=", ".join(ON_GPU)), UNREADABLE, {} if as_json else None)
    figures = measure(name)
    if as_json:
        print_json(figures)
    else:
        say(text(f"bench.{name}", **figures))


def bench_timing(as_json: bool, plot: Path | None, record: bool) -> None:
    """Compare the time model with its recording; with `record` after fitting its constants anew."""
    from tmalab.bench import timing

    try:
        if record:
            timing.refit()
        result = timing.measure()
    except RuntimeError as error:  # nothing was recorded
        fail(str(error), UNREADABLE, {"bench": "timing", "error": str(error)} if as_json else None)
    if plot:
        from tmalab.bench import timing_plots

        try:
            timing_plots.trials(result).savefig(plot, bbox_inches="tight")
        except (OSError, ValueError) as error:
            fail(str(error), UNREADABLE, {"bench": "timing", "error": str(error)} if as_json else None)
    if as_json:
        print_json(result)
        return
    for row in result["configurations"]:
        say(text("timing.compared", **row), None if abs(row["error"]) <= timing.WORST else "red")
    say(text("bench.timing", **result))


def bench_on_gpu(
    name: str,
    as_json: bool,
    shapes: str | None,
    rounds: int | None,
    settle: float | None,
    plot: Path | None,
    record: bool,
) -> None:
    """Run a bench that needs a Hopper GPU; print it, draw it, keep it."""
    from tmalab.bench import command

    try:
        result = command.run(name, shapes, rounds, settle, plot, record)
    except command.Refused as error:
        status = NO_GPU if error.no_gpu else UNREADABLE
        fail(str(error), status, {"bench": name, "error": str(error)} if as_json else None)
    if as_json:
        print_json(result)
        return
    table = Table(box=None)
    for title in (text("bench.case"), text("bench.contender"), text("bench.speed"), text("bench.ratio")):
        table.add_column(title, justify="left" if title in (text("bench.case"), text("bench.contender")) else "right")
    for row in command.rows(result):
        table.add_row(*row)
    Console().print(table)
    say(command.sentence(result))
