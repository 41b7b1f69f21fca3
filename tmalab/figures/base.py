"""What every figure shares in Python: its script and style, its sentences, and what it leaves where no widget can be.

A figure is one class with traits, one JavaScript module and one style sheet of the same name. The browser gets each as
one text, because a widget has no folder to import from; the files themselves are ordinary modules that import each
other.

>>> script("base").startswith("// What every figure shares")
True
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

import anywidget
from traitlets import Dict

from tmalab.figures.theme import theme_rules
from tmalab.texts import language, text

IMPORT = re.compile(r'^import .* from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)  # what stays is the figure's own


def script(name: str, seen: set[str] | None = None) -> str:
    """The ES module NAME.js with all that it imports from this folder, as one text."""
    seen = set() if seen is None else seen
    seen.add(name)
    source = _file(f"{name}.js")
    imported = [script(other, seen) for other in IMPORT.findall(source) if other not in seen]
    return "".join((*imported, EXPORT.sub("", IMPORT.sub("", source))))


def style(*names: str) -> str:
    """The theme, what all figures share, and NAME.css for each of the names."""
    return "\n".join((theme_rules(".tma"), _file("base.css"), *(_file(f"{name}.css") for name in names)))


def templates(*keys: str) -> dict[str, str]:
    """Sentences with their {places} open, for the browser to fill in, by key without the area; and their language."""
    return {key.partition(".")[2]: text.template(key) for key in keys} | {"lang": language()}


class Figure(anywidget.AnyWidget):
    """A widget with a static form: `svg()` and `table()` travel with it, for places without kernel or network."""

    words = Dict().tag(sync=True)  # the sentences that the browser fills in

    def svg(self) -> str:
        """The figure as it is now, as one <svg> element; hovering works in it without any script."""
        raise NotImplementedError

    def table(self) -> str:
        """The figure as it is now, in plain text: for screen readers, terminals and diffs."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        made: Any = super()._repr_mimebundle_(**kwargs)
        data, metadata = made
        return {**data, "text/html": self.svg(), "text/plain": self.table()}, metadata


def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text("utf-8")
