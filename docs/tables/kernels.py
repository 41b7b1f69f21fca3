"""The ladder of kernels, and their twins in CUDA C++."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CudaLexer, PythonLexer

from docs.tables.markdown import code_table, html, table
from tmalab import kernels, ptx
from tmalab.gpu.compile import Compiled
from tmalab.kernels import copy_2d
from tmalab.kernels import twins as cuda_twins
from tmalab.kernels.copy_cp_async import WORDS
from tmalab.kernels.copy_tensor import COLS, Ring
from tmalab.kernels.launches import launch_of


def ladder() -> str:
    """The kernels in their order: what each shows, and how it differs from one before, by its header."""
    rows = []
    for name in kernels.LADDER:
        title, _, body = import_module(f"tmalab.kernels.{name}").__doc__.partition("\n")
        shows, differs = (
            re.sub(r"\s+", " ", part).strip() for part in re.split(r"\nDiffers +", body.split("\nRun")[0])
        )
        rows.append((f"`{name}`", title.partition(": ")[2], shows.removeprefix("Shows "), differs))
    return table(("kernel", "what it is", "shows", "differs"), rows)


def twins() -> str:
    """Each kernel of the ladder beside its twin in CUDA C++: call by call with the PTX, then both files."""
    return "\n\n".join(f"### {name}\n\n{_calls(name)}\n\n{_sources(name)}" for name in kernels.LADDER)


def _calls(name: str) -> str:
    """The instructions of a kernel: its line, the twin's, the opcode, and how often both texts of PTX have it."""
    how = launch_of(name)
    texts = how["kernel"].ptx(how["args"]), cuda_twins.compiled(name).ptx
    ours, theirs = map(cuda_twins.asynchronous, texts)
    rows = []
    for python, cuda in cuda_twins.beside(name):
        opcodes = cuda_twins.asynchronous(ptx.INSTRUCTIONS[python.name].text)
        times = ", ".join(str(ours[opcode]) for opcode in opcodes), ", ".join(str(theirs[opcode]) for opcode in opcodes)
        rows.append((python.line, cuda.line, ", ".join(opcodes), *times))
    return code_table((("Python", 30), ("CUDA C++", 30), ("PTX", 24), ("times", 8), ("in the twin's", 8)), rows)


def _sources(name: str) -> str:
    """Both files of a kernel, side by side; of Python's without what launches it."""
    python = Path(kernels.__path__[0], f"{name}.py").read_text("utf-8")
    python = re.split(r"\n\n\ndef (?:launch_of|demonstrate)", python)[0]
    cuda = cuda_twins.source(name).read_text("utf-8")
    coloured = (highlight(python, PythonLexer(), HtmlFormatter()), highlight(cuda, CudaLexer(), HtmlFormatter()))
    columns = "".join(f'<div style="min-width: 0; overflow-x: auto">{code}</div>' for code in coloured)
    both = f'<div style="display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; font-size: 75%">{columns}</div>'
    return html(f"<details><summary>Both files of {name}</summary>{both}</details>")


def twins_differ() -> str:
    """Where the PTX of a kernel has an instruction another number of times than its twin's, and why."""
    rows = (
        (f"`{name}`", why, ", ".join(f"`{opcode.partition('.shared')[0]}`" for opcode in found if found[opcode] == why))
        for name, found in cuda_twins.DIFFERENCES.items()
        for why in dict.fromkeys(found.values())
    )
    return table(("kernel", "why the numbers differ", "instructions"), rows)


def against_cp_async() -> str:
    """What copies by TMA and by cp.async come to, and their twins, as `kernel.counts` has it."""
    moved = {"copy_2d": copy_2d.TILE_BYTES, "copy_tensor": Ring().rows * COLS * 8, "copy_cp_async": 8 * WORDS}
    columns = []
    for name, size in moved.items():
        how = launch_of(name)
        counts = how["kernel"].counts(how["args"], how["block"])
        twin = Compiled(name, cuda_twins.compiled(name).ptx).all_counts
        columns += [{"bytes that one copy moves": size} | found for found in (counts, twin)]
    kept = (what for what in columns[0] if what != "wgmmas")
    rows = ((what.replace("_", " "), *(f"{found[what]:,}" for found in columns)) for what in kept)
    return table(("", *(f"`{name}`{of}" for name in moved for of in ("", ", its twin"))), rows)


TABLES = (ladder, twins, twins_differ, against_cp_async)
