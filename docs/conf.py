"""How Sphinx builds the documentation: offline, from these pages, the library's docstrings and its tables.

Where a page writes `{{ rules }}` or the name of another function in the `TABLES` of docs/tables/, there comes what it
makes of what the library holds. `{{ picture_NAME }}` is a figure of tmalab.figures.gallery, drawn anew, which answers
to the pointer there as well.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # of the checkout: tmalab, and docs.tables

import tmalab
from docs import tables

project = "TMA Lab"
author = copyright = "the TMA Lab authors"
release = version = tmalab.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["substitution"]
myst_heading_anchors = 3
myst_substitutions = {name: made() for name, made in tables.MADE.items()}

html_theme = "furo"
html_title = "TMA Lab"

default_role = "code"  # docstrings write names in single backquotes
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature shows them
autodoc_preserve_defaults = True
