"""Helpers of the recording kernels, spelled out from the instruction set: one call for each of many instructions.

A kernel says each instruction's operands one by one, so helpers for each rank, mode and operation would fill pages that
say nothing. Here the operands' names say what to pass: a coordinate is an element of `coordinates`, an offset one of
`offsets`, whatever else has a name of its own. Immediates are given with the instruction.

>>> from tmalab.recorded.spelled import spelling
>>> print(spelling("dst, tensor_map, coordinates, bar", [("prefetch_tensormap", "cp_async_bulk_tensor_2d")]))
def act(how, dst, tensor_map, coordinates, bar):
    if how == 0:
        prefetch_tensormap(tensor_map)
        cp_async_bulk_tensor_2d(dst, tensor_map, coordinates[0], coordinates[1], bar)
"""

from __future__ import annotations

from collections.abc import Sequence

from tmalab import ptx
from tmalab.launch import Device

Call = str | tuple[str, dict[str, int]]  # an instruction's name, and its immediates where it has some
Choices = Sequence[Sequence[Call]]


def one_of(parameters: str, choices: Choices) -> Device:
    """A helper act(how, *parameters) that executes the instructions of choice number `how`, in their order."""
    scope = {name: getattr(ptx, name) for choice in choices for name, _ in map(_named, choice)}
    exec(compile(spelling(parameters, choices), __file__, "exec"), scope)
    return Device(scope["act"])


def spelling(parameters: str, choices: Choices) -> str:
    """The source of that helper."""
    lines = [f"def act(how, {parameters}):"]
    for n, choice in enumerate(choices):
        lines.append(f"    {'elif' if n else 'if'} how == {n}:")
        lines += [f"        {name}({', '.join(_passed(name, given))})" for name, given in map(_named, choice)]
    return "\n".join(lines)


def _named(call: Call) -> tuple[str, dict[str, int]]:
    return (call, {}) if isinstance(call, str) else call


def _passed(name: str, immediates: dict[str, int]) -> list[str]:
    """What is passed for each operand of an instruction. The coordinates' names are single letters."""
    operands = getattr(ptx, name).operands
    coordinates = [operand for operand in operands if len(operand) == 1]
    offsets = [operand for operand in operands if operand.endswith("_offset")]
    places = {operand: f"coordinates[{i}]" for i, operand in enumerate(coordinates)}
    places |= {operand: f"offsets[{i}]" for i, operand in enumerate(offsets)}
    places |= {operand: str(value) for operand, value in immediates.items()}
    return [places.get(operand, operand) for operand in operands]
