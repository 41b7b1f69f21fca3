"""A learner's object as plain data, and, outside, what a judge takes in its place.

>>> taken(exported({"rows": [1, 2.0], "map": object}))["rows"]
[1, 2.0]
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

import numpy as np

from grader.limits import Failed
from grader.source import KernelSource, NoSource, take_source
from tmalab import TensorMap

LONGEST = 4096  # elements of a list
LARGEST = 1 << 20  # bytes of an array
DEEPEST = 6
BATCH = 64  # calls of a function
BITS = 256  # of a whole number
LONGEST_NAME = 200  # characters of a kernel's names, and of those of its files
MOST_PARAMETERS = 64
LONGEST_KERNEL = 1 << 17  # characters, its helpers included
MAP_FIELDS: tuple[str, ...] = (
    "data_type",
    "global_address",
    "global_dim",
    "global_strides",
    "box_dim",
    "element_strides",
)
MAP_FIELDS += ("interleave", "swizzle", "l2_promotion", "oob_fill")

Tree = list[Any]  # a kind, and what belongs to it


def exported(value: Any, depth: int = DEEPEST) -> Tree:
    """The value as a tree of kinds and plain data; never raises for what an object is or does."""
    try:
        return _exported(value, depth)
    except BaseException:  # a learner's own type may raise anything
        return ["opaque", type(value).__name__[:80], f"<{type(value).__name__[:80]}>"]


def _exported(value: Any, depth: int) -> Tree:
    if value is None or value is Ellipsis:
        return ["plain", None]
    if isinstance(value, (bool, np.bool_)):
        return ["plain", bool(value)]
    if isinstance(value, (float, np.floating)):
        return ["plain", float(value)]
    if isinstance(value, str):
        return ["plain", str.__str__(value)] if len(value) <= LONGEST else _opaque(value)
    if isinstance(value, TensorMap):
        return ["map", {name: exported(getattr(value, name), depth - 1) for name in MAP_FIELDS}]
    if callable(value) and not isinstance(value, type):
        return ["function", type(value).__name__[:80], _shown(value), _kernel(value)]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.nbytes <= LARGEST and value.ndim <= 8:
        return ["plain", np.array(value, dtype=value.dtype.newbyteorder("="))]
    if isinstance(value, np.ndarray) and value.dtype == object and value.size <= LONGEST:
        return exported(value.tolist(), depth)
    if isinstance(value, Mapping) and depth and len(value) <= LONGEST:
        return ["dict", [[exported(key, 1), exported(value[key], depth - 1)] for key in value]]
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)) and depth and len(value) <= LONGEST:
        return ["tuple" if isinstance(value, tuple) else "list", [exported(each, depth - 1) for each in value]]
    return _whole(value)


def _whole(value: Any) -> Tree:
    if isinstance(value, (bytes, bytearray, type)):
        return _opaque(value)
    try:
        number = operator.index(value)
    except TypeError:
        return _opaque(value)
    return ["plain", int(number)] if number.bit_length() <= BITS else _opaque(value)


def _opaque(value: Any) -> Tree:
    return ["opaque", type(value).__name__[:80], _shown(value)]


def _shown(value: Any) -> str:
    try:
        return reprlib.repr(value)[:200]
    except BaseException:
        return f"<{type(value).__name__[:80]}>"


def _kernel(value: Any) -> dict[str, Any] | str:
    """A kernel's source as plain data, or the sentence that says why there is none."""
    try:
        return asdict(take_source(value))
    except NoSource as reason:
        return str(reason)


class Opaque:
    """Something of a learner's of which only the name of its type and a short text came out of the sandbox."""

    def __init__(self, shown: str):
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown


class Remote(Opaque):
    """A learner's function, which is called in a sandbox: `kernel` is its source, or why it is no kernel's."""

    def __init__(self, shown: str, kernel: KernelSource | str, call: Callable[[tuple], Any]):
        super().__init__(shown)
        self.kernel, self._call = kernel, call

    def __call__(self, *arguments: Any) -> Any:
        return self._call(arguments)

    @property
    def _several(self) -> Callable[[Sequence[tuple]], list[Callable[[], Any]]]:
        def one_by_one(batch: Sequence[tuple]) -> list[Callable[[], Any]]:
            return [partial(self._call, arguments) for arguments in batch]

        return getattr(self._call, "several", one_by_one)

    def values(self, several: Sequence[tuple], begins: Callable[[tuple], object]) -> Iterator[Any]:
        """The values of several calls; `begins` is told of each. They go in by the batch: one at a time costs more.

        A batch that is ended by a limit is gone through again call by call, to see which one it was.
        """
        for start in range(0, len(several), BATCH):
            batch = several[start : start + BATCH]
            try:
                results = self._several(batch)
            except Failed:
                results = [partial(self._call, arguments) for arguments in batch]
            for arguments, result in zip(batch, results, strict=False):
                begins(arguments)
                yield result()


