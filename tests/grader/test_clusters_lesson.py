"""What the checks of lesson 8 expect: as the reference and MBarrier have it; and traffic as points."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from grader.alone import Shape, loads_alone
from grader.exercises import clusters
from grader.exercises.clusters_cases import row_cases, share_cases
from grader.judges.kernels import judge_kernel
from grader.runner import current
from tests.lessons import answers
from tmalab import MBarrier, reference

KERNELS = answers("08-clusters")


@pytest.mark.parametrize("cases", [share_cases, row_cases])
def test_what_must_come_out_is_what_the_reference_loads_half_by_half(cases):
    for seed in range(3):
        for case in cases(seed):
            tensor_map = case.arguments[0]
            memory = np.ascontiguousarray(tensor_map.array).view(np.uint8).ravel()
            images = [reference.load(tensor_map, at, memory).data for at in (case.coordinates, *case.also)]
            assert case.out_of(np.concatenate(images)).tobytes() == case.expected.tobytes(), case.name


@pytest.mark.parametrize("cases", [share_cases, row_cases])
def test_no_known_mistake_is_right_on_the_public_input(cases):
    public, *others = cases(0)
    for cause, written in public.mistakes.items():
        assert (written.tobytes() == public.expected.tobytes()) == (cause == "at-the-example"), cause
    assert all(list(case.mistakes) == list(public.mistakes) for case in others)


def test_masks_name_the_ctas_that_are_meant():
    for seed in range(20):
        for question, mask in clusters._masks(seed).items():
            numbers = [int(number) for number in re.findall(r"\d+", question)]
            if question.startswith("all CTAs"):
                wanted = set(range(numbers[0]))
            elif question.startswith("CTA"):
                wanted = {numbers[0]}
            elif question.startswith("all of"):
                wanted = set(range(4)) - {numbers[1]}
            else:
                along = question.startswith("row")
                places = enumerate(product(range(2), repeat=2))
                wanted = {rank for rank, (row, column) in places if (row if along else column) == numbers[0]}
            assert {rank for rank in range(8) if mask >> rank & 1} == wanted, question


def test_a_barrier_that_promises_what_is_expected_completes_with_the_last_byte():
    sends = {  # what reaches CTA 1 in one phase, by how a question begins
        r"CTA 0 multicasts ([\d,]+) bytes to both": lambda size: [size],
        r"each of (\d) CTAs multicasts ([\d,]+)": lambda ctas, size: [size] * ctas,
        r"each of 2 CTAs loads ([\d,]+) .* multicasts ([\d,]+)": lambda own, shared: [own, shared, shared],
        r"each of \d CTAs loads ([\d,]+) bytes for itself,": lambda size: [size],
        r"CTA 0 multicasts [\d,]+ bytes with the mask 0b1101": list,
    }
    for seed in range(20):
        for question, right in clusters._expected(seed).items():
            (loads,) = (
                load(*(int(group.replace(",", "")) for group in found.groups()))
                for pattern, load in sends.items()
                if (found := re.match(pattern, question))
            )
            barrier = MBarrier(1)
            barrier.arrive_expect_tx(right.number)
            for number, size in enumerate(loads):
                assert barrier.phase == 0, (question, number)
                barrier.complete_tx(size)
            assert barrier.phase == 1, question


def test_a_multicast_counts_once_however_many_ctas_it_reaches():
    case = share_cases(0)[0]
    for kernel, loads in ((KERNELS.share_by_rank, [(2048, 2)] * 2), (KERNELS.share_by_loading_all, [(2048, 1)] * 4)):
        source = current().source(kernel)
        assert loads_alone(source, case.arguments, Shape(64, 2, 2)) == loads


def test_traffic_is_not_counted_where_the_bytes_are_wrong():
    task = replace(clusters.SHARE, cases=lambda seed: share_cases(seed)[:1])
    found = {finding.part: finding for finding in judge_kernel(KERNELS.share_of_one_half, task, 0)}
    assert (found["traffic"].points, found["traffic"].cause) == (0, "bytes-first")
    assert found["bytes"].cause == "one-half"


def test_every_class_is_asked_what_likely_mistakes_do_not_answer():
    for seed in range(20):
        assert sorted(clusters.SITUATIONS[each] for each in clusters.leave_questions(seed)) == list("aabcd")
        assert {right.reason for right in clusters._expected(seed).values()} == set(clusters.EXPECT_LETTERS)
        assert len({right for right, _ in clusters._counts(seed).values()}) >= 3
