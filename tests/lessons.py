"""The lessons' folders, and the answers that each lesson keeps for its tests."""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import sys
import textwrap
from pathlib import Path
from types import ModuleType

from grader.percent import parse
from tmalab.launch import Kernel

COURSE = Path(__file__).parents[1] / "notebooks"
LESSONS = sorted(path.parent.name for path in (COURSE / "source").glob("*/answers.py"))


def answers(lesson: str) -> ModuleType:
    """The module of wrong and right answers of a lesson."""
    name = f"answers_{lesson.replace('-', '_')}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, COURSE / "source" / lesson / "answers.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def edited(original: Kernel, *edits: tuple[str, str], name: str) -> Kernel:
    """Another kernel: the text of the original with these words replaced, each of which must occur in it.

    Its text can be read again, as that of a cell can.
    """
    written = textwrap.dedent(inspect.getsource(original.function))
    for old, new in edits:
        if old not in written:
            raise ValueError(f"{name}: {original.function.__name__} does not say {old!r}")
        written = written.replace(old, new)
    written = written.replace(f"def {original.function.__name__}(", f"def {name}(")
    file = f"<{name}>"
    linecache.cache[file] = (len(written), None, written.splitlines(keepends=True), file)
    scope = dict(original.function.__globals__)
    exec(compile(written, file, "exec"), scope)
    return scope[name]


def cells_of(assignment: str, name: str, *ids: str) -> dict[str, object]:
    """What some cells of a lesson's text define, run one after another; kernels keep their text."""
    scope: dict[str, object] = {}
    for cell in parse((COURSE / "source" / assignment / f"{name}.py").read_text("utf-8")):
        if cell.id in ids:
            file = f"<{assignment} {cell.id}>"
            linecache.cache[file] = (len(cell.source), None, cell.source.splitlines(keepends=True), file)
            exec(compile(cell.source, file, "exec"), scope)
    return scope
