"""The accumulator of a wgmma in compiled code: registers that PTX names, and a number that stands for them.

A wgmma goes on while its thread does, so the compiler must not move its accumulator about, as it may do with values of
its own. So it never sees one: each wgmma_zero has registers of its own, `acc0_0`, `acc0_1`, ..., which every
instruction names in its text, and what a kernel passes on from one to the next is only their number. An accumulator
that was passed on is therefore overwritten; what the instruction returned takes its place.

A register is read by its index, `acc[3]`: a move that stays where it is among the instructions, behind the wait. Where
a loop counts the index the loop is written out (see `unrolling`). By any other variable it is a choice among all of
them, since registers have no addresses: the kernel is then compiled anew, `with choices()`.

>>> from tmalab.gpu.accumulators import declared
>>> declared(".entry k() {mov.b32 %r1, tmalab_acc7_3;}", "k").split("\\n\\t")
['.entry k() {', '.reg .b32 acc0_<4>;mov.b32 %r1, acc0_3;}']
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.cudaimpl import lower
from numba.cuda.datamodel import models
from numba.cuda.extending import register_model
from numba.cuda.typing.templates import AbstractTemplate, infer_global, signature

from tmalab.ptx.operands import OperandError
from tmalab.texts import text

_FLOAT, _NUMBER = ir.FloatType(), ir.IntType(32)
_PREFIX = "tmalab_acc"
_READ = re.compile(rf"\b({_PREFIX}\d+_)(-?\d+)of(\d+)\b")  # by a counter, among so many
_fresh = count()
_choosing: ContextVar[bool] = ContextVar("choosing", default=False)


@contextmanager
def choices() -> Iterator[None]:
    """In here a register that a variable names is chosen when the kernel runs."""
    token = _choosing.set(True)
    try:
        yield
    finally:
        _choosing.reset(token)


class AccumulatorType(types.Type):
    """The accumulator of a wgmma: `count` registers of each thread. Its value is their number, a constant."""

    def __init__(self, count: int):
        self.count = count
        super().__init__(f"Accumulator({count})")


@register_model(AccumulatorType)
class _AccumulatorModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: AccumulatorType):
        super().__init__(dmm, fe_type, _NUMBER)


def register(operand: int, index: int | str) -> str:
    """A register in the text of inline assembly whose operand `operand` is the accumulator's number."""
    return f"{_PREFIX}${operand}_{index}"


def made_of(builder: ir.IRBuilder, values: Any, registers: int) -> ir.Constant:
    """A new accumulator that holds the floats of a tuple. Returns its number."""
    number = ir.Constant(_NUMBER, next(_fresh))
    moves = " ".join(f"mov.b32 {register(0, index)}, ${index + 1};" for index in range(registers))
    _assembly(builder, ir.VoidType(), moves, "n" + ",f" * registers, [number, *unpacked(builder, values, registers)])
    return number


def zeros(builder: ir.IRBuilder, registers: int) -> ir.Constant:
    """A new accumulator of zeros. Returns its number."""
    number = ir.Constant(_NUMBER, next(_fresh))
    moves = " ".join(f"mov.b32 {register(0, index)}, 0;" for index in range(registers))
    _assembly(builder, ir.VoidType(), moves, "n", [number])
    return number


def unpacked(builder: ir.IRBuilder, values: Any, count: int) -> list[Any]:
    """The elements of a tuple."""
    return [builder.extract_value(values, number) for number in range(count)]


def declared(ptx: str, entry: str) -> str:
    """PTX in which the registers that a kernel's text names are declared, and the accumulators count from 0."""
    highest: dict[str, int] = {}
    ptx = _READ.sub(_checked, ptx)
    for found in re.finditer(rf"\b{_PREFIX}(\d+)_(\d+)\b", ptx):
        highest[found[1]] = max(highest.get(found[1], 0), int(found[2]))
    numbers = {given: number for number, given in enumerate(highest)}
    lines = "".join(f"\n\t.reg .b32 acc{numbers[given]}_<{last + 1}>;" for given, last in highest.items())
    ptx = re.sub(rf"\b{_PREFIX}(\d+)_", lambda found: f"acc{numbers[found[1]]}_", ptx)
    return re.sub(rf"(\.entry {re.escape(entry)}\([^{{]*\{{)", rf"\1{lines}", ptx, count=1)


def _checked(read: re.Match) -> str:
    """The name of a register that a counter named, without the number of all of them."""
    check_index(int(read[2]), int(read[3]))
    return f"{read[1]}{read[2]}"


@infer_global(operator.getitem)
class _ReadRegister(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) != 2 or not isinstance(args[0], AccumulatorType):
            return None
        accumulator, index = args
        if not isinstance(index, (types.Integer, types.IntegerLiteral)):
            raise OperandError(text("ptx.register-index"))
        return signature(types.float32, accumulator, types.intp)


def check_index(index: int, count: int) -> None:
    """Raise OperandError unless an accumulator of so many registers has this one."""
    if not 0 <= index < count:
        raise OperandError(text("ptx.register-number", index=index, last=count - 1))


@lower(operator.getitem, AccumulatorType, types.Integer)
def _read_register(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
    number, index = args
    registers = sig.args[0].count
    if not isinstance(index, ir.Constant):
        return (_chosen if _choosing.get() else _counted)(builder, number, index, registers)
    check_index(index.constant, registers)  # a literal; what type inference sees of it is an integer
    return _read(builder, number, index.constant)


def _read(builder: ir.IRBuilder, number: Any, index: int) -> Any:
    return _assembly(builder, _FLOAT, f"mov.b32 $0, {register(1, index)};", "=f,n", [number])


def _counted(builder: ir.IRBuilder, number: Any, index: Any, registers: int) -> Any:
    """The register of an index that is a constant once the loops around it are written out."""
    line = f"mov.b32 $0, {register(1, '$2')}of{registers};"
    return _assembly(builder, _FLOAT, line, "=f,n,n", [number, index])


def _chosen(builder: ir.IRBuilder, number: Any, index: Any, registers: int) -> Any:
    """The register of an index that is known when the kernel runs."""
    last, end = builder.append_basic_block("register.last"), builder.append_basic_block("register.end")
    switch = builder.switch(index, last)
    found = []
    for place in range(registers):
        block = last if place == registers - 1 else builder.append_basic_block(f"register.{place}")
        if block is not last:
            switch.add_case(ir.Constant(index.type, place), block)
        with builder.goto_block(block):
            found.append((_read(builder, number, place), block))
            builder.branch(end)
    builder.position_at_end(end)
    value = builder.phi(_FLOAT)
    for register_, block in found:
        value.add_incoming(register_, block)
    return value


def _assembly(builder: ir.IRBuilder, result: ir.Type, line: str, constraints: str, operands: list[Any]) -> Any:
    """Inline assembly that stays in its place."""
    kind = ir.FunctionType(result, [operand.type for operand in operands])
    assembly = ir.InlineAsm(kind, line, f"{constraints},~{{memory}}", side_effect=True)
    return builder.call(assembly, operands, attrs=("convergent",))
