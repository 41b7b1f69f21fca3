"""Launching without a GPU: a driver is played by a fake that keeps what it was told. What a real one does is in
test_on_hopper.py."""

from __future__ import annotations

import ctypes
import re
import struct
from contextlib import contextmanager

import numpy as np
import pytest
from fake_driver import BASE, FakeDriver
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.gpu import device, launch, memory
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.device import DriverError
from tmalab.gpu.errors import GpuStopped, GpuUnavailable


@kernel
def anything(tensor_map, a, flag, n, x, out):
    bar = ptx.mbarrier_array(1)
    ptx.cp_async_bulk_tensor_2d(4096, tensor_map, 0, 0, bar[0])
    while not ptx.mbarrier_try_wait_parity(bar[0], 0):
        pass
    if flag:
        out[n, 0] = a[cuda.threadIdx.x, 1] + x


WHOLE = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)


def arguments():
    half = WHOLE[8:, 64:]
    return TensorMap.from_array(half, (8, 64)), WHOLE[::2, ::2], True, 3, 0.5, np.zeros((8, 4), np.float32)


def launched(driver, **options):
    args = arguments()
    return anything.run(args=args, on="gpu", **options), args


def test_the_parameters_have_the_sizes_that_the_ptx_declares(play):
    play(FakeDriver())
    args = arguments()
    with memory.on_device(args) as layout:
        values = memory.parameters(args, layout)
    ptx_text = compile_kernel(anything.function, args).ptx
    declared = re.findall(r"\.param (?:\.align 64 )?\.\w?(\d+) anything_param_\d+(?:\[(\d+)\])?", ptx_text)
    assert [ctypes.sizeof(value) for value in values] == [int(bits) // 8 * int(count or 1) for bits, count in declared]


def test_views_of_one_buffer_are_one_memory_at_their_offsets(play):
    play(FakeDriver())
    args = arguments()
    with memory.on_device(args) as layout:
        tensor_map, *parts = memory.parameters(args, layout)
    assert struct.unpack("<Q", bytes(tensor_map)[:8])[0] == BASE + 8 * 256 + 128  # WHOLE[8, 64]
    assert parts[4].value == BASE  # the data pointer of a view that starts with WHOLE
    assert [part.value for part in parts[5:9]] == [8, 64, 512, 4]  # shape, strides in bytes


def test_buffers_start_at_multiples_of_256(play):
    driver = play(FakeDriver())
    with memory.on_device((np.zeros(3, np.uint8), np.zeros(5, np.int64))) as layout:
        assert [buffer.address for buffer in layout.buffers] == [BASE, BASE + 256]
    assert driver.allocated >= 256 + 40 + 16  # a store's clip stays inside


def test_results_come_back_in_place_and_what_is_read_only_stays(play):
    def effect(memory):
        memory[:] = 0x40

    play(FakeDriver(effect))
    frozen = np.zeros((8, 64), np.float32)
    frozen.flags.writeable = False
    out = np.zeros((8, 4), np.float32)
    run = anything.run(args=(arguments()[0], frozen, True, 3, 0.5, out), on="gpu")
    assert run.ok
    assert (out.view(np.uint8) == 0x40).all()
    assert (frozen == 0).all()
    WHOLE[:] = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)


def test_grid_block_and_cluster_reach_the_driver(play):
    driver = play(FakeDriver())
    launched(driver, grid=(4, 2), block=(32, 2, 1), cluster=(2, 1, 1))
    config = driver.config
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (4, 2, 1)
    assert (config.blockDimX, config.blockDimY, config.blockDimZ) == (32, 2, 1)
    size = config.attrs[0].value.clusterDim
    assert (size.x, size.y, size.z) == (2, 1, 1)


def test_waits_that_gave_up_are_a_deadlock(play):
    driver = play(FakeDriver(notes=(128, struct.pack("<IIIIQ", 0x400, 0, 7, 0, 1))))
    run, _ = launched(driver)
    assert not run.ok
    assert [hazard.name for hazard in run.hazards] == ["deadlock"]
    assert "128 threads gave up" in run.deadlock.message
    assert "threads 7 waited on the mbarrier at 0x400 for parity 1" in run.deadlock.message


