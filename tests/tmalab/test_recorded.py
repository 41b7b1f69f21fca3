"""Reference and simulator against what an H200 did: every recorded case, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import DataType, Swizzle, TensorMap, TmaFault, recorded, reference
from tmalab.recorded.cases import GROUPS
from tmalab.recorded.inputs import memory, splitmix64
from tmalab.recorded.perform import perform

COPIES = ("lesson-1", "loads", "stores")
PARTS = 8  # of the cases that the simulator runs: tests that end soon


def by_reference(case) -> np.ndarray:
    """The result of a case by tmalab.reference."""
    tm, shared, whole = case.tensor_map, case.shared(), case.memory()
    if case.operation == "store":
        reference.store(tm, case.coordinates, shared, whole, case.shared_address)
        return whole
    image = reference.load(tm, case.coordinates, whole, case.shared_address)
    tile = shared[case.shared_address : case.shared_address + image.data.size]
    tile[image.written] = image.data[image.written]
    return shared


@pytest.mark.parametrize("name", COPIES)
def test_the_reference_does_what_the_h200_did(name):
    reading = recorded.read(name)
    wrong = [
        case.name
        for case, result in zip(reading.cases, reading.results)
        if not np.array_equal(by_reference(case), result)
    ]
    assert wrong == []


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", COPIES)
def test_the_simulator_does_what_the_h200_did(name, part):
    reading = recorded.read(name)
    for case, result in list(zip(reading.cases, reading.results))[part::PARTS]:
        run, simulated = perform(case, on="simulator", seed=part)
        assert not run.hazards, case.name
        assert run.deadlock is None, case.name
        assert run.fault is None, case.name
        assert np.array_equal(simulated, result), case.name


def test_what_faulted_on_the_h200_faults_by_the_reference():
    reading = recorded.read("faults")
    for case, kind in zip(reading.cases, reading.results):
        if case.name == "destination past the shared memory":
            continue  # the reference knows no allocation
        with pytest.raises(TmaFault) as caught:
            by_reference(case)
        assert caught.value.kind == kind, case.name


def test_what_faulted_on_the_h200_faults_in_the_simulator():
    reading = recorded.read("faults")
    for case, kind in zip(reading.cases, reading.results):
        run, _ = perform(case, on="simulator")
        assert run.fault.kind == kind, case.name


@pytest.mark.parametrize("name", GROUPS)
def test_the_recorded_cases_are_those_that_the_recorder_would_record(name):
    assert recorded.read(name).cases == tuple(GROUPS[name]())


def test_every_type_swizzle_rank_and_step_is_recorded():
    maps = [case.tensor_map for name in COPIES for case in recorded.read(name).cases]
    assert {tm.data_type for tm in maps} == set(DataType)
    assert {tm.swizzle for tm in maps} == set(Swizzle)
    assert {tm.rank for tm in maps} == {1, 2, 3, 4, 5}
    assert any(step > 1 for tm in maps for step in tm.element_strides[1:])
    loads = [case for name in COPIES for case in recorded.read(name).cases if case.operation == "load"]
    assert any(coordinate < 0 for case in loads for coordinate in case.coordinates)
    assert {case.shared_address % 1024 for case in loads} >= set(range(0, 1024, 128))


def test_a_map_is_encoded_as_the_driver_did():
    reading = recorded.read("maps")
    for case, data in zip(reading.cases, reading.results):
        assert case.tensor_map.encode() == data.tobytes(), case.name


def test_the_drivers_bytes_are_decoded_to_the_map():
    reading = recorded.read("maps")
    assert len(reading.cases) > 1000
    for case, data in zip(reading.cases, reading.results):
        assert TensorMap.decode(data.tobytes()) == case.tensor_map


def test_a_recording_says_where_and_how_it_was_made():
    for name in recorded.names():
        provenance = recorded.read(name).provenance
        assert provenance["gpu"] == "NVIDIA H200"
        assert {"driver", "cuda_driver", "packages", "date", "command", "tmalab"} <= provenance.keys()


def test_a_case_is_found_by_its_map_and_coordinates_wherever_the_tensor_lies():
    tensor = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)
    tm = TensorMap.from_array(tensor, (8, 64), Swizzle.B128).with_address(0x4000)
    reading = recorded.read("lesson-1")
    found = reading.find("load", tm, (64, 8))
    rows = tensor.view(np.uint16)[8:, 64:].reshape(8, 8, 8)
    expected = np.stack([rows[r, [c ^ r for c in range(8)]] for r in range(8)])
    assert (reading.results[found][:1024].view(np.uint16) == expected.reshape(-1)).all()
    assert reading.find("store", tm, (64, 8)) is None


def test_a_recording_that_there_is_not_is_named():
    with pytest.raises(KeyError, match="lesson-1"):
        recorded.read("lesson-99")


def test_the_generator_gives_the_published_numbers():
    # SplitMix64 from seed 0, as published with the xoshiro generators
    assert [hex(int(x)) for x in splitmix64(np.arange(3, dtype=np.uint64))] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def test_a_pattern_that_there_is_not_is_named():
    with pytest.raises(ValueError, match="stripes"):
        memory("stripes", 0, 16)
