"""A lesson in another language: the same cells with the same ids, their texts from a file of translations.

What is translated of a notebook are its cells of text, and in its code what learners read there: comments, docstrings,
and what `print` is given. Code stays as it is: a translation that would change what a cell does is not taken. A text
that has no translation, or whose English has changed since, stays English.

>>> cell = {"id": "a", "cell_type": "code", "source": "x = 2  # two bytes\\nprint(f'{x} of them')"}
>>> messages(cell)
['two bytes', "f'{x} of them'"]
>>> translated_source(cell, {("a", "two bytes"): "两个字节", ("a", "f'{x} of them'"): "f'共 {x} 个'"})
"x = 2  # 两个字节\\nprint(f'共 {x} 个')"
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tmalab.bootstrap import ROOT
from tmalab.texts import FALLBACK
from tmalab.texts.po import translations

PACKAGE = Path(__file__).resolve().parent
WORDS = re.compile(r"[A-Za-z]{2}")
NO_COMMENT = re.compile(r"#+ (?:BEGIN|END) SOLUTION|# Write your code here|# noqa|#!")  # for nbgrader and for tools


def folder() -> Path:
    """Where the lessons' translations lie, a folder for each language."""
    installed = PACKAGE / "translations"
    return installed if installed.is_dir() else ROOT / "notebooks" / "translations"


def languages() -> list[str]:
    """English, and the languages that lessons are translated into, sorted."""
    return sorted([FALLBACK, *(entry.name for entry in folder().iterdir() if entry.is_dir())])


def of_lesson(lesson: str, language: str) -> Mapping[tuple[str, str], str]:
    """The translations of a lesson, by its folder's name: (id of a cell, English) to the translation."""
    return translations(folder() / language / f"{lesson}.po") if language in languages() else {}


def translated(notebook: dict[str, Any], lesson: str, language: str) -> dict[str, Any]:
    """A notebook of a lesson, as plain data, in a language; cells that have no translation are kept as they are."""
    found = of_lesson(lesson, language)
    cells = [{**cell, "source": translated_source(cell, found)} for cell in notebook["cells"]]
    told = {**notebook["metadata"].get("tmalab", {}), "language": language}
    return {**notebook, "cells": cells, "metadata": {**notebook["metadata"], "tmalab": told}}


def translated_source(cell: Mapping[str, Any], found: Mapping[tuple[str, str], str]) -> str:
    """A cell's source with its texts translated as far as they are found."""
    source, name = source_of(cell), cell.get("id", "")
    if cell["cell_type"] == "markdown":
        return found.get((name, source), source)
    made = source
    for piece in reversed(list(_pieces(source))):
        translation = found.get((name, piece.text))
        if translation is not None:
            made = made[: piece.start] + piece.written(translation) + made[piece.end :]
    return made if made == source or _does(made) == _does(source) else source


def messages(cell: Mapping[str, Any]) -> list[str]:
    """The texts of a cell that can be translated, in their order, each once."""
    source = source_of(cell)
    texts = [source] if cell["cell_type"] == "markdown" else [piece.text for piece in _pieces(source)]
    return [text for text in dict.fromkeys(texts) if text]


def source_of(cell: Mapping[str, Any]) -> str:
    """A cell's source, which a file may hold as a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


@dataclass(frozen=True)
class _Piece:
    """A text in a cell's code: where it stands, what it says, and for a comment what each of its lines begins with."""

    start: int
    end: int
    text: str
    margin: str | None = None

    def written(self, translation: str) -> str:
        """A translation as it goes into the code."""
        if self.margin is None:
            return translation
        return f"\n{self.margin}".join(f"# {line}".rstrip() for line in translation.splitlines())


@cache
def _pieces(source: str) -> tuple[_Piece, ...]:
    """What learners read in a cell's code, in its order. Nothing of a cell that is not plain Python."""
    try:
        found = [*_strings(source), *_comments(source)]
    except (SyntaxError, tokenize.TokenError):
        return ()
    return tuple(sorted(found, key=lambda piece: piece.start))


def _comments(source: str) -> Iterator[_Piece]:
    """Comments; those that fill lines one below the other are one text."""
    starts = _line_starts(source)
    block: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):  # the last one is no comment
        if token.type in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            continue
        begins = token.type == tokenize.COMMENT and not NO_COMMENT.match(token.string)
        alone = begins and not token.line[: token.start[1]].strip()
        goes_on = block and alone and token.start == (block[-1].start[0] + 1, block[-1].start[1])
        if block and not goes_on:
            if WORDS.search("".join(comment.string for comment in block)):
                yield _comment(block, starts)
            block = []
        if begins:
            block.append(token)


def _comment(block: list[tokenize.TokenInfo], starts: list[int]) -> _Piece:
    (row, column), (last, end) = block[0].start, block[-1].end
    text = "\n".join(token.string.lstrip("#").strip() for token in block)
    return _Piece(starts[row - 1] + column, starts[last - 1] + end, text, " " * column)


def _strings(source: str) -> Iterator[_Piece]:
    """Docstrings and what print is given, as they are written, with their quotes."""
    starts = _line_starts(source)

    def place(line: int | None, column: int | None) -> int:  # ast counts columns in bytes
        assert line is not None  # nor is the column, of what was parsed
        begin = starts[line - 1]
        return begin + len(source[begin:].encode()[:column].decode())

    for node in _readable(ast.parse(source)):
        if not any(WORDS.search(str(words.value)) for words in _words(node)):
            continue
        start, end = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
        yield _Piece(start, end, source[start:end])


def _readable(tree: ast.AST) -> Iterator[ast.expr]:
    """The string expressions of a syntax tree that learners read."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None:
            yield node.body[0].value  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            for argument in node.args:
                yield from _said(argument)


def _said(argument: ast.expr) -> Iterator[ast.expr]:
    """The strings that an argument of print is, on one way or another."""
    if isinstance(argument, ast.JoinedStr) or (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
        yield argument
    elif isinstance(argument, ast.IfExp):
        yield from (*_said(argument.body), *_said(argument.orelse))
    elif isinstance(argument, ast.BinOp):
        yield from (*_said(argument.left), *_said(argument.right))


def _does(source: str) -> str | None:
    """What code does but for the words that learners read; None where it is no Python.

    Values in a sentence may come in another order, and choose between other words.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in list(_readable(tree)):
        for words in _words(node):
            words.value = ""
        if isinstance(node, ast.JoinedStr):
            node.values = sorted(filter(ast.FormattedValue.__instancecheck__, node.values), key=ast.dump)
    return ast.dump(tree)


def _words(node: ast.expr) -> Iterator[ast.Constant]:
    """The words of a string expression: all of it, or what stands between its values and what these choose from."""
    if isinstance(node, ast.JoinedStr):
        choices = (inner for inner in ast.walk(node) if isinstance(inner, ast.IfExp))
        parts = [*node.values, *(branch for choice in choices for branch in (choice.body, choice.orelse))]
    else:
        parts = [node]
    yield from (part for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))


def _line_starts(source: str) -> list[int]:
    """Where each line begins."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts
