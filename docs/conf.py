"""How Sphinx builds the documentation: offline, from these pages, the library's docstrings and its tables.

A page writes `{{ rules }}`, `{{ descriptor }}`, `{{ instructions }}` or `{{ recordings }}` where a table that the
library holds belongs.
"""

from collections.abc import Iterable

import tmalab
from tmalab import descriptor as map_bytes
from tmalab import ptx, recorded
from tmalab.tensor_map_rules import RULES
from tmalab.texts import text

project = "TMA Lab"
author = copyright = "the TMA Lab authors"
release = version = tmalab.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["substitution"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "TMA Lab"

default_role = "code"  # docstrings write names in single backquotes
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature shows them
autodoc_preserve_defaults = True


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def rules() -> str:
    """The driver's rules for tensor maps."""
    rows = ((rule.name, f"`{rule.measure.field}`", text(rule.why), rule.source) for rule in RULES)
    return table(("rule", "field", "why, and the way out", "source"), rows)


def descriptor() -> str:
    """The bits of a tensor map."""
    rows = ((f"{field.start} to {field.start + field.width - 1}", field.name) for field in map_bytes.TABLE)
    return table(("bits", "field"), rows)


def instructions() -> str:
    """The instruction set."""
    every = ((name, getattr(ptx, name)) for name in dir(ptx))
    rows = ((f"`{name}`", f"`{made.text}`", made.__doc__.splitlines()[0]) for name, made in every)
    return table(("function", "PTX", "what it does"), rows)


def recordings() -> str:
    """What was recorded, where, and with what."""
    read = ((name, recorded.read(name)) for name in recorded.names())
    rows = (
        (f"`{name}`", str(len(made.cases)), *(made.provenance[field] for field in ("gpu", "driver", "date")))
        for name, made in read
    )
    return table(("recording", "cases", "GPU", "driver", "date"), rows)


myst_substitutions = {made.__name__: made() for made in (rules, descriptor, instructions, recordings)}
