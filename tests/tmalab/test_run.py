"""Run: one look says whether the results can be trusted."""

from __future__ import annotations

import pickle

import pytest

from tmalab import TmaFault
from tmalab.run import KernelFault, Run
from tmalab.simulator.hazards import Hazard

HAZARD = Hazard("wait-ignored", "wait's result ignored", [], "while not ...")


def test_a_run_is_ok_when_nothing_is_wrong():
    run = Run(on="simulator", seed=3)
    assert run.ok
    assert repr(run) == "<Run on='simulator' seed=3: ok: no hazards>"


@pytest.mark.parametrize(
    "wrong",
    [
        {"hazards": [HAZARD]},
        {"deadlock": object()},
        {"fault": TmaFault("illegal_address", "there is no memory")},
        {"compiling": lambda: ValueError("line 3: no lists")},
    ],
)
def test_a_run_is_not_ok_when_anything_is_wrong(wrong):
    assert not Run(on="gpu", **wrong).ok


def test_compiling_waits_until_somebody_looks_and_is_done_once():
    looks = []
    run = Run(on="simulator", compiling=lambda: looks.append(1))
    assert not looks
    assert run.compile_error is None
    assert run.ok
    assert looks == [1]


def test_a_run_that_does_not_compile_says_why():
    run = Run(on="simulator", compiling=lambda: ValueError("cell:3: a kernel has no lists"))
    assert "does not compile for sm_90a" in repr(run)
    assert str(run).splitlines()[-1] == "cell:3: a kernel has no lists"


def test_print_shows_every_report():
    fault = KernelFault("python_error", "cell:3, thread 0: ZeroDivisionError", "cell", 3, "thread 0")
    shown = str(Run(on="simulator", hazards=[HAZARD], fault=fault, warnings=["a warning"]))
    for part in ("wait's result ignored", "while not ...", "ZeroDivisionError", "a warning"):
        assert part in shown


def test_a_kernel_fault_survives_pickling():
    fault = KernelFault("endless_loop", "this loop ...", "cell", 3, "thread 0")
    again = pickle.loads(pickle.dumps(fault))
    assert isinstance(again, TmaFault)
    assert (again.kind, str(again), again.file, again.line, again.thread) == (
        "endless_loop", "this loop ...", "cell", 3, "thread 0",
    )  # fmt: skip
