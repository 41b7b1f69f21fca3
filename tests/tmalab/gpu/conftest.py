"""Launches without a GPU: a fake driver in place of the real one."""

from __future__ import annotations

import struct

import pytest

from tmalab.gpu import device, launch, maps, memory, prepared, trace_cost
from tmalab.gpu.device import Hopper


@pytest.fixture
def play(monkeypatch):
    """Put a fake driver in place of the real one; at the end nothing of it is left."""

    def put(driver):
        for module in (device, launch, memory, maps, prepared, trace_cost):
            monkeypatch.setattr(module, "call", driver)
        monkeypatch.setattr(memory, "encode", lambda tm: struct.pack("<Q", tm.global_address) + bytes(120))
        monkeypatch.setattr(device, "_find", lambda: Hopper("fake", 13000, None))
        monkeypatch.setattr(device, "_stopped", [])
        return driver

    launch.loaded.cache_clear(), prepared._loaded.cache_clear()
    yield put
    launch.loaded.cache_clear(), prepared._loaded.cache_clear()
