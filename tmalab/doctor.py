"""`tmalab doctor`: what this computer has of what TMA Lab can use, and the command that mends what is missing.

>>> look_at_python().state
'ok'
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from types import FunctionType
from typing import cast

import numpy as np
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tmalab.bootstrap import LEARNERS, NEWEST, OLDEST, ROOT, BootstrapError, pip_for
from tmalab.texts import text

SHOWN = 8  # packages that differ from their pins are named up to this many
OLDEST_DRIVER = 580  # NVIDIA's first for CUDA 13.0
EXTENSIONS = {  # of JupyterLab, which draw the figures: the folder, the package that brings it
    "anywidget": "anywidget",
    "@jupyter-widgets/jupyterlab-manager": "jupyterlab_widgets",
}
CONFINED = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true")  # what graders' sandboxes need to work


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `state` is "ok", "absent" (not needed to go on) or "wrong" (to be mended)."""

    name: str
    state: str
    found: str
    mend: str | None = None  # what to do, a command where there is one


def examine() -> list[Finding]:
    """All findings, in the order in which one would mend them."""
    looks = (look_at_python, look_at_packages, look_at_widgets, look_at_compiler, look_at_gpu, look_at_sandbox)
    return [look() for look in looks]


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
    needed = needed_by("tmalab")
    missing = [pin for pin, have in differing if have is None and canonicalize_name(pin.name) in needed]
    return Finding("packages", "wrong" if missing else "absent", found, install("-r", str(pins_file())))


def install(*what: str) -> str:
    """The command that installs packages into this Python's environment."""
    try:
        pip = pip_for(Path(sys.executable))
    except BootstrapError:  # no pip: the command says so itself
        pip = [sys.executable, "-m", "pip"]
    return shlex.join([*pip, "install", *what])


def needed_by(package: str) -> set[str]:
    """The packages without which one does not run here, with what they need themselves; itself included."""
    found: set[str] = set()
    ahead = [package]
    while ahead:
        name = canonicalize_name(ahead.pop())
        if name not in found:
            found.add(name)
            ahead += _requirements(name)
    return found


def _requirements(name: str) -> list[str]:
    """What an installed package needs here; of the checkout, where nothing is installed, what pyproject.toml lists."""
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        project = ROOT / "pyproject.toml"
        inside = name == "tmalab" and project.is_file()
        lines = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"] if inside else []
    requirements = map(Requirement, lines)
    return [line.name for line in requirements if line.marker is None or line.marker.evaluate({"extra": ""})]


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


def look_at_widgets() -> Finding:
    """Whether JupyterLab has what shows the figures in a browser, and has it switched on."""
    try:
        from jupyter_core.paths import jupyter_config_path, jupyter_path
    except ImportError:
        return Finding("figures", "absent", text("cli.doctor-no-jupyter"), install("-r", str(pins_file())))
    folders = [Path(folder) for folder in jupyter_path("labextensions")]
    for name, package in EXTENSIONS.items():
        if not any((folder / name / "package.json").is_file() for folder in folders):
            mend = install("--force-reinstall", "--no-deps", package)
            return Finding("figures", "wrong", text("cli.doctor-no-extension", name=name), mend)
    off = set().union(*(_switched_off(Path(folder)) for folder in jupyter_config_path())) & EXTENSIONS.keys()
    if off:
        name = min(off)
        mend = shlex.join([sys.executable, "-m", "jupyter", "labextension", "enable", name])
        return Finding("figures", "wrong", text("cli.doctor-extension-off", name=name), mend)
    return Finding("figures", "ok", text("cli.doctor-extensions", names=", ".join(EXTENSIONS)))


def _switched_off(folder: Path) -> set[str]:
    """The extensions of JupyterLab that a folder of settings switches off."""
    try:
        settings = json.loads((folder / "labconfig" / "page_config.json").read_text("utf-8"))
        return {name for name, off in settings.get("disabledExtensions", {}).items() if off}
    except (OSError, ValueError, AttributeError):
        return set()


def look_at_compiler() -> Finding:
    """Whether a kernel becomes machine code for sm_90a here; that takes no GPU."""
    from tmalab.gpu.toolkit import why_no_compiler

    if reason := why_no_compiler():
        return Finding("compiler", "absent", reason, None if on_macos() else install("-r", str(pins_file())))
    start = time.perf_counter()
    try:
        from tmalab.gpu.compile import compile_kernel

        compile_kernel(cast(FunctionType, _nothing), (np.zeros(1, np.int32),))
    except Exception as error:  # whatever a half-installed toolkit raises
        reason = (str(error) or type(error).__name__).splitlines()[0]
        found = text("cli.doctor-compiler-fails", reason=reason)
        return Finding("compiler", "wrong", found, install("--force-reinstall", "-r", str(pins_file())))
    return Finding("compiler", "ok", text("cli.doctor-compiler-found", seconds=f"{time.perf_counter() - start:.1f}"))


def on_macos() -> bool:
    """Whether this computer is one for which NVIDIA's packages do not exist."""
    return sys.platform == "darwin"


def _nothing(out):
    out[0] = 0


def look_at_gpu() -> Finding:
    """The Hopper GPU, if there is one, and its driver."""
    from tmalab.gpu.device import hopper, why_no_gpu

    reason = why_no_gpu()
    if reason is None:
        gpu = hopper()
        return Finding("gpu", "ok", text("cli.doctor-gpu-found", name=gpu.name, cuda=gpu.cuda))
    if installed("cuda-bindings") is None:
        return Finding("gpu", "absent", reason, None if on_macos() else install("-r", str(pins_file())))
    return Finding("gpu", "absent", reason, text("cli.doctor-gpu-mend", driver=OLDEST_DRIVER))


def look_at_sandbox() -> Finding:
    """Whether a grader's sandbox can shut a student's code in; else grading rests on the system's limits alone."""
    if sys.platform != "linux":
        return Finding("sandbox", "absent", text("cli.doctor-sandbox-elsewhere"))
    if shutil.which(CONFINED[0]) is None:
        return Finding("sandbox", "absent", text("cli.doctor-no-sandbox"), "apt install bubblewrap")
    tried = subprocess.run(CONFINED, capture_output=True, text=True, errors="replace")
    if tried.returncode:
        reason = (tried.stderr.strip() or str(tried.returncode)).splitlines()[-1]
        return Finding(
            "sandbox", "absent", text("cli.doctor-sandbox-fails", reason=reason), text("cli.doctor-sandbox-mend")
        )
    return Finding("sandbox", "ok", text("cli.doctor-sandbox-found"))
