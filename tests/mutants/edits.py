"""Edits of a kernel's source, one at a time: those that a machine makes everywhere, and those written by hand.

An `Edited` is a whole source with one change. `every(source)` makes all mechanical ones; `chosen(...)` finds one of
them by its operator and the line that it changes; `by_hand` puts other text in the place of some text.

>>> source = "def f(bar):\\n    ptx.mbarrier_init(bar, 1)\\n    ptx.mbarrier_arrive(bar)\\n"
>>> for edited in every(source):
...     print(edited)
drop: ptx.mbarrier_init(bar, 1)
drop: ptx.mbarrier_arrive(bar)
swap: ptx.mbarrier_init(bar, 1) <-> ptx.mbarrier_arrive(bar)
more: ptx.mbarrier_init(bar, 1) -> ptx.mbarrier_init(bar, 2)
less: ptx.mbarrier_init(bar, 1) -> ptx.mbarrier_init(bar, 0)
instead: ptx.mbarrier_arrive(bar) -> ptx.mbarrier_arrive_relaxed(bar)
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

INSTEAD = {  # an instruction: what a learner may take for it
    "ptx.mbarrier_arrive_expect_tx": ("ptx.mbarrier_expect_tx",),
    "ptx.mbarrier_expect_tx": ("ptx.mbarrier_complete_tx",),
    "ptx.mbarrier_arrive": ("ptx.mbarrier_arrive_relaxed",),
    "ptx.mbarrier_arrive_drop": ("ptx.mbarrier_arrive",),
    "ptx.mbarrier_arrive_relaxed": ("ptx.mbarrier_arrive",),
    "ptx.mbarrier_wait_parity": ("ptx.mbarrier_try_wait_parity", "ptx.mbarrier_test_wait_parity"),
    "ptx.cp_async_bulk_wait_group": ("ptx.cp_async_bulk_wait_group_read", "ptx.cp_async_wait_group"),
    "ptx.cp_async_bulk_wait_group_read": ("ptx.cp_async_bulk_wait_group", "ptx.cp_async_wait_group"),
    "ptx.cp_async_bulk_commit_group": ("ptx.cp_async_commit_group",),
    "ptx.cp_async_wait_group": ("ptx.cp_async_bulk_wait_group",),
    "ptx.cp_async_commit_group": ("ptx.cp_async_bulk_commit_group",),
    "ptx.cp_async_mbarrier_arrive": ("ptx.cp_async_mbarrier_arrive_noinc", "ptx.mbarrier_arrive"),
    "ptx.cp_async_mbarrier_arrive_noinc": ("ptx.cp_async_mbarrier_arrive", "ptx.mbarrier_arrive"),
    "ptx.fence_proxy_async": ("ptx.fence_proxy_async_global", "ptx.fence_acq_rel_cluster"),
    "ptx.fence_proxy_async_shared_cta": ("ptx.fence_proxy_async_global",),
    "ptx.fence_proxy_async_global": ("ptx.fence_proxy_async_shared_cta",),
    "ptx.fence_proxy_tensormap_acquire": ("ptx.fence_proxy_tensormap_acquire_sys",),
    "ptx.fence_proxy_tensormap_acquire_sys": ("ptx.fence_proxy_tensormap_acquire",),
    "ptx.fence_proxy_tensormap_release": ("ptx.fence_acq_rel_cluster",),
    "ptx.barrier_sync": ("ptx.barrier_arrive",),
    "ptx.barrier_arrive": ("ptx.barrier_sync",),
    "cuda.syncthreads": ("cuda.syncwarp",),
    "cuda.syncwarp": ("cuda.syncthreads",),
}


@dataclass(frozen=True)
class Edited:
    """A source with one edit: the operator, the line before, the line after (of a swap: the other line), and which of
    several such edits it is."""

    operator: str
    before: str
    after: str
    source: str
    nth: int = 0

    def __str__(self) -> str:
        number = f" ({self.nth + 1})" if self.nth else ""
        arrow = {"drop": "", "swap": " <-> "}.get(self.operator, " -> ")
        return f"{self.operator}: {self.before}{arrow}{self.after}{number}"


def every(source: str) -> list[Edited]:
    """All mechanical edits of a function's source."""
    text = _Text(source)
    seen: Counter = Counter()
    made = []
    for edited in (edit for operator in OPERATORS for edit in operator(text)):
        key = edited.operator, edited.before, edited.after
        made.append(replace(edited, nth=seen[key]))
        seen[key] += 1
    return made


