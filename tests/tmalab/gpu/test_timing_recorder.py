"""Recording times without a GPU: what fails is said, and nothing else is lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tmalab.gpu import timing_recorder
from tmalab.gpu.device import why_no_gpu
from tmalab.gpu.device_arrays import DeviceArray, located
from tmalab.gpu.signature import signature_of
from tmalab.launch import Kernel
from tmalab.timing.measured import Measured
from tmalab.timing.micro import BENCHMARKS
from tmalab.timing.trials import TRIALS


def test_the_words_that_a_benchmark_writes_are_an_array_in_the_gpus_memory(monkeypatch):
    monkeypatch.setattr(timing_recorder, "call", lambda function, *arguments: 0x7F0000000000)
    (words,) = located((timing_recorder.Words(2),))
    assert isinstance(words, DeviceArray)
    assert (words.shape, words.dtype, words.address) == ((2,), np.int64, 0x7F0000000000)
    benchmark = BENCHMARKS["arrive"]
    of_host = signature_of(benchmark.kernel.function, benchmark.arguments(1))
    assert signature_of(benchmark.kernel.function, benchmark.arguments(1, out=words)) == of_host


def test_a_benchmark_that_is_measured_with_two_lengths_is_their_difference_a_turn(monkeypatch):
    monkeypatch.setattr(timing_recorder, "_lengths", lambda benchmark, times, sms: [100.0 + times * 50.0] * 3)
    benchmark = BENCHMARKS["arrive"]
    assert timing_recorder.measure(benchmark, 132) == [50.0 / benchmark.turns] * 3
    assert timing_recorder.measure(BENCHMARKS["launch"], 132) == [150.0] * 3


def test_trials_are_measured_each_in_its_own_process_or_told_why_not():
    names = [name for name in TRIALS if name.startswith("stores")][:2]
    found = timing_recorder.measure_trials(names)
    assert list(found) == names
    for result in found.values():
        assert "GPU" in result if why_no_gpu() else min(result["ns"]) > 0


def test_what_failed_is_told_and_the_rest_is_written(monkeypatch, tmp_path):
    def measure(benchmark, sms):
        if benchmark.name == "fence":
            raise ValueError("no fence")
        return [1.0, 2.0, 3.0]

    some = next(iter(TRIALS))
    monkeypatch.setattr(timing_recorder, "describe", lambda command: {"command": command, "gpu": "a test"})
    monkeypatch.setattr(timing_recorder, "hopper", lambda: type("Gpu", (), {"use": lambda self: None})())
    monkeypatch.setattr(timing_recorder, "_attribute", lambda name: 132)
    monkeypatch.setattr(timing_recorder, "measure", measure)
    monkeypatch.setattr(timing_recorder, "measure_trials", lambda names: {some: {"ns": [5.0], "registers": 9}})
    counts = timing_recorder.record_timing(tmp_path)
    assert counts["failed"] == {"fence": "ValueError: no fence"}
    assert counts["constants"] == 0
    assert not (tmp_path / "timing.json").exists()
    measured = Measured.read(tmp_path / "timing-measured.json")
    assert set(measured.samples) == set(BENCHMARKS) - {"fence"}
    assert measured.times() == {some: 5.0}


def test_where_all_benchmarks_were_measured_the_constants_are_written(monkeypatch, tmp_path):
    from tmalab.timing.constants import Constants

    monkeypatch.setattr(timing_recorder, "describe", lambda command: {"command": command, "gpu": "a test"})
    monkeypatch.setattr(timing_recorder, "hopper", lambda: type("Gpu", (), {"use": lambda self: None})())
    monkeypatch.setattr(timing_recorder, "_attribute", lambda name: 132)
    monkeypatch.setattr(timing_recorder, "measure", lambda benchmark, sms: [1000.0] * 9)
    monkeypatch.setattr(timing_recorder, "measure_trials", lambda names: {})
    counts = timing_recorder.record_timing(tmp_path)
    assert counts["failed"] == {}
    assert Constants.read(tmp_path / "timing.json").missing() == []


class WordsHere(np.ndarray):
    """The words of a benchmark in this process, for the simulator to write."""

    def __new__(cls, count):
        return np.zeros(count, np.int64).view(cls)

    def read(self):
        return np.array(self)


class SimulatedLaunch:
    """A prepared launch that runs in the simulator. `log` notes what happens."""

    def __init__(self, kernel, log, *launch):
        self.kernel, self.log, self.launch = kernel, log, launch

    def __call__(self):
        self.log.append(self.kernel.__name__)
        grid, block, args, cluster = self.launch
        assert not KERNEL_RUN(self.kernel, grid, block, args, cluster).hazards

    def wait(self):
        self.log.append("wait")

    def close(self):
        self.log.append("close")


KERNEL_RUN = Kernel.run


@pytest.fixture
def log(monkeypatch):
    """A GPU that is the simulator."""
    happened = []
    monkeypatch.setattr(timing_recorder, "Words", WordsHere)

    def prepare(kernel, grid=1, block=128, args=(), cluster=1):
        return SimulatedLaunch(kernel, happened, grid, block, args, cluster)

    def run(kernel, grid, block, args, cluster, on):
        happened.append(on)
        return KERNEL_RUN(kernel, grid, block, args, cluster)

    monkeypatch.setattr(Kernel, "prepare", prepare)
    monkeypatch.setattr(Kernel, "run", run)
    return happened


def small(name, turns):
    return replace(BENCHMARKS[name], turns=turns, memory=1 << 18)


def test_a_benchmark_runs_once_with_bounded_waits_and_then_as_often_as_it_is_repeated(log):
    found = timing_recorder.measure(small("arrive", 2), 2)
    assert len(found) == timing_recorder.REPEATS
    launches = timing_recorder.WARM + timing_recorder.REPEATS
    assert log == ["gpu", *["arrives", "wait"] * launches, "close"] * 2


def test_before_each_launch_of_a_cold_benchmark_the_cache_is_filled_with_other_bytes(log, monkeypatch):
    class Flush:
        def __call__(self):
            log.append("flush")

        def close(self):
            log.append("flushed")

    monkeypatch.setattr(timing_recorder, "_flush", lambda sms: Flush())
    timing_recorder.measure(small("load_device_1k", 2), 2)
    launches = timing_recorder.WARM + timing_recorder.REPEATS
    assert log[1 : 1 + 3 * launches] == ["flush", "loads", "wait"] * launches


def test_waves_are_of_so_many_ctas_for_each_sm(log, monkeypatch):
    grids = []

    def timed(launch, repeats):
        grids.append(launch.launch[0])
        return [10.0 * grids[-1]] * repeats

    monkeypatch.setattr(timing_recorder, "nanoseconds_each", timed)
    assert timing_recorder.measure(small("cta_start", 3), 2) == [20.0] * timing_recorder.REPEATS
    assert grids == [6, 12]
