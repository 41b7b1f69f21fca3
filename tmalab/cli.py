"""The command `tmalab`: what it is called with, what it prints, how it exits. The work is done elsewhere.

Every `--json` prints one JSON object on stdout, and nothing else goes there.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.table import Table

from tmalab import __version__
from tmalab.bench import BENCHES, ON_GPU, measure
from tmalab.progress_bar import shown
from tmalab.texts import LANGUAGE, text
from tmalab.texts import language as chosen_language

UNREADABLE = 2  # exit status: what was given cannot be understood
NO_GPU = 3  # exit status: the command needs a Hopper GPU, or the software to use it
SIGNS = {"ok": ("✔", "green"), "absent": ("–", "yellow"), "wrong": ("✘", "red")}  # a finding's state: how it is shown


def bars_unless(context: click.Context, _: click.Parameter, as_json: bool) -> bool:
    """Under --json nothing but the result is shown."""
    context.with_resource(shown(not as_json))
    return as_json


AS_JSON = click.option("--json", "as_json", is_flag=True, callback=bars_unless, help=text("cli.help-json"))


@click.group(help=text("cli.help"), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tmalab")
def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console without Unicode shows `?`, and never a traceback


def say(sentence: str, style: str | None = None) -> None:
    """Print a sentence in full, however narrow the terminal; markup in it is shown and not obeyed."""
    Console(soft_wrap=True, highlight=False, markup=False).print(sentence, style=style)


def print_json(result: dict[str, object]) -> None:
    """The one JSON object on stdout."""
    click.echo(json.dumps(result))


def fail(sentence: str, status: int, result: dict[str, object] | None = None) -> NoReturn:
    """End with one sentence on stderr; with a `result`, with this JSON object on stdout instead."""
    if result is not None:
        print_json(result)
        sys.exit(status)
    click.echo(f"tmalab: {sentence}", err=True)
    sys.exit(status)


@main.command(help=text("cli.help-lab"))
@click.option("--folder", type=click.Path(path_type=Path), help=text("cli.help-lab-folder"))
@click.option("--language", type=click.Choice(text.languages()), help=text("cli.help-lab-language"))
@click.option("--browser/--no-browser", default=True, help=text("cli.help-lab-browser"))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab(folder: Path | None, language: str | None, browser: bool, arguments: tuple[str, ...]) -> None:
    from tmalab import lab as workbook
    from tmalab.lab_language import language_in, turn

    folder = (folder or Path(workbook.DEFAULT_FOLDER)).absolute()
    language = os.environ[LANGUAGE] = language or language_in(folder) or chosen_language()
    try:
        turned = turn(folder, language)
        new = workbook.fill(folder, language)
    except OSError as error:
        fail(text("cli.lab-unwritable", folder=folder, reason=error.strerror), UNREADABLE)
    say(text("cli.lab-new", folder=folder, count=len(new)) if new else text("cli.lab-kept", folder=folder))
    if turned:
        say(text("cli.lab-turned", count=len(turned)))
    workbook.start(folder, browser, arguments, language)


@main.command(help=text("cli.help-progress"))
@click.option("--folder", type=click.Path(path_type=Path), help=text("cli.help-progress-folder"))
@AS_JSON
def progress(folder: Path | None, as_json: bool) -> None:
    from tmalab import progress as learners

    folder = folder or learners.workbook()
    if not any(folder.glob("*/*.ipynb")):
        sentence = text("progress.none", folder=folder)
        fail(sentence, UNREADABLE, {"folder": str(folder), "lessons": [], "error": sentence} if as_json else None)
    found = learners.progress(folder)
    if as_json:
        print_json({"folder": str(folder), "lessons": found.as_json()})
    else:
        say(str(found))


@main.command("map", help=text("cli.help-map"))
@click.argument("source", metavar="FILE|JSON|HEX")
@AS_JSON
def judge_map(source: str, as_json: bool) -> None:
    from tmalab.map_command import Unreadable, judge

    try:
        judgement = judge(source)
    except Unreadable as error:
        table = Table(box=None, show_header=False)
        for row in error.fields:
            table.add_row(*map(str, row))
        if error.fields and not as_json:
            Console().print(table)
        found = [dict(zip(("bits", "field", "value"), row)) for row in error.fields]
        fail(str(error), UNREADABLE, {"legal": None, "error": str(error), "bits": found} if as_json else None)
    if as_json:
        print_json(judgement.as_json())
    else:
        print_judgement(judgement)
    sys.exit(0 if judgement.legal else 1)


def print_judgement(judgement) -> None:
    """Fields, broken rules and warnings of a tensor map, for people."""
    table = Table(box=None, show_header=False)
    for name, value in {**judgement.fields, **judgement.derived}.items():
        table.add_row(name, hex(value) if name == "global_address" and isinstance(value, int) else str(value))
    Console().print(table)
    if judgement.legal:
        say(text("cli.map-legal"), "green")
    else:
        say(text("cli.map-broken", count=len(judgement.violations)), "red")
    for rule, message in judgement.violations:
        say(f"  {rule}: {message}")
    for warning in judgement.warnings:
        say(text("cli.map-warning", warning=warning), "yellow")


@main.command(help=text("cli.help-doctor"))
@AS_JSON
def doctor(as_json: bool) -> None:
    from tmalab import doctor as examination

    findings = examination.examine()
    result = examination.as_json(findings)
    if as_json:
        print_json(result)
    else:
        for finding in findings:
            sign, style = SIGNS[finding.state]
            say(f"{sign} {finding.name:<9} {finding.found}", style)
            if finding.mend:
                say(f"  {'':<9} {finding.mend}")
    sys.exit(0 if result["ok"] else 1)


@main.command(help=text("cli.help-demo"))
@AS_JSON
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help=text("cli.help-demo-svg"))
def demo(as_json: bool, svg: Path | None) -> None:
    from tmalab import demo as demonstration

    if svg:
        try:
            demonstration.save_svg(svg)
        except OSError as error:
            sentence = text("cli.demo-unwritable", path=svg, reason=error.strerror)
            fail(sentence, UNREADABLE, {"ok": False, "cases": [], "message": sentence} if as_json else None)
    try:
        comparisons, message = demonstration.run(), None
    except demonstration.NoHardware as error:
        comparisons, message = [], str(error)
    ok = message is None and all(comparison.ok for comparison in comparisons)
    if as_json:
        result = {"ok": ok, "cases": [comparison.as_json() for comparison in comparisons]}
        print_json(result if message is None else {**result, "message": message})
    for comparison in comparisons if not as_json else ():
        print_comparison(comparison)
    if message and not as_json:
        fail(message, 1)
    sys.exit(0 if ok else 1)


def print_comparison(comparison) -> None:
    """A case's picture, and what the comparison came to."""
    Console().print(comparison.case.picture())
    key, style = ("cli.demo-different", "red") if comparison.mismatches else ("cli.demo-same", "green")
    values = {"mismatches": comparison.mismatches, "bytes": comparison.case.shared.nbytes, "source": comparison.source}
    say(text(key, **values), style)
    if not comparison.case.run.ok:
        say(text("cli.demo-run", run=comparison.case.run), "red")


