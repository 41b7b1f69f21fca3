"""Reference, models and simulator against what an H200 did: every recorded case, byte for byte."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from tmalab import DataType, Im2colMap, Interleave, OobFill, Swizzle, TensorMap, recorded
from tmalab.mbarrier_word import unpack
from tmalab.recorded.barrier_case import COLUMNS, OPERATIONS, STATE, WORD, BarrierCase
from tmalab.recorded.by_reference import by_reference, same
from tmalab.recorded.case import Case
from tmalab.recorded.cases import GROUPS
from tmalab.recorded.copies import REDUCIBLE
from tmalab.recorded.inputs import EXPONENTS, SPECIALS, memory, splitmix64
from tmalab.recorded.map_case import MapCase
from tmalab.recorded.perform import perform
from tmalab.recorded.plain import from_plain, to_plain
from tmalab.recorded.tally import tally

PARTS = 4  # of the cases that the simulator runs: the first one always, the others with the slow tests
EXPECTED = {"clip-overwrites"}  # hazards of right kernels: a store that crosses the innermost edge is one
PERFORMED = [name for name in GROUPS if name not in ("maps", "faults")]


def copies() -> list[Case]:
    """All recorded copies through a map that do not fault."""
    return [case for name in PERFORMED for case in recorded.read(name).cases if isinstance(case, Case)]


@pytest.mark.parametrize("name", GROUPS)
def test_the_reference_does_what_the_h200_did(name):
    reading = recorded.read(name)
    pairs = zip(reading.cases, reading.results, strict=True)
    assert [case.name for case, result in pairs if not same(by_reference(case), result)] == []


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))])
@pytest.mark.parametrize("name", PERFORMED)
def test_the_simulator_does_what_the_h200_did(name, part):
    reading = recorded.read(name)
    for case, result in list(zip(reading.cases, reading.results))[part::PARTS]:
        run, simulated = perform(case, on="simulator", seed=part)
        assert run.deadlock is None, case.name
        assert run.fault is None, case.name
        if isinstance(case, BarrierCase):
            seen, noted = (bytes.view(np.int64).reshape(-1, len(COLUMNS)) for bytes in (simulated, result))
            assert (seen[:, :WORD] == noted[:, :WORD]).all(), case.name  # no kernel reads the word of a barrier
        else:
            assert {hazard.name for hazard in run.hazards} <= EXPECTED, case.name
            assert np.array_equal(simulated, result), case.name


def test_what_faulted_on_the_h200_faults_in_the_simulator():
    reading = recorded.read("faults")
    for case, kind in zip(reading.cases, reading.results):
        run, _ = perform(case, on="simulator")
        assert run.fault is not None, case.name
        assert run.fault.kind == kind, case.name


@pytest.mark.parametrize("name", GROUPS)
def test_the_recorded_cases_are_those_that_the_recorder_would_record(name):
    assert recorded.read(name).cases == tuple(GROUPS[name].fixed())


def test_the_recordings_are_those_of_the_groups():
    assert recorded.names() == sorted(GROUPS)


# What is recorded.


def test_every_type_swizzle_rank_element_stride_and_fill_is_loaded():
    loads = [case.tensor_map for case in recorded.read("loads").cases]
    seen = {(tm.data_type, tm.swizzle, tm.rank, max(tm.element_strides) > 1, tm.oob_fill) for tm in loads}
    fills = {data_type: list(OobFill) if data_type.floating else [OobFill.NONE] for data_type in DataType}
    kinds = product(DataType, Swizzle, range(1, 6), (False, True))
    assert {(*kind, fill) for kind in kinds for fill in fills[kind[0]]} <= seen


def test_every_mode_is_recorded_with_every_rank_that_it_has():
    ranks = {(case.mode, case.tensor_map.rank) for case in copies()}
    whole = {"tiled": range(1, 6), "interleaved": range(3, 6), "im2col": range(3, 6)}
    for kind, numbers in whole.items():
        for operation in ("load", "store", "reduction"):
            assert {(f"{kind} {operation}", rank) for rank in numbers} <= ranks
    multicast = {case.tensor_map.interleave for case in copies() if case.cta_mask}
    assert multicast == set(Interleave)
    assert any(isinstance(case.tensor_map, Im2colMap) for case in copies() if case.cta_mask)


def test_every_reduction_of_every_type_is_recorded():
    reductions = Counter((case.operation, case.tensor_map.data_type.name) for case in recorded.read("reductions").cases)
    assert reductions == {(name, data_type.name): 10 for name, types in REDUCIBLE.items() for data_type in types}


def test_tiles_lie_at_every_line_of_the_swizzles_period_and_coordinates_before_the_tensor():
    loads = [case for case in copies() if case.operation == "load"]
    assert {case.shared_address % 1024 for case in loads} >= set(range(0, 1024, 128))
    assert any(coordinate < 0 for case in loads for coordinate in case.coordinates)


def test_most_loads_bring_bytes_of_the_tensor():
    loads = [case for case in recorded.read("loads").cases if case.pattern == "random"]
    empty = sum(len(set(by_reference(case).tolist())) < 10 for case in loads)
    assert empty < len(loads) / 2


def test_there_are_thousands_of_cases_in_few_bytes():
    folder = recorded._folder()
    assert sum(len(recorded.read(name).cases) for name in GROUPS) > 4000
    assert sum(len((folder / f"{name}.npz").read_bytes()) for name in GROUPS) < 3 << 20


def test_the_tally_counts_every_case_and_no_mismatch():
    for name in GROUPS:
        counts = tally(name).values()
        assert sum(count.cases for count in counts) == len(recorded.read(name).cases)
        assert not any(count.mismatches for count in counts)


# Barriers.


def test_a_barriers_state_is_the_upper_half_of_the_word_before():
    reading = recorded.read("mbarrier")
    words = 0
    for case, result in zip(reading.cases, reading.results):
        seen = result.view(np.int64).reshape(-1, len(COLUMNS))
        for (operation, _, _), row, before in zip(case.steps[1:], seen[1:], seen):
            assert row[STATE] & 0xFFFF_FFFF == 0
            if OPERATIONS[operation] == "inval":
                words += 1
                counts = unpack(int(row[WORD]))
                assert counts["phase"] == before[COLUMNS.index("parity_0")]  # the first phase is over in odd ones
    assert words > 300


def test_barriers_are_recorded_with_negative_tx_counts_the_largest_count_and_none_left():
    reading = recorded.read("mbarrier")
    ends = [
        unpack(int(row[WORD]))
        for case, result in zip(reading.cases, reading.results)
        for (operation, _, _), row in zip(case.steps, result.view(np.int64).reshape(-1, len(COLUMNS)))
        if OPERATIONS[operation] == "inval"
    ]
    assert min(counts["tx_count"] for counts in ends) < 0 < max(counts["tx_count"] for counts in ends)
    assert min(counts["expected_count"] for counts in ends) == 0
    assert ("init", 2**20 - 1) in {
        (OPERATIONS[operation], amount) for case in reading.cases for operation, amount, _ in case.steps
    }


# Maps.


def test_the_drivers_bytes_are_decoded_to_the_map():
    reading = recorded.read("maps")
    assert len(reading.cases) > 1000
    for case, data in zip(reading.cases, reading.results):
        tm = case.tensor_map if case.moved is None else case.tensor_map.with_address(case.moved)
        assert TensorMap.decode(data.tobytes()) == tm


def test_maps_of_every_mode_are_encoded_and_some_are_moved():
    maps = [case for case in recorded.read("maps").cases if isinstance(case, MapCase)]
    assert {case.tensor_map.interleave for case in maps} == set(Interleave)
    assert {type(case.tensor_map) for case in maps} == {TensorMap, Im2colMap}
    assert any(case.moved is not None for case in maps)


# Recordings as such.


def test_a_recording_says_where_and_how_it_was_made():
    for name in recorded.names():
        provenance = recorded.read(name).provenance
        assert provenance["gpu"] == "NVIDIA H200"
        assert {"driver", "cuda_driver", "packages", "date", "command", "tmalab"} <= provenance.keys()


@pytest.mark.parametrize("name", GROUPS)
def test_a_case_survives_as_plain_values(name):
    cases = GROUPS[name].fixed()[:40]
    assert [from_plain(to_plain(case)) for case in cases] == cases


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


# Inputs.


def test_the_generator_gives_the_published_numbers():
    # SplitMix64 from seed 0, as published with the xoshiro generators
    assert [hex(int(x)) for x in splitmix64(np.arange(3, dtype=np.uint64))] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


@pytest.mark.parametrize("pattern", ["stripes", "special 3", "close f8", "special x"])
def test_a_pattern_that_there_is_not_is_named(pattern):
    with pytest.raises(ValueError, match=pattern):
        memory(pattern, 0, 16)


@pytest.mark.parametrize("size", SPECIALS)
def test_special_elements_come_with_either_sign(size):
    elements = memory(f"special {size}", 3, 4096).view(SPECIALS[size].dtype)
    sign = SPECIALS[size].dtype.type(1 << (8 * size - 1))
    assert set((elements & ~sign).tolist()) == set((SPECIALS[size] & ~sign).tolist())
    assert 0.4 < np.mean((elements & sign) != 0) < 0.6


@pytest.mark.parametrize("element", EXPONENTS)
def test_close_floats_are_finite_and_of_like_size(element):
    dtype, mantissa, exponent = EXPONENTS[element]
    bits = memory(f"close {element}", 3, 4096).view(dtype) >> dtype(mantissa) & dtype((1 << exponent) - 1)
    assert int(bits.max()) - int(bits.min()) == 15
    assert 0 < int(bits.min()) < int(bits.max()) < (1 << exponent) - 1
