"""What the commands share: how a sentence, a result and a failure are printed, and the exit statuses."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import NoReturn

import click
from rich.console import Console

from tmalab.progress_bar import shown
from tmalab.texts import text

UNREADABLE = 2  # exit status: what was given cannot be understood
NO_GPU = 3  # exit status: the command needs a Hopper GPU, or the software to use it


def bars_unless(context: click.Context, _: click.Parameter, as_json: bool) -> bool:
    """Under --json nothing but the result is shown."""
    context.with_resource(shown(not as_json))
    return as_json


AS_JSON = click.option("--json", "as_json", is_flag=True, callback=bars_unless, help=text("cli.help-json"))


def say(sentence: str, style: str | None = None) -> None:
    """Print a sentence in full, however narrow the terminal; markup in it is shown and not obeyed."""
    Console(soft_wrap=True, highlight=False, markup=False).print(sentence, style=style)


def print_json(result: Mapping[str, object]) -> None:
    """The one JSON object on stdout."""
    click.echo(json.dumps(result))


def fail(sentence: str, status: int, result: dict[str, object] | None = None) -> NoReturn:
    """End with one sentence on stderr; with a `result`, with this JSON object on stdout instead."""
    if result is not None:
        print_json(result)
        sys.exit(status)
    click.echo(f"tmalab: {sentence}", err=True)
    sys.exit(status)
