"""Teach the instruction set to numba: each instruction's PTX text becomes inline assembly in compiled code.

numba.cuda takes half a second to import, so nothing here is imported before the first compile; `teach()` then registers
every instruction as an intrinsic. An array stands for the address of its first element.

>>> from tmalab.gpu.lowering import teach
>>> teach()  # once; later calls do nothing
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import cache
from string import Template
from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.cudadrv import nvvm
from numba.cuda.cudaimpl import _generic_array, _get_unique_smem_id
from numba.cuda.datamodel import models
from numba.cuda.extending import register_model
from numba.cuda.typing.templates import infer, infer_global, make_intrinsic_template

from tmalab import ptx
from tmalab.gpu.accumulators import AccumulatorType, made_of, register, unpacked, zeros
from tmalab.ptx.instruction import Instruction
from tmalab.ptx.operands import (
    BarrierArray,
    Given,
    Kind,
    Map,
    MapRow,
    OperandError,
    Predicate,
    Registers,
    Zeros,
)
from tmalab.texts import text


class TensorMapType(types.Type):
    """A tensor map that is a kernel argument. Its value is the address of its 128 bytes."""


TENSOR_MAP = TensorMapType("TensorMap")


@register_model(TensorMapType)
class _TensorMapModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: types.Type):
        super().__init__(dmm, fe_type, ir.IntType(64))


# PTX register class: numba type of the operand, numba type of a result. Results are plain signed integers.
_OPERAND_TYPES = {"r": types.int32, "l": types.int64, "h": types.int16, "f": types.float32}
_RESULT_TYPES = {"r": types.int64, "l": types.int64, "h": types.int64, "f": types.float32, "p": types.boolean}
_REGISTERS = {"r": ir.IntType(32), "l": ir.IntType(64), "h": ir.IntType(16), "f": ir.FloatType(), "p": ir.IntType(32)}
_INTEGERS = (types.Integer, types.IntegerLiteral, types.Boolean, types.BooleanLiteral, types.IntEnumMember)
_NUMBERS = {"r": (types.Integer, types.Boolean), "f": (types.Integer, types.Float)}  # what a tuple may hold
_SHARED_SPACE, _GLOBAL_SPACE = 3, 1


@cache
def teach() -> None:
    """Make every instruction known to numba.cuda."""
    for made in ptx.INSTRUCTIONS.values():
        literal = any(kind.register == "n" or kind.allowed for kind in made.operands.values())
        template = make_intrinsic_template(made, _definition(made), made.__name__, prefer_literal=literal)
        infer(template)
        infer_global(made, types.Function(template))


def classify(given: types.Type) -> Given:
    """The class of an operand in compiled code, from its numba type."""
    if isinstance(given, types.Array):
        return Given.MAP_ROW if given.dtype == types.uint8 else Given.ARRAY
    if isinstance(given, TensorMapType):
        return Given.TENSOR_MAP
    if given == types.uint64:
        return Given.UINT64
    if isinstance(given, _INTEGERS):
        return Given.INTEGER
    if isinstance(given, AccumulatorType):
        return Given.ACCUMULATOR
    if isinstance(given, types.BaseTuple):
        return Given.TUPLE
    return Given.FLOAT if isinstance(given, types.Float) else Given.OTHER


def _definition(made: Instruction) -> Any:
    """numba's definition of an intrinsic: from the operands' types to a signature and a code generator."""

    def define(typingctx: Any, *given: Any, **named: Any) -> Any:
        operands = zip(made.operands.items(), made.bind(given, named))
        accepted = [_accept(made.__name__, operand, kind, value) for (operand, kind), value in operands]
        if made.returns is BarrierArray:
            return _barrier_array(accepted[0])
        if isinstance(made.returns, Zeros):
            return _zeros(made.returns.count)
        return _result_type(made.returns)(*accepted), _generator(made)

    context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = made.__signature__.parameters.values()
    described: Any = define
    described.__signature__ = inspect.Signature([context, *parameters])
    return described


def _accept(instruction: str, operand: str, kind: Kind, given: Any) -> types.Type:
    """The numba type under which an operand is passed; OperandError where its kind does not take it."""
    if not isinstance(given, types.Type):  # a default, as a Python value
        given = types.float64 if isinstance(given, float) else types.literal(given)
    kind.check(instruction, operand, classify(given))
    if isinstance(given, (types.Array, TensorMapType)):
        return given
    if isinstance(kind, Registers):
        return _accept_registers(instruction, operand, kind, given)
    if kind.register != "n":
        if isinstance(given, types.IntegerLiteral):
            kind.check_value(instruction, operand, given.literal_value)
        return _OPERAND_TYPES[kind.register]
    if not isinstance(given, types.IntegerLiteral):
        words = {"given": text("ptx.given-variable"), "wanted": text(kind.wanted)}
        raise OperandError(text("ptx.operand", instruction=instruction, operand=operand, **words))
    kind.check_value(instruction, operand, given.literal_value)
    return given


def _accept_registers(instruction: str, operand: str, kind: Registers, given: types.Type) -> types.Type:
    """The type of several registers passed as one operand; a tuple has to hold numbers that fit them."""
    kind.check_count(instruction, operand, given.count)
    if isinstance(given, types.BaseTuple):
        element = _OPERAND_TYPES[kind.register]
        if not all(isinstance(part, _NUMBERS[kind.register]) for part in given):
            words = {"given": text("ptx.given-mixed-tuple"), "wanted": text(kind.wanted)}
            raise OperandError(text("ptx.operand", instruction=instruction, operand=operand, **words))
        return types.UniTuple(element, kind.count)
    return given


def _result_type(returns: Kind | None) -> types.Type:
    if returns is None:
        return types.void
    element = _RESULT_TYPES[returns.register]
    if not isinstance(returns, Registers):
        return element
    return AccumulatorType(returns.count) if returns.register == "f" else types.UniTuple(element, returns.count)


def _generator(made: Instruction) -> Any:
    """The code generator of one instruction: operands into registers, the text between them, the result out."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        names, constraints, result = _results(made)
        registers, accumulator = [], None
        for (operand, kind), given, value in zip(made.operands.items(), signature.args, values):
            if kind.register == "n":
                names[operand] = str(given.literal_value)
                continue
            first = len(constraints)
            if operand == made.updates and isinstance(kind, Registers):
                accumulator = value if isinstance(given, AccumulatorType) else made_of(builder, value, kind.count)
                names[operand] = _listed(register(first, index) for index in range(kind.count))
                parts, letter = [accumulator], "n"
            elif isinstance(kind, Registers):
                parts, letter = unpacked(builder, value, kind.count), kind.register
                names[operand] = _listed(f"${place}" for place in range(first, first + kind.count))
            else:
                parts, letter = [_register(context, builder, kind, given, value)], kind.register
                names[operand] = f"${first}"
            constraints += [letter] * len(parts)
            registers += parts
        kind_of_call = ir.FunctionType(result, [part.type for part in registers])
        constraints += [] if made.pure else ["~{memory}"]
        assembly = ir.InlineAsm(kind_of_call, _text(made, names), ",".join(constraints), side_effect=not made.pure)
        called = builder.call(assembly, registers, attrs=() if made.pure else ("convergent",))
        return accumulator if made.updates else _result(context, builder, made.returns, called)

    return generate


