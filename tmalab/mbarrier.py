"""MBarrier: 64 bits in shared memory that count arrivals and bytes, and turn a phase when both are complete.

Threads arrive; copies credit bytes. A phase completes when no arrival is pending *and* no byte is outstanding; the
barrier then begins the next phase with its full count again. Waiters ask "is that phase over?", by the state that an
arrive returned or by the phase's parity (0, 1, 0, 1, ...).

>>> bar = MBarrier(1)                       # one arrival a phase
>>> state = bar.arrive_expect_tx(2048)      # it arrives and promises 2,048 bytes
>>> bar.test_wait(state), bar.pending_count, bar.tx_count
(False, 0, 2048)
>>> bar.complete_tx(2048)                   # the copy lands
>>> bar.test_wait(state), bar.phase, bar.pending_count
(True, 1, 1)

Source: PTX ISA, mbarrier. Equal to an H200's over random sequences of operations; see tmalab.recorded.
"""

from __future__ import annotations

from tmalab.mbarrier_word import FIELDS, pack, phase_of, state_of, unpack
from tmalab.plain_traceback import PlainTraceback
from tmalab.tensor_map_fields import integer
from tmalab.tensor_map_limits import shown
from tmalab.texts import text

LIMIT = 2**20 - 1  # the largest count, and the largest |tx-count|


class MBarrierError(PlainTraceback, ValueError):
    """Use that PTX leaves undefined.

    `.rule` says which: count-range, tx-range, over-arrival, no-complete, no-state, stale-state or parity.
    """

    def __init__(self, rule: str, message: str):
        super().__init__(message)
        self.rule = rule

    def __reduce__(self):
        return MBarrierError, (self.rule, str(self))


