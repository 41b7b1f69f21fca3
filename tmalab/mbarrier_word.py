"""The 64 bits of an mbarrier in shared memory, and the state that an arrive returns.

NVIDIA documents neither. Counts stand there as their negatives, so that an arrival adds, and reaching zero carries:

>>> from tmalab import MBarrier
>>> bar = MBarrier(5)
>>> hex(bar.word)                                   # bits 1-20 and 43-62: -5
'0x7fffd800001ffff6'
>>> unpack(0x7FFFDBFE001FFFF6)                      # 4,096 bytes are outstanding
{'expected_count': 5, 'tx_count': 4096, 'pending_count': 5, 'phase': 0}

A state is the upper half of the word before the arrive. What the lower half of a state holds, the hardware leaves
undefined; this library puts the number of the phase there, so that a state of a long past phase is found out. The
simulator has 20 bits of it, and tells barriers apart by the others.

A live barrier is kept outside of memory: its 8 bytes are those of some time ago, until mbarrier.inval writes it back.

Source: measured, H200: all of 3,338 words and 23,312 states in 3,000 random sequences of operations.
"""

from __future__ import annotations

from typing import NamedTuple

STATE_BITS = 32  # of a word, from the top, that a state holds


class Bits(NamedTuple):
    """A field of the word: `width` bits from bit `start` on. `signed`: its negative may have either sign."""

    start: int
    width: int
    signed: bool
    meaning: str  # key of the text


FIELDS = {  # bits 0 and 42 are zero
    "expected_count": Bits(1, 20, False, "mbarrier.bits-expected"),
    "tx_count": Bits(21, 21, True, "mbarrier.bits-tx"),
    "pending_count": Bits(43, 20, False, "mbarrier.bits-pending"),
    "phase": Bits(63, 1, False, "mbarrier.bits-phase"),
}

_PLACES = [(bits.start, (1 << bits.width) - 1) for bits in FIELDS.values()]  # packing is a part of every arrive


def pack(expected_count: int, tx_count: int, pending_count: int, phase: int) -> int:
    """The word of a barrier with these counts: 64 bits, unsigned. Of the phase it holds the parity."""
    word = 0
    for count, (start, mask) in zip((expected_count, tx_count, pending_count, phase), _PLACES):
        word |= (-count & mask) << start
    return word


def unpack(word: int) -> dict[str, int]:
    """The counts in a word, and the parity of its phase.

    >>> unpack(pack(3, -16, 2, 7))
    {'expected_count': 3, 'tx_count': -16, 'pending_count': 2, 'phase': 1}
    """
    return {name: _count(word >> bits.start, bits) for name, bits in FIELDS.items()}


def _count(shifted: int, bits: Bits) -> int:
    """The number whose negative stands in the lowest bits."""
    count = -shifted & (1 << bits.width) - 1
    return count - (1 << bits.width) if bits.signed and count >> bits.width - 1 else count


def state_of(word: int, phase: int) -> int:
    """The state that an arrive returns which finds this word in this phase: 64 bits, signed, as a kernel holds it."""
    state = word >> STATE_BITS << STATE_BITS | phase & (1 << STATE_BITS) - 1
    return state - (word >> 63 << 64)


def phase_of(state: int) -> int:
    """The phase whose state it is."""
    return state & (1 << STATE_BITS) - 1
