"""What README and docs tell a reader to type, and which words the code of a test has: for test_house_commands.py."""

from __future__ import annotations

import ast
import re
import shlex
from functools import cache
from pathlib import Path

from tmalab.bootstrap import ROOT

HISTORY = {ROOT / "docs/changelog.md", ROOT / "docs/walk-through.md"}  # what was, not what to type
PAGES = [ROOT / "README.md", *sorted(set(ROOT.glob("docs/*.md")) - HISTORY)]
FENCED = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = ("", "sh", "console", "bash")
PROGRAMS = re.compile(
    r"(?:\.venv/bin/python|python3?|py) -m \w|\.ci/run"
    r"|(?:pip|apt|nbgrader|jupyterhub|dask|npm|uv|git|pytest|pre-commit) \w"
)
OURS = re.compile(r"(tmalab|grader) [a-z-]+")
READERS = re.compile(r"[A-Z]+(\.ipynb)?|[\d.]+|\w+://.*")  # words that a reader chooses: names, numbers, addresses


def commands_of(page: Path) -> list[str]:
    """The commands of a page, in shell blocks and in its sentences; ours without the Python that starts them."""
    content = page.read_text("utf-8")
    lines = [line for kind, block in FENCED.findall(content) if kind in SHELL for line in block.splitlines()]
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", FENCED.sub("", content))]
    found = [*lines, *(span for span in spans if PROGRAMS.match(span) or OURS.match(span))]
    plain = (re.sub(r"\s+#.*", "", line).strip() for line in found)
    ours = (re.sub(r"^(?:python3?|\.venv/bin/python) -m (tmalab|grader)\b(?!\.)", r"\1", line) for line in plain)
    return [re.sub(r"^python -m ", "python3 -m ", line) for line in ours if line]


def everywhere() -> list[str]:
    """Every command of every page, once."""
    return list(dict.fromkeys(command for page in PAGES for command in commands_of(page)))


def examples() -> dict[tuple[str, int], str]:
    """Every Python example, by its page and number."""
    written = {page.name: FENCED.findall(page.read_text("utf-8")) for page in PAGES}
    return {
        (page, number): code
        for page, blocks in written.items()
        for number, code in enumerate(code for language, code in blocks if language == "python")
    }


def essence(command: str) -> list[str]:
    """The words of a command that are not the reader's choice: programs, verbs, and options without their values."""
    words = (word.split("=")[0] if word.startswith("-") else word for word in shlex.split(command))
    return [word for word in words if not READERS.fullmatch(word)]


def is_case_of(command: str, other: str) -> bool:
    """Whether `other` is `command` with values of the reader's choice, and perhaps more words after it."""
    asked, given = essence(command), essence(other)
    first = 2 if len(asked) > 1 else 1
    return asked[:first] == given[:first] and set(asked) <= set(given)


@cache
def _module(path: Path) -> tuple[dict[str, ast.AST], dict[str, tuple[Path, str]]]:
    """What a module of the tests defines, and what it takes from other modules of theirs."""
    defined, taken = {}, {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign):
            defined |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            source = ROOT / f"{node.module.replace('.', '/')}.py"
            taken |= {alias.asname or alias.name: (source, alias.name) for alias in node.names}
    return defined, taken


def words_in(path: Path, name: str) -> set[str]:
    """The words of all texts in a function of the tests and in what it uses of theirs: fixtures, constants, helpers."""
    words, seen, waiting = set(), set(), [(path, name)]
    while waiting:
        path, name = waiting.pop()
        defined, taken = _module(path)
        if name in taken:
            waiting.append(taken[name])
        if (path, name) in seen or name not in defined:
            continue
        seen.add((path, name))
        for node in ast.walk(defined[name]):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words |= {part for word in node.value.split() for part in (word, word.split("=")[0])}
            elif isinstance(node, ast.Name | ast.arg):
                waiting.append((path, node.id if isinstance(node, ast.Name) else node.arg))
    return words
