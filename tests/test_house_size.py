"""A file and a function are read in one sitting: how long they may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from docs import tables
from tests.test_house_repository import files
from tmalab.bootstrap import ROOT

LINES_OF_A_FILE, LINES_OF_A_FUNCTION, LINES_OF_A_KERNEL = 400, 40, 100
LESSONS = ROOT / "notebooks/source"  # texts and answers, cell by cell
KERNELS = {"kernel", "device"}  # one function is one kernel: its roles stand beside each other


def sources(*endings: str) -> list[Path]:
    """The project's own code."""
    return [path for path in files() if path.suffix in endings and LESSONS not in path.parents]


def _is_kernel(node: ast.FunctionDef) -> bool:
    called = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in node.decorator_list)
    return bool({of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "") for of in called} & KERNELS)


def _lines(node: ast.FunctionDef) -> set[int]:
    """Where its signature and its statements stand, without its docstring and the functions inside it."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    of_itself = {line for part in body for line in range(part.lineno, part.end_lineno + 1)}
    inside = (part for part in ast.walk(node) if isinstance(part, ast.FunctionDef) and part is not node)
    within = {line for part in inside for line in range(part.lineno + 1, part.end_lineno + 1)}
    return of_itself - within | set(range(node.lineno, node.body[0].lineno))


def functions(path: Path) -> Iterator[tuple[str, int, bool]]:
    """The functions of a file: name, lines that hold code, whether it is a kernel."""
    content = path.read_text("utf-8")
    lines = content.splitlines()
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.FunctionDef):
            written = [number for number in _lines(node) if not lines[number - 1].lstrip().startswith(("#", "\n"))]
            yield node.name, sum(bool(lines[number - 1].strip()) for number in written), _is_kernel(node)


def test_no_file_is_longer_than_one_sitting():
    long = {
        str(path.relative_to(ROOT))
        for path in sources(".py", ".js", ".cu", ".cuh")
        if path.read_text("utf-8").count("\n") > LINES_OF_A_FILE
    }
    assert long == set()


def test_no_function_is_longer_than_a_screen():
    found = [
        (f"{path.relative_to(ROOT).as_posix()}: {name}", count, LINES_OF_A_KERNEL if kernel else LINES_OF_A_FUNCTION)
        for path in sources(".py")
        for name, count, kernel in functions(path)
    ]
    assert [name for name, count, limit in found if count > limit] == []


def test_a_function_is_counted_by_its_own_lines_of_code(tmp_path):
    (tmp_path / "counted.py").write_text(
        '@tmalab.kernel\ndef outer(\n    a,\n):\n    """Of no\n    weight."""\n\n    # nor this\n'
        "    b = [\n        a\n    ]\n\n"
        "    def inner():\n        return b\n\n    return inner\n"
    )
    assert list(functions(tmp_path / "counted.py")) == [("outer", 8, True), ("inner", 2, False)]


def test_every_page_takes_a_table_that_is_made_and_none_is_made_for_nobody():
    named = {
        line.strip(" {}")
        for page in ROOT.glob("docs/*.md")
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("{{")
    }
    assert named == tables.MADE.keys()
