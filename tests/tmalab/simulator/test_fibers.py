"""What a simulated thread runs on: a C stack above which lie the frames of the caller who waits for it."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numba import cuda

from tmalab import kernel
from tmalab.simulator.scheduler import Scheduler
from tmalab.simulator.thread_checks import Batch

FRAMES = 2000
libc = ctypes.CDLL(None)


@kernel
def read_and_write(out):
    """Every thread touches two elements, after the others."""
    out[cuda.threadIdx.x] = cuda.threadIdx.x
    cuda.syncthreads()
    out[cuda.threadIdx.x + cuda.blockDim.x] = out[cuda.threadIdx.x]


def c_stack() -> list[int]:
    """Return addresses, innermost first, as NumPy and debuggers find them: by walking up from frame to frame."""
    found = (ctypes.c_void_p * FRAMES)()
    return list(found[: libc.backtrace(found, FRAMES)])


def deeper(levels: int, then) -> None:
    """Call something under so many more frames of C."""
    if levels:
        next(map(lambda _: deeper(levels - 1, then), [0]))  # noqa: C417, as map is written in C
    else:
        then()


def same_callers(one: list[int], other: list[int]) -> int:
    """How many frames two stacks have in common, from the outermost on."""
    return next(
        (at for at, (mine, yours) in enumerate(zip(reversed(one), reversed(other))) if mine != yours),
        min(len(one), len(other)),
    )


@pytest.fixture
def stacks(monkeypatch):
    """The C stacks of the runs so far: each time threads begin, and in each check, which a thread may make."""
    seen: dict[str, list[list[int]]] = {"hub": [], "checks": []}
    begin, check = Scheduler._begin, Batch.check

    def begin_seen(self, threads):
        seen["hub"].append(c_stack())
        begin(self, threads)

    def check_seen(self):
        seen["checks"].append(c_stack())
        check(self)

    monkeypatch.setattr(Scheduler, "_begin", begin_seen)
    monkeypatch.setattr(Batch, "check", check_seen)
    monkeypatch.setattr("tmalab.simulator.access_log.BATCH", 8)  # so that threads check, not only the hub
    return seen


def test_the_stack_of_a_thread_goes_on_with_that_of_the_caller_wherever_earlier_runs_were_called_from(stacks):
    for levels in (40, 0, 7, 90, 3):
        for kept in stacks.values():
            kept.clear()
        deeper(levels, lambda: read_and_write.run(block=64, args=(np.zeros(128, np.int32),)))
        hub = stacks["hub"][0]
        assert len(hub) < FRAMES
        assert any(len(stack) != len(hub) for stack in stacks["checks"])  # some were made in threads
        for stack in stacks["checks"]:
            common = same_callers(stack, hub)
            assert common > levels
            assert len(hub) - common < 15  # but for the innermost ones
