"""The lessons' folders, and the answers that each lesson keeps for its tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

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
