"""The driver's encoder, called as in C: here a function of our own that reads its arguments."""

from __future__ import annotations

import ctypes

import pytest

from tmalab import TensorMap
from tmalab.gpu import device, maps
from tmalab.gpu.device import DriverError
from tmalab.gpu.errors import GpuStopped

TILED = TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3)
IM2COL = TensorMap.im2col(6, 0x1000, (64, 5, 9, 8), (128, 640, 5760), (-1, 0), (2, -2), 64, 32, swizzle=3)


@pytest.fixture
def driver(monkeypatch):
    """Calls are noted, with what their arrays held; the status is what `driver.status` says."""

    class Driver:
        status, calls = 0, ()

        def __call__(self, name):
            def call(place, *arguments):
                self.calls += ((name, [_plain(argument) for argument in arguments]),)
                assert place.value % 128 == 0
                if self.status == 0:
                    ctypes.memset(place.value, 7, 128)
                return self.status

            return call

    made = Driver()
    monkeypatch.setattr(maps, "_function", made)
    monkeypatch.setattr(device, "_stopped", [])
    return made


def _plain(argument):
    return list(argument) if isinstance(argument, ctypes.Array) else argument.value


def test_a_tiled_map_is_asked_for_in_the_drivers_order(driver):
    assert maps.encode(TILED) == b"\7" * 128
    ((name, arguments),) = driver.calls
    assert name == "cuTensorMapEncodeTiled"
    assert arguments == [
        *(6, 2, 0x1000),
        *([128, 16, 0, 0, 0, 0, 0, 0], [256, 0, 0, 0, 0, 0, 0, 0], [64, 8, 0, 0, 0, 0, 0, 0]),
        *([1, 1, 0, 0, 0, 0, 0, 0], 0, 3, 0, 0),
    ]


def test_an_im2col_map_is_asked_for_with_corners_channels_and_pixels(driver):
    maps.encode(IM2COL)
    ((name, arguments),) = driver.calls
    assert name == "cuTensorMapEncodeIm2col"
    assert [argument[:2] if isinstance(argument, list) else argument for argument in arguments] == [
        *(6, 4, 0x1000, [64, 5], [128, 640], [-1, 0], [2, -2], 64, 32, [1, 1], 0, 3, 0, 0)
    ]


def test_m18_a_map_of_rank_1_hands_over_a_stride_that_is_no_null_pointer(driver):
    maps.encode(TensorMap(6, 0x1000, (64,), (), (64,)))
    assert driver.calls[0][1][4] == [0] * 8


def test_the_hardwares_own_encoder_takes_what_is_illegal_too(driver):
    driver.status = 1
    assert maps.ask(TILED, 9)[0] == 1
    assert driver.calls[0][1][1] == 9


def test_a_refusal_is_the_drivers_error(driver):
    driver.status = 1
    with pytest.raises(DriverError, match=r"cuTensorMapEncodeTiled failed: CUDA_ERROR_INVALID_VALUE \(1\)"):
        maps.encode(TILED)
    driver.status = 201
    with pytest.raises(DriverError, match=r"cuTensorMapEncodeIm2col failed: error \(201\)"):
        maps.encode(IM2COL)


@pytest.mark.parametrize(("status", "kind"), [(700, "illegal address"), (715, "illegal instruction")])
def test_m17_an_earlier_kernels_fault_that_surfaces_here_does_not_blame_the_map(driver, status, kind):
    driver.status = status
    with pytest.raises(GpuStopped) as caught:
        maps.encode(TILED)
    said = str(caught.value)
    assert f"cuTensorMapEncodeTiled answered {kind} ({status}), which has nothing to do with this map" in said
    assert "a kernel that ran earlier faulted" in said
    assert "restart it" in said


def test_another_address_is_the_drivers_to_write(driver):
    assert maps.replace_address(TILED.encode(), 0x2000) == (0, b"\7" * 128)
    assert driver.calls == (("cuTensorMapReplaceAddress", [0x2000]),)


@pytest.mark.gpu
@pytest.mark.parametrize("tm", [TILED, IM2COL])
def test_this_machines_driver_writes_what_the_library_writes(tm):
    device.hopper().use()
    assert maps.encode(tm) == tm.encode()
    assert maps.replace_address(tm.encode(), 0x2000) == (0, tm.with_address(0x2000).encode())
    assert maps.replace_address(tm.encode(), 0)[0] == maps.replace_address(tm.encode(), 0x2008)[0] == 1
