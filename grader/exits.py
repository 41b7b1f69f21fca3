"""How the commands end: with one of four exit codes, a sentence on stderr, or one JSON object on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any, NoReturn

import click

DONE, NOT_ALL, UNREADABLE, SET_UP = range(4)


def fail(code: int, message: str, found: dict[str, Any], as_json: bool) -> NoReturn:
    """End with a sentence; under --json with what was found and the sentence as its `error`."""
    if not as_json:
        leave(code, message)
    click.echo(json.dumps(found | {"error": message}))
    sys.exit(code)


def leave(code: int, message: str) -> NoReturn:
    """End with a sentence."""
    click.echo(message, err=True)
    sys.exit(code)
