"""`grader`: check one notebook, grade a folder of them, look at notebooks before they are handed in, make the course's.

Exit codes: 0 all points, graded, or in step; 1 not all points, or out of step; 2 unreadable or broken; 3 the set-up is
at fault.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from grader.classroom.grade_command import grade
from grader.classroom.serve_command import serve
from grader.exits import DONE, NOT_ALL, SET_UP, UNREADABLE, fail, leave
from grader.options import as_json, assigned, seeded
from grader.report import number
from grader.texts import text
from tmalab.console import print_to_any_console


@click.group()
def main() -> None:
    """Check and grade notebooks of the course."""
    print_to_any_console()


main.add_command(grade)
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
    found: dict[str, Any] = {"notebook": str(notebook)}
    report = _report_on(notebook, server, assignment, seed, found, as_json)
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


def _report_on(
    notebook: Path, server: str | None, assignment: str | None, seed: int | None, found: dict[str, Any], as_json: bool
) -> dict[str, Any]:
    """The report on a notebook that is checked here or by a server; where there is none the command ends."""
    from grader.checking import class_seed
    from grader.limits import HostFault
    from grader.sandbox.host import NoSandbox
    from grader.submission import Unreadable
    from grader.trusted import regrade

    try:
        if server:
            from grader.classroom.serve import checked_there

            return checked_there(server, notebook)
        return regrade(notebook, assignment, class_seed() if seed is None else seed).as_dict()
    except NoSandbox as error:
        fail(SET_UP, str(error), found, as_json)
    except HostFault as error:
        fail(SET_UP, text("classroom.not-graded", reason=error), found, as_json)
    except Unreadable as error:
        fail(UNREADABLE, f"{notebook}: {error}", found, as_json)
    except ValueError as error:
        fail(UNREADABLE, str(error), found, as_json)


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
    from grader.classroom.course import instructors

    if instructors() is None:
        fail(SET_UP, text("cli.no-answers"), {}, as_json)
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