class MBarrier:
    """One mbarrier object after mbarrier.init: a state machine without threads or time.

    phase           phases completed so far; its lowest bit is the current phase's parity
    expected_count  arrivals that every phase needs
    pending_count   arrivals that the current phase still lacks
    tx_count        bytes promised less bytes delivered in the current phase; may be negative on the way
    """

    def __init__(self, count: int):
        self.phase = 0
        self.expected_count = self.pending_count = _within("count", count, 1)
        self.tx_count = 0

    def __repr__(self) -> str:
        return (
            f"MBarrier(phase={self.phase}, pending_count={self.pending_count}, "
            f"expected_count={self.expected_count}, tx_count={self.tx_count})"
        )

    @property
    def word(self) -> int:
        """The 64 bits that it is in shared memory, unsigned; see tmalab.mbarrier_word."""
        return pack(self.expected_count, self.tx_count, self.pending_count, self.phase)

    @classmethod
    def from_word(cls, word: int) -> MBarrier:
        """The barrier whose 64 bits a memory dump shows; ValueError where they are none. Its phase is 0 or 1.

        >>> MBarrier.from_word(0x7FFFFBFFFE1FFFFE)
        MBarrier(phase=0, pending_count=1, expected_count=1, tx_count=16)
        """
        word = integer("word", word)
        counts = unpack(word)
        if pack(**counts) != word:
            raise ValueError(text("mbarrier.no-word", word=hex(word)))
        bar = cls.__new__(cls)
        bar.__dict__.update(counts)
        return bar

    # What changes the barrier: each ends with the question whether the phase is complete.

    def arrive(self, count: int = 1) -> int:
        """Make `count` of the pending arrivals; returns the state to wait with.

        >>> bar = MBarrier(2)
        >>> state = bar.arrive()
        >>> bar.test_wait(state)
        False
        >>> last = bar.arrive()
        >>> bar.test_wait(state), bar.test_wait(last)
        (True, True)
        """
        count, state = self._arrivals(count), self._state()
        self.pending_count -= count
        self._complete_phase()
        return state

    def arrive_no_complete(self, count: int) -> int:
        """Make `count` arrivals, which must leave the phase incomplete; returns the state."""
        if self._arrivals(count) == self.pending_count and self.tx_count == 0:
            raise MBarrierError("no-complete", text("mbarrier.no-complete", count=count))
        return self.arrive(count)

    def arrive_drop(self, count: int = 1) -> int:
        """Arrive, and leave: every later phase expects `count` arrivals fewer. Returns the state."""
        self.expected_count -= self._arrivals(count)
        return self.arrive(count)

    def arrive_expect_tx(self, bytes: int) -> int:
        """Promise `bytes` for this phase, then arrive once; returns the state before both."""
        self._arrivals(1)
        state, self.tx_count = self._state(), self._tx(_within("bytes", bytes, 0))
        self.arrive()
        return state

    def expect_tx(self, bytes: int) -> None:
        """Promise `bytes` for this phase. That is no arrival."""
        self.tx_count = self._tx(_within("bytes", bytes, 0))
        self._complete_phase()

    def complete_tx(self, bytes: int) -> None:
        """Credit `bytes`, as a copy does when they have landed."""
        self.tx_count = self._tx(-_within("bytes", bytes, 0))
        self._complete_phase()

    # What asks.

    def test_wait(self, state: int) -> bool:
        """Whether the phase of `state` is over. The state must be of the current or of the preceding phase."""
        state = integer("state", state)
        if not is_state(state):
            raise MBarrierError("no-state", text("mbarrier.no-state", state=shown(state)))
        phase = phase_of(state)
        if phase not in (self.phase, self.phase - 1):
            raise MBarrierError("stale-state", text("mbarrier.stale-state", phase=phase, current=self.phase))
        return phase != self.phase

    def test_wait_parity(self, parity: int) -> bool:
        """Whether the phase of that parity is over: true for the preceding phase's parity, false for the current one's.

        On a fresh barrier parity 1 is true at once: the phase "before the first" counts as complete.

        >>> bar = MBarrier(1)
        >>> bar.test_wait_parity(0), bar.test_wait_parity(1)
        (False, True)
        """
        parity = integer("parity", parity)
        if parity not in (0, 1):
            raise MBarrierError("parity", text("mbarrier.parity", parity=shown(parity)))
        return parity != self.phase & 1

    @staticmethod
    def pending_count_of(state: int) -> int:
        """The pending count just before the arrive that returned `state`.

        >>> MBarrier.pending_count_of(MBarrier(5).arrive(3))
        5
        """
        return -(integer("state", state) >> FIELDS["pending_count"].start) & LIMIT

    # How it works.

    def _state(self) -> int:
        return state_of(self.word, self.phase)

    def _complete_phase(self) -> None:
        if self.pending_count == 0 and self.tx_count == 0:
            self.phase += 1
            self.pending_count = self.expected_count

    def _arrivals(self, count: int) -> int:
        count = _within("count", count, 1)
        if count > self.pending_count:
            raise MBarrierError("over-arrival", text("mbarrier.over-arrival", count=count, pending=self.pending_count))
        return count

    def _tx(self, change: int) -> int:
        tx_count = self.tx_count + change
        if abs(tx_count) > LIMIT:
            raise MBarrierError("tx-range", text("mbarrier.tx-range", tx_count=tx_count, limit=LIMIT))
        return tx_count


def is_state(state: int) -> bool:
    """Whether an arrive can have returned it: one leaves at least its own arrival in its state, and its phase's parity.

    64 bits with a sign, and bit 42 is zero.
    """
    counts, phase = unpack(state), phase_of(state)
    whole = state_of(pack(**counts), phase) == state
    return whole and counts["pending_count"] > 0 and counts["phase"] == phase & 1


def _within(name: str, value: int, low: int) -> int:
    value = integer(name, value)
    if not low <= value <= LIMIT:
        rule = "count-range" if name == "count" else "tx-range"
        raise MBarrierError(rule, text("mbarrier.range", name=name, value=shown(value), low=low, limit=LIMIT))
    return value
