"""Work dealt out to processes of their own, a few at a time: one that stops or falls silent costs its piece alone.

A process does its pieces in order and prints a line of JSON for each, `[piece, ...]`, as soon as it is done; its other
lines are kept too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

PROCESSES = 12
SILENT = 45  # seconds without a line after which a process is ended


@dataclass
class Went:
    """How a process went: what it said of each piece, its other lines, and whether it ended by itself and well."""

    said: dict[str, list[Any]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    whole: bool = False
    late: bool = False  # the time for all was over before it ended


def deal_out(
    batches: Iterable[list[str]],
    command: list[str],
    settle: Callable[[list[str], Went], Iterable[list[str]]],
    deadline: float,
    at_once: int = PROCESSES,
    silent: float = SILENT,
) -> None:
    """Run the command with each batch of pieces as arguments, until all are settled or `deadline` (time.monotonic).

    `settle(batch, went)`, called by one thread at a time, gives the batches that are still to do of this one.
    """
    waiting: SimpleQueue[list[str]] = SimpleQueue()
    for batch in batches:
        waiting.put(batch)
    lock = threading.Lock()

    def work(_: int) -> None:
        while time.monotonic() < deadline:
            try:
                batch = waiting.get_nowait()
            except Empty:
                return
            went = run([*command, *batch], deadline, silent)
            with lock:
                for again in settle(batch, went):
                    waiting.put(again)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(work, range(at_once)))


def run(command: list[str], deadline: float, silent: float = SILENT) -> Went:
    """Run a process to its end, to the deadline, or until it has been silent for too long."""
    went = Went()
    for line in _lines(command, deadline, silent, went):
        if line.startswith("["):
            piece, *rest = json.loads(line)
            went.said[piece] = rest
        else:
            went.lines.append(line)
    return went


def _lines(command: list[str], deadline: float, silent: float, went: Went) -> Iterator[str]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    with process:
        watch = _watch(process, deadline, silent)
        for line in process.stdout or ():
            watch.cancel()
            yield line.rstrip("\n")
            watch = _watch(process, deadline, silent)
        watch.cancel()
    went.whole = process.returncode == 0
    went.late = not went.whole and time.monotonic() >= deadline


def _watch(process: subprocess.Popen, deadline: float, silent: float) -> threading.Timer:
    """End the process, and what it started, unless this is cancelled in time."""
    watch = threading.Timer(max(0.0, min(silent, deadline - time.monotonic())), _end, [process])
    watch.daemon = True
    watch.start()
    return watch


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def in_batches(pieces: list[str], size: int) -> list[list[str]]:
    """The pieces, so many at a time, neighbours apart: those that take long are often neighbours."""
    count = -(-len(pieces) // size)
    return [pieces[i::count] for i in range(count)]
