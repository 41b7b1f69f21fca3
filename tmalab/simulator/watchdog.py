"""The watchdog: a timer that stops a kernel which never lets the simulator go on.

A Python loop without any simulated operation never returns to the scheduler. A second OS thread sees that no step is
taken and raises an exception in the loop, whose line then is the report.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from tmalab.simulator.access_log import BATCH, LONG
from tmalab.simulator.errors import EndlessLoop, TooLong

if TYPE_CHECKING:
    from tmalab.simulator.simulation import Simulation

SILENT_SECONDS = 5.0  # without a step of the scheduler
TOTAL_SECONDS = 120.0  # for one run
INTERVAL = 0.1  # seconds between looks
IDLE_LOOKS = 20  # in a row without a run, before the timer sleeps until it is called

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
    """Seconds of the processor, so that a busy machine stops nobody early; at least an eighth of the clock's."""

    def __init__(self):
        self._cpu, self._clock = time.process_time(), time.monotonic()

    def seconds(self) -> float:
        """Since it was made."""
        return max(time.process_time() - self._cpu, (time.monotonic() - self._clock) / 8)


class Watchdog:
    """Watches one run; use it as a context."""

    def __init__(self, run: Simulation):
        self._run, self._scheduler = run, run.scheduler
        self.fired: type[EndlessLoop] | None = None  # what it has raised
        self._target = threading.get_ident()
        self._silent, self._total = _limits.get()
        self._began: Stopwatch | None = None  # until the first look: most runs end before it
        self._steps = run.scheduler.steps

    def __enter__(self) -> Watchdog:
        _timer.watch(self)
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            _timer.leave(self)
        except EndlessLoop:  # raised as the run ended, it comes out here
            _timer.leave(self)
        if self.fired is not None:
            _take_back(self._target)

    def look(self) -> None:
        """Called by the timer, now and then."""
        if self._began is None:
            self._began = self._silence = Stopwatch()
        if self._scheduler.steps != self._steps:
            self._steps, self._silence = self._scheduler.steps, Stopwatch()
        silent = self._silence.seconds() > self._silent or self._run.log.size > BATCH + LONG
        if (silent or self._began.seconds() > self._total) and self._run.fault is None:
            self._scheduler.stopping = True
            self.fired = EndlessLoop if silent else TooLong
            _raise_in(self._target, self.fired)
            self._silence = Stopwatch()  # should the kernel swallow it, it comes again


class Timer:
    """The OS thread that looks after the runs of this process, one after the other.

    To start a thread for each run costs as much as a small run; this one sleeps when there was none for a while.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process = 0  # a forked one has no timer yet
        self._called = threading.Event()
        self._watched: list[Watchdog] = []  # the innermost run is the last
        self._idle = 0  # looks in a row without a run

    def watch(self, dog: Watchdog) -> None:
        """Look after a run from now on."""
        if self._process != os.getpid() or self._thread is None or not self._thread.is_alive():
            self.__init__()  # type: ignore[misc]
            self._process = os.getpid()
            self._thread = threading.Thread(target=self._keep_looking, name="tmalab-watchdog", daemon=True)
            self._thread.start()
        with self._lock:
            self._watched.append(dog)
            if self._idle >= IDLE_LOOKS:
                self._called.set()
            self._idle = 0

    def leave(self, dog: Watchdog) -> None:
        """The run is over: from now on nothing is raised in its thread."""
        with self._lock:
            self._watched = [other for other in self._watched if other is not dog]

    def _keep_looking(self) -> None:
        while True:
            time.sleep(INTERVAL)
            with self._lock:
                if self._watched:
                    self._watched[-1].look()
                    continue
                self._idle += 1
                asleep = self._idle >= IDLE_LOOKS
                if asleep:
                    self._called.clear()
            if asleep:
                self._called.wait()


_timer = Timer()


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