@main.command(help=text("cli.help-record"))
@click.argument("groups", nargs=-1)
@click.option("--folder", type=click.Path(path_type=Path), help=text("cli.help-record-folder"))
@AS_JSON
def record(groups: tuple[str, ...], folder: Path | None, as_json: bool) -> None:
    if groups == ("timing",):
        record_timing(folder, as_json)
        return
    from tmalab.bootstrap import ROOT
    from tmalab.gpu import recorder
    from tmalab.gpu.device import why_no_gpu
    from tmalab.recorded.cases import GROUPS

    def give_up(sentence: str, status: int) -> NoReturn:
        fail(sentence, status, {"folder": None, "cases": {}, "error": sentence} if as_json else None)

    if sentence := unknown_groups(groups, GROUPS):
        give_up(sentence, UNREADABLE)
    if reason := why_no_gpu():
        give_up(reason, NO_GPU)
    in_checkout = (ROOT / "pyproject.toml").is_file()
    folder = folder or (ROOT / "tmalab" / "recorded" if in_checkout else Path("recorded"))
    try:
        counts = recorder.record(folder, groups)
    except RuntimeError as error:
        give_up(str(error), 1)
    except OSError as error:
        give_up(text("cli.record-unwritable", folder=folder, reason=error.strerror), UNREADABLE)
    if as_json:
        print_json({"folder": str(folder), "cases": counts})
    else:
        say(text("cli.record-done", count=sum(counts.values()), groups=", ".join(counts), folder=folder), "green")


def record_timing(folder: Path | None, as_json: bool) -> None:
    """Measure what the time model is made of and judged by: a group of its own, which takes minutes."""
    from tmalab.gpu.device import why_no_gpu

    if reason := why_no_gpu():
        fail(reason, NO_GPU, {"folder": None, "error": reason} if as_json else None)
    from tmalab.gpu import timing_recorder
    from tmalab.timing.measured import RECORDED

    folder = folder or RECORDED
    try:
        counts = timing_recorder.record_timing(folder)
    except OSError as error:
        sentence = text("cli.record-unwritable", folder=folder, reason=error.strerror)
        fail(sentence, UNREADABLE, {"folder": None, "error": sentence} if as_json else None)
    if as_json:
        print_json({"folder": str(folder), **counts})
    else:
        say(text("cli.record-timing", folder=folder, **counts), "green")
        for name, reason in counts["failed"].items():
            say(f"  {name}: {reason}", "red")
    sys.exit(1 if counts["failed"] else 0)


