"""What looks at the clock cost: measured in three ways, with a fake driver in place of a GPU."""

from __future__ import annotations

import ctypes
import json
import struct

import pytest
from fake_driver import BASE, FakeDriver

from tmalab.gpu import trace_cost
from tmalab.gpu.bounded_waits import LIMIT_NS
from tmalab.gpu.clocked_ptx import BEGIN, BEGIN_TIME, END, LOOK
from tmalab.gpu.clocked_ptx import SYMBOL as LOOKS
from tmalab.timing.trials.moves import launch_ring
from tmalab.timing.trials.trial import trial

RING = trial(launch_ring, "ring copy", mib=3, rows=64, stages=2)
AT = 0x6000


class Driver(FakeDriver):
    """Notes which code was loaded, and has the looks of two threads at an address of their own."""

    def __init__(self):
        super().__init__()
        self.codes = []
        self.limits = []

    def cuLibraryLoadData(self, code, *options):
        self.codes.append(code)
        return super().cuLibraryLoadData(code, *options)

    def cuLibraryGetGlobal(self, library, name):
        return (AT if name == LOOKS.encode() else 7), 0

    def cuMemsetD8(self, address, value, size):
        assert address == AT

    def cuMemAlloc(self, size):
        self.memory.resize(max(self.memory.size, size), refcheck=False)
        return BASE

    def cuMemcpyHtoD(self, to, source, size):
        super().cuMemcpyHtoD(to, source, size)
        if to == 7:
            self.limits.append(struct.unpack("<QQQ", source)[0])

    def cuMemcpyDtoH(self, to, source, size):
        if source == AT:
            looks = b"".join(LOOK.pack(time, event, 0) for time, event in ((9, BEGIN_TIME), (5, BEGIN), (7, END)))
            ctypes.memmove(to, looks, len(looks))
        else:
            super().cuMemcpyDtoH(to, source, size)


@pytest.fixture
def driver(play, monkeypatch):
    monkeypatch.setitem(trace_cost.TRACES, RING.name, RING)
    monkeypatch.setattr(trace_cost, "nanoseconds_each", lambda prepared: [float(len(type(prepared).__name__))])
    return play(Driver())


def test_a_kernel_is_timed_as_written_with_bounded_waits_and_with_looks(driver):
    found = trace_cost.measure_traces(RING.name)
    assert (found["ctas"], found["looking"], found["looks"]) == (132, 4, 3)
    assert [found[kind] for kind in ("plain", "bounded", "traced")] == [[8.0], [7.0], [7.0]]
    assert len(set(driver.codes)) == 3  # with looks, which ran once before; as written; with bounded waits
    assert driver.limits == [LIMIT_NS] * 3


def test_what_was_measured_is_written_a_line_for_each_kernel(tmp_path):
    trace_cost.write_traces(tmp_path, {"gpu": "a test"}, {"a": {"looks": 3}, "b": {"looks": 4}})
    found = (tmp_path / trace_cost.FILE).read_text()
    assert json.loads(found) == {"provenance": {"gpu": "a test"}, "traces": {"a": {"looks": 3}, "b": {"looks": 4}}}
    assert len(found.splitlines()) == 5


def test_kernels_of_grids_in_which_every_cta_looks_are_among_them():
    grids = [made.launching().grid for name, made in trace_cost.TRACES.items() if "m=256" in name]
    assert grids == [(2, 2, 1)] * 3
