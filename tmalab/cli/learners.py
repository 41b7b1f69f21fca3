"""The commands of learners: `lab`, `progress`, `demo`, and `doctor`, which looks at their computer."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.console import Console

from tmalab.cli.output import AS_JSON, UNREADABLE, fail, print_json, say
from tmalab.texts import FALLBACK, LANGUAGE, speaking, text
from tmalab.texts import language as chosen_language

SIGNS = {"ok": ("✔", "green"), "absent": ("–", "yellow"), "wrong": ("✘", "red")}  # a finding's state: how it is shown


@click.command(help=text("cli.help-lab"))
@click.option("--folder", type=click.Path(path_type=Path), help=text("cli.help-lab-folder"))
@click.option("--language", type=click.Choice(text.languages()), help=text("cli.help-lab-language"))
@click.option("--browser/--no-browser", default=True, help=text("cli.help-lab-browser"))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab(folder: Path | None, language: str | None, browser: bool, arguments: tuple[str, ...]) -> None:
    from tmalab import lab as workbook
    from tmalab.lab_language import language_in, turn

    folder = (folder or Path(workbook.DEFAULT_FOLDER)).absolute()
    wanted = (language, language_in(folder), chosen_language(), FALLBACK)
    language = os.environ[LANGUAGE] = next(name for name in wanted if name in text.languages())
    try:
        turned = turn(folder, language)
        new = workbook.fill(folder, language)
    except OSError as error:
        fail(text("cli.lab-unwritable", folder=folder, reason=error.strerror), UNREADABLE)
    say(text("cli.lab-new", folder=folder, count=len(new)) if new else text("cli.lab-kept", folder=folder))
    if turned:
        say(text("cli.lab-turned", count=len(turned)))
    workbook.start(folder, browser, arguments, language)


@click.command(help=text("cli.help-progress"))
@click.option("--folder", type=click.Path(path_type=Path), help=text("cli.help-progress-folder"))
@AS_JSON
def progress(folder: Path | None, as_json: bool) -> None:
    from tmalab import progress as learners
    from tmalab.lab_language import language_in

    folder = folder or learners.workbook()
    if not any(folder.glob("*/*.ipynb")):
        sentence = text("progress.none", folder=folder)
        fail(sentence, UNREADABLE, {"folder": str(folder), "lessons": [], "error": sentence} if as_json else None)
    found = learners.progress(folder)
    if as_json:
        print_json({"folder": str(folder), "lessons": found.as_json()})
        return
    with speaking(os.environ.get(LANGUAGE) or language_in(folder) or FALLBACK):
        say(str(found))


@click.command(help=text("cli.help-demo"))
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


@click.command(help=text("cli.help-doctor"))
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
