"""What the checks of lesson 4 expect: as MBarrier, which an H200 equals, and the reference have it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from grader.exercises import mbarrier
from grader.exercises.mbarrier_cases import (
    LETTERS,
    barrier_questions,
    column_cases,
    counters,
    drawn,
    letter,
    pair_case,
    pair_cases,
)
from grader.judges.kernel_hardware import _against_recording
from grader.recorded import RecordedLoad, recorded_load
from grader.runner import current
from tests.lessons import answers
from tmalab import MBarrier, MBarrierError, reference
from tmalab.recorded.by_reference import by_reference
from tmalab.recorded.lesson_cases import fresh_pair, lesson_4


def through(count: int, events) -> MBarrier:
    """A barrier after all events."""
    bar = MBarrier(count)
    for event in events:
        if event == 0:
            bar.arrive()
        elif event > 0:
            bar.expect_tx(event)
        else:
            bar.complete_tx(-event)
    return bar


@pytest.mark.parametrize("early", [False, True])
def test_counts_are_those_of_the_model_that_an_h200_equals(early):
    barriers = drawn(Random(7), early)
    for _ in range(300):
        count, events = next(barriers)
        bar = through(count, events)
        assert counters(count, events) == (bar.phase, bar.pending_count, bar.tx_count)


def test_events_that_no_barrier_can_take_are_refused():
    with pytest.raises(ValueError, match="cannot take 0"):
        counters(1, (2048, 0, 0))
    with pytest.raises(MBarrierError):
        through(1, (2048, 0, 0))
    with pytest.raises(ValueError, match="cannot take -2048"):
        counters(1, (-2048, 2048, 0), early=False)


@pytest.mark.parametrize("seed", range(30))
def test_each_letter_is_asked_for_and_true_of_the_barrier_alone(seed):
    questions = barrier_questions(seed)
    assert len(questions) == len(set(questions)) == 5
    assert {letter(*question) for question in questions} == set(LETTERS)
    for count, events in questions:
        bar, before = through(count, events), through(count, events[:-1])
        true = {
            "a": bar.phase > before.phase,
            "b": bar.tx_count == 0 and 0 < bar.pending_count < count,
            "c": bar.tx_count > 0 and bar.pending_count == 0,
            "d": bar.tx_count < 0,
        }
        assert [name for name, holds in true.items() if holds] == [letter(count, events)]


def test_the_wait_of_a_ring_returns_exactly_when_its_stage_may_be_used():
    for stages in (1, 2, 3, 5):
        for tile in range(4 * stages):
            full, empty = MBarrier(1), MBarrier(1)
            for _ in range(tile // stages):  # earlier rounds of this stage
                full.arrive()
                empty.arrive()
            assert empty.test_wait_parity(mbarrier.parity(tile, stages, 1))
            assert not full.test_wait_parity(mbarrier.parity(tile, stages, 0))
            full.arrive()
            assert full.test_wait_parity(mbarrier.parity(tile, stages, 0))


@pytest.mark.parametrize("mistakes", [mbarrier.MACHINE_MISTAKES, mbarrier.PARITY_MISTAKES])
def test_every_known_mistake_differs_from_what_is_right(mistakes):
    right = mbarrier.machine if mistakes is mbarrier.MACHINE_MISTAKES else mbarrier.parity
    barriers = [(count, *events) for (count, events), _ in zip(drawn(Random(3), True), range(200), strict=False)]
    asked = barriers if right is mbarrier.machine else [(tile, 3, role) for tile in range(12) for role in (0, 1)]
    assert all(any(mistake(*each) != right(*each) for each in asked) for mistake in mistakes.values())


@pytest.mark.parametrize("cases", [pair_cases, column_cases])
def test_what_must_come_out_is_what_the_reference_leaves_in_shared_memory(cases):
    for seed in range(4):
        for case in cases(seed):
            tensor_map = case.arguments[0]
            memory = tensor_map.array.view(np.uint8).ravel()
            images = [reference.load(tensor_map, at, memory).data for at in (case.coordinates, *case.also)]
            assert case.out_of(np.concatenate(images)).tobytes() == case.expected.tobytes(), case.name


@pytest.mark.parametrize("cases", [pair_cases, column_cases])
def test_the_first_inputs_are_copies_that_an_h200_made_as_the_reference_does(cases):
    for seed in range(4):
        for case in cases(seed)[:2]:
            for place in (case.coordinates, *case.also):
                seen = recorded_load(case.arguments[0], place)
                assert reference.load(case.arguments[0], place, seen.tensor).data.tobytes() == seen.image.tobytes()


def test_copies_of_the_lesson_bring_the_bytes_of_a_tile():
    assert all(by_reference(case).nbytes >= case.tensor_map.transaction_bytes == 2048 for case in lesson_4())
    assert len({str(fresh_pair(Random(seed), seed).coordinates) for seed in range(20)}) > 10


def test_a_kernel_of_two_loads_is_compared_with_both_recordings(monkeypatch):
    case = pair_case(np.ones((64, 128), np.float32), 32, 16)
    memory = np.arange(64 * 128, dtype=np.float32)

    def recorded(tensor_map, at, shared_address=0):
        image = reference.load(tensor_map, at, memory.view(np.uint8)).data
        return RecordedLoad(image=image, gpu="H200", date="today", tensor=memory.view(np.uint8))

    monkeypatch.setattr("grader.judges.kernel_hardware.recorded_load", recorded)
    known = answers("04-mbarrier")
    right, same = (current().source(k) for k in (known.pair_in_two_promises, known.pair_of_the_same))
    assert _against_recording(right, case, mbarrier.PAIR).passed
    assert not _against_recording(same, case, mbarrier.PAIR).passed
