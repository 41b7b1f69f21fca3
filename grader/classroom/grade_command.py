"""`grader grade`: a folder of notebooks into a table, pages of feedback, or what a gradebook imports."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from grader.exits import DONE, SET_UP, UNREADABLE, fail
from grader.options import as_json, assigned, seeded
from grader.sandbox.allowance import SECONDS
from grader.texts import text

if TYPE_CHECKING:
    from grader.classroom.grading import Workers


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-j", "--jobs", type=click.IntRange(1, 256), default=os.cpu_count() or 1, help="Workers at a time.")
@click.option(
    "--limit",
    type=click.FloatRange(1),
    metavar="SECONDS",
    default=SECONDS,
    show_default=True,
    help="For all that one notebook runs.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print a table as CSV: a line for each exercise.")
@click.option("--columns", type=click.Choice(["canvas", "moodle"]), help="Print CSV that such a gradebook imports.")
@click.option("--roster", type=click.File(encoding="utf-8"), help="The platform's own list of students, CSV.")
@click.option("--scheduler", metavar="ADDRESS", help="Grade with the workers of this Dask scheduler, not here.")
@click.option(
    "--gpu", is_flag=True, help="With --scheduler: run right kernels on the GPU of workers that have one too."
)
@click.option("--again", is_flag=True, help="Grade what is noted already, too.")
@click.option(
    "--feedback", type=click.Path(file_okay=False, path_type=Path), help="Write a page for each notebook here."
)
@click.option("--journal", type=click.Path(dir_okay=False, path_type=Path), help="Where to note what is graded.")
@assigned
@seeded
@as_json
def grade(
    folder: Path,
    feedback: Path | None,
    columns: str | None,
    roster: TextIO | None,
    as_csv: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Grade every notebook in a folder. A run that was killed goes on where it stopped.

    Exits with 3 where this computer, or a cluster's, left a notebook without a grade; the next run grades that again.
    """
    outcomes = _outcomes(folder, {"folder": str(folder)}, as_json, **how)
    if feedback:
        from grader.classroom.feedback import write_feedback

        write_feedback(outcomes, feedback)
    told = _as_json(folder, outcomes) if as_json else _as_text(outcomes, columns, roster, as_csv)
    click.echo(told.removesuffix("\n"))
    sys.exit(SET_UP if any("not_graded" in outcome for outcome in outcomes.values()) else DONE)


def _outcomes(
    folder: Path,
    found: dict[str, Any],
    as_json: bool,
    jobs: int,
    limit: float,
    scheduler: str | None,
    gpu: bool,
    again: bool,
    journal: Path | None,
    assignment: str | None,
    seed: int | None,
) -> Mapping[str, Any]:
    """The outcome of every notebook; where there can be none the command ends with a sentence."""
    from grader.checking import class_seed
    from grader.classroom.grading import grade_folder
    from grader.classroom.journal import InUse
    from grader.lesson import lessons
    from grader.limits import HostFault
    from grader.sandbox.host import NoSandbox

    if gpu and scheduler is None:
        fail(UNREADABLE, text("cli.gpu-alone"), found, as_json)
    if assignment is not None and assignment not in lessons():
        message = text("report.unknown-assignment", name=assignment, names=", ".join(lessons()))
        fail(UNREADABLE, message, found, as_json)
    try:
        with _workers(jobs, scheduler, gpu) as workers, _progress() as progress:
            chosen = class_seed() if seed is None else seed
            outcomes = grade_folder(folder, workers, chosen, assignment, journal, progress, gpu, again, limit)
    except (NoSandbox, HostFault, InUse, PermissionError) as error:
        fail(SET_UP, str(error), found, as_json)
    if not outcomes:
        fail(UNREADABLE, text("cli.no-notebooks", path=folder), found, as_json)
    return outcomes


def _as_json(folder: Path, outcomes: Mapping[str, Any]) -> str:
    from grader.classroom.feedback import without_figures

    return json.dumps({"folder": str(folder), "submissions": without_figures(outcomes)})


def _as_text(outcomes: Mapping[str, Any], columns: str | None, roster: TextIO | None, as_csv: bool) -> str:
    from grader.classroom import table
    from grader.classroom.columns import as_canvas, as_moodle, people_of, scores_of

    if columns is None:
        return table.as_csv(outcomes) if as_csv else table.as_lines(outcomes)
    scores, maximum = scores_of(outcomes)
    people = people_of(roster.read(), list(scores)) if roster else None
    return as_canvas(scores, maximum, people) if columns == "canvas" else as_moodle(scores, people)


@contextmanager
def _workers(jobs: int, scheduler: str | None, gpu: bool) -> Iterator[int | Workers]:
    """What `grade_folder` takes as workers: so many processes here, or those of a cluster. Raises HostFault."""
    if scheduler is None:
        yield jobs
        return
    from grader.limits import HostFault

    try:
        from grader.classroom.cluster import Cluster
    except ImportError as error:
        raise HostFault(text("cli.no-distributed", module=error.name or "distributed")) from None
    with Cluster(scheduler, gpu) as cluster:
        yield cluster.outcomes


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, where that is a terminal; gives what is called with (done, count)."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(text("classroom.grading"), total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)
