"""The watchdog: a timer that stops a kernel which never lets the simulator go on.

A Python loop without any simulated operation never returns to the scheduler. A second OS thread sees that no step is
taken and raises an exception in the loop, whose line then is the report.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from tmalab.simulator.errors import EndlessLoop, TooLong

if TYPE_CHECKING:
    from tmalab.simulator.simulation import Simulation

SILENT_SECONDS = 5.0  # without a step of the scheduler
TOTAL_SECONDS = 120.0  # for one run
ACCESSES = 1 << 23  # to memory, without a step of the scheduler: they are kept until then
INTERVAL = 0.1  # seconds between looks

_limits: ContextVar[tuple[float, float]] = ContextVar("limits", default=(SILENT_SECONDS, TOTAL_SECONDS))


@contextmanager
def patience(silent: float, total: float) -> Iterator[None]:
    """Other limits, in seconds, for the runs inside: a check of an exercise has less time than a person."""
    token = _limits.set((silent, total))
    try:
        yield
    finally:
        _limits.reset(token)


def limits() -> tuple[float, float]:
    """Seconds: how long a kernel may keep the simulator waiting, and how long a run may take."""
    return _limits.get()


class Stopwatch:
    """Seconds of the processor, so that a busy machine stops nobody early; at least a quarter of the clock's."""

    def __init__(self):
        self._cpu, self._clock = time.process_time(), time.monotonic()

    def seconds(self) -> float:
        """Since it was made."""
        return max(time.process_time() - self._cpu, (time.monotonic() - self._clock) / 4)


class Watchdog:
    """Watches one run; use it as a context."""

    def __init__(self, run: Simulation):
        self._run, self._scheduler = run, run.scheduler
        self.fired: type[EndlessLoop] | None = None  # what it has raised
        self._target = threading.get_ident()
        self._stop = threading.Event()
        self._silent, self._total = _limits.get()
        self._timer = threading.Thread(target=self._watch, name="tmalab-watchdog", daemon=True)

    def __enter__(self) -> Watchdog:
        self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._timer.join()
        if self.fired is not None:
            _take_back(self._target)

    def _watch(self) -> None:
        run, silence = Stopwatch(), Stopwatch()
        steps = self._scheduler.steps
        while not self._stop.wait(INTERVAL):
            if self._scheduler.steps != steps:
                steps, silence = self._scheduler.steps, Stopwatch()
            silent = silence.seconds() > self._silent or self._run.log.size > ACCESSES
            if (silent or run.seconds() > self._total) and self._run.fault is None:
                self._scheduler.stopping = True
                self.fired = EndlessLoop if silent else TooLong
                _raise_in(self._target, self.fired)
                silence = Stopwatch()  # should the kernel swallow it, it comes again


def _take_back(thread: int) -> None:
    """An exception that has not come out yet in this, the calling, thread must not come out later.

    To set none in its place would take it back, but leave the interpreter (3.11) looking for one at every jump: slow,
    and an endless loop under a profiler or tracer. So another one takes its place, and comes out here.
    """
    try:
        _raise_in(thread, EndlessLoop)
        for _ in range(1000):  # it comes out at a jump
            pass
    except EndlessLoop:
        pass


def _raise_in(thread: int, exception: type[BaseException]) -> None:
    """Have an exception raised in an OS thread at its next bytecode."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))
