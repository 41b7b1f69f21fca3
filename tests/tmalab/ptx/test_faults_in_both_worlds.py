"""What faults, and as what: measured on an H200, and the same in the simulator."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fault_kernels import CASES, run_case

CHILD = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from fault_kernels import run_case; \
fault = run_case(sys.argv[1], 'gpu').fault; print(fault and fault.kind)"


@pytest.fixture(scope="module")
def on_gpu() -> dict[str, str]:
    """What each case printed in a process of its own, since a fault takes its process's GPU; several at a time."""

    def ended(name: str) -> str:
        done = subprocess.run([sys.executable, "-c", CHILD, name], capture_output=True, text=True, timeout=60)
        return done.stdout.strip() or done.stderr[-500:]

    with ThreadPoolExecutor(12) as pool:
        return dict(zip(CASES, pool.map(ended, CASES)))


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_faults_in_the_simulator_as_on_the_gpu(name):
    run = run_case(name, "simulator")
    assert run.fault is not None, str(run)
    assert run.fault.kind == CASES[name].kind


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_faults_on_the_gpu(name, on_gpu):
    assert on_gpu[name] == CASES[name].kind