@main.command(help=text("cli.help-bench"))
@click.argument("name", type=click.Choice(sorted([*BENCHES, *ON_GPU])))
@AS_JSON
@click.option("--shapes", help=text("cli.help-bench-shapes"))
@click.option("--rounds", type=click.IntRange(1), help=text("cli.help-bench-rounds"))
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help=text("cli.help-bench-plot"))
@click.option("--record", is_flag=True, help=text("cli.help-bench-record"))
def bench(name: str, as_json: bool, shapes: str | None, rounds: int | None, plot: Path | None, record: bool) -> None:
    if name in ON_GPU:
        bench_on_gpu(name, as_json, shapes, rounds, plot, record)
        return
    if name == "timing" and not (shapes or rounds):
        bench_timing(as_json, plot, record)
        return
    if shapes or rounds or plot or record:
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
        try:
            timing.plot(result).savefig(plot)
        except (OSError, ValueError) as error:
            fail(str(error), UNREADABLE, {"bench": "timing", "error": str(error)} if as_json else None)
    if as_json:
        print_json(result)
        return
    for row in result["configurations"]:
        say(text("timing.compared", **row), None if abs(row["error"]) <= timing.WORST else "red")
    say(text("bench.timing", **result))


def bench_on_gpu(
    name: str, as_json: bool, shapes: str | None, rounds: int | None, plot: Path | None, record: bool
) -> None:
    """Run a bench that needs a Hopper GPU; print it, draw it, keep it."""
    from tmalab.bench import command

    try:
        result = command.run(name, shapes, rounds, plot, record)
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


@main.command(help=text("cli.help-verdicts"))
@click.option("--maps", "count", type=click.IntRange(1), default=20_000, help=text("cli.help-verdicts-maps"))
@click.option("--sets", type=click.IntRange(1), default=1, help=text("cli.help-verdicts-sets"))
@click.option("--seed", type=click.IntRange(0), help=text("cli.help-verdicts-seed"))
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help=text("cli.help-verdicts-save"))
@AS_JSON
def verdicts(count: int, sets: int, seed: int | None, save: Path | None, as_json: bool) -> None:
    from tmalab.gpu import verdicts as comparison
    from tmalab.gpu.device import why_no_gpu

    seed = comparison.new_seed() if seed is None else seed
    if reason := why_no_gpu():
        fail(reason, NO_GPU, {"ok": None, "seed": seed, "error": reason} if as_json else None)
    result = comparison.on_this_machine(seed, count, sets)
    if save:
        comparison.save(save, seed, count, f"tmalab verdicts --seed {seed} --maps {count} --save")
    if as_json:
        print_json(result)
    else:
        for report in result["sets"]:
            say(text("cli.verdicts-set", **report), None if report["ok"] else "red")
            for wrong in report["disagreements"]:
                say(f"  {wrong}")
        say(text("cli.verdicts-same" if result["ok"] else "cli.verdicts-different"), "green" if result["ok"] else "red")
    sys.exit(0 if result["ok"] else 1)


@main.command(help=text("cli.help-verify"))
@click.argument("groups", nargs=-1)
@click.option("--cases", "count", type=click.IntRange(1), default=1000, help=text("cli.help-verify-cases"))
@click.option("--seed", type=click.IntRange(0), help=text("cli.help-verify-seed"))
@AS_JSON
def verify(groups: tuple[str, ...], count: int, seed: int | None, as_json: bool) -> None:
    from tmalab.gpu import verify as comparison
    from tmalab.gpu.device import why_no_gpu
    from tmalab.recorded.cases import GROUPS

    seed = comparison.new_seed() if seed is None else seed
    for sentence, status in ((unknown_groups(groups, GROUPS), UNREADABLE), (why_no_gpu(), NO_GPU)):
        if sentence:
            fail(sentence, status, {"ok": None, "seed": seed, "error": sentence} if as_json else None)
    if not as_json:
        say(text("cli.verify-seed", seed=seed))
    result = comparison.verify(groups or list(GROUPS), seed, count)
    if as_json:
        print_json(result)
    else:
        print_comparisons(result)
    sys.exit(0 if result["ok"] else 1)


def print_comparisons(result: dict) -> None:
    """What became of the fresh cases of each group, for people."""
    for group, counts in result["groups"].items():
        differs = counts["reference_differs"] or counts["simulator_differs"]
        say(text("cli.verify-group", group=group, **counts), "red" if differs else None)
    for found in result["differences"]:
        say(f"  {found['group']} {found['number']}: {found['difference']}", "red")
        say(f"    {json.dumps(found['case'])}")
    say(text("cli.verify-same" if result["ok"] else "cli.verify-different"), "green" if result["ok"] else "red")


def unknown_groups(names: tuple[str, ...], groups) -> str | None:
    """The sentence about groups of cases that there are not, if any."""
    unknown = sorted(set(names) - set(groups))
    return text("cli.record-unknown", names=", ".join(unknown), groups=", ".join(groups)) if unknown else None
