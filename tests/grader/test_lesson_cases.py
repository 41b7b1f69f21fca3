"""What the checks of lessons 2 and 3 expect: as the reference, the H200 and counting have it."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

import grader
from grader.exercises import grouping, swizzle
from grader.exercises.copy_2d_cases import swizzled
from grader.exercises.grouping_cases import column_cases, grouped, grouped_map, row_cases, ungrouped
from grader.exercises.swizzle_cases import read_cases, shifted_cases, transpose_cases
from grader.recorded import recorded_load
from tests.lessons import answers
from tmalab import DataType, Swizzle, TensorMap, recorded, reference
from tmalab.banks import conflicts
from tmalab.recorded.by_reference import by_reference
from tmalab.recorded.inputs import memory
from tmalab.recorded.lesson_cases import fresh_slice, fresh_tile, lesson_2, lesson_3
from tmalab.recorded.perform import perform
from tmalab.swizzle import swizzle_address

CASES = [read_cases, shifted_cases, transpose_cases, row_cases, column_cases]
RECORDED = [(read_cases, 3), (shifted_cases, 3), (transpose_cases, 2), (row_cases, 3), (column_cases, 3)]
SPANS = {0: Swizzle.NONE, **swizzle.SPANS}


def flat(array: np.ndarray) -> np.ndarray:
    """The bytes of memory behind an array or a view of one."""
    root = array if array.base is None else array.base
    return np.ascontiguousarray(root).view(np.uint8).ravel()


@pytest.mark.parametrize("cases", CASES)
def test_what_must_come_out_is_what_the_reference_leaves_in_shared_memory(cases):
    for seed in range(4):
        for case in cases(seed):
            tensor_map, address = case.arguments[0], case.shared_address
            image = reference.load(tensor_map, case.coordinates, flat(tensor_map.array), address).data
            assert case.out_of(image).tobytes() == case.expected.tobytes(), case.name


@pytest.mark.parametrize(("cases", "drawn"), RECORDED)
def test_the_first_inputs_are_recorded_copies_and_come_out_as_on_the_h200(cases, drawn):
    for seed in range(6):
        for case in cases(seed)[:drawn]:
            seen = recorded_load(case.arguments[0], case.coordinates, case.shared_address)
            by_hand = reference.load(case.arguments[0], case.coordinates, seen.tensor, case.shared_address).data
            assert seen.image.tobytes() == by_hand.tobytes(), case.name
            assert case.out_of(seen.image).nbytes == case.expected.nbytes


@pytest.mark.parametrize(("cases", "fresh"), [(lesson_2, fresh_tile), (lesson_3, fresh_slice)])
def test_simulator_and_reference_agree_about_fresh_copies_of_the_lessons(cases, fresh):
    draw = Random("fresh")
    for case in (*cases()[::5], *(fresh(draw, number) for number in range(4))):
        run, simulated = perform(case, on="simulator", seed=1)
        assert run.ok, case.name
        assert np.array_equal(simulated, by_reference(case)), case.name


SHOWN_BESIDE_THE_H200 = {
    "swizzle.transpose": answers("02-swizzle").transpose_in_blocks,
    "grouping.rows": answers("03-grouping").rows_by_address,
    "grouping.columns": answers("03-grouping").columns_by_address,
    "grouping.address": answers("03-grouping").address_by_line,
    "grouping.view": answers("03-grouping").FIELDS,
}


@pytest.mark.parametrize("exercise", SHOWN_BESIDE_THE_H200)
def test_a_right_answer_is_shown_beside_what_the_h200_did(exercise, monkeypatch, capsys):
    monkeypatch.setattr("grader.runner.hopper_here", lambda: False)
    grader.check(exercise, SHOWN_BESIDE_THE_H200[exercise])
    recording = recorded.read("lesson-2").provenance
    shown = f"hardware   ✔      4,096 of 4,096 bytes as an {recording['gpu']} left them on {recording['date']}"
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("cases", CASES)
def test_no_known_mistake_is_right_on_the_public_input_and_all_inputs_name_the_same_mistakes(cases):
    public, *others = cases(0)
    for cause, written in public.mistakes.items():
        if cause != "at-the-example":
            assert written.tobytes() != public.expected.tobytes(), cause
    assert all(list(case.mistakes) == list(public.mistakes) for case in others)


@pytest.mark.parametrize("cases", CASES)
def test_each_class_gets_other_inputs_and_the_public_one_first(cases):
    first, second = cases(0), cases(1)
    assert first[0].name == second[0].name
    assert [case.name for case in first[1:]] != [case.name for case in second[1:]]


def test_the_layouts_undo_themselves_and_are_the_h200s():
    tile = np.arange(16 * 64, dtype=np.uint16).reshape(16, 64)
    for first in range(8):
        assert np.array_equal(swizzled(swizzled(tile, first), first), tile)
    wide = memory("random", 1, 16 * 256).view(np.uint16).reshape(16, 128)
    assert np.array_equal(ungrouped(grouped(wide)), wide)
    mode = TensorMap(DataType.UINT8, 0x10000000, (256, 16), (256,), (128, 8), swizzle=Swizzle.B128)
    for line in range(1, 8):
        seen = recorded_load(mode, (128, 4), 128 * line)
        rows = seen.tensor.reshape(16, 256)[4:12, 128:]
        assert swizzled(np.ascontiguousarray(rows), line).tobytes() == seen.image.tobytes()


def test_the_ways_that_are_expected_are_those_that_are_counted():
    for pitch in {pitch for pitches in swizzle.PITCHES.values() for pitch in pitches}:
        assert swizzle.ways_of(pitch) == conflicts([4 * pitch * lane for lane in range(32)]).ways
    for pitch, span in grouping.LAYOUTS:
        moved = [int(swizzle_address(pitch * row, SPANS[span])) for row in range(8)]
        assert 8 // grouping.places_of(pitch, span) == conflicts(moved, size=16).ways


def test_the_reasons_are_those_that_the_numbers_allow():
    by_reason = {"a": {1}, "b": {32}, "c": {2, 4, 8, 16}, "d": {1}}
    for reason, pitches in swizzle.PITCHES.items():
        assert {swizzle.ways_of(pitch) for pitch in pitches} <= by_reason[reason]
    for (pitch, span), reason in grouping.LAYOUTS.items():
        ways = 8 // grouping.places_of(pitch, span)
        apart, moved = pitch >= 256, span > 0
        wanted = "a" if ways == 1 else "b" if moved and apart else "d" if pitch < 128 else "c"
        assert reason == wanted, (pitch, span)


def test_the_address_that_is_expected_is_where_the_reference_puts_it():
    for rows in (4, 8, 16, 24):
        tall = np.arange(rows * 128, dtype=np.uint16).reshape(rows, 128)
        view = tall.reshape(rows, 2, 64).transpose(1, 0, 2)
        image = reference.load(TensorMap.from_array(view, (2, rows, 64), swizzle=Swizzle.B128), (0, 0, 0), flat(tall))
        words = image.data.view(np.uint16)
        for row, column in product(range(rows), range(128)):
            assert words[grouping.address(row, column, rows) // 2] == tall[row, column]


def test_every_class_gets_questions_that_likely_mistakes_do_not_answer():
    for seed in range(40):
        pitches = swizzle.ways_questions(seed)
        assert len(set(pitches)) == 5
        assert {1, 32} < {swizzle.ways_of(pitch) for pitch in pitches}
        asked = grouping.places_questions(seed)
        assert {(256, 128), (128, 128)} < set(asked)
        assert len(set(asked)) == 5
        (first, second) = grouping.coordinates_questions(seed)
        assert first[1] // 128 != first[1] // 64
        assert second[1] == 64
        rows, cols = grouping.view_questions(seed)
        task = grouping.view_task(rows, cols)
        assert len(set(task.fields["global_strides"])) == 2
        assert task.fields["global_dim"] != task.fields["box_dim"]


def test_the_map_of_a_slice_is_that_of_numpys_own_view():
    matrix = np.zeros((32, 512), np.float16)
    view = matrix.reshape(32, 8, 64).transpose(1, 0, 2)
    assert grouped_map(matrix, DataType.FLOAT16) == TensorMap.from_array(view, (2, 16, 64), swizzle=Swizzle.B128)


def test_the_widest_span_leaves_no_gap_and_no_wider_one_does():
    for row_bytes in range(16, 1025, 16):
        span = swizzle.widest(row_bytes)
        assert span == 0 or row_bytes % span == 0
        assert all(row_bytes % wider for wider in (32, 64, 128) if wider > span)
