"""Record what this machine's Hopper GPU does: `tmalab record` writes tmalab/recorded/ anew.

Every case runs through a kernel of this library's own language. A case that must fault runs in a process of its own,
because the fault takes the process's GPU context with it. The provenance says on what and with what it was recorded.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from tmalab import __version__, recorded
from tmalab.gpu.device import hopper
from tmalab.gpu.maps import encode
from tmalab.recorded.case import Case
from tmalab.recorded.cases import GROUPS
from tmalab.recorded.perform import perform
from tmalab.texts import text

PACKAGES = ("numpy", "numba", "numba-cuda", "cuda-bindings", "cuda-core", "nvidia-nvjitlink")
_CHILD = "import sys; from tmalab.gpu.recorder import record_fault; record_fault(sys.stdin.read())"


class RecordingError(RuntimeError):
    """A case did not end as its group must: a copy that hung or faulted, or a fault that did not come."""


def record(folder: str | Path, groups: Sequence[str] | None = None, command: str = "tmalab record") -> dict[str, int]:
    """Record the groups (all of `cases.GROUPS` where none is named) into a folder; how many cases each has.

    Raises GpuUnavailable without a Hopper GPU, KeyError for a group that there is not, RecordingError where a case does
    not end as it must.
    """
    provenance = describe(command)
    Path(folder).mkdir(parents=True, exist_ok=True)
    counts = {}
    for name in groups or GROUPS:
        cases = GROUPS[name]()
        results = _faults(cases) if name == "faults" else [_result(case) for case in cases]
        recorded.write(Path(folder), name, recorded.Recording(provenance, tuple(cases), tuple(results)))
        counts[name] = len(cases)
    return counts


def describe(command: str) -> dict[str, Any]:
    """Where and how a recording is made."""
    gpu = hopper()
    return {
        "gpu": gpu.name,
        "cuda_driver": gpu.cuda,
        "driver": _kernel_driver(),
        "packages": {name: _version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "tmalab": __version__,
        "command": command,
    }


def record_fault(described: str) -> None:
    """In a process of its own: run one case, given as JSON, and print how it ended."""
    run, _ = perform(Case.from_json(json.loads(described)), on="gpu")
    print(run.fault.kind if run.fault else "none")


def _result(case: Case) -> np.ndarray:
    if case.operation == "encode":
        hopper().use()  # the driver encodes only where a context is current (measured, driver 580)
        return np.frombuffer(encode(case.tensor_map), np.uint8)
    run, result = perform(case, on="gpu")
    if run.deadlock is not None or run.fault is not None or run.compile_error is not None:
        raise RecordingError(text("gpu.record-failed", case=case.name, run=str(run)))
    return result


def _faults(cases: Sequence[Case]) -> list[str]:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(_fault, cases))


def _fault(case: Case) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD], input=json.dumps(case.to_json()), capture_output=True, text=True, timeout=120
    )
    kind = done.stdout.strip()
    if kind in ("", "none"):
        raise RecordingError(text("gpu.record-no-fault", case=case.name, output=done.stderr.strip()[-500:]))
    return kind


def _kernel_driver() -> str:
    """The version of the NVIDIA driver, as nvidia-smi prints it."""
    try:
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"
