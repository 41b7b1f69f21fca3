"""Grade a folder of submissions: every notebook in it, each in a worker that has a sandbox of its own.

Workers are processes of this computer (`pool`) or of a Dask cluster (`cluster`). What they find is noted in a journal
as it comes, by the one process that this is: nobody else writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from grader import submission, trusted
from grader.classroom import pool
from grader.classroom.journal import Journal
from grader.classroom.work import Job, Outcome
from grader.graded import SCHEMA
from grader.sandbox.allowance import SECONDS

JOURNAL = ".grader/journal.jsonl"  # in the folder that is graded
LEFT_OUT = {".ipynb_checkpoints", ".grader"}

Workers = Callable[[Iterator[Job]], Iterator[tuple[str, Outcome]]]


def notebooks(folder: Path) -> list[Path]:
    """The notebooks in a folder, sorted; links to folders are not followed."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        found += [Path(place) / name for name in (*files, *folders) if name.lower().endswith(".ipynb")]
    return sorted(found)


def grade_folder(
    folder: Path,
    workers: int | Workers = 1,
    seed: int = 0,
    assignment: str | None = None,
    journal: Path | None = None,
    progress: Callable[[int, int], object] = lambda done, count: None,
    live: bool = False,
    again: bool = False,
    limit: float = SECONDS,
) -> dict[str, Outcome]:
    """The outcomes of all notebooks in a folder, by their path in it, sorted. What the journal holds is not done again.

    workers   how many processes of this computer; or what gives outcomes for jobs, such as a cluster's
    live      whether right kernels also run on a GPU of the workers, as evidence
    journal   where outcomes are noted, but for those that have no grade because a computer failed; None: JOURNAL
    again     whether what the journal holds is done again all the same
    limit     seconds for each submission; one that another limit has cut short is done again

    Raises NoSandbox, HostFault where a cluster can't be had, or journal.InUse where another run grades this folder.
    """
    outcomes_of: Workers = workers if callable(workers) else lambda jobs: pool.outcomes(jobs, workers)
    files = {path.relative_to(folder).as_posix(): path for path in notebooks(folder)}
    keys = {name: _key(name, path, seed, assignment, live) for name, path in files.items()}
    with Journal(journal or folder / JOURNAL) as noted:
        known = {} if again else {name: noted.entries[key] for name, key in keys.items() if key in noted.entries}
        found = {name: outcome for name, outcome in known.items() if not _cut_by_another(outcome, limit)}
        progress(len(found), len(files))

        def keep(name: str, outcome: Outcome) -> None:
            if "not_graded" not in outcome:
                noted.note(keys[name], outcome)
            found[name] = outcome
            progress(len(found), len(files))

        left = {name: path for name, path in files.items() if name not in found}
        for name, outcome in outcomes_of(_jobs(left, Job("", b"", assignment, seed, live, limit), keep)):
            keep(name, outcome)
    return {name: found[name] for name in files}


def _cut_by_another(outcome: Outcome, limit: float) -> bool:
    """Whether a grade lacks something for want of time, and there is more or less of it now."""
    report = outcome.get("report")
    return bool(report and report["limit_s"] != limit and any(graded["cut_short"] for graded in report["exercises"]))


def _jobs(left: Mapping[str, Path], how: Job, keep: Callable[[str, Outcome], None]) -> Iterator[Job]:
    """The jobs, each file read when its turn comes; of one that can't be read the outcome is known at once."""
    for name, path in left.items():
        try:
            content = submission.content_of(path)
        except submission.Unreadable as reason:
            keep(name, {"error": str(reason)})
        else:
            yield how._replace(name=name, content=content)


def _key(name: str, path: Path, seed: int, assignment: str | None, live: bool) -> str:
    """What an outcome depends on."""
    try:
        return entry_key(name, submission.digest_of(submission.content_of(path)), seed, assignment, live)
    except submission.Unreadable as reason:
        return entry_key(name, str(reason), seed, assignment, live)


def entry_key(name: str, content: str, seed: int, assignment: str | None, live: bool = False) -> str:
    """The journal's key for a grade of a notebook: `name` is its path, `content` its hash."""
    versions = " ".join(trusted.versions().values())
    live_too = " live" if live else ""
    return f"{name}\n{content}\n{seed}\n{assignment or ''}\n{SCHEMA} {versions}{live_too}"


def name_in(key: str) -> str:
    """The notebook that a key is of; a file's name may hold newlines itself."""
    return key.rsplit("\n", 4)[0]