def _results(made: Instruction) -> tuple[dict[str, str], list[str], ir.Type]:
    """What an instruction returns: its name in the text, its constraints, its type."""
    returns = made.returns
    if returns is None or made.updates:
        return {}, [], ir.VoidType()
    if returns is Predicate:
        return {"result": "done"}, ["=r"], _REGISTERS["p"]
    if not isinstance(returns, Registers):
        return {"result": "$0"}, [f"={returns.register}"], _REGISTERS[returns.register]
    together = ir.LiteralStructType([_REGISTERS[returns.register]] * returns.count)
    names = {"result": _listed(f"${place}" for place in range(returns.count))}
    return names, [f"={returns.register}"] * returns.count, together


def _listed(names: Iterable[str]) -> str:
    """Registers as a vector operand: {$4, $5, $6, $7}"""
    return f"{{{', '.join(names)}}}"


def _text(made: Instruction, names: dict[str, str]) -> str:
    line = Template(made.text).substitute(names)
    if made.returns is not Predicate:
        return line
    return f"{{ .reg .pred done; {line} selp.b32 $0, 1, 0, done; }}"  # inline assembly cannot return a predicate


def _register(context: Any, builder: ir.IRBuilder, kind: Kind, given: types.Type, value: Any) -> Any:
    if not isinstance(given, types.Array):
        return value
    data = context.make_array(given)(context, builder, value).data
    space, width = (_SHARED_SPACE, 32) if kind.register == "r" else (_GLOBAL_SPACE, 64)
    if kind not in (Map, MapRow):  # a map's address is a generic one
        data = builder.addrspacecast(data, data.type.pointee.as_pointer(space))
    return builder.ptrtoint(data, ir.IntType(width))


def _result(context: Any, builder: ir.IRBuilder, returns: Kind | None, called: Any) -> Any:
    if returns is None:
        return context.get_dummy_value()
    if returns is Predicate:
        return builder.trunc(called, ir.IntType(1))
    if isinstance(returns, Registers):
        parts = [_widened(builder, returns, part) for part in unpacked(builder, called, returns.count)]
        return context.make_tuple(builder, _result_type(returns), parts)
    return _widened(builder, returns, called)


def _widened(builder: ir.IRBuilder, returns: Kind, value: Any) -> Any:
    """Results are plain integers of 64 bits, or floats."""
    return builder.zext(value, ir.IntType(64)) if returns.register in "rh" else value


def _zeros(count: int) -> Any:
    """An accumulator of zeros."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return zeros(builder, count)

    return AccumulatorType(count)(), generate


def _barrier_array(n: types.IntegerLiteral) -> Any:
    """n barriers: a shared (n, 1) array of its own for each place in the source."""
    shape = (n.literal_value, 1)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        name = _get_unique_smem_id("barriers")
        space = nvvm.ADDRSPACE_SHARED
        return _generic_array(context, builder, shape, types.uint64, name, space, alignment=8)

    return types.Array(types.uint64, 2, "C")(n), generate