def chosen(source: str, operator: str, before: str, after: str | None = None, nth: int = 0) -> Edited:
    """The mechanical edit of this operator whose line begins with `before`, and becomes (or is swapped with) one that
    begins with `after`; the nth of them."""
    found = [
        edited
        for edited in every(source)
        if edited.operator == operator and edited.before.startswith(before) and edited.after.startswith(after or "")
    ]
    assert len(found) > nth, f"no {operator} of {before!r} ({nth}) in\n{source}"
    return found[nth]


def by_hand(source: str, old: str, new: str) -> Edited:
    """Other text in the place of text that stands there once."""
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in\n{source}"
    return Edited("by hand", _shown(old), _shown(new), source.replace(old, new))


def _shown(text: str) -> str:
    """Lines as one."""
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


class _Text:
    """A function's source, its statements, and changes by the places of its nodes."""

    def __init__(self, source: str):
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.starts = [sum(map(len, self.lines[:i])) for i in range(len(self.lines) + 1)]
        self.function = ast.parse(source).body[0]
        self.nodes = sorted(
            (node for node in ast.walk(self.function) if hasattr(node, "lineno")),
            key=lambda node: (node.lineno, node.col_offset),
        )
        self.sizes = {name: size for node in ast.walk(self.function) for name, size in _declared(node)}

    def span(self, node: ast.AST) -> slice:
        """Where a node stands."""
        start, stop = (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )
        return slice(start, stop)

    def of(self, node: ast.AST) -> str:
        """The text of a node."""
        return self.source[self.span(node)]

    def line(self, node: ast.AST) -> str:
        """The line that a node begins in."""
        return self.lines[node.lineno - 1].strip()

    def with_text(self, operator: str, node: ast.AST, new: str) -> Edited:
        """Other text in a node's place."""
        span = self.span(node)
        source = self.source[: span.start] + new + self.source[span.stop :]
        return Edited(operator, self.line(node), source.splitlines()[node.lineno - 1].strip(), source)

    def blocks(self) -> Iterator[list[ast.stmt]]:
        """The bodies, without the docstring."""
        for node in self.nodes:
            for field in ("body", "orelse"):
                body = getattr(node, field, None)
                if isinstance(body, list) and body:
                    yield [statement for statement in body if not _is_text(statement)]

    def expressions(self) -> Iterator[ast.expr]:
        """All expressions of the body."""
        return (node for node in self.nodes if isinstance(node, ast.expr))


def _drops(text: _Text) -> Iterator[Edited]:
    """A statement is not there. Loops that only wait count as one."""
    for block in text.blocks():
        for statement in block:
            waits = isinstance(statement, ast.While) and isinstance(statement.body[0], ast.Pass)
            if not isinstance(statement, (ast.Pass, ast.If, ast.For, ast.While)) or waits:
                edited = text.with_text("drop", statement, "pass")
                yield replace(edited, after="")


def _swaps(text: _Text) -> Iterator[Edited]:
    """Two neighbours change places, if both do something."""
    for block in text.blocks():
        for first, second in pairwise(block):
            if not (_acts(first) and _acts(second)):
                continue
            a, b = text.span(first), text.span(second)
            parts = (text.source[: a.start], text.of(second), text.source[a.stop : b.start], text.of(first))
            yield Edited("swap", text.line(first), text.line(second), "".join((*parts, text.source[b.stop :])))


