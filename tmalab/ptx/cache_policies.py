"""createpolicy: how long the L2 cache should keep what a copy touches.

A policy is 64 bits that a kernel makes once and hands to the `_cache_hint` form of a copy. It is a hint: no byte that
is copied depends on it.

>>> from tmalab import ptx
>>> ptx.createpolicy_fractional_evict_first.text
'createpolicy.fractional.L2::evict_first.b64 $result, $fraction;'
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tmalab.faults import TmaFault
from tmalab.ptx.instruction import Instruction
from tmalab.ptx.operands import F32, I64, U32, Global, Kind, Policy
from tmalab.texts import text

_HINT_NOTE = "With a cache hint: `policy` is what a createpolicy instruction returned."


def hinted(
    name: str, template: str, operands: dict[str, Kind], body: Callable[..., Any], doc: str
) -> dict[str, Instruction]:
    """A copy, and its form with a cache hint as the last operand, by name.

    `<hint>` in the text is where PTX wants the qualifier. The hint changes no data, so the body does not see it.
    """

    def without_policy(thread: Any, *values: Any) -> None:
        check_policy(values[-1])
        body(thread, *values[:-1])

    summary, *rest = doc.split("\n\n", 1)
    hinted_doc = "\n\n".join([summary, _HINT_NOTE, *rest])
    with_policy = template.replace("<hint>", ".L2::cache_hint").replace(";", ", $policy;", 1)
    hint = f"{name}_cache_hint"
    return {
        name: Instruction(name, template.replace("<hint>", ""), operands, body, doc),
        hint: Instruction(hint, with_policy, {**operands, "policy": Policy}, without_policy, hinted_doc),
    }


def check_policy(policy: int) -> None:
    """Raise TmaFault for a policy that the hardware refuses: those of createpolicy leave the upper three bits 0.

    With one of them set the copy faults, whatever else is in a policy is taken (measured, H200: -1, 2^63 - 1; 0, 1).
    """
    if policy >> 61 & 7:
        raise TmaFault("illegal_instruction", text("ptx.policy-refused", policy=hex(policy % (1 << 64))))


PRIORITIES = {"evict_unchanged": 0, "evict_first": 2, "evict_last": 4, "evict_normal": 6}  # name: number in a policy
_OTHERS_FIRST = 1  # added to the number where the other accesses have evict_first, not evict_unchanged

_FRACTIONAL = """A policy that gives the share `fraction` of the accesses {primary}, the others {rest}.

`fraction`, 0 to 1, counts in sixteenths, rounded up, at least one.
Source: PTX ISA, createpolicy; the bits: measured, H200."""
_RANGE = """A policy that gives the `primary_size` bytes from `place` on {primary}, the others {rest}.

The others are the bytes after them up to `total_size`, and as many before `place`. The larger `total_size`, the coarser
the hardware counts. Source: PTX ISA, createpolicy; the bits: measured, H200."""


def fractional_policy(priority: int, fraction: float) -> int:
    """The 64 bits of a fractional policy.

    >>> hex(fractional_policy(PRIORITIES["evict_first"], 1.0))
    '0x12f0000000000000'
    """
    sixteenths = 0 if math.isnan(fraction) else math.ceil(16 * min(max(fraction, 0.0), 1.0))
    return (0x10 | priority) << 56 | max(sixteenths - 1, 0) << 52


def range_policy(priority: int, address: int, primary_size: int, total_size: int) -> int:
    """The 64 bits of a range policy. Address and sizes in bytes.

    The range is kept in granules, 4 KiB for up to 512 KiB in all: the first one and how many, seven bits each.

    >>> hex(range_policy(PRIORITIES["evict_first"], 0x20000, 4096, 8192))
    '0x1a02002000000000'
    """
    if not total_size:
        return 0x18 << 56
    coarser = max(0, (total_size - 1).bit_length() - 19)
    granule = 12 + coarser  # its logarithm
    covered = (address % (1 << granule) + primary_size) % (1 << 32)
    count = min(-(-covered >> granule), 127)
    return (0x18 | priority) << 56 | coarser << 52 | (address >> granule & 127) << 44 | count << 37


def _policies(primary: str, secondary: str) -> tuple[Instruction, Instruction]:
    """The fractional and the range form for a priority of the chosen accesses and one of the others."""
    suffix = f"_{primary}" + (f"_{secondary}" if secondary else "")
    qualifiers = f"L2::{primary}" + (f".L2::{secondary}" if secondary else "")
    words = {"primary": primary, "rest": secondary or "evict_unchanged"}
    priority = PRIORITIES[primary] + (_OTHERS_FIRST if secondary else 0)

    def fractional(thread: Any, fraction: float) -> int:
        return fractional_policy(priority, float(fraction))

    def within(thread: Any, place: int, primary_size: int, total_size: int) -> int:
        return range_policy(priority, place, primary_size % (1 << 32), total_size % (1 << 32))

    return (
        Instruction(
            f"createpolicy_fractional{suffix}",
            f"createpolicy.fractional.{qualifiers}.b64 $result, $fraction;",
            {"fraction": F32},
            fractional,
            _FRACTIONAL.format(**words),
            returns=I64,
            defaults={"fraction": 1.0},
            pure=True,
        ),
        Instruction(
            f"createpolicy_range{suffix}",
            f"createpolicy.range.global.{qualifiers}.b64 $result, [$place], $primary_size, $total_size;",
            {"place": Global, "primary_size": U32, "total_size": U32},
            within,
            _RANGE.format(**words),
            returns=I64,
            pure=True,
        ),
    )


for _primary in PRIORITIES:
    for _secondary in ("", "evict_first"):
        globals().update({made.__name__: made for made in _policies(_primary, _secondary)})