class Untrue(ValueError):
    """A tree that `exported` does not make."""


def taken(tree: Any, call: Callable[[tuple], Any] | None = None) -> Any:
    """What a judge takes for a tree. Raises Untrue for one that is malformed: every type is checked exactly."""
    if type(tree) is not list or not tree or type(tree[0]) is not str or tree[0] not in TAKERS:
        raise Untrue("no kind")
    kind, *inside = tree
    try:
        return TAKERS[kind](call, *inside)
    except (TypeError, ValueError) as error:
        raise Untrue(str(error)[:80]) from None


def _plain(call: Any, value: object) -> object:
    if value is not None and type(value) not in (bool, int, float, str, np.ndarray):
        raise Untrue(type(value).__name__)
    return printable(value, LONGEST) if type(value) is str else value


def printable(words: str, longest: int) -> str:
    """A learner's words in one line, without what would move a terminal's cursor or make up lines of a report."""
    return "".join(sign if sign.isprintable() else "?" for sign in words[:longest])


def printable_lines(words: str, longest: int) -> str:
    """The same for words of several lines, such as a report of a hazard."""
    return "\n".join(printable(line, longest) for line in words[:longest].split("\n"))


def _named(name: object, kind: type, *arguments: Any) -> Any:
    """An object of a type that has the name of the learner's, so that messages say that name."""
    plain = name if type(name) is str and name.isidentifier() and len(name) <= 80 else "object"
    return type(plain, (kind,), {})(*arguments)


def _text(value: object) -> str:
    if type(value) is not str:
        raise Untrue("no text")
    return printable(value, 500)


def _take_dict(pairs: list) -> dict:
    if len(pairs) > LONGEST:
        raise Untrue("a dict's size")
    return {taken(key): taken(tree) for key, tree in pairs}


def _take_map(call: Any, trees: dict) -> object:
    """A tensor map built here from its numbers; where that is none, the numbers."""
    given = {name: taken(trees[name]) for name in MAP_FIELDS}
    try:
        return TensorMap(**given)
    except Exception:  # TensorMapError, or a field that is no number
        return given


def _take_function(call: Any, kind: object, shown: object, kernel: object) -> Remote:
    source = _kernel_source(kernel) if type(kernel) is dict else _text(kernel)
    return _named(kind, Remote, _text(shown), source, call)


def _kernel_source(given: dict) -> KernelSource:
    """A kernel's source, every part of the type that it must have."""
    if set(given) != {field.name for field in fields(KernelSource)}:
        raise Untrue("a kernel's fields")
    if type(given["parameters"]) is not list:
        raise Untrue("a kernel's parameters")
    names = [given["name"], *given["parameters"]]
    texts: list[object] = []
    for table in ("functions", "files", "helpers", "modules", "constants"):
        if type(given[table]) is not dict:
            raise Untrue(table)
        names += given[table]
        texts += given[table].values() if table != "constants" else ()
    if not all(type(each) is str for each in texts) or not all(map(_is_number, given["constants"].values())):
        raise Untrue("a kernel's text")
    if sum(len(each) for each in given["functions"].values()) > LONGEST_KERNEL:
        raise Untrue("a kernel's length")
    if len(given["parameters"]) > MOST_PARAMETERS or not all(map(_is_name, names)):
        raise Untrue("a kernel's names")
    if given["name"] not in given["functions"] or set(given["functions"]) != set(given["files"]):
        raise Untrue("a kernel's functions")
    files = {name: printable(file, LONGEST_NAME) for name, file in given["files"].items()}
    return KernelSource(**{**given, "files": files})


def _is_name(value: object) -> bool:
    """Whether it is a name that a learner may give: those are repeated in messages, and put into a namespace."""
    return type(value) is str and value.isidentifier() and len(value) <= LONGEST_NAME and not value.startswith("__")


def _is_number(value: object) -> bool:
    if type(value) is tuple:
        return all(map(_is_number, value))
    return type(value) in (bool, int, float) or (isinstance(value, np.generic) and value.dtype.kind in "biuf")


TAKERS: dict[str, Callable[..., Any]] = {
    "plain": _plain,
    "opaque": lambda call, kind, shown: _named(kind, Opaque, _text(shown)),
    "list": lambda call, trees: [taken(tree) for tree in trees],
    "tuple": lambda call, trees: tuple(taken(tree) for tree in trees),
    "dict": lambda call, pairs: _take_dict(pairs),
    "map": _take_map,
    "function": _take_function,
}
