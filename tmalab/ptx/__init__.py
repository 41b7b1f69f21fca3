"""The instruction set: one object per PTX instruction, callable in a simulated kernel and in compiled code.

Names are PTX's mnemonics with underscores, operands are PTX's, in PTX's order, coordinates innermost first. Nothing
else is in this namespace, so that `dir(ptx)` is the list of what there is and `help(ptx.elect_sync)` tells the rest.

>>> from tmalab import ptx
>>> [name for name in dir(ptx) if "wait_group" in name]
['cp_async_bulk_wait_group', 'cp_async_bulk_wait_group_read', 'cp_async_wait_group']
"""

from tmalab.ptx import bulk_groups, convert, fences, loads, mbarrier, per_thread_copies, stores, threads
from tmalab.ptx.instruction import Instruction

_FAMILIES = (mbarrier, loads, stores, bulk_groups, per_thread_copies, fences, threads, convert)

INSTRUCTIONS: dict[str, Instruction] = {
    name: value for family in _FAMILIES for name, value in vars(family).items() if isinstance(value, Instruction)
}
globals().update(INSTRUCTIONS)
__all__ = sorted(INSTRUCTIONS)


def __dir__() -> list[str]:
    return __all__
