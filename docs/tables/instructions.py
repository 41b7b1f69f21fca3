"""The instruction set, and the bits of an mbarrier."""

from __future__ import annotations

import re

from docs.tables.markdown import table
from tmalab import mbarrier_word, ptx
from tmalab.texts import text

WIDTHS_BETWEEN = re.compile(r"wgmma_(?:zero_|m64n)(?!(?:8|256)(?:k16|$))\d+.*")  # of N: the table has the ends


def instructions() -> str:
    """The instruction set, family by family: a sentence and a table."""
    parts = []
    for family in ptx.FAMILIES:
        every = ((name, made) for name, made in ptx.INSTRUCTIONS.items() if vars(family).get(name) is made)
        every = ((name, made) for name, made in every if not WIDTHS_BETWEEN.fullmatch(name))
        rows = ((f"`{name}`", f"`{made.text}`", made.__doc__.splitlines()[0]) for name, made in every)
        parts += [f"**{family.__doc__.splitlines()[0]}**", table(("function", "PTX", "what it does"), rows)]
    return "\n\n".join(parts)


def barrier() -> str:
    """The bits of an mbarrier."""
    fields = mbarrier_word.FIELDS.items()
    rows = ((f"{bits.start} to {bits.start + bits.width - 1}", name, text(bits.meaning)) for name, bits in fields)
    return table(("bits", "field", "what it holds"), rows)


TABLES = (instructions, barrier)
