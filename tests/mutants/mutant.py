"""A mutant: a case whose kernel's source has one edit, and the names under which that must be reported."""

from __future__ import annotations

import inspect
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from tests.mutants.case import Case
from tests.mutants.edits import Edited, by_hand, chosen
from tests.mutants.right import CASES
from tmalab import kernel


@dataclass(frozen=True)
class Mutant:
    """A wrong kernel.

    case     of the right kernels, by name
    edit     makes the edited source of the kernel's
    names    hazards, the likeliest first: one of them must be reported in every run
    seeds    in how many runs it must be found at least once, where that needs a certain order of synchronizing
             operations; 1: in every run
    """

    case: str
    edit: Callable[[str], Edited]
    names: tuple[str, ...]
    seeds: int = 1

    @cached_property
    def edited(self) -> Edited:
        """The edit, and the source with it."""
        return self.edit(source_of(CASES[self.case]().kernel))

    @property
    def is_mechanical(self) -> bool:
        """Whether a machine makes this edit at every place of every kernel."""
        return self.edited.operator != "by hand"

    def fresh(self) -> Case:
        """The wrong kernel with fresh arguments."""
        return mutated(CASES[self.case](), self.edited.source)


def drop(case: str, line: str, *names: str, nth: int = 0, seeds: int = 1) -> Mutant:
    """A line is not there."""
    return Mutant(case, partial(chosen, operator="drop", before=line, nth=nth), names, seeds)


def swap(case: str, first: str, second: str, *names: str, nth: int = 0, seeds: int = 1) -> Mutant:
    """Two neighbouring lines, or loops, have changed places."""
    return Mutant(case, partial(chosen, operator="swap", before=first, after=second, nth=nth), names, seeds)


def turn(operator: str, case: str, line: str, into: str, *names: str, nth: int = 0, seeds: int = 1) -> Mutant:
    """A line has become another: by a number one "more" or "less", the next "stage", another instruction ("instead"),
    or a branch that "all" take."""
    found = partial(chosen, operator=operator, before=line, after=into, nth=nth)
    return Mutant(case, found, names, seeds)


def hand(case: str, old: str, new: str, *names: str, seeds: int = 1) -> Mutant:
    """Other text stands in the place of some."""
    return Mutant(case, partial(by_hand, old=old, new=new), names, seeds)


def source_of(made: Any) -> str:
    """The source of a kernel from its `def` on."""
    lines = textwrap.dedent(inspect.getsource(made.function)).splitlines(keepends=True)
    return "".join(lines[next(i for i, line in enumerate(lines) if line.startswith("def ")) :])


def mutated(case: Case, source: str, as_name: str | None = None) -> Case:
    """A case with another source of its kernel, in a file of that kernel's name; `as_name`: under another name."""
    original = case.kernel.function
    name = as_name or original.__name__
    source = source.replace(f"def {original.__name__}(", f"def {name}(", 1)
    file = f"{abs(hash(source))}/{original.__name__}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope = dict(original.__globals__)
    exec(compile(source, file, "exec"), scope)
    return case.with_kernel(kernel(scope[name]))
