"""What grading finds on this computer."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from typing import Any

from grader import exercises
from grader.lesson import lessons
from grader.sandbox.host import NoSandbox, Sandbox
from grader.texts import text
from grader.trusted import versions


def findings() -> dict[str, Any]:
    """The sandbox's level and what it says of itself, versions, and what else grading can use."""
    try:
        with Sandbox() as sandbox:
            level, statement, compiles = sandbox.level.name, sandbox.level.statement, sandbox.about["compiles"]
    except NoSandbox as error:
        level, statement, compiles = "", str(error), False
    compiler = _version("numba-cuda") if find_spec("numba_cuda") else ""
    return {
        "sandbox": level,
        "statement": statement,
        **versions(),
        "compiler": compiler if compiles or not compiler else text("cli.compiler-out-of-reach", version=compiler),
        "nbgrader": _version("nbgrader"),
        "lessons": len(lessons()),
        "exercises": len(exercises.ids()),
    }


def healthy(found: dict[str, Any]) -> bool:
    """Whether grading is possible: some sandbox works, and there are lessons."""
    return bool(found["sandbox"]) and found["lessons"] > 0


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
