"""The commands that ask a Hopper GPU what it does: `record`, `verdicts` and `verify`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import click

from tmalab.cli.output import AS_JSON, NO_GPU, UNREADABLE, fail, print_json, say
from tmalab.texts import text


@click.command(help=text("cli.help-record"))
@click.argument("groups", nargs=-1)
@click.option("--folder", type=click.Path(path_type=Path), help=text("cli.help-record-folder"))
@AS_JSON
def record(groups: tuple[str, ...], folder: Path | None, as_json: bool) -> None:
    if groups in ALONE:
        ALONE[groups](folder, as_json)
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


def record_timing(folder: Path | None, as_json: bool, group: str = "timing") -> None:
    """Measure what the time model is made of, or what it is judged by: groups by themselves, which take minutes."""
    from tmalab.gpu.device import why_no_gpu

    if reason := why_no_gpu():
        fail(reason, NO_GPU, {"folder": None, "error": reason} if as_json else None)
    from tmalab.gpu import timing_recorder
    from tmalab.timing.measured import RECORDED

    folder = folder or RECORDED
    try:
        measure = timing_recorder.record_timing if group == "timing" else timing_recorder.record_held_out
        counts = measure(folder)
    except OSError as error:
        sentence = text("cli.record-unwritable", folder=folder, reason=error.strerror)
        fail(sentence, UNREADABLE, {"folder": None, "error": sentence} if as_json else None)
    if as_json:
        print_json({"folder": str(folder), **counts})
    else:
        say(text(f"cli.record-{group}", folder=folder, **counts), "green")
        for name, reason in counts["failed"].items():
            say(f"  {name}: {reason}", "red")
    sys.exit(1 if counts["failed"] else 0)


def record_promises(folder: Path | None, as_json: bool) -> None:
    """Try promises that are not what a load brings: what comes of them differs from try to try, and is counted."""
    from tmalab.gpu.device import why_no_gpu

    if reason := why_no_gpu():
        fail(reason, NO_GPU, {"folder": None, "error": reason} if as_json else None)
    from tmalab.gpu.promise_recorder import record_promises
    from tmalab.timing.measured import RECORDED

    folder = folder or RECORDED
    try:
        count = record_promises(folder)
    except RuntimeError as error:
        fail(str(error), 1, {"folder": None, "error": str(error)} if as_json else None)
    except OSError as error:
        sentence = text("cli.record-unwritable", folder=folder, reason=error.strerror)
        fail(sentence, UNREADABLE, {"folder": None, "error": sentence} if as_json else None)
    if as_json:
        print_json({"folder": str(folder), "promises": count})
    else:
        say(text("cli.record-promises", folder=folder, count=count), "green")


ALONE: dict[tuple[str, ...], Callable[[Path | None, bool], None]] = {
    ("timing",): record_timing,
    ("held-out",): partial(record_timing, group="held-out"),
    ("promises",): record_promises,
}


@click.command(help=text("cli.help-verdicts"))
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


@click.command(help=text("cli.help-verify"))
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
