"""`tmalab map`: a tensor map's fields, and every rule that it breaks."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.table import Table

from tmalab.cli.output import AS_JSON, UNREADABLE, fail, print_json, say
from tmalab.texts import text


@click.command("map", help=text("cli.help-map"))
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
