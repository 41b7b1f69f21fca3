"""Statements whose accesses to elements of arrays are spelt out (see unfolded, which says why)."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from tmalab.simulator.arrays import WRITE
from tmalab.simulator.known_names import Known

TABLES = {1: "_line", 2: "_rows", 3: "_layers"}  # of an array of so many dimensions (see quick_arrays)
READ = """
try:
    ENTRY, PLACE = TABLE
    ARRAY._log.append(ENTRY)
    VALUE = ARRAY._values[PLACE]
    if VALUE is None:
        VALUE = ARRAY._fetched(PLACE)
except ELSEWHERE:
    VALUE = ARRAY[INDEX]
"""
STORE = f"""
try:
    ENTRY, PLACE = TABLE
    if not ARRAY.writable:
        raise BEYOND
    ARRAY._words[PLACE] = VALUE
except ELSEWHERE:
    ARRAY[INDEX] = VALUE
else:
    if ARRAY._scalar is not None:
        ARRAY._values[PLACE] = VALUE if TYPE(VALUE) is ARRAY._scalar else None
    ARRAY._log.append(ENTRY + {WRITE})
"""
REFUSE = "if INDEX < 0: raise BEYOND"
HIDDEN = {"ENTRY": ".entry", "PLACE": ".place", "ELSEWHERE": ".Elsewhere", "BEYOND": ".Beyond", "TYPE": ".type"}
SIMPLE = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.operator, ast.unaryop, ast.Load)


class Unfolding:
    """Spells out the accesses of a function's statements. `in_loops`: how many of them are in loops."""

    def __init__(self, known: Known):
        self._known = known
        self._before: list[ast.stmt] = []  # what comes before the current statement
        self._open = False  # whether what is evaluated next may be so before the current statement
        self._values = self._depth = 0
        self.in_loops = 0

    def body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, spelt out."""
        return [each for statement in statements for each in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        self._before, self._open, self._values = [], True, 0
        match node:
            case ast.Assign(targets=[ast.Subscript() as target]):
                node.value = self._expression(node.value)
                return self._stored(node, target)
            case ast.AugAssign(target=ast.Subscript() as target) if self._is_element(target):
                before = self._read(target)
                after = _at(node, ast.BinOp(before, node.op, self._expression(node.value)))
                return self._stored(_at(node, ast.Assign([target], after)), target)
            case ast.Assign() | ast.Expr() | ast.AugAssign(target=ast.Name()):
                node.value = self._expression(node.value)
            case ast.Return(value=ast.expr() as returned):
                node.value = self._expression(returned)
            case ast.If():
                node.test = self._expression(node.test)
        spelt_out, loops = self._before, isinstance(node, ast.For | ast.While)
        if isinstance(node, ast.If | ast.For | ast.While):
            self._depth += loops
            node.body, node.orelse = self.body(node.body), self.body(node.orelse)
            self._depth -= loops
        return [*spelt_out, node]

    def _stored(self, node: ast.Assign, target: ast.Subscript) -> list[ast.stmt]:
        """An assignment to what may be an element. Python evaluates the value first."""
        self._open = True
        if not self._is_element(target):
            return [*self._before, node]
        value = self._new_name()
        self._before.append(_at(node, ast.Assign([_at(node, ast.Name(value, ast.Store()))], node.value)))
        self._spell_out(STORE, target, value)
        return self._before

    def _expression(self, node: ast.expr) -> ast.expr:
        """An expression with its reads taken out, as far as they can be, in the order in which it is evaluated."""
        if not self._open:
            return node
        match node:
            case ast.BinOp():
                node.left = self._expression(node.left)
                node.right = self._expression(node.right)
            case ast.UnaryOp():
                node.operand = self._expression(node.operand)
            case ast.Compare():
                node.left = self._expression(node.left)
                node.comparators[0] = self._expression(node.comparators[0])
                self._pass(*node.comparators[1:])
            case ast.IfExp():
                node.test = self._expression(node.test)
                self._pass(node.body, node.orelse)
            case ast.BoolOp():
                node.values[0] = self._expression(node.values[0])
                self._pass(*node.values[1:])
            case ast.Tuple():
                node.elts = [self._expression(each) for each in node.elts]
            case ast.Call():
                self._call(node)
            case ast.Subscript(value=ast.Name()):
                node.slice = self._expression(node.slice)
                return self._read(node) if self._is_element(node) else node
            case _:
                self._pass(node)
        return node

    def _pass(self, *nodes: ast.expr) -> None:
        """They stay as they are, evaluated or not."""
        self._open = self._open and not any(isinstance(part, ast.Call) for node in nodes for part in ast.walk(node))

    def _call(self, node: ast.Call) -> None:
        self._pass(node.func)
        node.args = [self._expression(each) for each in node.args]
        for keyword in node.keywords:
            keyword.value = self._expression(keyword.value)
        self._open = self._open and self._known.is_pure(node.func)

    def _is_element(self, node: ast.Subscript) -> bool:
        """Whether it is an element of an array that is known, at indices that come to the same when asked again."""
        if not self._open or not isinstance(node.value, ast.Name):
            return False
        indices = _indices(node)
        simple = all(isinstance(part, SIMPLE) for index in indices for part in ast.walk(index))
        return simple and self._known.arrays.get(node.value.id) == len(indices)

    def _read(self, node: ast.Subscript) -> ast.expr:
        """Take a read out. Returns the name of what was read."""
        value = self._new_name()
        self._spell_out(READ, node, value)
        return ast.copy_location(ast.Name(value, ast.Load()), node)

    def _spell_out(self, template: str, node: ast.Subscript, value: str) -> None:
        self.in_loops += self._depth > 0
        indices = [self._at_hand(index) for index in _indices(node)]
        array: Any = node.value
        table: ast.expr = ast.Attribute(array, TABLES[len(indices)], ast.Load())
        for index in indices:
            table = ast.Subscript(table, index, ast.Load())
        whole = indices[0] if len(indices) == 1 else ast.Tuple(indices, ast.Load())
        filled = _Filled({**HIDDEN, "ARRAY": array.id, "VALUE": value}, {"TABLE": table, "INDEX": whole}, node)
        access = filled.made(template)
        for index in indices:
            if not self._known.never_negative(index):
                access[0].body[:0] = _Filled(HIDDEN, {"INDEX": index}, node).made(REFUSE)
        self._before += access

    def _at_hand(self, index: ast.expr) -> ast.expr:
        """An index as it can be asked for several times."""
        if isinstance(index, ast.Name | ast.Constant) or self._known.never_negative(index):
            return index
        name = self._new_name()
        self._before.append(_at(index, ast.Assign([_at(index, ast.Name(name, ast.Store()))], index)))
        return ast.copy_location(ast.Name(name, ast.Load()), index)

    def _new_name(self) -> str:
        self._values += 1
        return f".{self._values}"


class _Filled(ast.NodeTransformer):
    """Fills in a template. All of it stands where the access stood."""

    def __init__(self, names: dict[str, str], parts: dict[str, ast.expr], place: ast.expr):
        self._names, self._parts, self._place = names, parts, place

    def made(self, template: str) -> list[Any]:
        """The statements."""
        return [self.visit(statement) for statement in ast.parse(template).body]

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Name) and node.id in self._parts:
            part = copy.deepcopy(self._parts[node.id])
            for each in ast.walk(part):
                _at(self._place, each)
            return part
        if isinstance(node, ast.Name):
            node.id = self._names[node.id]
        return super().generic_visit(_at(self._place, node))


def _at(place: ast.AST, node: Any) -> Any:
    """A node at the place of another."""
    return ast.copy_location(node, place)


def _indices(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
