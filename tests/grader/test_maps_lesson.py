"""What the checks of lesson 6 expect: as the reference, the driver's rules and the H200's im2col walk have it."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest

from grader.exercises import maps, maps_numbers
from grader.exercises.maps_broken import LETTERS, RULES, broken_maps
from grader.exercises.maps_cases import each_cases, patch_cases, row_cases
from grader.judges.kernel_hardware import _against_recording
from grader.recorded import RecordedLoad, recorded_load
from grader.runner import current
from tests.lessons import answers
from tmalab import DataType, TensorMap, recorded, reference
from tmalab.im2col import walk
from tmalab.map_command import judge
from tmalab.recorded.by_reference import by_reference
from tmalab.recorded.lesson_cases import fresh_patch, lesson_6
from tmalab.recorded.perform import perform

ANSWERS = answers("06-maps")


def image_of(tensor_map: TensorMap, coordinates: tuple[int, ...]) -> bytes:
    return reference.load(tensor_map, coordinates, tensor_map.array.view(np.uint8).ravel()).data.tobytes()


def test_patches_are_what_the_reference_leaves_in_shared_memory():
    for seed in range(4):
        for case in patch_cases(seed):
            assert image_of(case.arguments[0], case.coordinates) == case.expected.tobytes(), case.name
        for case in row_cases(seed):
            rows, which, *_ = case.arguments
            assert image_of(rows.maps[which], case.coordinates) == case.expected.tobytes(), case.name
        for case in each_cases(seed):
            rows, _, images, *_ = case.arguments
            tiles = [image_of(rows.maps[0].bind(image), case.coordinates) for image in images]
            assert b"".join(tiles) == case.expected.tobytes(), case.name


@pytest.mark.parametrize("cases", [patch_cases, row_cases, each_cases])
def test_no_known_mistake_is_right_on_the_public_input_and_hidden_ones_are_drawn(cases):
    public, *others = cases(0)
    for cause, written in public.mistakes.items():
        if cause != "at-the-example":
            assert written.tobytes() != public.expected.tobytes(), cause
    assert all(list(case.mistakes) == list(public.mistakes) for case in others)
    assert [case.coordinates for case in others] != [case.coordinates for case in cases(1)[1:]]


def test_the_first_inputs_are_recorded_copies_and_come_out_as_on_the_h200():
    patched, from_rows = patch_cases(0)[0], row_cases(0)[0]
    rows = from_rows.arguments[0]
    copies = [(patched.arguments[0], patched.coordinates), (rows.maps[from_rows.row], from_rows.coordinates)]
    task = maps.view_task(maps.view_questions(0))
    copies.append((TensorMap(global_address=0x1000, **task.fields), task.coordinates))
    for tensor_map, coordinates in copies:
        seen = recorded_load(tensor_map, coordinates)
        assert reference.load(tensor_map, coordinates, seen.tensor).data.tobytes() == seen.image.tobytes()


def test_simulator_and_reference_agree_about_the_copies_of_the_lesson():
    draw = Random("fresh")
    for case in [*lesson_6(), *(fresh_patch(draw, number) for number in range(4))]:
        run, simulated = perform(case, on="simulator", seed=1)
        assert run.ok, case.name
        assert np.array_equal(simulated, by_reference(case)), case.name


def test_a_kernel_that_takes_its_map_from_memory_is_compared_with_the_recording_of_that_map(monkeypatch):
    case = row_cases(0)[0]
    memory = np.arange(2 * 10 * 12 * 16, dtype=np.float32)[::-1].copy()

    def seen(tensor_map, at, shared_address=0):
        image = reference.load(tensor_map, at, memory.view(np.uint8)).data
        return RecordedLoad(image=image, gpu="H200", date="today", tensor=memory.view(np.uint8))

    monkeypatch.setattr("grader.judges.kernel_hardware.recorded_load", seen)
    right = current().source(ANSWERS.from_a_map_that_is_fetched_first)
    first = current().source(ANSWERS.from_the_first_map)
    assert _against_recording(right, case, maps.FROM_ROWS).passed
    assert not _against_recording(first, case, maps.FROM_ROWS).passed


@pytest.mark.parametrize("seed", range(12))
def test_bytes_are_those_that_a_map_credits_and_of_every_rank(seed):
    asked = maps_numbers.counts_questions(seed)
    assert [len(box) for _, _, box, _, _ in asked] == [1, 2, 3, 4, 5]
    for kind, sizes, box, steps, at in asked:
        size = DataType[kind].size
        pitches = np.cumprod((size, *sizes[:-1]))[1:]
        tensor_map = TensorMap(DataType[kind], 0x1000, sizes, [int(pitch) for pitch in pitches], box, steps)
        image = reference.load(tensor_map, at, np.ones(size * int(np.prod(sizes)), np.uint8))
        assert image.transaction_bytes == np.prod(maps_numbers.delivered(box, steps)) * size
        assert np.count_nonzero(image.data) == maps_numbers.bytes_inside(kind, sizes, box, steps, at)


@pytest.mark.parametrize("seed", range(12))
def test_the_last_pixel_is_that_of_the_walk_which_the_h200_takes(seed):
    for (cols, rows, images), low, high, pixels, at in maps_numbers.column_questions(seed):
        dims, strides = (16, cols, rows, images), (64, 64 * cols, 64 * cols * rows)
        columns = TensorMap.im2col(DataType.FLOAT32, 0x1000, dims, strides, low, high, 16, pixels)
        ends = (cols - 1 + high[0], rows - 1 + high[1])
        assert maps_numbers.last_pixel(low, ends, pixels, at) == tuple(
            int(along[-1]) for along in walk(columns, (0, *at))
        )


def test_each_map_breaks_the_rule_of_its_letter_and_no_other():
    for seed in range(12):
        asked = broken_maps(seed)
        assert sorted(letter for *_, letter in asked) == sorted([*LETTERS, "a"])
        for wanted, arguments, letter in asked:
            rules = {rule for rule, _ in judge(json.dumps(arguments)).violations}
            assert rules <= RULES[letter], wanted
            assert bool(rules) == bool(RULES[letter]), wanted


def test_every_class_is_asked_for_each_of_the_places_and_needs():
    for seed in range(12):
        assert sorted(maps.LIVES[place] for place in maps.life_questions(seed)) == list("aabbcd")


def test_the_recorded_edits_name_the_fields_that_the_lesson_counts():
    edited = {field for case in recorded.read("map-edits").cases for field, *_ in case.edits}
    assert {"global_address", "global_dim", "box_dim"} <= edited
