"""How far a learner is, read from their own notebooks: which answers are written, and what their checks have given.

Nothing is run and nothing is graded: a check's points are those that its cell showed when the notebook was saved.

>>> import tempfile
>>> from tmalab.lab import fill
>>> with tempfile.TemporaryDirectory() as folder:
...     copied = fill(Path(folder))
...     begun = [lesson for lesson in progress(Path(folder)).lessons if lesson.written]
>>> begun
[]
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tmalab.lab import DEFAULT_FOLDER, released
from tmalab.texts import language, language_of, text
from tmalab.translation import translated

WIDTH = 20  # signs of a bar


@dataclass(frozen=True)
class ExerciseProgress:
    """One exercise: whether its answer was changed, the points that its check showed (None: none yet), and the most."""

    exercise: str
    written: bool
    points: float | None
    maximum: float


@dataclass(frozen=True)
class LessonProgress:
    """One lesson: the name of its folder, its title, its exercises in their order."""

    name: str
    title: str
    exercises: Sequence[ExerciseProgress]

    @property
    def written(self) -> int:
        """How many answers are written."""
        return sum(exercise.written for exercise in self.exercises)

    @property
    def points(self) -> float:
        """What the checks have shown."""
        return sum(exercise.points or 0 for exercise in self.exercises)

    @property
    def maximum(self) -> float:
        """What can be had."""
        return sum(exercise.maximum for exercise in self.exercises)


@dataclass(frozen=True)
class Progress:
    """All lessons. Printed as bars; in a notebook as a table that tells its numbers to screen readers too."""

    lessons: Sequence[LessonProgress]

    def __str__(self) -> str:
        from rich.cells import cell_len, set_cell_size  # Chinese is twice as wide

        width = max((cell_len(lesson.title) for lesson in self.lessons), default=0)
        titles = (set_cell_size(lesson.title, width) for lesson in self.lessons)
        return "\n".join(f"{title}  {_bar(lesson)}  {_says(lesson)}" for title, lesson in zip(titles, self.lessons))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><td>{html.escape(lesson.title)}</td>"
            f'<td><progress max="{lesson.maximum:g}" value="{lesson.points:g}">{_says(lesson)}</progress></td>'
            f"<td>{_says(lesson)}</td></tr>"
            for lesson in self.lessons
        )
        return f"<table><caption>{text('progress.caption')}</caption>{''.join(rows)}</table>"

    def as_json(self) -> list[dict[str, Any]]:
        """Plain data, for `--json`."""
        return [
            {
                "lesson": lesson.name,
                "title": lesson.title,
                "points": lesson.points,
                "maximum": lesson.maximum,
                "exercises": [vars(exercise) for exercise in lesson.exercises],
            }
            for lesson in self.lessons
        ]


def progress(folder: Path | None = None) -> Progress:
    """The progress in a workbook; without `folder`, in the one around the current directory.

    A lesson that the folder lacks, or whose notebook can't be read, is one that was not begun.
    """
    folder = folder or workbook()
    lessons = []
    for source in sorted(released().glob("*/*.ipynb")):
        path = folder / source.relative_to(released())
        ours, theirs = _cells(source, language_of(path) or language()), _cells(path)
        lessons.append(LessonProgress(source.parent.name, _title(ours), _exercises(ours, theirs)))
    return Progress(lessons)


def workbook(start: Path | None = None) -> Path:
    """The nearest folder, from `start` upwards, that holds a lesson, or a `tmalab-workbook` with one; else `start`."""
    start = (start or Path.cwd()).absolute()
    names = [path.relative_to(released()) for path in released().glob("*/*.ipynb")]
    for above in (start, *start.parents):
        for folder in (above, above / DEFAULT_FOLDER):
            if any((folder / name).is_file() for name in names):
                return folder
    return start


def _cells(path: Path, language: str | None = None) -> list[Mapping[str, Any]]:
    """The cells of a notebook; none where there is no such file or it is no notebook.

    language   of a released lesson, which is translated into it
    """
    try:
        notebook = json.loads(path.read_text("utf-8"))
        cells = (translated(notebook, path.parent.name, language) if language else notebook)["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _title(cells: Sequence[Mapping[str, Any]]) -> str:
    """The first heading."""
    lines = (line for cell in cells for line in _source(cell).splitlines())
    return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), "")


def _exercises(ours: Sequence[Mapping], theirs: Sequence[Mapping]) -> list[ExerciseProgress]:
    """Each exercise of a released lesson, as the learner's cells of the same ids have it."""
    kept = {cell.get("id"): cell for cell in theirs}
    answers = {}
    found = []
    for cell in ours:
        told = cell.get("metadata", {})
        marks, exercise = told.get("nbgrader", {}), told.get("tmalab", {}).get("exercise")
        own = kept.get(cell.get("id"), cell)
        if exercise and marks.get("solution"):
            answers[exercise] = _source(own).strip() != _source(cell).strip()
        elif exercise and marks.get("grade"):
            maximum = float(marks["points"])
            found.append(ExerciseProgress(exercise, answers.get(exercise, False), _shown(own, maximum), maximum))
    return found


def _shown(cell: Mapping[str, Any], maximum: float) -> float | None:
    """The points that a check's cell has displayed; None where it has not been run."""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict) and output.get("output_type") == "execute_result":
            shown = output.get("data", {}).get("text/plain", "")
            try:
                points = float("".join(shown))
            except (TypeError, ValueError):
                return None
            return points if 0 <= points <= maximum else None
    return None


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _bar(lesson: LessonProgress) -> str:
    full = round(WIDTH * lesson.points / lesson.maximum) if lesson.maximum else 0
    return "█" * full + "·" * (WIDTH - full)


def _says(lesson: LessonProgress) -> str:
    counts = {"written": lesson.written, "exercises": len(lesson.exercises)}
    return text("progress.lesson", points=f"{lesson.points:g}", maximum=f"{lesson.maximum:g}", **counts)
