"""Mechanical edits that nothing reports, and why that is right: `equivalent.toml`, each one looked at by hand.

The file gives reasons a name, and for each kernel the edits that survive, with the name of their reason. An edit that
survives and is not there, or that is there and does not survive, is `unexplained`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.mutants.runs import Edits

FILE = Path(__file__).with_name("equivalent.toml")
FATES = ("survivors", "sometimes", "lucky")  # what needs a reason
BY_ORDER = "by-order"  # the reason of edits that are reported in most orders: in few of them perhaps in each


@cache
def reasons() -> dict[str, str]:
    """The reasons by name."""
    return _content()["reasons"]


def explained(case: str) -> dict[str, str]:
    """The edits of a case that are known to survive, each with the name of its reason."""
    return _content()["kernels"].get(case, {})


def unexplained(checked: Iterable[Edits]) -> list[str]:
    """Survivors without a reason, and reasons without a survivor."""
    return [line for made in checked for line in _unexplained(made)]


def _unexplained(made: Edits) -> Iterator[str]:
    known = explained(made.case)
    survived = {edit: fate for fate in FATES for edit in getattr(made, fate)}
    for edit, fate in survived.items():
        if known.get(edit) not in reasons():
            yield f"{made.case}: {fate}: {edit}"
    for edit in (edit for edit in known if edit not in survived and known[edit] != BY_ORDER):
        yield f"{made.case}: does not survive: {edit}"


@cache
def _content() -> dict[str, dict]:
    return tomllib.loads(FILE.read_text("utf-8"))
