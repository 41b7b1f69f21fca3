"""`grader`: check one notebook, grade a folder of them, look at notebooks before they are handed in, make the course's.

Exit codes: 0 all points, graded, or in step; 1 not all points, or out of step; 2 unreadable or broken; 3 the set-up is
at fault.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import click

from grader.classroom.serve_command import serve
from grader.exits import DONE, NOT_ALL, SET_UP, UNREADABLE, fail, leave
from grader.report import number
from grader.texts import text
from tmalab.console import print_to_any_console

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
seeded = click.option("--seed", type=int, default=None, help="The class's seed; by default TMALAB_CLASS_SEED, or 0.")
assigned = click.option("--assignment", metavar="NAME", help="The lesson; by default found out from the notebook.")


@click.group()
def main() -> None:
    """Check and grade notebooks of the course."""
    print_to_any_console()


main.add_command(serve)


@main.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("--exercise", multiple=True, metavar="ID", help="Only this exercise; may be given several times.")
@click.option("--server", metavar="URL", help="Have it checked by `grader serve` there, such as on a GPU server.")
@assigned
@seeded
@as_json
def check(
    notebook: Path,
    exercise: tuple[str, ...],
    server: str | None,
    assignment: str | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Grade one notebook and print what its checks say. Its code runs in a sandbox; its outputs are not looked at."""
    from grader.checking import class_seed
    from grader.limits import HostFault
    from grader.sandbox.host import NoSandbox
    from grader.submission import Unreadable
    from grader.trusted import regrade

    found: dict[str, Any] = {"notebook": str(notebook)}
    try:
        if server:
            from grader.classroom.serve import checked_there

            report = checked_there(server, notebook)
        else:
            report = regrade(notebook, assignment, class_seed() if seed is None else seed).as_dict()
    except NoSandbox as error:
        fail(SET_UP, str(error), found, as_json)
    except HostFault as error:
        fail(SET_UP, text("classroom.not-graded", reason=error), found, as_json)
    except Unreadable as error:
        fail(UNREADABLE, f"{notebook}: {error}", found, as_json)
    except ValueError as error:
        fail(UNREADABLE, str(error), found, as_json)
    unknown = sorted(set(exercise) - {graded["exercise"] for graded in report["exercises"]})
    if unknown:
        fail(UNREADABLE, text("cli.not-in-notebook", ids=", ".join(unknown), path=notebook), found, as_json)
    chosen = [graded for graded in report["exercises"] if not exercise or graded["exercise"] in exercise]
    points, maximum = (sum(graded[name] for graded in chosen) for name in ("points", "maximum"))
    if as_json:
        click.echo(json.dumps(found | report | {"exercises": chosen, "points": points, "maximum": maximum}))
    else:
        click.echo("\n\n".join(graded["report"] for graded in chosen))
        click.echo("\n" + text("cli.total", points=number(points), maximum=number(maximum)))
        click.echo(report["statement"])
    sys.exit(DONE if points == maximum else NOT_ALL)


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-j", "--jobs", type=click.IntRange(1, 256), default=os.cpu_count() or 1, help="Workers at a time.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table as CSV: a line for each exercise.")
@click.option("--scheduler", metavar="ADDRESS", help="Grade with the workers of this Dask scheduler, not here.")
@click.option(
    "--gpu", is_flag=True, help="With --scheduler: run right kernels on the GPU of workers that have one too."
)
@click.option("--columns", type=click.Choice(["canvas", "moodle"]), help="Print CSV that such a gradebook imports.")
@click.option("--roster", type=click.File(encoding="utf-8"), help="The platform's own list of students, CSV.")
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
    jobs: int,
    as_csv: bool,
    scheduler: str | None,
    gpu: bool,
    columns: str | None,
    roster: TextIO | None,
    again: bool,
    feedback: Path | None,
    journal: Path | None,
    assignment: str | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Grade every notebook in a folder. A run that was killed goes on where it stopped.

    Exits with 3 where this computer, or a cluster's, left a notebook without a grade; the next run grades that again.
    """
    from grader.checking import class_seed
    from grader.classroom import table
    from grader.classroom.feedback import without_figures, write_feedback
    from grader.classroom.grading import grade_folder
    from grader.classroom.journal import InUse
    from grader.lesson import lessons
    from grader.limits import HostFault
    from grader.sandbox.host import NoSandbox

    found: dict[str, Any] = {"folder": str(folder)}
    if gpu and scheduler is None:
        fail(UNREADABLE, text("cli.gpu-alone"), found, as_json)
    if assignment is not None and assignment not in lessons():
        message = text("report.unknown-assignment", name=assignment, names=", ".join(lessons()))
        fail(UNREADABLE, message, found, as_json)
    try:
        with _workers(jobs, scheduler, gpu) as workers, _progress() as progress:
            chosen = class_seed() if seed is None else seed
            outcomes = grade_folder(folder, workers, chosen, assignment, journal, progress, gpu, again)
    except (NoSandbox, HostFault, InUse, PermissionError) as error:
        fail(SET_UP, str(error), found, as_json)
    if not outcomes:
        fail(UNREADABLE, text("cli.no-notebooks", path=folder), found, as_json)
    if feedback:
        write_feedback(outcomes, feedback)
    if as_json:
        click.echo(json.dumps(found | {"submissions": without_figures(outcomes)}))
    elif columns:
        click.echo(_columns(outcomes, columns, roster.read() if roster else ""), nl=False)
    else:
        click.echo(table.as_csv(outcomes) if as_csv else table.as_lines(outcomes), nl=not as_csv)
    sys.exit(SET_UP if any("not_graded" in outcome for outcome in outcomes.values()) else DONE)


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@as_json
def report(folder: Path, as_json: bool) -> None:
    """Which mistakes a class makes, by exercise: of what was graded in a folder, or in a course by nbgrader."""
    from grader.classroom import mistakes

    outcomes = mistakes.latest(folder)
    if not outcomes:
        fail(UNREADABLE, text("classroom.nothing-graded", path=folder), {"folder": str(folder)}, as_json)
    click.echo(json.dumps(mistakes.as_dict(outcomes)) if as_json else mistakes.as_lines(outcomes))


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@as_json
def changes(folder: Path, as_json: bool) -> None:
    """What the last regrade changed, notebook by notebook, and why."""
    from grader.classroom import changes as found_in
    from grader.classroom.mistakes import latest

    if not latest(folder):
        fail(UNREADABLE, text("classroom.nothing-graded", path=folder), {"folder": str(folder)}, as_json)
    found = found_in.changes(folder)
    click.echo(json.dumps({"notebooks": found}) if as_json else found_in.as_lines(found))


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@as_json
def lint(path: Path, as_json: bool) -> None:
    """Look at a notebook, or at all in a folder, without running anything: what would cost points or confuse?"""
    from grader.classroom.grading import notebooks
    from grader.lint import remarks

    files = notebooks(path) if path.is_dir() else [path]
    found = {str(file): remarks(file) for file in files}
    if as_json:
        click.echo(json.dumps({"notebooks": found}))
    else:
        lines = [f"{file}: {remark}" for file, remarks in found.items() for remark in remarks]
        click.echo("\n".join(lines) or text("lint.nothing", count=len(files)))
    sys.exit(NOT_ALL if any(found.values()) else DONE)


@main.command()
@as_json
def doctor(as_json: bool) -> None:
    """What grading finds on this computer: the sandbox's level, the compiler, nbgrader."""
    from grader.doctor import findings, healthy

    found = findings()
    if as_json:
        click.echo(json.dumps(found))
    else:
        for name, value in found.items():
            click.echo(f"{name:<12} {value}")
    sys.exit(DONE if healthy(found) else SET_UP)


