"""The tables and drawings of the pages, made of what the library holds whenever the pages are built."""

from __future__ import annotations

from functools import partial

from docs.tables import benches, course, instructions, kernels, maps, recordings, timing
from docs.tables.markdown import picture
from tmalab.figures.gallery import GALLERY, two_runs

MODULES = (maps, instructions, recordings, timing, kernels, benches, course)
PICTURES = {**GALLERY, "two_runs": two_runs}
MADE = {made.__name__: made for module in MODULES for made in module.TABLES}  # by their names in pages
MADE |= {f"picture_{name}": partial(lambda drawn: picture(drawn()), drawn) for name, drawn in PICTURES.items()}
