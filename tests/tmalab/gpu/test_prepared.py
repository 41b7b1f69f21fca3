"""Prepared launches, and arrays that lie on the device already, with a fake driver in place of a real one."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest
from fake_driver import BASE, FakeDriver
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.gpu import device
from tmalab.gpu.bounded_waits import SYMBOL
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.device import DriverError
from tmalab.gpu.device_arrays import DeviceArray, located
from tmalab.gpu.errors import GpuStopped, GpuUnavailable
from tmalab.gpu.prepared import stream_number


class OnDevice:
    """What CuPy and numba show of an array in a GPU's memory."""

    def __init__(self, address, shape, typestr="<u2", strides=None):
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": shape, "typestr": typestr, "strides": strides, "version": 3,
        }  # fmt: skip


@kernel
def scale(tensor_map, source, out, n):
    full = ptx.mbarrier_array(1)
    ptx.mbarrier_wait_parity(full[0], 0)
    out[cuda.threadIdx.x] = source[cuda.threadIdx.x, 0] * n


SOURCE, OUT = OnDevice(0x7000_0100, (32, 8), strides=(32, 2)), OnDevice(0x7100_0000, (32,))


def arguments():
    return TensorMap.from_array(OnDevice(0x7200_0000, (64, 64)), (8, 64)), SOURCE, OUT, 3


@pytest.fixture
def driver(play):
    class Keeping(FakeDriver):
        loaded = 0

        def cuLibraryLoadData(self, code, *options):
            self.loaded, self.code = self.loaded + 1, code
            return "library"

        def cuLaunchKernelEx(self, config, function, pointers, extra):
            super().cuLaunchKernelEx(config, function, pointers, extra)
            places = (ctypes.c_void_p * 15).from_address(pointers)  # all of eight bytes or more
            self.words = [int.from_bytes(ctypes.string_at(place, 8), "little", signed=True) for place in places]

    return play(Keeping())


def test_arrays_on_the_device_are_used_where_they_are(driver):
    copied = driver.memory.copy()
    scale.prepare(2, 32, arguments())()
    assert (driver.memory == copied).all()
    shown = driver.words
    assert shown[0] == 0x7200_0000  # the map, encoded with its array's own address
    assert shown[1:10] == [
        0,
        0,
        256,
        2,
        0x7000_0100,
        32,
        8,
        32,
        2,
    ]  # size, itemsize, data, shape, strides
    assert shown[10:15] == [0, 0, 32, 2, 0x7100_0000]


def test_run_takes_arrays_on_the_device_too(driver):
    assert scale.run(2, 32, arguments(), on="gpu").ok
    assert driver.words[5] == 0x7000_0100


def test_a_prepared_launch_compiles_and_loads_once_and_launches_on_every_stream(driver):
    scale.prepare(1, 32, arguments())
    launch = scale.prepare(2, 32, arguments(), cluster=2)
    for stream in (None, 7, 9):
        launch(stream)
    assert driver.launches == [0, 7, 9]
    assert driver.loaded == 1
    assert driver.config.attrs[0].value.clusterDim.x == 2


def test_what_a_prepared_launch_starts_has_no_limit_on_its_waits(driver):
    scale.prepare(1, 32, arguments())
    assert SYMBOL.encode() not in driver.code
    scale.run(1, 32, arguments(), on="gpu")
    assert SYMBOL.encode() in driver.code


def test_numpy_arrays_go_to_the_device_once_and_come_back_by_fetch(driver):
    source, out = np.arange(256, dtype=np.uint16).reshape(32, 8), np.zeros(32, np.uint16)
    with scale.prepare(1, 32, (arguments()[0], source, out, 3)) as launch:
        place = words_of(launch)
        driver.memory[place - BASE : place - BASE + 64] = 1
        assert not out.any()
        launch.fetch()
        assert (out == 0x0101).all()
        assert driver.freed == 0
    assert driver.freed == 1


