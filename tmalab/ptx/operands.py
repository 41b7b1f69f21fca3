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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tmalab.plain_traceback import PlainTraceback
from tmalab.texts import text


class OperandError(PlainTraceback, TypeError):
    """An instruction was given an operand that it cannot take. The message is one sentence, the same in both worlds."""


class Given(enum.Enum):
    """What was given as an operand. The value is the key of the words that a message calls it by."""

    __hash__ = object.__hash__  # members are looked up at every operand: Enum's own is slow

    INTEGER = "ptx.given-integer"
    UINT64 = "ptx.given-uint64"
    FLOAT = "ptx.given-float"
    SHARED_ARRAY = "ptx.given-shared-array"
    GLOBAL_ARRAY = "ptx.given-global-array"
    ARRAY = "ptx.given-array"  # compiled code does not tell the two apart
    MAP_ROW = "ptx.given-map-row"  # a uint8 array: 128 bytes of it can be a tensor map in global memory
    TENSOR_MAP = "ptx.given-tensor-map"
    ACCUMULATOR = "ptx.given-accumulator"
    TUPLE = "ptx.given-tuple"
    OTHER = "ptx.given-other"


_PLAIN = {int: Given.INTEGER, float: Given.FLOAT, np.float32: Given.FLOAT, np.uint64: Given.UINT64}  # the usual ones


def classify(value: Any) -> Given:
    """The class of a Python value in a simulated kernel. Arrays of the simulator say their `space`."""
    if type(value) in _PLAIN:
        return _PLAIN[type(value)]
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
    if hasattr(value, "registers"):
        return Given.ACCUMULATOR
    if isinstance(value, tuple):
        return Given.TUPLE
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
    allowed: Sequence[int] = ()  # the values that PTX takes, where it names them or gives their range

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def as_is(self) -> type | None:
        """The type whose values, all of them, are taken and handed to the body as they are; None: there is none."""
        if self.allowed:
            return None
        if self.convert in (int, _address) and Given.INTEGER in self.takes:
            return int
        return np.float32 if self.convert is np.float32 and Given.FLOAT in self.takes else None

    def check(self, instruction: str, operand: str, given: Given) -> None:
        """Raise OperandError unless this kind takes what was given."""
        if given in self.takes:
            return
        key = self.refusals.get(given, "ptx.operand")
        words = {"given": text(given.value), "wanted": text(self.wanted)}
        raise OperandError(text(key, instruction=instruction, operand=operand, **words))

    def check_value(self, instruction: str, operand: str, value: int) -> None:
        """Raise OperandError unless a value is one that PTX allows; compiled code knows it of literals alone."""
        if not self.allowed or value in self.allowed:
            return
        words = {"instruction": instruction, "operand": operand, "value": value}
        if isinstance(self.allowed, range):
            words |= {"least": self.allowed[0], "most": self.allowed[-1]}
            if self.allowed.step == 1:
                raise OperandError(text("ptx.value-range", **words))
            nearest = min(self.allowed, key=lambda legal: abs(legal - value))
            raise OperandError(text("ptx.value-steps", **words, step=self.allowed.step, nearest=nearest))
        raise OperandError(text("ptx.immediate-value", **words, allowed=", ".join(map(str, self.allowed))))


@dataclass(frozen=True, repr=False)
class Registers(Kind):
    """Several registers as one operand, `count` of them: an accumulator, or a tuple of numbers."""

    count: int = 1

    def check_count(self, instruction: str, operand: str, count: int) -> None:
        """Raise OperandError unless so many registers were given."""
        if count != self.count:
            words = {"instruction": instruction, "operand": operand, "count": count, "wanted": self.count}
            raise OperandError(text("ptx.register-count", **words))

    def check_value(self, instruction: str, operand: str, value: Any) -> None:
        self.check_count(instruction, operand, len(value) if isinstance(value, tuple) else value.registers)


class Zeros(Registers):
    """What is returned is an accumulator of zeros: no instruction, but what its first use begins with."""

    def __init__(self, name: str, count: int):
        super().__init__(name, "f", frozenset(), "ptx.wants-accumulator", _itself, count=count)


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
EditedMap = replace(MapRow, refusals={Given.TENSOR_MAP: "ptx.map-not-in-memory"})
GlobalAddress = Kind("GlobalAddress", "l", _GLOBAL | _INTEGERS, "ptx.wants-global-address", _address)
U32 = Kind("U32", "r", _INTEGERS, "ptx.wants-integer", int)
I32 = Kind("I32", "r", _INTEGERS, "ptx.wants-integer", int)
I64 = Kind("I64", "l", _INTEGERS, "ptx.wants-integer", int)
State = Kind("State", "l", _INTEGERS, "ptx.wants-state", int)
Policy = Kind("Policy", "l", _INTEGERS, "ptx.wants-policy", int)
Bits16 = Kind("Bits16", "h", _INTEGERS, "ptx.wants-integer", lambda value: int(value) & 0xFFFF)
F32 = Kind("F32", "f", frozenset({Given.FLOAT, *_INTEGERS}), "ptx.wants-number", np.float32)
BarrierArray = Kind("BarrierArray", "r", frozenset(), "ptx.wants-shared", _itself)  # only ever returned
Predicate = Kind("Predicate", "p", _INTEGERS, "ptx.wants-integer", bool)


def accumulator(count: int) -> Registers:
    """The accumulator of a wgmma: `count` float32 registers of each thread, passed whole."""
    takes = frozenset({Given.ACCUMULATOR, Given.TUPLE})
    return Registers("Accumulator", "f", takes, "ptx.wants-accumulator", _itself, count=count)


def words(count: int) -> Registers:
    """`count` registers of 32 bits each, as a tuple of integers."""
    return Registers("Words", "r", frozenset({Given.TUPLE}), "ptx.wants-words", _itself, count=count)


def unsigned(bits: int) -> Kind:
    """A 16-bit operand of which PTX takes the low `bits` bits alone: a mask of CTAs, an offset of an im2col load."""
    return Kind("U16", "h", _INTEGERS, "ptx.wants-integer", int, allowed=range(1 << bits))


def immediate(*allowed: int) -> Kind:
    """An operand that is printed into the instruction: a literal or a module-level name, never a variable."""
    return Kind("Immediate", "n", frozenset({Given.INTEGER}), "ptx.wants-immediate", int, allowed=allowed)


def immediate_in(allowed: range) -> Kind:
    """An operand that is printed into the instruction, from a range of values."""
    return replace(immediate(), allowed=allowed)


U16 = unsigned(16)
Immediate = immediate()
