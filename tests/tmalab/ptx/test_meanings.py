"""Every instruction's meaning is something that a simulated thread can do, with the operands that it hands on."""

from __future__ import annotations

import inspect
from operator import attrgetter

import pytest

from tmalab import kernel, ptx
from tmalab.ptx.instruction import Instruction


class Recorder:
    """A thread that notes what it is asked to do: the path of a method and its arguments."""

    def __init__(self, calls: list, path: str = ""):
        self._calls, self._path = calls, path

    def __getattr__(self, name):
        return Recorder(self._calls, f"{self._path}.{name}".lstrip("."))

    def __call__(self, *args, **named):
        self._calls.append((self._path, args, named))
        return 0


def meaning(made: Instruction) -> list[tuple]:
    """What an instruction asks of its thread, all operands 1."""
    calls: list[tuple] = []
    made._body(Recorder(calls), *[1] * len(made.operands))
    return calls


COMPUTED = ("cvt_", "createpolicy_")  # by themselves: they need no thread


@pytest.mark.parametrize("name", [name for name in dir(ptx) if not name.startswith(COMPUTED)])
def test_a_simulated_thread_can_do_what_an_instruction_means(name):
    ((path, args, named),) = meaning(ptx.INSTRUCTIONS[name])
    unlike = []

    def look(thread):
        method = attrgetter(path)(thread)
        try:
            inspect.signature(method).bind(*args, **named)
        except TypeError as error:
            unlike.append(f"{path}: {error}")

    probe = Instruction("probe", ";", {}, look, "")

    @kernel
    def ask():
        probe()

    run = ask.run(block=1)
    assert not unlike
    assert run.fault is None, str(run.fault)
