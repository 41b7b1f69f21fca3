"""The recorder, with the simulator in the place of a GPU: what it writes, what it refuses to write."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import recorded
from tmalab.gpu import recorder
from tmalab.gpu.device import Hopper
from tmalab.gpu.recorder import RecordingError, record
from tmalab.recorded.cases import GROUPS
from tmalab.recorded.perform import perform


@pytest.fixture
def simulated(monkeypatch):
    """A recorder that asks the simulator, for the first few cases of each group."""
    groups = {name: group._replace(fixed=lambda all=group.fixed: all()[:3]) for name, group in GROUPS.items()}
    monkeypatch.setattr(recorder, "perform", lambda case, on: perform(case, "simulator"))
    monkeypatch.setattr(recorder, "hopper", lambda: Hopper("A GPU", 13010, None))
    monkeypatch.setattr(recorder, "GROUPS", groups)


@pytest.fixture
def reread(monkeypatch, tmp_path):
    """Recordings are read from the test's folder."""
    monkeypatch.setattr(recorded, "_folder", lambda: tmp_path)
    recorded.read.cache_clear()
    yield recorded.read
    recorded.read.cache_clear()


def test_what_is_written_is_read_back(simulated, tmp_path, reread):
    assert record(tmp_path, ["lesson-1", "stores"], command="by hand") == {"lesson-1": 3, "stores": 3}
    reading = reread("stores")
    assert reading.cases == tuple(GROUPS["stores"].fixed()[:3])
    assert reading.provenance["gpu"] == "A GPU"
    assert reading.provenance["cuda_driver"] == "13.1"
    assert reading.provenance["command"] == "by hand"
    assert reading.provenance["packages"]["numpy"] == np.__version__
    for case, result in zip(reading.cases, reading.results, strict=True):
        assert np.array_equal(result, perform(case, "simulator")[1])


def test_a_case_that_goes_wrong_is_not_recorded(simulated, tmp_path, monkeypatch):
    wrong = GROUPS["lesson-1"]._replace(fixed=lambda: GROUPS["faults"].fixed()[:1])
    monkeypatch.setitem(recorder.GROUPS, "lesson-1", wrong)
    with pytest.raises(RecordingError, match="x of 4 bytes"):
        record(tmp_path, ["lesson-1"])
    assert not (tmp_path / "lesson-1.npz").exists()


def test_a_fault_that_does_not_come_is_not_recorded(simulated, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "_CHILD", "print('none')")
    with pytest.raises(RecordingError, match="did not fault"):
        record(tmp_path, ["faults"])


def test_a_fault_is_recorded_by_its_kind(simulated, tmp_path, monkeypatch, reread):
    monkeypatch.setattr(recorder, "_CHILD", "print('illegal_instruction')")
    record(tmp_path, ["faults"])
    assert reread("faults").results == ("illegal_instruction",) * 3


def test_a_map_is_recorded_as_the_driver_encodes_and_moves_it(simulated, tmp_path, monkeypatch, reread):
    monkeypatch.setattr(recorder, "hopper", lambda: Hopper("A GPU", 13010, None))
    monkeypatch.setattr(Hopper, "use", lambda self: None)
    monkeypatch.setattr(recorder, "encode", lambda tm: bytes(range(128)))
    monkeypatch.setattr(recorder, "replace_address", lambda data, address: (0, data[::-1]))
    record(tmp_path, ["maps"])
    forth, back = np.arange(128, dtype=np.uint8), np.arange(128, dtype=np.uint8)[::-1]
    for case, result in zip(reread("maps").cases, reread("maps").results, strict=True):
        assert np.array_equal(result, forth if case.moved is None else back)


def test_a_map_that_the_driver_does_not_move_is_not_recorded(simulated, tmp_path, monkeypatch):
    monkeypatch.setattr(Hopper, "use", lambda self: None)
    monkeypatch.setattr(recorder, "encode", lambda tm: bytes(128))
    monkeypatch.setattr(recorder, "replace_address", lambda data, address: (1, data))
    with pytest.raises(RecordingError, match="cuTensorMapReplaceAddress failed with 1"):
        record(tmp_path, ["maps"])


def test_a_group_that_there_is_not_is_named(simulated, tmp_path):
    with pytest.raises(KeyError, match="lesson-99"):
        record(tmp_path, ["lesson-99"])