def words_of(launch):
    """The address of `out` among a launch's parameters."""
    return launch._values[14].value


def test_a_fault_is_told_by_the_next_wait_with_the_likely_rule(driver):
    launch = scale.prepare(1, 32, arguments())
    driver.fault = 716
    with pytest.raises(GpuStopped, match=r"kernel scale faulted: misaligned address; most likely a tile .* restart"):
        launch.wait()
    assert device.stopped()


def test_more_threads_than_registers_are_told_before_the_launch(driver):
    driver.attributes = {True: 384, False: 168}
    for way in (lambda: scale.prepare(1, 512, arguments()), lambda: scale.run(1, 512, arguments(), on="gpu")):
        with pytest.raises(ValueError, match="scale takes 168 registers of each thread, so a CTA can have 384 threads"):
            way()
    assert driver.launches == []


def test_a_cluster_that_does_not_fit_is_told_before_the_launch(driver):
    driver.clusters = 0
    with pytest.raises(ValueError, match="no part of the GPU holds a cluster of 8 CTAs of 32 threads"):
        scale.prepare(8, 32, arguments(), cluster=8)
    assert driver.launches == []


@pytest.mark.parametrize("code", [200, 222])
def test_machine_code_of_a_later_toolkit_is_told_as_such(driver, code):
    def refuse(*_):
        raise DriverError("cuLibraryLoadData", code, "CUDA_ERROR")

    driver.cuLibraryLoadData = refuse
    with pytest.raises(GpuUnavailable, match=r"the driver, which knows CUDA 13\.0, does not take the machine code"):
        scale.prepare(1, 32, arguments())


@pytest.mark.parametrize("given", [0, 33, 1.5, True])
def test_a_number_of_ctas_that_is_none_is_refused(driver, given):
    with pytest.raises(ValueError, match="is no number of CTAs: 1 to 32"):
        scale.prepare(1, 32, arguments(), min_ctas=given)


def test_ctas_that_are_to_fit_on_an_sm_bound_the_registers():
    few = compile_kernel(scale.function, arguments(), 512, 4)
    assert ".maxntid 512\n.minnctapersm 4\n{" in few.ptx
    assert few.usage.registers <= 65536 // (512 * 4)


@pytest.mark.parametrize(
    ("stream", "number"),
    [
        (None, 0),
        (3, 3),
        (type("Torch", (), {"cuda_stream": 5})(), 5),
        (type("CuPy", (), {"ptr": 6})(), 6),
        (type("Numba", (), {"handle": ctypes.c_void_p(8)})(), 8),
        (type("Default", (), {"handle": ctypes.c_void_p(0)})(), 0),
        (type("Core", (), {"__cuda_stream__": lambda self: (0, 9)})(), 9),
    ],
)
def test_a_stream_of_any_library_is_a_number(stream, number):
    assert stream_number(stream) == number


def test_what_is_no_stream_is_refused():
    with pytest.raises(TypeError, match="a str is no stream"):
        stream_number("fast")


def test_an_array_of_bits_that_numba_has_no_type_for_is_one_of_their_integers():
    class BFloat16:
        __cuda_array_interface__ = OnDevice(0x1000, (4, 4), "<V2").__cuda_array_interface__

    (found,) = located([BFloat16()])
    assert isinstance(found, DeviceArray)
    assert (found.dtype, found.size, found.contiguous) == (np.uint16, 16, True)


def test_an_argument_that_is_no_array_is_refused_by_its_name(driver):
    with pytest.raises(TypeError, match="argument source is a str"):
        scale.prepare(1, 32, (arguments()[0], "words", OUT, 3))


def test_a_map_on_the_device_is_encoded_with_its_own_address(driver):
    launch = scale.prepare(1, 32, arguments())
    assert struct.unpack("<Q", bytes(launch._values[0])[:8])[0] == 0x7200_0000
