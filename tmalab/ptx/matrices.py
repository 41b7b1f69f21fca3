"""ldmatrix and stmatrix: a warp moves 8x8 matrices of 16-bit elements between shared memory and registers.

Of each matrix lane t holds elements 2 * (t % 4) and the next of row t // 4 in one register, the first in the low half:
the form in which wgmma takes A and gives D. Each lane names one row of 8 elements, 16 bytes: lanes 0 to 7 those of the
first matrix, 8 to 15 of the second, and so on; `_trans` takes columns for rows. Shared memory is accessed as by
ordinary loads and stores of the lanes, through the generic proxy.

>>> from tmalab import ptx
>>> ptx.stmatrix_x2
<instruction stmatrix_x2(place: Shared, r0: U32, r1: U32) -> None>
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tmalab.ptx.instruction import Instruction
from tmalab.ptx.operands import U32, Shared, words

_COUNTS = (1, 2, 4)
_WAYS = {"": "", "_trans": ".trans"}
_LOAD = """Load {what} of 16-bit elements from shared memory{how}; returns {result}.

`place` is the row that this lane names, at a multiple of 16 bytes. Executed by the whole warp; each lane reads the
elements that it gets. Source: PTX ISA, ldmatrix."""
_STORE = """Store {what} of 16-bit elements to shared memory{how}.

`place` is the row that this lane names, at a multiple of 16 bytes; the other operands are this lane's registers.
Executed by the whole warp; each lane writes its own elements. Source: PTX ISA, stmatrix."""


def _described(doc: str, count: int, way: str) -> str:
    what = "an 8x8 matrix" if count == 1 else f"{count} 8x8 matrices"
    result = "the register" if count == 1 else f"a tuple of {count} registers"
    return doc.format(what=what, how=", transposed" if way else "", result=result)


def _load(count: int, way: str) -> Instruction:
    def body(thread: Any, place: int) -> Any:
        return thread.matrices.load(place, count, bool(way))

    result = "{$result}" if count == 1 else "$result"
    return Instruction(
        f"ldmatrix_x{count}{way}",
        f"ldmatrix.sync.aligned.m8n8.x{count}{_WAYS[way]}.shared.b16 {result}, [$place];",
        {"place": Shared},
        body,
        _described(_LOAD, count, way),
        returns=U32 if count == 1 else words(count),
    )


def _store(count: int, way: str) -> Instruction:
    registers = [f"r{number}" for number in range(count)]

    def body(thread: Any, place: int, *values: int) -> None:
        thread.matrices.store(place, values, bool(way))

    return Instruction(
        f"stmatrix_x{count}{way}",
        f"stmatrix.sync.aligned.m8n8.x{count}{_WAYS[way]}.shared.b16 [$place], "
        f"{{{', '.join(f'${register}' for register in registers)}}};",
        {"place": Shared, **dict.fromkeys(registers, U32)},
        body,
        _described(_STORE, count, way),
    )


_FAMILIES: tuple[Callable[[int, str], Instruction], ...] = (_load, _store)
for _make in _FAMILIES:
    for _count in _COUNTS:
        for _way in _WAYS:
            _made = _make(_count, _way)
            globals()[_made.__name__] = _made
del _made
