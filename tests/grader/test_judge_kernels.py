"""Kernels as answers: what does not end, raises or does not compile gets one clear message, and only what it earned."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from numba import cuda

import grader
from grader import recorded
from grader.exercises.copy_2d_cases import COLS, PUBLIC, ROWS, rim_cases, swizzled, tile_cases, window
from tests.lessons import answers
from tests.pace import within
from tmalab import Swizzle, kernel, ptx, reference
from tmalab.gpu import toolkit

TILE_BYTES = ROWS * COLS * 2
RIGHT = answers("01-copy-2d").tile_with_helper


@kernel
def stub(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)  # noqa: F841
    full = ptx.mbarrier_array(1)  # noqa: F841


@kernel
def waits_for_ever(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 2)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass


@kernel
def meets_for_ever(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    while x >= 0:
        cuda.syncthreads()


@kernel
def divides_by_zero(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x // (y - y), y, full[0])


@kernel
def copies_only_elsewhere(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if x < 0:
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    if cuda.threadIdx.x == 0:
        out[0, 0] = 0


@kernel
def takes_too_much(tensor_map, x, y, out, more):
    out[0, 0] = more


@kernel
def misspells(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    ptx.cp_async_bulk_tensor_2D(tile, tensor_map, x, y, tile)


@pytest.mark.parametrize(
    ("answer", "points", "reason"),
    [
        (stub, 0.0, "no bulk tensor copy in it yet"),
        (waits_for_ever, 1.0, "1 of 2 arrivals missing"),
        (meets_for_ever, 1.0, "endless_loop"),
        (divides_by_zero, 1.0, "ZeroDivisionError"),
        (copies_only_elsewhere, 1.0, "no copy was made"),
        (takes_too_much, 0.0, "your kernel takes (tensor_map, x, y, out, more)"),
        (misspells, 0.0, "cp_async_bulk_tensor_2D"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_kernel_that_goes_wrong_gets_one_clear_message(answer, points, reason, capfd):
    started = time.process_time()
    assert grader.check("copy-2d.kernel", answer) == points
    printed, trouble = capfd.readouterr()
    assert within(time.process_time() - started, 5)
    assert reason in printed
    assert "Traceback" not in printed
    assert "the check itself" not in printed.lower()
    assert trouble == ""


def test_a_kernels_plain_function_is_judged_as_the_kernel_is(capsys):
    assert grader.check("copy-2d.kernel", RIGHT.function) == 5.0


def test_a_kernel_that_copies_the_notebooks_own_tile_alone_earns_nothing_for_bytes(capsys):
    assert grader.check("copy-2d.kernel", answers("01-copy-2d").tile_of_the_example) == 3.0
    assert "bytes ✘ 0/2" in " ".join(capsys.readouterr().out.split())


def test_without_a_compiler_the_part_is_not_judged_and_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr(toolkit, "why_no_compiler", lambda: "there is none")
    assert grader.check("copy-2d.kernel", RIGHT) == 5.0
    printed = " ".join(capsys.readouterr().out.split())
    assert "compiles – not judged here: numba-cuda and the CUDA toolkit are not both installed" in printed
    assert "bytes ✔ 3/3" in printed


def test_without_a_gpu_the_hardware_part_says_that_it_is_recorded_and_where(capsys, monkeypatch):
    monkeypatch.setattr("grader.runner.hopper_here", lambda: False)
    grader.check("copy-2d.kernel", RIGHT)
    printed = capsys.readouterr().out
    seen = recorded.recorded_load(tile_cases(0)[0].arguments[0], PUBLIC)
    assert f"as an {seen.gpu} left them on {seen.date} (recorded); no Hopper GPU here" in " ".join(printed.split())


def test_a_recording_that_differs_is_shown_and_costs_nothing(capsys, monkeypatch):
    seen = recorded.recorded_load(tile_cases(0)[0].arguments[0], PUBLIC)
    other = replace(seen, image=seen.image ^ 1)
    monkeypatch.setattr("grader.runner.hopper_here", lambda: False)
    monkeypatch.setattr("grader.judges.kernel_hardware.recorded_load", lambda *copy: other)
    assert grader.check("copy-2d.kernel", RIGHT) == 5.0
    assert "hardware   ✘      0 of 1,024 bytes" in capsys.readouterr().out


@pytest.mark.gpu
@pytest.mark.parametrize("answer", answers("01-copy-2d").RIGHT["copy-2d.kernel"], ids=lambda answer: answer.__name__)
def test_on_a_hopper_gpu_the_kernel_runs_live(answer, capsys):
    assert grader.check("copy-2d.kernel", answer) == 5.0
    assert "hardware   ✔      1,024 of 1,024 bytes the same on this computer's Hopper GPU" in capsys.readouterr().out


@pytest.mark.parametrize("cases", [tile_cases, rim_cases])
def test_what_a_check_expects_is_what_the_reference_and_the_h200_give(cases):
    for seed in range(5):
        for case in cases(seed):
            tensor_map = case.arguments[0]
            memory = tensor_map.array.view(np.uint8).ravel()
            assert reference.load(tensor_map, case.coordinates, memory).data.tobytes() == case.expected.tobytes()
    public = cases(0)[0]
    seen = recorded.recorded_load(public.arguments[0], public.coordinates)
    rows, cols = public.expected.shape
    tensor = seen.tensor.view(np.float16).reshape(public.arguments[0].array.shape)
    assert window(tensor, *public.coordinates, rows, cols).tobytes() == seen.image.tobytes()


def test_the_swizzle_that_checks_expect_is_the_h200s():
    swizzled_map = tile_cases(0)[0].arguments[0].from_array(np.zeros((16, 128), np.float16), (8, 64), Swizzle.B128)
    seen = recorded.recorded_load(swizzled_map, PUBLIC)
    tile = window(seen.tensor.view(np.float16).reshape(16, 128), *PUBLIC, ROWS, COLS)
    assert swizzled(tile).tobytes() == seen.image.tobytes()


def test_each_class_gets_other_inputs_and_the_public_one_first():
    first, second = tile_cases(0), tile_cases(1)
    assert first[0].name == second[0].name
    assert [case.name for case in first[1:]] != [case.name for case in second[1:]]


def test_a_copy_that_nobody_recorded_is_named():
    with pytest.raises(KeyError, match="no recording holds"):
        recorded.recorded_load(tile_cases(0)[0].arguments[0], (8, 1))


def test_a_tile_elsewhere_in_the_pattern_is_another_copy():
    tile = tile_cases(0)[0].arguments[0].from_array(np.zeros((16, 256), np.uint8), (8, 128), Swizzle.B128)
    images = [recorded.recorded_load(tile, (128, 4), 128 * line).image.tobytes() for line in range(1, 8)]
    assert len(set(images)) == 7
    assert recorded.recorded_load(tile, (128, 4), 1024 + 128).image.tobytes() == images[0]
    with pytest.raises(KeyError):
        recorded.recorded_load(tile, (128, 4), 0)


def test_where_nobody_has_recorded_a_copy_the_check_says_who_decides(capsys, monkeypatch):
    def unheard_of(*copy):
        raise KeyError(copy)

    monkeypatch.setattr("grader.recorded.recorded_load", unheard_of)
    assert grader.check("grouping.view", answers("03-grouping").FIELDS) == 6.0
    assert "not recorded yet; the reference, which equals every recording, decides" in capsys.readouterr().out
