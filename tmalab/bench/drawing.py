"""Drawings by matplotlib whose words are in any language: in an SVG they are text, in the fonts of who looks at it.

matplotlib's own font has no Chinese. It would draw boxes, also where it writes letters as outlines.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from tmalab.texts import FALLBACK, speaking

_OPTIONS: Any = {"svg.fonttype": "none", "svg.hashsalt": "tmalab"}  # words as text; the same names of parts each time


class Drawing(Figure):
    """A figure that a notebook shows as it is, without pyplot."""

    def _repr_svg_(self) -> str:
        return as_svg(self)


def as_svg(figure: Figure) -> str:
    """A figure as the element `svg` of a page."""
    file = io.StringIO()
    with rc_context(_OPTIONS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # it is measured only, as wide as a box
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    return file.getvalue()[file.getvalue().index("<svg") :]


def save(draw: Callable[[], Figure], path: Path) -> None:
    """What `draw` makes as a file of the kind that its name asks for: a picture of pixels or outlines is in English.

    Raises OSError where it cannot be written, ValueError for a kind that matplotlib does not know.
    """
    if path.suffix.lower() == ".svg":
        path.write_text(as_svg(draw()), "utf-8")
    else:
        with speaking(FALLBACK):
            draw().savefig(path, bbox_inches="tight")
