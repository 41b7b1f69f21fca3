"""Which cells of a notebook an answer needs: those that make the names that it reads, and the names that these read.

A lesson's other cells draw figures and run experiments; to grade an answer nobody has to wait for them, or for a cell
that never ends.

>>> sources = "import math\\nROWS = 8\\n", "while True: pass\\n", "x = ROWS\\n"
>>> cells = [Cell.of(str(number), source) for number, source in enumerate(sources, 1)]
>>> [cell.name for cell in needed(cells, {"x"})]
['1', '3']
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

AT_ONCE = ("listcomp", "setcomp", "dictcomp", "genexpr")  # scopes whose names are read where they stand
ONLY_READS = ("print", "display", "len", "repr", "type", "help", "grader")
BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.AsyncFor, ast.AsyncWith)


@dataclass
class Cell:
    """A code cell and what it does to names.

    `makes`   it gives them a value          `changes`  it may give them one, or changes what they hold
    `reads`   it reads them before that      `later`    its functions read them when they are called
    `everything`  it may make any name
    """

    name: str
    source: str
    makes: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    everything: bool = False

    @classmethod
    def of(cls, name: str, source: str) -> Cell:
        """Raises SyntaxError for what is no Python."""
        tree = compile(source, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        cell = cls(name, source)
        for statement in tree.body:
            cell._add(_without_await(statement))
        return cell

    def _add(self, statement: ast.stmt) -> None:
        top = symtable.symtable(ast.unparse(statement), self.name, "exec")
        made = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
        read = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
        read |= {node.target.id for node in ast.walk(statement) if _adds_to_a_name(node)}  # type: ignore[attr-defined]
        later: set[str] = set()
        for table, at_once in _inner(top, True):
            names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
            (read if at_once else later).update(names)
            self.changes |= {each.get_name() for each in table.get_symbols() if each.is_declared_global()}
        self.reads |= read - self.makes - (_targets(statement) - _first_read(statement))
        self.later |= later
        (self.changes if isinstance(statement, BLOCKS) else self.makes).update(made)
        self.changes |= set(_changed(statement))
        stars = (node for node in ast.walk(statement) if isinstance(node, ast.ImportFrom))
        self.everything |= any(alias.name == "*" for node in stars for alias in node.names)


def needed(cells: Sequence[Cell], names: set[str]) -> list[Cell]:
    """The cells, in their order, that take part in making the names as they are at the end."""
    called: set[str] = set()
    while True:
        chosen, wanted = [], names | called
        for cell in reversed(cells):
            if cell.everything or wanted & (cell.makes | cell.changes):
                chosen.append(cell)
                wanted = (wanted - cell.makes) | cell.reads
        more = {name for cell in chosen for name in cell.later} - called
        if not more:
            return chosen[::-1]
        called |= more


def _adds_to_a_name(node: ast.AST) -> bool:
    """x += 1 reads x too."""
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)


def _targets(statement: ast.stmt) -> set[str]:
    """Names that a block gives a value before its body reads them: those of its `for` and `with`."""
    nodes = [node for node in ast.walk(statement) if isinstance(node, (ast.For, ast.AsyncFor, ast.withitem))]
    targets = [node.optional_vars if isinstance(node, ast.withitem) else node.target for node in nodes]
    return {name.id for target in targets if target for name in ast.walk(target) if isinstance(name, ast.Name)}


def _first_read(statement: ast.stmt) -> set[str]:
    """Names that a loop or block reads on its way in: what it goes through."""
    if not isinstance(statement, (ast.For, ast.AsyncFor)):
        return set()
    return {node.id for node in ast.walk(statement.iter) if isinstance(node, ast.Name)}


def _without_await(statement: ast.stmt) -> ast.stmt:
    """A top-level `await` is Python only in a notebook; for the names it reads it does not matter."""

    class Strip(ast.NodeTransformer):
        def visit_Await(self, node: ast.Await) -> ast.AST:
            return self.generic_visit(node).value  # type: ignore[attr-defined]

        def visit_FunctionDef(self, node: ast.AST) -> ast.AST:
            return node

        visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    return Strip().visit(statement) if any(isinstance(node, ast.Await) for node in ast.walk(statement)) else statement


def _inner(table: symtable.SymbolTable, at_once: bool) -> Iterator[tuple[symtable.SymbolTable, bool]]:
    """The scopes inside one, and whether their names are read at once: those of a function's body are not."""
    for child in table.get_children():
        now = at_once and (child.get_type() == "class" or child.get_name() in AT_ONCE)
        yield child, now
        yield from _inner(child, now)


def _changed(statement: ast.stmt) -> Iterator[str]:
    """Names whose objects a statement changes outside of functions: x[0] = 1, x.a = 1, x.append(1), fill(x)."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    for node in ast.walk(statement):
        target = None
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            target = node.value
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            target = node.value.func.value if isinstance(node.value.func, ast.Attribute) else None
            yield from _handed_over(node.value)
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if isinstance(target, ast.Name) and target.id != "grader":  # its checks change nothing
            yield target.id


def _handed_over(call: ast.Call) -> Iterator[str]:
    """Names that a call, whose value nobody wants, is given: it may change what they hold."""
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id not in ONLY_READS:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        yield from (each.id for each in given if isinstance(each, ast.Name))