def _constants(text: _Text) -> Iterator[Edited]:
    """A number, or a name for one, is one more or one less, where it counts for an order: in instructions, conditions,
    numbers that the kernel keeps, and loops around instructions; not in shapes, coordinates and indices of elements."""
    for operator, sign, step in (("more", "+", 1), ("less", "-", -1)):
        for node in sorted(_counting(text.function), key=lambda node: (node.lineno, node.col_offset)):
            if isinstance(node, ast.Constant) and type(node.value) is int:
                yield text.with_text(operator, node, str(node.value + step))
            elif isinstance(node, ast.Name) and node.id.isupper():
                yield text.with_text(operator, node, f"({node.id} {sign} 1)")


def _counting(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions on which an order may depend, inner ones included."""
    for found in ast.walk(node):
        if isinstance(found, ast.Call) and _name(found).startswith("ptx."):
            if not _name(found).startswith(
                ("ptx.cp_async_bulk_tensor", "ptx.cp_async_bulk_prefetch", "ptx.mbarrier_array")
            ):
                yield from _all(found.args)
        elif isinstance(found, ast.If):
            yield from (inner for inner in _all([found.test]) if not _inside_an_instruction(inner, found.test))
        elif isinstance(found, ast.For) and any(map(_acts, found.body)) and _synchronizes(found):
            yield from _all(found.iter.args if isinstance(found.iter, ast.Call) else [])
        elif isinstance(found, (ast.Assign, ast.AugAssign)) and not _touches(found):
            yield from _all([found.value])


def _all(nodes: Iterable[ast.expr]) -> Iterator[ast.expr]:
    return (inner for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.expr))


def _inside_an_instruction(node: ast.expr, test: ast.expr) -> bool:
    """Whether it has been yielded already, as an operand."""
    calls = (found for found in ast.walk(test) if isinstance(found, ast.Call))
    return any(node is inner for call in calls for inner in ast.walk(call))


def _synchronizes(statement: ast.stmt) -> bool:
    return any(
        _name(found).startswith(("ptx.", "cuda.sync")) for found in ast.walk(statement) if isinstance(found, ast.Call)
    )


def _touches(statement: ast.stmt) -> bool:
    """Whether a statement calls something or accesses an element."""
    return any(isinstance(found, (ast.Call, ast.Subscript)) for found in ast.walk(statement))


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _stages(text: _Text) -> Iterator[Edited]:
    """The next stage of a ring, or the next barrier, instead of this one."""
    for node in text.expressions():
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in text.sizes):
            continue
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        yield text.with_text("stage", first, f"({text.of(first)} + 1) % {text.sizes[node.value.id]}")


def _instructions(text: _Text) -> Iterator[Edited]:
    """An instruction's neighbour in its stead."""
    for node in text.expressions():
        if isinstance(node, ast.Call):
            for other in INSTEAD.get(text.of(node.func), ()):
                yield text.with_text("instead", node.func, other)


def _guards(text: _Text) -> Iterator[Edited]:
    """A branch that everybody takes."""
    for node in text.nodes:
        if isinstance(node, ast.If) and text.source[text.span(node).start :].startswith("if"):
            yield text.with_text("all", node.test, "True")


OPERATORS = (_drops, _swaps, _constants, _stages, _instructions, _guards)


def _declared(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The arrays of several stages that a statement declares, with the length of their first axis."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args):
        return
    made, length = ast.unparse(node.value.func), node.value.args[0]
    if made == "ptx.mbarrier_array" and ast.unparse(length) != "1":
        yield node.targets[0].id, ast.unparse(length)
    if made == "cuda.shared.array" and isinstance(length, ast.Tuple) and len(length.elts) > 2:
        yield node.targets[0].id, ast.unparse(length.elts[0])


def _acts(statement: ast.stmt) -> bool:
    """Whether a statement does more than to give names to numbers and arrays."""
    if isinstance(statement, (ast.If, ast.For, ast.While, ast.Return, ast.Break)):
        return True
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript):
            return True
        if isinstance(node, ast.Call) and _name(node).startswith(("ptx.", "cuda.sync", "cuda.atomic")):
            return _name(node) != "ptx.mbarrier_array"
    return False


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
