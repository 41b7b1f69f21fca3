"""The mbarrier: each sentence of PTX about it, the measured facts, and random sequences against a replay."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab import MBarrier, MBarrierError
from tmalab.mbarrier_word import FIELDS, pack, unpack

LIMIT = 2**20 - 1


def rule_of(call, *arguments) -> str:
    with pytest.raises(MBarrierError) as caught:
        call(*arguments)
    return caught.value.rule


class Replay:
    """The oracle: the whole history, from which the current phase is counted anew after each operation."""

    def __init__(self, count: int):
        self.expected, self.history, self.phases = count, [], 0

    def add(self, arrivals: int, promised: int, dropped: int = 0) -> None:
        self.history.append((arrivals, promised, dropped))
        counts = [sum(column) for column in zip(*self.history, strict=True)]
        if counts[0] == self.expected and counts[1] == 0:
            self.expected -= counts[2]
            self.history, self.phases = [], self.phases + 1

    @property
    def pending(self) -> int:
        return self.expected - sum(arrivals for arrivals, _, _ in self.history)


@settings(max_examples=300)
@given(st.integers(1, 6), st.data())
def test_random_sequences_agree_with_a_replay_of_their_history(count, data):
    bar, replay = MBarrier(count), Replay(count)
    for _ in range(data.draw(st.integers(1, 25))):
        if replay.pending == 0 and not any(promised for _, promised, _ in replay.history):
            break  # all have left: no later phase can be used
        name = data.draw(st.sampled_from(["arrive", "arrive_drop", "arrive_expect_tx", "expect_tx", "complete_tx"]))
        phase, pending = replay.phases, replay.pending
        if name in ("expect_tx", "complete_tx"):
            size = data.draw(st.sampled_from([16, 32, 1024]))
            getattr(bar, name)(size)
            replay.add(0, size if name == "expect_tx" else -size)
        elif pending:
            size = data.draw(st.sampled_from([16, 32])) if name == "arrive_expect_tx" else 0
            k = 1 if size else data.draw(st.integers(1, pending))
            state = getattr(bar, name)(size or k)
            replay.add(k, size, k if name == "arrive_drop" else 0)
            assert MBarrier.pending_count_of(state) == pending
            assert bar.test_wait(state) == (replay.phases > phase)
        assert bar.phase == replay.phases
        assert bar.pending_count == replay.pending
        assert bar.test_wait_parity(replay.phases & 1) is False
        assert bar.test_wait_parity(1 - replay.phases & 1) is True


def test_a_phase_needs_all_arrivals_and_all_bytes():
    bar = MBarrier(2)
    bar.arrive_expect_tx(64)
    bar.arrive()
    assert bar.phase == 0
    bar.complete_tx(32)
    assert bar.phase == 0
    bar.complete_tx(32)
    assert (bar.phase, bar.pending_count, bar.tx_count) == (1, 2, 0)


def test_bytes_may_come_before_the_expectation_while_an_arrival_is_missing():
    """cases.md B3: 128 arrivals, the loads of thread 0 land before it promises them."""
    bar = MBarrier(128)
    bar.complete_tx(32768)
    assert (bar.phase, bar.tx_count) == (0, -32768)
    bar.arrive_expect_tx(32768)
    for _ in range(127):
        assert bar.phase == 0
        bar.arrive()
    assert bar.phase == 1


def test_with_too_few_bytes_expected_a_partial_sum_completes_the_phase_early():
    """cases.md B1: 1,024 expected, 2,048 delivered in pieces of 32."""
    bar = MBarrier(1)
    bar.arrive_expect_tx(1024)
    for _ in range(64):
        bar.complete_tx(32)
    assert (bar.phase, bar.tx_count) == (1, -1024)


def test_with_too_few_bytes_expected_the_phase_hangs_when_the_bytes_come_first():
    bar = MBarrier(1)
    bar.complete_tx(2048)
    bar.arrive_expect_tx(1024)
    assert (bar.phase, bar.tx_count) == (0, -1024)


def test_an_expectation_is_no_arrival():
    bar = MBarrier(1)
    bar.expect_tx(32)
    bar.complete_tx(32)
    assert (bar.phase, bar.pending_count) == (0, 1)


def test_an_expectation_can_complete_a_phase_that_was_credited_too_much():
    bar = MBarrier(1)
    bar.complete_tx(16)
    bar.arrive()
    assert bar.phase == 0
    bar.expect_tx(16)
    assert bar.phase == 1


def test_arrive_drop_leaves_the_current_phase_whole_and_later_ones_smaller():
    bar = MBarrier(3)
    bar.arrive_drop(2)
    assert (bar.pending_count, bar.expected_count) == (1, 1)
    bar.arrive()
    assert (bar.phase, bar.pending_count) == (1, 1)


def test_when_all_have_left_no_arrival_is_possible():
    bar = MBarrier(1)
    bar.arrive_drop()
    assert (bar.phase, bar.pending_count) == (1, 0)
    assert rule_of(bar.arrive) == "over-arrival"


def test_a_state_holds_the_pending_count_before_its_arrive_in_every_form():
    bar = MBarrier(9)
    states = [bar.arrive(2), bar.arrive_no_complete(1), bar.arrive_drop(1), bar.arrive_expect_tx(16), bar.arrive()]
    assert [MBarrier.pending_count_of(state) for state in states] == [9, 7, 6, 5, 4]


def test_no_complete_must_leave_the_phase_incomplete():
    bar = MBarrier(2)
    bar.arrive_no_complete(1)
    assert rule_of(bar.arrive_no_complete, 1) == "no-complete"
    assert bar.pending_count == 1
    bar.expect_tx(16)
    bar.arrive_no_complete(1)  # bytes are outstanding: it completes nothing
    assert (bar.phase, bar.pending_count) == (0, 0)


def test_a_fresh_barrier_answers_parity_1_at_once():
    bar = MBarrier(1)
    assert (bar.test_wait_parity(0), bar.test_wait_parity(1)) == (False, True)


def test_a_state_can_be_waited_for_in_its_phase_and_the_next_only():
    """cases.md B13."""
    bar = MBarrier(1)
    state = bar.arrive()
    assert bar.test_wait(state)
    bar.arrive()
    assert rule_of(bar.test_wait, state) == "stale-state"
    behind = MBarrier(1)
    behind.arrive()
    assert rule_of(behind.test_wait, bar.arrive()) == "stale-state"


@pytest.mark.parametrize("value", [0, 1, -1, 1 << 20, 1 << 42, 1 << 64, 0x7FFFF80000000001, -0x80000000000])
def test_what_no_arrive_returned_is_no_state(value):
    bar = MBarrier(1)
    bar.arrive()
    assert rule_of(bar.test_wait, value) == "no-state"


# The word and the state, as an H200 showed them.

WORDS = (  # what was done to the barrier before mbarrier.inval wrote it to memory, and what then lay there
    ((3,), 0x7FFFE800001FFFFA),
    ((3, ("arrive", 1), ("expect_tx", 64)), 0x7FFFF3FFF81FFFFA),
)
STATES = (  # what was done, and the upper half of the last one's state
    ((1, ("arrive", 1)), 0x7FFFF800),
    ((1, ("arrive", 1), ("arrive", 1)), 0xFFFFF800),
    ((2, ("expect_tx", 16), ("arrive_no_complete", 2)), 0x7FFFF3FF),
    ((3, ("arrive_drop", 1), ("arrive", 2), ("arrive_drop", 1)), 0xFFFFF000),
)


def after(count: int, *steps: tuple[str, int]) -> tuple[MBarrier, int | None]:
    """A barrier after some operations, and the state that the last of them returned."""
    bar, state = MBarrier(count), None
    for operation, amount in steps:
        state = getattr(bar, operation)(amount)
    return bar, state


@pytest.mark.parametrize(("steps", "word"), WORDS)
def test_the_word_is_what_the_hardware_writes_to_memory(steps, word):
    bar, _ = after(*steps)
    assert hex(bar.word) == hex(word)
    assert vars(MBarrier.from_word(word)) == vars(bar)


@pytest.mark.parametrize(("steps", "half"), STATES)
def test_the_upper_half_of_a_state_is_the_hardwares(steps, half):
    _, state = after(*steps)
    assert hex((state >> 32) & 0xFFFFFFFF) == hex(half)
    assert -(2**63) <= state < 2**63


@given(st.integers(0, LIMIT), st.integers(-LIMIT, LIMIT), st.integers(0, LIMIT), st.integers(0, 1))
def test_a_word_is_read_as_it_was_written(expected, tx_count, pending, phase):
    counts = {"expected_count": expected, "tx_count": tx_count, "pending_count": pending, "phase": phase}
    assert unpack(pack(**counts)) == counts
    assert vars(MBarrier.from_word(pack(**counts))) == counts


def test_the_fields_of_the_word_leave_out_bits_0_and_42():
    taken = [bit for bits in FIELDS.values() for bit in range(bits.start, bits.start + bits.width)]
    assert sorted(taken) == [bit for bit in range(64) if bit not in (0, 42)]


@pytest.mark.parametrize("bit", [0, 42])
def test_a_word_with_a_bit_that_is_always_zero_is_no_barrier(bit):
    with pytest.raises(ValueError, match="no mbarrier"):
        MBarrier.from_word(MBarrier(3).word | 1 << bit)


@pytest.mark.parametrize("word", [-1, 2**64, "0"])
def test_a_word_has_64_bits(word):
    with pytest.raises((ValueError, TypeError)):
        MBarrier.from_word(word)


@pytest.mark.parametrize("count", [0, -1, 2**20])
def test_counts_are_1_to_2_to_the_20_less_1(count):
    """cases.md B8."""
    assert rule_of(MBarrier, count) == "count-range"
    assert rule_of(MBarrier(5).arrive, count) == "count-range"


@pytest.mark.parametrize("count", [1, LIMIT])
def test_the_smallest_and_the_largest_count_are_fine(count):
    bar = MBarrier(count)
    state = bar.arrive(count)
    assert bar.test_wait(state)
    assert MBarrier.pending_count_of(state) == count


@pytest.mark.parametrize("arrive", ["arrive", "arrive_drop", "arrive_no_complete"])
def test_more_arrivals_than_pending_are_refused_and_change_nothing(arrive):
    """cases.md B11."""
    bar = MBarrier(1)
    assert rule_of(getattr(bar, arrive), 2) == "over-arrival"
    assert (bar.phase, bar.pending_count, bar.expected_count) == (0, 1, 1)


def test_an_arrive_expect_tx_too_many_promises_nothing():
    bar = MBarrier(1)
    bar.expect_tx(16)
    bar.arrive()
    assert rule_of(bar.arrive_expect_tx, 32) == "over-arrival"
    assert bar.tx_count == 16


def test_the_tx_count_keeps_within_20_bits_either_way():
    bar = MBarrier(1)
    bar.expect_tx(LIMIT)
    assert rule_of(bar.expect_tx, 1) == "tx-range"
    assert rule_of(bar.arrive_expect_tx, 1) == "tx-range"
    assert (bar.tx_count, bar.pending_count) == (LIMIT, 1)
    bar = MBarrier(1)
    bar.complete_tx(LIMIT)
    assert rule_of(bar.complete_tx, 1) == "tx-range"
    assert bar.tx_count == -LIMIT


@pytest.mark.parametrize("change", ["expect_tx", "complete_tx", "arrive_expect_tx"])
@pytest.mark.parametrize("size", [-1, 2**20])
def test_one_operation_takes_0_to_2_to_the_20_less_1_bytes(change, size):
    assert rule_of(getattr(MBarrier(1), change), size) == "tx-range"


@pytest.mark.parametrize("parity", [2, -1])
def test_a_parity_is_0_or_1(parity):
    assert rule_of(MBarrier(1).test_wait_parity, parity) == "parity"


@pytest.mark.parametrize("value", [1.0, "1", None])
def test_what_is_no_integer_is_a_type_error_that_names_it(value):
    calls = {
        MBarrier: "count",
        MBarrier(1).arrive: "count",
        MBarrier(1).expect_tx: "bytes",
        MBarrier(1).test_wait: "state",
        MBarrier(1).test_wait_parity: "parity",
        MBarrier.pending_count_of: "state",
        MBarrier.from_word: "word",
    }
    for call, name in calls.items():
        with pytest.raises(TypeError, match=f"^{name} must be an integer, not"):
            call(value)


def test_integers_of_numpy_are_taken_and_answers_are_plain():
    bar = MBarrier(np.uint8(2))
    state = np.int64(bar.arrive(np.uint64(1)))
    bar.expect_tx(np.uint32(16))
    assert (type(bar.pending_count), type(bar.tx_count)) == (int, int)
    assert bar.test_wait(state) is False
    assert bar.test_wait_parity(np.int64(1)) is True
    assert type(MBarrier.pending_count_of(state)) is int


def test_a_count_of_thousands_of_digits_is_refused_as_any_other():
    assert rule_of(MBarrier, 10**5000) == "count-range"
    assert rule_of(MBarrier(1).test_wait, 10**5000) == "no-state"


def test_an_error_survives_a_pickle():
    error = pickle.loads(pickle.dumps(MBarrierError("over-arrival", "why")))
    assert (error.rule, str(error)) == ("over-arrival", "why")


def test_a_barrier_shows_its_counts():
    assert repr(MBarrier(2)) == "MBarrier(phase=0, pending_count=2, expected_count=2, tx_count=0)"
