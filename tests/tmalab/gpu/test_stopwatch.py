"""The stopwatch, with a driver that only counts: what a graph takes is shared among its launches."""

from __future__ import annotations

import pytest

from tmalab.gpu import stopwatch

EACH_NS = 500.0


class CountingDriver:
    """A driver whose graphs take 500 ns for each launch that they captured."""

    def __init__(self):
        self.captured, self.graphs, self.replayed = 0, [], 0

    def __call__(self, function, *arguments):
        if function == "cuStreamBeginCapture":
            self.captured = 0
        if function == "cuStreamEndCapture":
            self.graphs.append(self.captured)
            return len(self.graphs) - 1
        if function == "cuGraphLaunch":
            self.replayed = self.graphs[arguments[0]]
        if function == "cuEventElapsedTime":
            return self.replayed * EACH_NS / 1e6
        return arguments[0] if function == "cuGraphInstantiate" else 7


@pytest.fixture
def driver(monkeypatch):
    made = CountingDriver()
    monkeypatch.setattr(stopwatch, "call", made)
    return made


class Launch:
    """A prepared launch that the driver counts while it captures."""

    def __init__(self, driver):
        self.driver, self.waited = driver, 0

    def __call__(self, stream=None):
        if stream is None:
            self.driver.captured -= 1  # outside of a graph
        self.driver.captured += 1

    def wait(self):
        self.waited += 1


def test_times_are_those_of_one_launch_and_the_warm_up_is_left_out(driver):
    launch = Launch(driver)
    assert stopwatch.nanoseconds_each(launch, replays=5) == [EACH_NS] * 5
    assert launch.waited == 1


def test_a_graph_has_as_many_launches_as_take_two_milliseconds_within_limits(driver):
    stopwatch.nanoseconds_each(Launch(driver))
    assert driver.graphs == [stopwatch.FEWEST, stopwatch.MOST]


@pytest.mark.gpu
def test_an_empty_kernel_takes_some_microseconds_from_launch_to_launch():
    from tmalab.timing.micro import BENCHMARKS

    nothing = BENCHMARKS["launch"]
    with nothing.kernel.prepare(1, nothing.block, nothing.arguments(0)) as launch:
        times = stopwatch.nanoseconds_each(launch)
    assert all(300 < time < 20_000 for time in times)