@main.command()
@click.option("--submissions", type=click.IntRange(3, 1000), default=200, help="How many.")
@click.option("-j", "--jobs", type=click.IntRange(1, 256), default=2, help="Workers at a time.")
@click.option("--stock", type=click.IntRange(1), default=None, help="Grade only so many with stock nbgrader.")
@click.option("--cluster", type=click.IntRange(0), default=0, help="Grade so many with one and two Dask workers too.")
@as_json
def bench(submissions: int, jobs: int, stock: int | None, cluster: int, as_json: bool) -> None:
    """Measure: submissions a minute, here and with stock nbgrader, on the same notebooks."""
    try:
        from grader.bench import measure
    except ImportError as error:
        fail(SET_UP, text("cli.no-nbgrader", module=error.name or "nbgrader"), {}, as_json)
    found = measure(submissions, jobs, stock or submissions)
    if cluster:
        try:
            from grader.bench_cluster import measure as measure_cluster
        except ImportError as error:
            fail(SET_UP, text("cli.no-distributed", module=error.name or "distributed"), {}, as_json)
        found |= measure_cluster(cluster)
    if as_json:
        click.echo(json.dumps(found))
    else:
        for name, value in found.items():
            click.echo(f"{name:<28} {value}")


@main.command()
@click.argument("course", default="notebooks", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit 1 if a notebook is out of step.")
def release(course: Path, only_check: bool) -> None:
    """Make the instructor's and the students' notebooks from their texts."""
    from grader.release import CONFIG, out_of_step, write

    if not (course / "source").is_dir() or not (course / CONFIG).is_file():
        leave(UNREADABLE, text("cli.no-course", path=course, config=CONFIG))
    try:
        changed = out_of_step(course) if only_check else write(course)
    except ModuleNotFoundError as error:
        leave(SET_UP, text("cli.no-nbgrader", module=error.name or "nbgrader"))
    for path in changed:
        click.echo(text("cli.out-of-step" if only_check else "cli.written", path=path))
    sys.exit(NOT_ALL if only_check and changed else DONE)


@main.command()
@click.argument("language", type=click.Choice(sorted({*text.languages()} - {"en"})))
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit 1 if something finished lacks texts.")
def translate(language: str, only_check: bool) -> None:
    """Bring a language's files of translations up to date, and say what is missing or wrong in them."""
    from grader.translations import faults, unfinished, update

    for path in () if only_check else update(language):
        click.echo(text("cli.written", path=path))
    found = [*unfinished(language), *faults(language)]
    for line in found:
        click.echo(line)
    sys.exit(NOT_ALL if found else DONE)


@main.command()
@click.argument("folder", default="tmalab-course", type=click.Path(file_okay=False, path_type=Path))
@click.option("--without-solutions", is_flag=True, help="Take the lessons as students get them.")
@click.option("--seed", type=int, default=None, help="The class's seed, kept in the settings.")
@click.option("--language", type=click.Choice(text.languages()), default="en", help="That of the notebooks.")
def course(folder: Path, without_solutions: bool, seed: int | None, language: str) -> None:
    """Make the folder of a course, ready for nbgrader, formgrader and JupyterHub. What is there is kept."""
    try:
        from grader.classroom.course import write_course
    except ImportError as error:
        leave(SET_UP, text("cli.no-nbgrader", module=error.name or "nbgrader"))
    written = write_course(folder, not without_solutions, seed, language)
    for path in written:
        click.echo(text("cli.written", path=path))
    if not written:
        click.echo(text("cli.course-kept", path=folder))


def _columns(outcomes: Mapping[str, Mapping[str, Any]], columns: str, roster: str) -> str:
    from grader.classroom.columns import as_canvas, as_moodle, people_of, scores_of

    scores, maximum = scores_of(outcomes)
    people = people_of(roster, list(scores)) if roster else None
    return as_canvas(scores, maximum, people) if columns == "canvas" else as_moodle(scores, people)


@contextmanager
def _workers(jobs: int, scheduler: str | None, gpu: bool):
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
def _progress():
    """A bar on stderr, where that is a terminal; gives what is called with (done, count)."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(text("classroom.grading"), total=None)
        show: Callable[[int, int], None] = lambda done, count: bar.update(task, completed=done, total=count)  # noqa: E731
        yield show
