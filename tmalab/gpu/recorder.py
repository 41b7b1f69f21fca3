"""Record what this machine's Hopper GPU does: `tmalab record` writes tmalab/recorded/ anew.

Every case runs through a kernel of this library's own language; a map is encoded by the driver. A case that must fault
runs in a process of its own, because the fault takes the process's GPU context with it. The provenance says on what and
with what it was recorded.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
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
from tmalab.gpu.maps import encode, replace_address
from tmalab.progress_bar import watched
from tmalab.recorded.cases import GROUPS
from tmalab.recorded.map_case import MapCase
from tmalab.recorded.perform import perform
from tmalab.recorded.plain import AnyCase, from_plain, to_plain
from tmalab.texts import text

PACKAGES = ("numpy", "numba", "numba-cuda", "cuda-bindings", "cuda-core", "nvidia-nvjitlink")
PROCESSES = min(12, os.cpu_count() or 1)  # that fault at the same time, each with a GPU context of its own
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
        cases = GROUPS[name].fixed()
        results = faults(cases) if name == "faults" else [result(case) for case in watched(cases)]
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


def result(case: AnyCase) -> np.ndarray:
    """What this GPU, or for a map its driver, makes of a case: uint8. RecordingError where it does not end well."""
    if isinstance(case, MapCase):
        return np.frombuffer(_encoded(case), np.uint8)
    run, bytes_after = perform(case, on="gpu")
    if run.deadlock is not None or run.fault is not None or run.compile_error is not None:
        raise RecordingError(text("gpu.record-failed", case=case.name, run=str(run)))
    return bytes_after


def faults(cases: Sequence[AnyCase]) -> list[str]:
    """The kind of the fault with which each of these ends on this GPU. RecordingError where one does not fault."""
    with ThreadPoolExecutor(PROCESSES) as pool:
        ends = list(watched(pool.map(how_it_ends, cases), len(cases)))
    for case, (kind, output) in zip(cases, ends, strict=True):
        if kind == "none":
            raise RecordingError(text("gpu.record-no-fault", case=case.name, output=output))
    return [kind for kind, _ in ends]


def how_it_ends(case: AnyCase) -> tuple[str, str]:
    """The kind of the fault with which a case ends on this GPU, or "none"; and what its process complained of."""
    command, described = [sys.executable, "-c", _CHILD], json.dumps(to_plain(case))
    done = subprocess.run(command, input=described, capture_output=True, text=True, errors="replace", timeout=120)
    return done.stdout.strip() or "none", done.stderr.strip()[-500:]


def record_fault(described: str) -> None:
    """In a process of its own: run one case, given as JSON, and print how it ended."""
    run, _ = perform(from_plain(json.loads(described)), on="gpu")
    print(run.fault.kind if run.fault else "none")


def _encoded(case: MapCase) -> bytes:
    """The 128 bytes of a map by the driver, moved where the case says so."""
    hopper().use()  # the driver encodes only where a context is current (measured, driver 580)
    data = encode(case.tensor_map)
    if case.moved is None:
        return data
    status, data = replace_address(data, case.moved)
    if status:
        raise RecordingError(text("gpu.record-not-moved", case=case.name, status=status))
    return data


def _kernel_driver() -> str:
    """The version of the NVIDIA driver, as nvidia-smi prints it."""
    try:
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True, errors="replace", check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"
