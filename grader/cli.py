"""`grader`: check one notebook, grade a folder of them, make the course's notebooks.

Exit codes: 0 all points, graded, or in step; 1 not all points, or out of step; 2 unreadable; 3 the set-up is at fault.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import NoReturn

import click

from grader.notebook_run import NoKernel, Score, UnreadableNotebook, run_notebook
from grader.report import number
from grader.texts import text

DONE, NOT_ALL, UNREADABLE, SET_UP = range(4)


@click.group()
def main() -> None:
    """Check and grade notebooks of the course."""


@main.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("--exercise", multiple=True, metavar="ID", help="Only this exercise; may be given several times.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(notebook: Path, exercise: tuple[str, ...], as_json: bool) -> None:
    """Run a notebook and print what its checks say."""
    scores = _run(notebook, exercise, as_json)
    chosen = [score for score in scores if not exercise or score.exercise in exercise]
    points, maximum = sum(score.points for score in chosen), sum(score.maximum for score in chosen)
    if as_json:
        found = {"notebook": str(notebook), "points": points, "maximum": maximum}
        click.echo(json.dumps(found | {"exercises": [score.as_dict() for score in chosen]}))
    else:
        click.echo("\n\n".join(score.report or text("cli.no-report", id=score.exercise) for score in chosen))
        click.echo("\n" + text("cli.total", points=number(points), maximum=number(maximum)))
    sys.exit(DONE if points == maximum else NOT_ALL)


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def grade(folder: Path) -> None:
    """Run every notebook in a folder and print the points as CSV: notebook, exercise, points, maximum, remark."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["notebook", "exercise", "points", "maximum", "remark"])
    for notebook in sorted(folder.rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in notebook.parts:
            table.writerows(_rows(notebook, notebook.relative_to(folder)))


@main.command()
@click.argument("course", default="notebooks", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit 1 if a notebook is out of step.")
def release(course: Path, only_check: bool) -> None:
    """Make the instructor's and the students' notebooks from their texts."""
    try:
        from grader.release import CONFIG, out_of_step, write
    except ImportError as error:
        _leave(SET_UP, text("cli.no-nbgrader", module=error.name or "nbgrader"))
    if not (course / "source").is_dir() or not (course / CONFIG).is_file():
        _leave(UNREADABLE, text("cli.no-course", path=course, config=CONFIG))
    changed = out_of_step(course) if only_check else write(course)
    for path in changed:
        click.echo(text("cli.out-of-step" if only_check else "cli.written", path=path))
    sys.exit(NOT_ALL if only_check and changed else DONE)


def _run(notebook: Path, wanted: tuple[str, ...], as_json: bool) -> list[Score]:
    try:
        return run_notebook(notebook, wanted)
    except UnreadableNotebook as error:
        code, message = UNREADABLE, str(error)
    except (NoKernel, ImportError) as error:
        code, message = SET_UP, str(error)
    if not as_json:
        _leave(code, message)
    click.echo(json.dumps({"notebook": str(notebook), "error": message}))
    sys.exit(code)


def _rows(notebook: Path, name: Path) -> list[list[str]]:
    """A line for each exercise; a notebook that can't be read gets one that says why."""
    try:
        found = run_notebook(notebook)
    except UnreadableNotebook as error:
        return [[str(name), "", "", "", str(error)]]
    return [[str(name), score.exercise, number(score.points), number(score.maximum), ""] for score in found]


def _leave(code: int, message: str) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(code)
