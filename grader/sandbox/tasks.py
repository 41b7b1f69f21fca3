"""What a fresh process in the sandbox does: compile a kernel, run it once, or give a notebook's answers.

Only the last runs a learner's Python, and it is told nothing but the cells: whatever such a process says is an answer,
to be compared outside. A kernel's process runs the kernel language alone, so that what it reports of the run is true.
"""

from __future__ import annotations

import pickle
import socket
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from grader.sandbox import wire
from grader.sandbox.limits import Limits

if TYPE_CHECKING:
    from grader.source import KernelSource

WARM = ("numpy", "tmalab", "tmalab.ptx", "tmalab.simulator", "numba.cuda", "grader.alone", "grader.language")
WARM += (
    "grader.sandbox.answers",
    "IPython.core.inputtransformer2",
    "tmalab.reference",
    "tmalab.figures",
    "tmalab.recorded",
)


def warm_up() -> None:
    """Import what tasks need; what is not installed is missed by the task that needs it."""
    import contextlib
    import gc
    import importlib

    for name in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from grader.sandbox.rehearsal import rehearse

    rehearse()
    gc.collect()
    gc.freeze()  # else the first collection in every task goes through all of this, and so copies it


def serve(connection: socket.socket, limits: Limits) -> None:
    """Do the one task that the connection asks for."""
    length, _ = wire.HEAD.unpack(wire._exactly(connection.recv, wire.HEAD.size))
    request = pickle.loads(wire._exactly(connection.recv, length))  # written by the grader, nobody else has this end
    TASKS[request.pop("task")](connection, limits, **request)


def _compile(connection: socket.socket, limits: Limits, source: Mapping[str, Any], arguments: list) -> None:
    from grader.alone import compile_alone
    from grader.language import NotTheLanguage, check
    from grader.source import KernelSource

    kernel = KernelSource(**source)
    try:
        found = compile_alone(kernel, arguments)
        error = found.error
        if not error:
            check(kernel)
    except NotTheLanguage as refused:
        error = str(refused)
    wire.send(connection.sendall, {"checked": found.checked, "error": error, "counts": dict(found.counts)})


def _kernel(source: Mapping[str, Any]) -> KernelSource:
    """The kernel of a request that is to run: NotTheLanguage where it is more than the kernel language."""
    from grader.language import check
    from grader.source import KernelSource

    kernel = KernelSource(**source)
    check(kernel)
    return kernel


def _run(
    connection: socket.socket,
    limits: Limits,
    source: Mapping[str, Any],
    arguments: list,
    block: int,
    seed: int,
    limits_of_run: tuple[float, float],
    grid: int,
    cluster: int,
    on: str,
) -> None:
    from grader import alone

    kernel = _kernel(source)
    outcome = alone.run_alone(kernel, arguments, block, seed, on, limits_of_run, grid, cluster)
    wire.send(connection.sendall, dict(vars(outcome)))


def _inputs(
    connection: socket.socket,
    limits: Limits,
    source: Mapping[str, Any],
    inputs: list,
    block: int,
    seconds: float,
    limits_of_run: tuple[float, float],
    grid: int,
    cluster: int,
) -> None:
    from grader import alone

    kernel = _kernel(source)
    outcomes = alone.inputs_alone(kernel, inputs, block, seconds, limits_of_run, grid, cluster, clock=time.process_time)
    wire.send(connection.sendall, [dict(vars(outcome)) for outcome in outcomes])


def _orders(
    connection: socket.socket,
    limits: Limits,
    source: Mapping[str, Any],
    arguments: list,
    block: int,
    seeds: list[int],
    seconds: float,
    limits_of_run: tuple[float, float],
    grid: int,
    cluster: int,
) -> None:
    from grader import alone

    kernel = _kernel(source)
    outcomes = alone.orders_alone(
        kernel, arguments, block, seeds, seconds, limits_of_run, grid, cluster, clock=time.process_time
    )
    wire.send(connection.sendall, [dict(vars(outcome)) for outcome in outcomes])


def _accesses(
    connection: socket.socket,
    limits: Limits,
    source: Mapping[str, Any],
    arguments: list,
    block: int,
    limits_of_run: tuple[float, float],
) -> None:
    from grader import alone

    kernel = _kernel(source)
    wire.send(connection.sendall, alone.accesses_alone(kernel, arguments, block, limits_of_run))


def _loads(
    connection: socket.socket,
    limits: Limits,
    source: Mapping[str, Any],
    arguments: list,
    block: int,
    limits_of_run: tuple[float, float],
    grid: int,
    cluster: int,
) -> None:
    from grader import alone

    kernel = _kernel(source)
    wire.send(connection.sendall, alone.loads_alone(kernel, arguments, block, limits_of_run, grid, cluster))


def _figure(
    connection: socket.socket,
    limits: Limits,
    source: Mapping[str, Any],
    arguments: list,
    block: int,
    seed: int,
    grid: int,
    cluster: int,
    limits_of_run: tuple[float, float],
) -> None:
    from grader.picture import WrongRun, draw_alone

    run = WrongRun(_kernel(source), arguments, block, seed, grid, cluster)
    wire.send(connection.sendall, draw_alone(run, limits_of_run))


def _answers(connection: socket.socket, limits: Limits, **request: Any) -> None:
    from grader.sandbox.answers import give

    give(connection, limits, **request)


def _about(connection: socket.socket, limits: Limits) -> None:
    """What this sandbox lets a task do, tried out, for the statement of its level."""
    import os

    def tried(action: Callable[[], object]) -> bool:
        try:
            action()
        except OSError:
            return False
        return True

    facts = {
        "user": os.getuid() if hasattr(os, "getuid") else -1,
        "network": tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)),
        "process": os.getpid(),
    }
    wire.send(connection.sendall, facts)


TASKS: dict[str, Callable[..., None]] = {
    "compile": _compile,
    "run": _run,
    "inputs": _inputs,
    "orders": _orders,
    "accesses": _accesses,
    "loads": _loads,
    "figure": _figure,
    "answers": _answers,
    "about": _about,
}
