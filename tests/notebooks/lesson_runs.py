"""The lessons as they run: notebooks executed cell by cell, and what went wrong in them."""

from __future__ import annotations

import resource
from pathlib import Path

import nbformat

from grader.notebook_run import execute
from tests.lessons import COURSE, LESSONS

SOURCE = COURSE / "source"
NOTEBOOKS = [path.relative_to(SOURCE) for lesson in LESSONS for path in (SOURCE / lesson).glob("*.ipynb")]
SECONDS = 60  # of the processor, that a lesson may take: a busy computer delays the clock


def run(kind: str, name: Path):
    """A notebook of `source` or `release`, with outputs, and the seconds of the processor that its kernel took."""
    notebook = nbformat.read(COURSE / kind / name, as_version=4)
    before = _of_children()
    execute(notebook, COURSE)
    return notebook, _of_children() - before


def _of_children() -> float:
    """Seconds of the processor that the processes have taken which this one started and which are over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def trouble(notebook) -> list[str]:
    """What a run of a notebook must not show: errors, and anything on stderr."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    errors = ["\n".join(output.traceback) for output in outputs if output.output_type == "error"]
    return errors + [output.text for output in outputs if output.get("name") == "stderr"]
