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
    from grader.alone import Shape
    from grader.source import KernelSource

Patience = tuple[float, float]  # as grader.alone.PATIENCE

WARM: tuple[str, ...] = (
    "numpy",
    "tmalab",
    "tmalab.ptx",
    "tmalab.simulator",
    "numba.cuda",
    "grader.alone",
    "grader.language",
)
WARM += (
    "grader.sandbox.answers",
    "IPython.core.inputtransformer2",
    "tmalab.reference",
    "tmalab.figures",
    "tmalab.recorded",
)
NOTEBOOKS_NEED = ("IPython", "anywidget", "greenlet", "ipywidgets", "matplotlib", "numba", "numpy")


def lacking() -> list[str]:
    """What notebooks import and is not to be had here: their cells would fail, and cost points, for no fault of theirs.

    Not installed, or not to be read by the account that runs them.
    """
    import os
    from importlib.util import find_spec

    places = {name: getattr(find_spec(name), "origin", None) for name in NOTEBOOKS_NEED}
    return [name for name, place in places.items() if not place or not os.access(place, os.R_OK)]


def warm_up() -> None:
    """Import what tasks need. A compiler may be missing: checks then do without it."""
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
    from grader.alone import Compilation, compile_alone
    from grader.language import NotTheLanguage, check
    from grader.source import KernelSource, NoSource

    kernel, found = KernelSource(**source), Compilation(checked=True)
    try:
        found = compile_alone(kernel, arguments)
        error = found.error
        if not error:
            check(kernel)
    except (NotTheLanguage, NoSource) as refused:
        error = str(refused)
    wire.send(connection.sendall, {"checked": found.checked, "error": error, "counts": dict(found.counts)})


def _kernel(source: Mapping[str, Any]) -> KernelSource:
    """The kernel of a request that is to run: NotTheLanguage where it is more than the kernel language."""
    from grader.language import check
    from grader.source import KernelSource

    kernel = KernelSource(**source)
    check(kernel)
    return kernel


def _on_kernel(does: Callable[..., Any]) -> Callable[..., None]:
    """A task that runs a kernel: the kernel and its launch are put together, what comes of it is sent."""

    def task(
        connection: socket.socket, limits: Limits, source: Mapping[str, Any], shape: Mapping[str, int], **request: Any
    ) -> None:
        from grader.alone import Shape

        wire.send(connection.sendall, does(_kernel(source), Shape(**shape), **request))

    return task


@_on_kernel
def _run(kernel: KernelSource, shape: Shape, arguments: list, seed: int, on: str, patience: Patience) -> dict[str, Any]:
    from grader import alone

    return dict(vars(alone.run_alone(kernel, arguments, shape, seed, on, patience)))


@_on_kernel
def _several(
    kernel: KernelSource, shape: Shape, runs: list, seconds: float, until_wrong: bool, patience: Patience
) -> list[dict[str, Any]]:
    from grader import alone

    clock = time.process_time
    outcomes = alone.several_alone(kernel, runs, shape, seconds, until_wrong, patience, clock)
    return [dict(vars(outcome)) for outcome in outcomes]


@_on_kernel
def _accesses(kernel: KernelSource, shape: Shape, arguments: list, patience: Patience) -> list[tuple]:
    from grader import alone

    return alone.accesses_alone(kernel, arguments, shape, patience)


@_on_kernel
def _loads(kernel: KernelSource, shape: Shape, arguments: list, patience: Patience) -> list[tuple[int, int]]:
    from grader import alone

    return alone.loads_alone(kernel, arguments, shape, patience)


@_on_kernel
def _figure(kernel: KernelSource, shape: Shape, arguments: list, seed: int, patience: Patience) -> str:
    from grader.picture import WrongRun, draw_alone

    return draw_alone(WrongRun(kernel, arguments, shape, seed), patience)


def _answers(connection: socket.socket, limits: Limits, **request: Any) -> None:
    from grader.sandbox.answers import give

    give(connection, limits, **request)


def _about(connection: socket.socket, limits: Limits, gpu: bool = False) -> None:
    """What this sandbox lets a task do, tried out, for the statement of its level; `gpu`: on one as well."""
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
        "lacking": lacking(),
        "compiles": _compiles(),
        "no_gpu": _why_no_gpu() if gpu else "",
    }
    wire.send(connection.sendall, facts)


def _compiles() -> bool:
    from tmalab.gpu.toolkit import why_no_compiler

    return why_no_compiler() is None


def _why_no_gpu() -> str:
    from grader.sandbox.rehearsal import why_not_on_gpu

    return why_not_on_gpu()


TASKS: dict[str, Callable[..., None]] = {
    "compile": _compile,
    "run": _run,
    "several": _several,
    "accesses": _accesses,
    "loads": _loads,
    "figure": _figure,
    "answers": _answers,
    "about": _about,
}
