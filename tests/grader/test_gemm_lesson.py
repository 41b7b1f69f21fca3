"""What the checks of lesson 9 expect: as descriptors, reference, recordings and counting have it; overlap as points."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from grader.alone import run_alone
from grader.exercises import gemm, gemm_numbers
from grader.exercises.gemm_cases import STAGES, deep_cases, multiply_cases, tile_cases, wide_cases
from grader.judges.kernels import _judge_ahead, _judge_overlap
from grader.overlap import products_followed
from grader.runner import current
from tests.lessons import answers
from tmalab import Swizzle, TensorMap, reference
from tmalab.bench.command import recorded
from tmalab.wgmma_descriptor import WgmmaDescriptor

KERNELS = answers("09-gemm")
CASES = [multiply_cases, wide_cases, deep_cases, tile_cases]
NOTHING_ON_SOME = ("whole-steps",)  # mistakes that are none where K is whole steps


def loaded(tensor_map: TensorMap) -> np.ndarray:
    """The matrix behind a map as loads and the tensor core's exchange of bits bring it, tile by tile, in float64."""
    memory = np.ascontiguousarray(tensor_map.array).view(np.uint8).ravel()
    rows, columns = tensor_map.array.shape
    whole = np.zeros((-(-rows // 64) * 64, -(-columns // 64) * 64))
    for y in range(0, rows, 64):
        for x in range(0, columns, 64):
            chunks = reference.load(tensor_map, (x, y), memory).data.reshape(64, 8, 16)
            tile = np.stack([line[np.arange(8) ^ number % 8] for number, line in enumerate(chunks)])
            bits = np.ascontiguousarray(tile).view(np.uint16).reshape(64, 64).astype(np.uint32) << 16
            whole[y : y + 64, x : x + 64] = bits.view(np.float32)
    return whole


@pytest.mark.parametrize("cases", CASES)
def test_what_must_come_out_is_the_product_of_what_loads_bring(cases):
    for seed in range(3):
        for case in cases(seed):
            a_map, b_map = case.arguments[:2]
            m, n = case.expected.shape
            assert np.array_equal((loaded(a_map) @ loaded(b_map).T)[:m, :n], case.expected), case.name


@pytest.mark.parametrize("cases", CASES)
def test_no_known_mistake_is_right_on_the_public_input_and_all_inputs_name_the_same_mistakes(cases):
    for seed in range(3):
        public, *others = cases(seed)
        for cause, written in public.mistakes.items():
            same = written.tobytes() == public.expected.tobytes()
            assert not same or cause in NOTHING_ON_SOME, cause
        assert all(list(case.mistakes) == list(public.mistakes) for case in others)


def test_descriptors_are_those_that_the_library_encodes_and_no_mistake_is_right_everywhere():
    swizzles = {128: Swizzle.B128, 64: Swizzle.B64, 32: Swizzle.B32}
    asked = [(8 * span * number, span) for span in swizzles for number in (1, 7, 180)]
    for address, span in asked:
        made = WgmmaDescriptor(address, swizzles[span], stride_bytes=8 * span)
        assert gemm_numbers.descriptor(address, span) == made.encode() % (1 << 64)
        assert not made.doubts
    for cause, mistake in gemm_numbers.DESCRIPTOR_MISTAKES.items():
        assert any(mistake(*each) != gemm_numbers.descriptor(*each) for each in asked), cause


@pytest.mark.parametrize("seed", range(8))
def test_what_is_added_leads_to_the_address_where_a_load_has_put_that_element(seed):
    start = WgmmaDescriptor(8192, Swizzle.B128, stride_bytes=1024)
    [finding] = gemm_numbers.judge_steps([count // 16 for count in gemm_numbers._steps(seed).values()], seed)
    assert finding.passed
    for question, further in gemm_numbers._steps(seed).items():
        ring = np.zeros((4, int((re.search(r"tiles with (\d+) rows", question) or [0, 128])[1]), 64), np.uint16)
        count = int(re.search(r"\d+", question)[0])
        at = (count, 0, 0) if "stage" in question else (0, count, 0) if "rows on" in question else (0, 0, count)
        moved = WgmmaDescriptor.decode(start.encode() + further // 16)
        assert moved.address - start.address == ring[at[0] :, at[1] :, at[2] :].ctypes.data - ring.ctypes.data, question


@pytest.mark.parametrize("seed", range(4))
def test_bytes_of_a_tiling_are_those_of_all_its_tiles_added_up(seed):
    for m, n, k, bm, bn, pair in gemm_numbers._tilings(seed).values():
        tiles = sum((bm + bn // pair) * k * 2 for _ in range(0, m, bm) for _ in range(0, n, bn))
        assert tiles % 2**20 == 0
        assert gemm_numbers.loaded(m, n, k, bm, bn, pair) == tiles // 2**20
    numbers = [gemm_numbers.loaded(*tiling) for tiling in gemm_numbers._tilings(seed).values()]
    assert len(set(numbers)) == 5


def test_the_ladders_steps_are_recorded_and_follow_on_each_other_in_every_class():
    contenders = recorded("ladder")["cases"][0]["contenders"]
    assert set(contenders) - {"cuBLAS", "Triton"} == set(gemm_numbers.LADDER)
    for seed in range(4):
        asked = gemm_numbers.ladder_questions(seed)
        letters = [gemm_numbers.NEW[question.split(" to ")[1].split(":")[0]] for question in asked]
        assert sorted(letters) == list("abcde")


@pytest.mark.parametrize(
    ("name", "followed", "ahead"),
    [("ahead_by_counting", 3, 4), ("ahead_with_a_gap", 0, 4), ("ahead_of_nothing", 3, 2), ("roles_by_warps", 3, 6)],
)
def test_steps_issued_while_the_one_before_is_multiplied_are_counted_and_earn_the_points(name, followed, ahead):
    task = gemm.ROLES if name.startswith("roles") else gemm.AHEAD
    case = deep_cases(0)[0]
    outcome = run_alone(current().source(getattr(KERNELS, name)), case.arguments, task.shape)
    assert outcome.ok
    assert outcome.arrays[-1].tobytes() == case.expected.tobytes()
    assert (outcome.followed, outcome.ahead) == (followed, ahead)
    assert _judge_overlap(outcome, task).passed == (followed == 3)
    assert _judge_ahead(outcome, replace(task, ahead=2 * (STAGES - 1))).passed == (ahead >= 4)


def test_a_group_for_each_wgmma_is_no_overlap():
    case = multiply_cases(0)[0]
    run = KERNELS.tile_in_two_groups.run(block=128, args=tuple(case.arguments))
    assert run.ok
    assert products_followed(run.trace, 128) == 0
