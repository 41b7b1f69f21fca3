"""The script that asks a GPU: which mutants it may be given, and how racecheck's output is read."""

from __future__ import annotations

import pytest

from tests.mutants import hardware
from tests.mutants.right import CASES
from tests.mutants.runs import check_wrong
from tests.mutants.wrong import MUTANTS

# As compute-sanitizer 2025.3 prints it, for two kernels under the names that the script gives them.
OUTPUT = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at _ZN5tests6{first}B3v1E+0x2a0
=========     and Read access at _ZN5tests6{first}B3v1E+0x350 [1984 hazards]
=========
========= Warning: Race reported between Read access at _ZN5tests6{first}B3v1E+0x2b0
=========     and Write access at _ZN5tests6{first}B3v1E+0x3c0 [64 hazards]
=========
========= Error: Race reported between Write access at _ZN5tests6{second}B3v1E+0x1b0
=========     and Write access at _ZN5tests6{second}B3v1E+0x1b0 [4 hazards]
=========
========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)
"""


def test_races_are_counted_by_kernel():
    first, second, third = list(MUTANTS)[:3]
    output = OUTPUT.format(first=hardware.called(first), second=hardware.called(second))
    assert hardware.races_in(output, [first, second, third]) == {first: 2, second: 1, third: 0}


def test_each_kernel_has_a_name_of_its_own_and_does_the_same_under_it():
    names = [hardware.called(name) for name in (*MUTANTS, *CASES)]
    assert len(set(names)) == len(names)
    renamed = hardware._renamed("wait removed")
    assert renamed.kernel.__name__ == hardware.called("wait removed")
    assert [hazard.name for hazard in renamed.run().hazards] == ["read-before-wait"]


@pytest.mark.parametrize("name", hardware.CONTROLS)
def test_the_controls_are_plain_races_that_a_gpu_may_be_given(name):
    made = check_wrong(name, hardware.LOOKED_AT)
    assert hardware.is_harmless(made)
    assert set(made.found) == {"data-race"}


@pytest.mark.parametrize("name", ["count one too large", "row too far", "syncthreads in a role", "over-arrival"])
def test_what_may_hang_or_fault_is_kept_from_the_gpu(name):
    found = [mutant for mutant in MUTANTS if mutant == name or MUTANTS[mutant].names[0] == name]
    assert found
    for mutant in found:
        assert not hardware.is_harmless(check_wrong(mutant, hardware.LOOKED_AT)), mutant


def test_a_kernel_that_ends_its_process_is_noted_and_the_others_go_on(monkeypatch):
    """The second of three kernels takes its process with it."""

    def run(command):
        names = command[command.index("-c") + 2 :]
        lines = [f'["{name}", {{"wrong": 1, "stopped": 0}}]' for name in names[: 1 if "b" in names else 2]]
        lines = [] if names[0] == "b" else lines
        return hardware.subprocess.CompletedProcess(command, 1, "\n".join(["noise", *lines]), "")

    monkeypatch.setattr(hardware, "_run", run)
    ended = {"wrong": hardware.LAUNCHES, "stopped": hardware.LAUNCHES}
    went = {"wrong": 1, "stopped": 0}
    assert list(hardware._one_after_the_other("launch", ["a", "b", "c"])) == [("a", went), ("b", ended), ("c", went)]
