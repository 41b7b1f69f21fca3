"""The pages of the documentation that come from here: `docs/mutants.md`, the tables, and `docs/hazards.md`, a section
for each name of the catalogue with a right kernel, the edit that makes it wrong, and the report."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from tests.mutants import equivalent, hardware_page
from tests.mutants.mutant import Mutant, source_of
from tests.mutants.right import CASES
from tests.mutants.wrong import MUTANTS
from tmalab.simulator.hazards import Entry, catalogue

CONTEXT = 3  # lines around an edit
NO_EXAMPLE = "No kernel of the present language shows it."

HAZARDS_HEAD = """# Hazards

What a kernel can do wrong, by the names that `run.hazards` and the checks use. Each has what it means, how it is
mended, and an example: a right kernel of `tests/mutants`, the edit that makes it wrong, and what the simulator says
about it then. This page is made by `python -m tests.mutants --hazards docs/hazards.md`.
"""
MUTANTS_HEAD = """# Right kernels and wrong ones

What the simulator is held to, and how it does. The kernels are in `tests/mutants`; this page is made by
`python -m tests.mutants --table docs/mutants.md`. An order is one seed: it decides which thread runs next and when
copies land.
"""


def hazards() -> str:
    """The page of the catalogue."""
    return "\n".join([HAZARDS_HEAD, *map(_section, catalogue())])


def _section(entry: Entry) -> str:
    example = example_of(entry.name)
    shown = [NO_EXAMPLE, ""] if example is None else _example(entry.name, *example)
    return "\n".join([f"## {entry.name}", "", entry.meaning, "", f"*To mend it:* {entry.remedy}", "", *shown])


@cache
def example_of(name: str) -> tuple[str, Mutant] | None:
    """The first mutant that has a name before others, or has it at all."""
    having = [(title, mutant) for title, mutant in MUTANTS.items() if name in mutant.names]
    return next((found for found in having if found[1].names[0] == name), having[0] if having else None)


def _example(name: str, title: str, mutant: Mutant) -> list[str]:
    right = source_of(CASES[mutant.case]().kernel)
    run = mutant.fresh().run()
    told = [hazard for hazard in run.hazards if hazard.name == name]
    lines = {access.line for hazard in told[:1] for access in hazard.accesses}
    return [
        f"Example: {title}, in `{_kernel(mutant.case)}`.",
        "",
        "```diff",
        *_difference(right, mutant.edited.source, lines),
        "```",
        "",
        "```text",
        str(told[0]) if told else str(run),
        "```",
        "",
    ]


def _difference(right: str, wrong: str, told: set[int | None]) -> list[str]:
    """The edit, the lines around it, and those that the report names, with the numbers that they have in the report."""
    lines: list[tuple[int, str]] = []  # number in the wrong kernel, and the line
    number = 0
    for line in difflib.ndiff(right.splitlines(), wrong.splitlines()):
        if line[0] != "?":
            number += line[0] != "-"
            lines.append((number, f"{line[0]}{number if line[0] != '-' else '':>3}  {line[2:]}"))
    changed = [i for i, (_, line) in enumerate(lines) if line[0] != " "]
    near = {i + j for i in changed for j in range(-CONTEXT, CONTEXT + 1)}
    shown = [i for i, (number, line) in enumerate(lines) if i in near or (number in told and line[0] != "-")]
    return [text for i in shown for text in (["  ..."] * (i - 1 not in shown and i > 0) + [lines[i][1]])]


def mutants(data: dict[str, Any]) -> str:
    """The page of tables."""
    parts = [
        MUTANTS_HEAD,
        summary(data),
        "",
        *_right(data["right"]),
        *_wrong(data["wrong"]),
        *_edits(data["edits"]),
    ]
    return "\n".join(parts) + "\n"


def summary(data: dict[str, Any]) -> str:
    """The numbers, in a few lines."""
    right, wrong, edits = data["right"], data["wrong"], data["edits"]
    mechanical = sum(made["mechanical"] for made in wrong)
    lines = [
        f"- {len({_kernel(made['name']) for made in right})} right kernels in {len(right)} launches, "
        f"{_seeds(right)} orders each: {sum(len(made['flagged']) for made in right)} false alarms, "
        f"{sum(len(made['wrong']) for made in right)} wrong results.",
        f"- {len(wrong)} wrong kernels, {mechanical} of them by mechanical edits, {_seeds(wrong)} orders each: "
        f"{sum(made['holds'] for made in wrong)} reported as they must be.",
    ]
    if edits:
        count = {fate: sum(len(made[fate]) for made in edits) for fate in edits[0] if isinstance(edits[0][fate], list)}
        lines.append(
            f"- {sum(count.values()):,} mechanical edits of {len(edits)} right kernels, all that there are: "
            f"{count['caught']:,} reported in every order, {count['refused']} no kernels any more, {count['wrong']} "
            f"that compute something else in the same order, {count['sometimes']} reported in some orders, "
            f"{count['lucky']} missed, {count['survivors']} equivalent."
        )
    lines += [
        f"- MISSED: {made['name']}: {made['found']}"
        for made in (*right, *wrong)
        if not made["holds"] and "found" in made
    ]
    lines += [
        f"- FALSE ALARM: {made['name']}: {made['flagged']}, {made['wrong']}" for made in right if not made["holds"]
    ]
    lines += [f"- UNEXPLAINED: {line}" for line in data["unexplained"]]
    lines += [f"- NOT RUN: {data['not_run']} pieces of the work"] if data["not_run"] else []
    return "\n".join(lines)


def _right(right: list[dict[str, Any]]) -> list[str]:
    rows = [
        (f"`{made['name']}`", made["style"], made["seeds"], len(made["flagged"]), made["seeds"] - len(made["wrong"]))
        for made in right
    ]
    return ["## Right kernels", "", *_table(("kernel", "style", "orders", "flagged", "right results"), rows), ""]


def _wrong(wrong: list[dict[str, Any]]) -> list[str]:
    said = hardware_page.recorded()
    head = ("mistake", "in", "edit", "must be reported as", "reported as", "in orders", *hardware_page.columns(said))
    rows = []
    for made in wrong:
        found = ", ".join(f"{name} {count}" for name, count in made["found"].items())
        names = " or ".join(made["names"]) + (f" (once in {made['needed']})" if made["needed"] > 1 else "")
        row = (made["name"], f"`{_kernel(made['case'])}`", _code(made["edit"]), names, found)
        rows.append((*row, f"{len(made['caught'])} of {made['seeds']}", *hardware_page.cells(said, made["name"])))
    return ["## Wrong kernels", "", *_table(head, rows), "", *_hardware(said)]


def _hardware(said: dict[str, Any]) -> list[str]:
    head = ("hazard", "wrong kernels", "with a wrong result in some run", "reported by racecheck")
    rows = [(f"`{name}`", *counts) for name, *counts in hardware_page.by_hazard(said)]
    return ["## What hardware says", "", *hardware_page.note(said), *_table(head, rows), ""]


def _edits(edits: list[dict[str, Any]]) -> list[str]:
    if not edits:
        return []
    fates = ("caught", "refused", "wrong", "sometimes", "survivors")
    rows = [(f"`{_kernel(made['case'])}`", *(len(made[fate]) for fate in fates)) for made in edits]
    head = ("kernel", "reported in every order", "no kernel", "computes something else", "in some orders", "equivalent")
    lines = ["## Every mechanical edit", "", *_table(head, rows), "", "### Why the others change nothing", ""]
    listed = Counter(reason for made in edits for reason in equivalent.explained(made["case"]).values())
    for reason, why in equivalent.reasons().items():
        if listed[reason]:
            lines += [f"{why}", "", *_listed(edits, reason), ""]
    return lines


def _listed(edits: list[dict[str, Any]], reason: str) -> Iterable[str]:
    for made in edits:
        for edit, why in equivalent.explained(made["case"]).items():
            if why == reason:
                yield f"- `{_kernel(made['case'])}`: {_code(edit)}"


def _table(head: tuple, rows: Iterable[tuple]) -> list[str]:
    lines = [head, ("---",) * len(head), *rows]
    return [f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def _code(edit: str) -> str:
    """An edit with its code as code."""
    operator, _, rest = edit.partition(": ")
    return f"{operator} `{rest}`"


def _kernel(name: str) -> str:
    return name.split(",")[0]


def _seeds(made: list[dict[str, Any]]) -> str:
    return "/".join(map(str, sorted({one["seeds"] for one in made})))
