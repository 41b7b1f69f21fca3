"""The instruction set: one object per PTX instruction, callable in a simulated kernel and in compiled code.

Names are PTX's mnemonics with underscores, operands are PTX's, in PTX's order, coordinates innermost first. Nothing
else is in this namespace, so that `dir(ptx)` is the list of what there is and `help(ptx.elect_sync)` tells the rest.

>>> from tmalab import ptx
>>> [name for name in dir(ptx) if "wait_group" in name]
['cp_async_bulk_wait_group', 'cp_async_bulk_wait_group_read', 'cp_async_wait_group', 'wgmma_wait_group']
"""

from difflib import get_close_matches
from functools import lru_cache

from tmalab.ptx import (
    bulk_copies,
    bulk_groups,
    bulk_reductions,
    cache_policies,
    cluster,
    convert,
    fences,
    loads,
    matrices,
    mbarrier,
    mbarrier_cluster,
    per_thread_copies,
    reductions,
    stores,
    tensormap,
    threads,
    wgmma,
)
from tmalab.ptx.instruction import Instruction, UnknownInstruction
from tmalab.texts import text

FAMILIES = (
    *(mbarrier, mbarrier_cluster, loads, stores, reductions, bulk_copies, bulk_reductions, bulk_groups, cache_policies),
    *(per_thread_copies, fences, threads, cluster, tensormap, wgmma, matrices, convert),
)

INSTRUCTIONS: dict[str, Instruction] = {
    name: value for family in FAMILIES for name, value in vars(family).items() if isinstance(value, Instruction)
}
globals().update(INSTRUCTIONS)
__all__ = sorted(INSTRUCTIONS)


AFTER_HOPPER = ("gather4", "scatter4", "im2col_w", "tcgen05")  # in names of what sm_100 brought


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Instruction:
    """Say of an instruction that there is not why, or what may be meant."""
    if any(part in name for part in AFTER_HOPPER):
        raise UnknownInstruction(text("ptx.after-hopper", name=name))
    if name.startswith("_"):  # no instruction is meant: numba asks for such names all the time
        raise UnknownInstruction(text("ptx.unknown", name=name))
    near = _near(name)
    raise UnknownInstruction(
        text("ptx.no-instruction", name=name, near=near) if near else text("ptx.unknown", name=name)
    )


@lru_cache(maxsize=64)  # numba asks for a `name` too, more than once for each instruction that it compiles
def _near(name: str) -> str:
    """Instructions whose names are like this one."""
    return ", ".join(get_close_matches(name, __all__))
