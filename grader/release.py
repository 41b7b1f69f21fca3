"""Notebooks made from their texts: the instructor's, with nbgrader's metadata, and the release that students get.

`notebooks/source/ASSIGNMENT/NAME.py` is what people write. From it come `NAME.ipynb` beside it, which is nbgrader's
source, and `notebooks/release/ASSIGNMENT/NAME.ipynb`, made by nbgrader itself. Making them again changes no byte.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from grader import exercises, percent
from grader.exercise import Exercise

CONFIG = "nbgrader_config.py"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def build(course: Path) -> dict[Path, str]:
    """Every generated notebook of a course folder, as path: text. Nothing is written."""
    generated: dict[Path, str] = {}
    for assignment in sorted(path for path in (course / "source").iterdir() if path.is_dir()):
        sources = {f"{text.stem}.ipynb": instructor_notebook(text) for text in lesson_texts(assignment)}
        if sources:
            generated |= {assignment / name: source for name, source in sources.items()}
            released = student_notebooks(course / CONFIG, assignment.name, sources)
            generated |= {course / "release" / assignment.name / name: text for name, text in released.items()}
    return generated


def out_of_step(course: Path) -> list[Path]:
    """The generated notebooks that are not, byte for byte, what their texts give; left-over ones included."""
    generated = build(course)
    there = [*(course / "source").glob("*/*.ipynb"), *(course / "release").glob("*/*")]
    wrong = [path for path, text in generated.items() if not path.is_file() or path.read_bytes() != text.encode()]
    return sorted({*wrong, *(path for path in there if path not in generated)})


def write(course: Path) -> list[Path]:
    """Make all notebooks; returns those that changed."""
    generated = build(course)
    changed = [path for path, text in generated.items() if not path.is_file() or path.read_bytes() != text.encode()]
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(generated[path].encode())
    return sorted(changed)


def lesson_texts(assignment: Path) -> list[Path]:
    """The notebook texts in an assignment's folder: the Python files that are written in cells."""
    return [path for path in sorted(assignment.glob("*.py")) if "\n# %%" in path.read_text("utf-8")]


def instructor_notebook(path: Path) -> str:
    """The notebook with solutions, points and nbgrader's metadata, from its text."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
        "tmalab": {"assignment": path.parent.name, "language": "en"},
    }
    notebook.cells = [_notebook_cell(cell) for cell in percent.parse(path.read_text("utf-8"))]
    nbformat.validate(notebook)
    return _as_text(notebook)


def _notebook_cell(cell: percent.Cell) -> Any:
    make = nbformat.v4.new_markdown_cell if cell.markdown else nbformat.v4.new_code_cell
    made = make(cell.source, id=cell.id)
    for role, exercise_id in cell.marks.items():
        exercise = exercises.find(exercise_id)
        if exercise is None:
            raise percent.PercentError(f"cell {cell.id}: there is no exercise {exercise_id!r}")
        made.metadata = {"nbgrader": _nbgrader(cell.id, role, exercise), "tmalab": {"exercise": exercise_id}}
    return made


def _nbgrader(cell_id: str, role: str, exercise: Exercise) -> dict[str, Any]:
    """nbgrader's metadata, schema 3: answers are solution cells, checks are locked and graded."""
    graded = role == "check"
    metadata: dict[str, Any] = {
        "grade": graded,
        "grade_id": cell_id,
        "locked": graded,
        "schema_version": 3,
        "solution": not graded,
        "task": False,
    }
    return metadata | ({"points": exercise.points} if graded else {})


def student_notebooks(config_file: Path, assignment: str, sources: dict[str, str]) -> dict[str, str]:
    """What nbgrader's generate_assignment makes of instructor notebooks, without solutions and outputs."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = root / "source" / assignment
        source.mkdir(parents=True)
        for name, text in sources.items():
            (source / name).write_text(text, "utf-8")
        shutil.copy(config_file, root)
        config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
        config.CourseDirectory.root = str(root)
        config.CourseDirectory.assignment_id = assignment
        config.GenerateAssignment.no_database, config.SaveCells.enabled = True, False  # as `--no-db` does
        GenerateAssignment(coursedir=CourseDirectory(config=config), config=config).start()
        release = root / "release" / assignment
        return {name: _as_text(nbformat.read(release / name, as_version=4)) for name in sources}


def _as_text(notebook: Any) -> str:
    return nbformat.writes(notebook) + "\n"
