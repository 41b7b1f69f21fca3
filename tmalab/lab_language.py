"""The language of a workbook: what is copied into it, and how a workbook that has been begun changes its language.

Cells have the same ids in every language, so that what a learner wrote stays where it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tmalab.lab import released
from tmalab.texts import FALLBACK, language_of
from tmalab.translation import languages, of_lesson, source_of, translated, translated_source


def in_language(source: Path, language: str) -> bytes:
    """A released file; a notebook in a language."""
    if language == FALLBACK or source.suffix != ".ipynb":
        return source.read_bytes()
    return _as_file(translated(json.loads(source.read_text("utf-8")), source.parent.name, language))


def language_in(folder: Path) -> str | None:
    """The language of a workbook: that of its first lesson; None where it holds none yet."""
    names = (path.relative_to(released()) for path in sorted(released().glob("*/*.ipynb")))
    return next(filter(None, (language_of(folder / name) for name in names)), None)


def turn(folder: Path, language: str) -> list[Path]:
    """Bring the lessons of a workbook into another language; returns those that changed.

    A cell changes where it is as it was released, in any language. What a learner wrote, and all outputs, stay.
    """
    turned = []
    for source in sorted(released().glob("*/*.ipynb")):
        path = folder / source.relative_to(released())
        if language_of(path) in (None, language):
            continue
        notebook, given = (json.loads(file.read_text("utf-8")) for file in (path, source))
        if not isinstance(notebook.get("cells"), list):
            continue
        turn_cells(notebook, given["cells"], source.parent.name, language)
        spare = path.with_name(f".{path.name}.{os.getpid()}")
        spare.write_bytes(_as_file(notebook))
        os.replace(spare, path)
        turned.append(path)
    return turned


def turn_cells(notebook: dict[str, Any], given: Sequence[Mapping[str, Any]], lesson: str, language: str) -> None:
    """Change a learner's notebook: its cells that are as they were released in some language come in this one."""
    found = {name: of_lesson(lesson, name) for name in languages()}
    forms = {cell["id"]: {name: translated_source(cell, found[name]) for name in found} for cell in given}
    for cell in filter(dict.__instancecheck__, notebook["cells"]):
        form = forms.get(cell.get("id"), {})
        if "source" in cell and source_of(cell) in form.values():
            cell["source"] = form[language]
    notebook["metadata"]["tmalab"]["language"] = language


def _as_file(notebook: Mapping[str, Any]) -> bytes:
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode("utf-8")
