"""What the checks of lesson 5 expect: as the reference, the H200's stores and NumPy's own arithmetic have it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from grader.exercises import stores
from grader.exercises.stores_cases import ring_cases, store_cases, sum_cases
from grader.judges.kernel_hardware import _against_recording
from grader.recorded import recorded_stores
from grader.runner import current
from tests.lessons import answers
from tmalab import DataType, TensorMap, recorded, reference
from tmalab.recorded.by_reference import by_reference
from tmalab.recorded.lesson_cases import fresh_store, lesson_5
from tmalab.recorded.perform import perform

CASES = [store_cases, ring_cases, sum_cases]
ANSWERS = answers("05-stores")


@pytest.mark.parametrize("cases", CASES)
def test_what_must_come_out_is_what_the_reference_leaves_in_global_memory(cases):
    for seed in range(3):
        for case in cases(seed):
            source, tensor_map = case.arguments[0], case.arguments[-1]
            memory = tensor_map.array.copy().view(np.uint8).ravel()
            tiles = np.split(2 * source, len(case.also) + 1)
            if case.stores == "add":
                tiles = source.reshape(len(tiles), -1, source.shape[1]).sum(1, dtype=np.int32)
            for tile, place in zip(tiles, (case.coordinates, *case.also), strict=True):
                shared = np.ascontiguousarray(tile).view(np.uint8).ravel()
                if case.stores == "add":
                    reference.reduce("add", tensor_map, place, shared, memory)
                else:
                    reference.store(tensor_map, place, shared, memory)
            assert memory.tobytes() == case.expected.tobytes(), case.name


@pytest.mark.parametrize("cases", CASES)
def test_the_public_input_is_among_the_stores_that_are_recorded(cases):
    case = cases(0)[0]
    seen = recorded_stores(case.stores, case.arguments[-1], (case.coordinates, *case.also))
    assert len(seen.tiles) == len(case.also) + 1
    assert seen.image.nbytes == case.expected.nbytes
    assert seen.image.tobytes() != seen.tensor.tobytes()


def test_simulator_and_reference_agree_about_the_copies_of_the_lesson():
    draw = Random("fresh")
    for case in [*lesson_5(), *(fresh_store(draw, number) for number in range(4))]:
        run, simulated = perform(case, on="simulator", seed=1)
        assert {hazard.name for hazard in run.hazards} <= {"clip-overwrites"}, case.name
        assert np.array_equal(simulated, by_reference(case)), case.name


@pytest.mark.parametrize(
    ("cases", "exercise", "bytes_in_all"),
    [(store_cases, "stores.store", "6,144"), (ring_cases, "stores.ring", "6,144"), (sum_cases, "stores.sums", "512")],
)
def test_a_kernel_that_stores_is_compared_with_what_its_recorded_stores_left(cases, exercise, bytes_in_all):
    task = {"stores.store": stores.ONE_TILE, "stores.ring": stores.RING, "stores.sums": stores.SUMS}[exercise]
    source = current().source(ANSWERS.RIGHT[exercise][0])
    found = _against_recording(source, cases(0)[0], task)
    assert found.passed
    where = recorded.read("lesson-5").provenance
    shown = f"{bytes_in_all} of {bytes_in_all} bytes as an {where['gpu']} left them on {where['date']}"
    assert found.message.startswith(shown)


def test_a_kernel_that_stores_something_else_is_not_as_recorded():
    source = current().source(ANSWERS.store_of_plain_numbers)
    assert _against_recording(source, store_cases(0)[0], stores.ONE_TILE).passed is False


def test_a_store_that_nobody_has_recorded_is_said_not_to_be():
    source = current().source(ANSWERS.RIGHT["stores.store"][0])
    assert _against_recording(source, store_cases(0)[1], stores.ONE_TILE).passed is None


def test_results_are_those_of_the_reference_for_each_element():
    for (operation, kind, found, brought), wanted in stores.RESULTS.items():
        data_type = DataType[kind]
        tensor_map = TensorMap(data_type, 0x10000000, (64,), (), (64,))
        memory, shared = in_memory(data_type, found), in_memory(data_type, brought)
        reference.reduce(operation, tensor_map, (0,), shared, memory)
        assert memory.tobytes() == in_memory(data_type, wanted).tobytes(), (operation, kind)


def in_memory(data_type: DataType, number: int) -> np.ndarray:
    """64 elements of that number; of bfloat16 the upper half of a float32, which holds these exactly."""
    if data_type == DataType.BFLOAT16:
        bits = np.full(64, number, np.float32).view(np.uint32)
        assert not (bits & 0xFFFF).any()
        return (bits >> 16).astype(np.uint16).view(np.uint8)
    dtype = {DataType.FLOAT16: np.float16, DataType.UINT32: np.uint32, DataType.INT32: np.int32}[data_type]
    return np.full(64, number, dtype).view(np.uint8)


def test_every_class_gets_rows_that_end_within_a_sector_and_one_that_does_not():
    for seed in range(40):
        tails = [-stores.row_bytes(*question) % 16 for question in stores.clip_questions(seed)]
        assert tails.count(0) == 1
        assert len(stores.safe_questions(seed)) == 6
