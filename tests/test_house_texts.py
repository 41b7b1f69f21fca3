"""Every sentence that is asked for exists, and every one that exists is asked for."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module

import pytest

from tmalab.bootstrap import ROOT

PACKAGES = ("tmalab", "grader")


@cache
def catalogue(package: str):
    return import_module(f"{package}.texts").text


@cache
def syntax(package: str) -> tuple[ast.AST, ...]:
    files = sorted((ROOT / package).rglob("*.py"))
    return tuple(node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))


@cache
def constants(package: str) -> frozenset[str]:
    """Every string in a package's source."""
    return frozenset(
        {node.value for node in syntax(package) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    )


def branches(argument: ast.expr) -> list[ast.expr]:
    """An argument, or both of its possible values where it is `one if ... else other`."""
    if isinstance(argument, ast.IfExp):
        return [*branches(argument.body), *branches(argument.orelse)]
    return [argument]


@cache
def asked_for(package: str) -> list[ast.expr]:
    """What `text(...)`, `text.template(...)` and `Sentence(...)` are called with first."""
    calls = (node for node in syntax(package) if isinstance(node, ast.Call) and node.args)
    found = (call.args[0] for call in calls if ast.unparse(call.func) in ("text", "text.template", "Sentence"))
    return [branch for argument in found for branch in branches(argument)]


def literal_keys(package: str) -> set[str]:
    """Keys that are written out where they are asked for."""
    return {node.value for node in asked_for(package) if isinstance(node, ast.Constant)}


@cache
def patterns(package: str) -> list[re.Pattern]:
    """Keys that are put together where they are asked for, such as f"gpu.likely-{kind}"."""
    joined = (argument for argument in asked_for(package) if isinstance(argument, ast.JoinedStr))
    return [
        re.compile(
            "".join(re.escape(part.value) if isinstance(part, ast.Constant) else "(.+)" for part in parts.values)
        )
        for parts in joined
    ]


@cache
def fillings(package: str) -> frozenset[str]:
    """Every string in a package's source, as a key would spell it."""
    return frozenset(constant.replace("_", "-") for constant in constants(package))


def put_together(package: str, key: str) -> bool:
    """Whether a pattern gives the key and what fills its gaps is written somewhere in the source."""
    matches = filter(None, (pattern.fullmatch(key) for pattern in patterns(package)))
    return any(all(gap in fillings(package) for gap in match.groups()) for match in matches)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_key_that_is_asked_for_exists(package):
    assert literal_keys(package) - set(catalogue(package).keys()) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_key_that_is_put_together_can_exist(package):
    keys = catalogue(package).keys()
    assert [pattern.pattern for pattern in patterns(package) if not any(map(pattern.fullmatch, keys))] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_key_that_exists_is_used(package):
    unused = set(catalogue(package).keys()) - constants(package)
    assert {key for key in unused if not put_together(package, key)} == set()
