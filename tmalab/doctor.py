"""`tmalab doctor`: what this computer has of what TMA Lab can use, and the command that mends what is missing.

>>> look_at_python().state
'ok'
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
from packaging.requirements import Requirement

from tmalab.bootstrap import LEARNERS, NEWEST, OLDEST, ROOT
from tmalab.texts import text

SHOWN = 8  # packages that differ from their pins are named up to this many


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `state` is "ok", "absent" (not needed to go on) or "wrong" (to be mended)."""

    name: str
    state: str
    found: str
    mend: str | None = None  # what to do, a command where there is one


def examine() -> list[Finding]:
    """All findings, in the order in which one would mend them."""
    return [look_at_python(), look_at_packages(), look_at_compiler(), look_at_gpu()]


def as_json(findings: list[Finding]) -> dict[str, object]:
    """What `--json` prints."""
    return {"ok": all(finding.state != "wrong" for finding in findings), "findings": list(map(asdict, findings))}


def look_at_python() -> Finding:
    """The Python that runs this."""
    version = ".".join(map(str, sys.version_info[:3]))
    found = text("cli.doctor-python-found", version=version, executable=sys.executable)
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return Finding("python", "ok", found)
    oldest, newest = (".".join(map(str, limit)) for limit in (OLDEST, NEWEST))
    return Finding("python", "wrong", found, text("cli.doctor-python-mend", oldest=oldest, newest=newest))


def look_at_packages() -> Finding:
    """Every package that the course pins, against the version that is installed."""
    pins = list(pinned())
    differing = [
        (pin, have) for pin in pins if (have := installed(pin.name)) is None or not pin.specifier.contains(have)
    ]
    if not differing:
        return Finding("packages", "ok", text("cli.doctor-pins-kept", count=len(pins)))
    named = [f"{pin.name} {have or '-'} ({pin.specifier})" for pin, have in differing[:SHOWN]]
    if len(differing) > SHOWN:
        named.append("...")
    found = text("cli.doctor-pins-differ", count=len(differing), total=len(pins), packages=", ".join(named))
    missing = any(have is None for _, have in differing)
    return Finding(
        "packages", "wrong" if missing else "absent", found, f"{sys.executable} -m pip install -r {pins_file()}"
    )


def pins_file() -> Path:
    """The course's pins: those of the checkout, or the copy in an installed package."""
    in_checkout = ROOT / LEARNERS
    return in_checkout if in_checkout.is_file() else Path(__file__).with_name("pins.txt")


def pinned() -> Iterator[Requirement]:
    """The pins that apply to this platform and Python."""
    for line in pins_file().read_text("utf-8").splitlines():
        if line and line[0].isalnum():
            requirement = Requirement(line.split(" \\")[0])  # its hashes come below
            if requirement.marker is None or requirement.marker.evaluate():
                yield requirement


def installed(name: str) -> str | None:
    """A package's version here, None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def look_at_compiler() -> Finding:
    """Whether a kernel becomes machine code for sm_90a here; that takes no GPU."""
    if sys.platform == "darwin":
        return Finding("compiler", "absent", text("cli.doctor-compiler-macos"))
    start = time.perf_counter()
    try:
        from tmalab.gpu.compile import compile_kernel

        compile_kernel(_nothing, (np.zeros(1, np.int32),))
    except Exception as error:  # whatever a half-installed toolkit raises
        reason = (str(error) or type(error).__name__).splitlines()[0]
        found = text("cli.doctor-compiler-fails", reason=reason)
        return Finding("compiler", "wrong", found, f"{sys.executable} -m pip install -r {pins_file()}")
    return Finding("compiler", "ok", text("cli.doctor-compiler-found", seconds=f"{time.perf_counter() - start:.1f}"))


def _nothing(out):
    out[0] = 0


def look_at_gpu() -> Finding:
    """The Hopper GPU, if there is one."""
    from tmalab.gpu.device import hopper, why_no_gpu

    reason = why_no_gpu()
    if reason is not None:
        return Finding("gpu", "absent", reason)
    gpu = hopper()
    return Finding("gpu", "ok", text("cli.doctor-gpu-found", name=gpu.name, cuda=gpu.cuda))