@pytest.mark.parametrize(
    ("code", "kind"), [(700, "illegal_address"), (715, "illegal_instruction"), (716, "misaligned_address")]
)
def test_a_fault_is_in_the_run_and_ends_the_process_for_the_gpu(play, code, kind):
    driver = play(FakeDriver(fault=code))
    run, _ = launched(driver)
    assert run.fault.kind == kind
    assert "restart the process" in str(run.fault)
    assert "anything" in str(run.fault)
    with pytest.raises(GpuStopped, match="restart it"):
        launched(driver)


def test_another_error_of_the_driver_raises(play):
    with pytest.raises(DriverError, match=r"cuStreamQuery failed: fault \(718\)"):
        launched(play(FakeDriver(fault=718)))


def test_a_kernel_that_never_ends_does_not_hang_the_process(play, monkeypatch):
    driver = play(FakeDriver(endless=True))
    monkeypatch.setattr(launch, "ENDLESS_SECONDS", 0.05)
    with pytest.raises(GpuStopped, match="a loop that never ends"):
        launch.run_on_gpu(anything, (1, 1, 1), (32, 1, 1), arguments(), limit_ns=1000)
    assert driver.freed == 0  # the driver frees only what no kernel uses: it would wait for ever
    with pytest.raises(GpuStopped):
        launched(driver)


def test_a_kernel_that_does_not_compile_is_in_the_run(play):
    @kernel
    def wrong(out):
        ptx.mbarrier_init(out, 0.5)

    play(FakeDriver())
    run = wrong.run(args=(np.zeros(3),), on="gpu")
    assert not run.ok
    assert "count is a float" in str(run.compile_error)


def test_a_map_without_memory_is_refused(play):
    play(FakeDriver())
    loose = TensorMap(6, 0x1000, (128, 16), (256,), (64, 8))
    with pytest.raises(ValueError, match="bind"):
        anything.run(args=(loose, *arguments()[1:]), on="gpu")


@contextmanager
def machine(monkeypatch, **answers):
    """A machine whose driver gives these answers."""

    def call(function, *arguments):
        answer = answers[function]
        if isinstance(answer, Exception):
            raise answer
        return answer(*arguments) if callable(answer) else answer

    monkeypatch.setattr(device, "call", call)
    monkeypatch.setattr(device, "_stopped", [])
    device._find.cache_clear()
    yield
    monkeypatch.undo()
    device._find.cache_clear()


def attribute(major, minor):
    return lambda which, gpu: major if "MAJOR" in str(which) else minor


NO_DRIVER = {"cuInit": RuntimeError("Failed to dlopen libcuda.so.1")}
NO_DEVICE = {"cuInit": DriverError("cuInit", 100, "CUDA_ERROR_NO_DEVICE")}
OLD_DRIVER = {"cuInit": None, "cuDriverGetVersion": 12040, "cuDeviceGetCount": 1, "cuDeviceGet": 0}
GPU = OLD_DRIVER | {"cuDriverGetVersion": 13000, "cuDevicePrimaryCtxRetain": "context"}
AMPERE = GPU | {"cuDeviceGetName": b"NVIDIA A100\0\0\0  ", "cuDeviceGetAttribute": attribute(8, 0)}
BLACKWELL = GPU | {"cuDeviceGetName": b"NVIDIA B200", "cuDeviceGetAttribute": attribute(10, 0)}
HOPPER = GPU | {"cuDeviceGetName": b"NVIDIA H100\0\0", "cuDeviceGetAttribute": attribute(9, 0)}


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        (NO_DRIVER, "no NVIDIA GPU with a working driver is here"),
        (NO_DEVICE, "no NVIDIA GPU with a working driver is here"),
        (OLD_DRIVER, "the NVIDIA driver knows CUDA 12.4, but the kernels are assembled for CUDA 13.0"),
        (AMPERE, "the GPU here is a NVIDIA A100 (sm_80)"),
        (BLACKWELL, "the GPU here is a NVIDIA B200 (sm_100)"),
    ],
)
def test_why_there_is_no_gpu_is_one_sentence_before_anything_else(monkeypatch, answers, sentence):
    with machine(monkeypatch, **answers):
        with pytest.raises(GpuUnavailable) as caught:
            anything.run(args=arguments(), on="gpu")
        assert str(caught.value).startswith(sentence)
        assert "\n" not in str(caught.value)
        assert device.why_no_gpu() == str(caught.value)


def test_a_hopper_gpu_is_taken(monkeypatch):
    with machine(monkeypatch, **HOPPER):
        assert device.hopper().name == "NVIDIA H100"
        assert device.why_no_gpu() is None
