"""What an instruction's operand may be, and the one sentence that refuses anything else.

PTX operands are registers, addresses and immediates. A kernel writes arrays, maps and plain integers instead, and the
same kernel runs in two worlds: in the simulator an operand is a Python value, in compiled code it is a type. Both are
first put into one of the classes of `Given`; the check and its sentence then know nothing of the two worlds.

>>> from tmalab.ptx.operands import Given, Shared
>>> Shared.check("mbarrier_init", "bar", Given.SHARED_ARRAY)
>>> Shared.check("mbarrier_init", "bar", Given.FLOAT)
Traceback (most recent call last):
tmalab.ptx.operands.OperandError: mbarrier_init: bar is a float, but must be an array in shared memory or its address
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tmalab.plain_traceback import PlainTraceback
from tmalab.texts import text


class OperandError(PlainTraceback, TypeError):
    """An instruction was given an operand that it cannot take. The message is one sentence, the same in both worlds."""


class Given(enum.Enum):
    """What was given as an operand. The value is the key of the words that a message calls it by."""

    INTEGER = "ptx.given-integer"
    UINT64 = "ptx.given-uint64"
    FLOAT = "ptx.given-float"
    SHARED_ARRAY = "ptx.given-shared-array"
    GLOBAL_ARRAY = "ptx.given-global-array"
    ARRAY = "ptx.given-array"  # compiled code does not tell the two apart
    MAP_ROW = "ptx.given-map-row"  # a uint8 array: 128 bytes of it can be a tensor map in global memory
    TENSOR_MAP = "ptx.given-tensor-map"
    OTHER = "ptx.given-other"


def classify(value: Any) -> Given:
    """The class of a Python value in a simulated kernel. Arrays of the simulator say their `space`."""
    if isinstance(value, np.uint64):
        return Given.UINT64
    if isinstance(value, (int, np.integer, np.bool_)):
        return Given.INTEGER
    if isinstance(value, (float, np.floating)):
        return Given.FLOAT
    space = getattr(value, "space", None)
    if space == "shared":
        return Given.SHARED_ARRAY
    if space == "global":
        return Given.MAP_ROW if value.dtype == np.uint8 else Given.GLOBAL_ARRAY
    return Given.TENSOR_MAP if hasattr(value, "global_strides") else Given.OTHER


@dataclass(frozen=True, repr=False)
class Kind:
    """One kind of operand: which classes it takes, and what the instruction's body receives for a Python value.

    `register` is the PTX register class: r (32 bits), l (64 bits), h (16 bits), f (a float), p (a predicate), n (an
    immediate, printed into the instruction).
    """

    name: str
    register: str
    takes: frozenset[Given]
    wanted: str  # key of the words for what it must be
    convert: Callable[[Any], Any]
    refusals: dict[Given, str] = field(default_factory=dict)  # keys of sentences of their own
    allowed: tuple[int, ...] = ()  # the values of an immediate, where PTX names them

    def __repr__(self) -> str:
        return self.name

    def check(self, instruction: str, operand: str, given: Given) -> None:
        """Raise OperandError unless this kind takes what was given."""
        if given in self.takes:
            return
        key = self.refusals.get(given, "ptx.operand")
        words = {"given": text(given.value), "wanted": text(self.wanted)}
        raise OperandError(text(key, instruction=instruction, operand=operand, **words))

    def check_value(self, instruction: str, operand: str, value: int) -> None:
        """Raise OperandError unless an immediate's value is one that PTX allows."""
        if self.allowed and value not in self.allowed:
            allowed = ", ".join(map(str, self.allowed))
            raise OperandError(
                text("ptx.immediate-value", instruction=instruction, operand=operand, value=value, allowed=allowed)
            )


def _address(value: Any) -> int:
    return value.address if hasattr(value, "address") else int(value)


def _itself(value: Any) -> Any:
    return value


_INTEGERS = frozenset({Given.INTEGER, Given.UINT64})
_GLOBAL = frozenset({Given.GLOBAL_ARRAY, Given.MAP_ROW, Given.ARRAY})

Shared = Kind(
    "Shared",
    "r",
    frozenset({Given.SHARED_ARRAY, Given.ARRAY, Given.MAP_ROW, Given.INTEGER}),
    "ptx.wants-shared",
    _address,
    {Given.UINT64: "ptx.value-not-place"},
)
Global = Kind("Global", "l", _GLOBAL, "ptx.wants-global", _address)
Map = Kind("Map", "l", frozenset({Given.TENSOR_MAP, Given.MAP_ROW}), "ptx.wants-map", _itself)
MapRow = Kind(
    "MapRow",
    "l",
    frozenset({Given.MAP_ROW}),
    "ptx.wants-map-row",
    _address,
    {Given.TENSOR_MAP: "ptx.map-needs-no-fence"},
)
U32 = Kind("U32", "r", _INTEGERS, "ptx.wants-integer", int)
I32 = Kind("I32", "r", _INTEGERS, "ptx.wants-integer", int)
I64 = Kind("I64", "l", _INTEGERS, "ptx.wants-integer", int)
State = Kind("State", "l", _INTEGERS, "ptx.wants-state", int)
Bits16 = Kind("Bits16", "h", _INTEGERS, "ptx.wants-integer", lambda value: int(value) & 0xFFFF)
F32 = Kind("F32", "f", frozenset({Given.FLOAT, *_INTEGERS}), "ptx.wants-number", np.float32)
BarrierArray = Kind("BarrierArray", "r", frozenset(), "ptx.wants-shared", _itself)  # only ever returned
Predicate = Kind("Predicate", "p", _INTEGERS, "ptx.wants-integer", bool)


def immediate(*allowed: int) -> Kind:
    """An operand that is printed into the instruction: a literal or a module-level name, never a variable."""
    return Kind("Immediate", "n", frozenset({Given.INTEGER}), "ptx.wants-immediate", int, allowed=allowed)


Immediate = immediate()
