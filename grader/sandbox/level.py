"""The levels of isolation, best first, and the commands that start a sandbox's warm process at each.

`bubblewrap`   its own view of files (this Python and the course's code, all read-only), processes, network and users
`limits`       a plain process: limits of time, memory and output, no network where Linux filters system calls, no files
               but those of `bubblewrap` where it has Landlock; Linux
`process`      a plain process, started for each task and ended when its time is up; anywhere

Which one works is found out by starting it, and is written in every report.

Kernels that run on a GPU do so at `bubblewrap` with the GPU's devices in sight, each in a process that starts from
nothing, since a fork can not use its parent's GPU; where that does not work, at `process`.
"""

from __future__ import annotations

import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import landlock
from grader.texts import text
from tmalab.bootstrap import ROOT
from tmalab.texts import LANGUAGE, language

NOBODY = 65534
PACKAGES = ("tmalab", "grader")
SECRET = ("grader/exercises", "notebooks", "tests")  # what is expected is worked out or written there
RECORDINGS = "tmalab/recorded"
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives")
QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
QUIET |= {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
CUDA = ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
DEVICES = "nvidia*"  # in /dev
SCRATCH = ("/tmp", "/var/tmp", "/scratch")  # where an answer may write: the first in which no code lies


@dataclass(frozen=True)
class Level:
    """One way to isolate: its name, what starts it before the Python command, and whether tasks get namespaces."""

    name: str
    wrapper: tuple[str, ...]
    namespaced: bool
    root: bool = False  # whether it is the system's administrator outside
    fresh: bool = False  # whether each task is a process that starts from nothing
    gpu: bool = False  # whether it is for kernels that run on a GPU
    open: bool = False  # whether the account's files can be reached from inside

    @property
    def statement(self) -> str:
        """One sentence on what it holds back, for reports."""
        said = text("sandbox.limits-open") if self.open else text(f"sandbox.{self.name}")
        return said + (" " + text("sandbox.as-root") if self.root else "")


def levels(gpu: bool = False) -> Iterator[Level]:
    """What may work on this computer, best first."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    bubblewrap = shutil.which("bwrap") if sys.platform.startswith("linux") else None
    setpriv = shutil.which("setpriv")
    walls, how = (_walls(), {}) if not gpu else (_walls(_devices()), {"fresh": True, "gpu": True})
    if bubblewrap and root and setpriv:
        inside: tuple[str, ...] = (
            setpriv,
            f"--reuid={NOBODY}",
            f"--regid={NOBODY}",
            "--clear-groups",
            "--no-new-privs",
        )
        inside += ("--bounding-set=-all", "--inh-caps=-all")
        yield Level("bubblewrap", (bubblewrap, *walls, "--", *inside), namespaced=True, **how)
    if bubblewrap:
        yield Level("bubblewrap", (bubblewrap, "--unshare-user", *walls, "--"), namespaced=True, root=root, **how)
    if sys.platform.startswith("linux") and not gpu:
        yield Level("limits", (), namespaced=False, root=root, open=not landlock.version())
    yield Level("process", (), namespaced=False, root=root, fresh=True, gpu=gpu)


def python_command(module: str, *arguments: str) -> list[str]:
    """What runs a module's `main`: this Python, isolated from its user's settings, with this path of packages."""
    path = [entry for entry in dict.fromkeys([str(ROOT), *sys.path]) if entry and os.path.exists(entry)]
    code = f"import sys; sys.path[:] = {path!r}; from {module} import main; main({', '.join(arguments)})"
    python = Path(sys.executable).parent.resolve() / Path(sys.executable).name  # as it is seen inside: not by ../venv
    return [str(python), "-I", "-X", "faulthandler=0", "-c", code]


def environment(gpu: bool = False, folder: str = "") -> dict[str, str]:
    """A task's environment: nothing of the grader's own, but where CUDA is and which GPU to use, for kernels there.

    folder   where it may write, if not in the place for that in a namespace
    """
    names: tuple[str, ...] = () if os.name == "posix" else ("SYSTEMROOT", "PATH", "TEMP", "TMP")
    names += CUDA if gpu else ()
    own = dict.fromkeys(("HOME", "TMPDIR", "MPLCONFIGDIR"), folder or scratch()) if os.name == "posix" else {}
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return QUIET | own | kept | {LANGUAGE: language()}


def scratch() -> str:
    """The folder that is each task's own. It hides what lies there, so neither Python nor the checkout may."""
    return next(folder for folder in SCRATCH if not any(path.is_relative_to(folder) for path in _shown()))


def _devices() -> list[str]:
    """bubblewrap's arguments for the GPU's devices, and what the driver asks the system about them."""
    found = ["--ro-bind-try", "/sys", "/sys"]
    for device in sorted(str(path) for path in Path("/dev").glob(DEVICES)):
        found += ["--dev-bind-try", device, device]
    return found


def _walls(devices: Sequence[str] = ()) -> list[str]:
    """bubblewrap's arguments: everything unshared, nothing writable, no file but Python's and the course's code."""
    walls = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    walls += ["--die-with-parent", "--new-session", "--hostname", "sandbox"]
    for path in SYSTEM:
        walls += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind-try", path, path]
    shown = _shown()
    for parent in sorted({parent for path in shown for parent in path.parents} - {Path("/"), Path("/usr")}):
        walls += ["--perms", "0755", "--dir", str(parent)]
    for place in shown:
        walls += ["--ro-bind", str(place), str(place)]
    for hidden in _hidden([*shown, Path("/usr")]):
        cover = ["--tmpfs", str(hidden), "--remount-ro"] if hidden.is_dir() else ["--ro-bind", "/dev/null"]
        walls += [*cover, str(hidden)]
    walls += ["--proc", "/proc", "--dev", "/dev", *devices, "--perms", "1777", "--tmpfs", scratch()]
    return [*walls, "--remount-ro", "/dev", "--remount-ro", "/"]


def files_in_reach(writable: Path) -> int:
    """The same for a process without bubblewrap: a ruleset of Landlock, and a folder that may be written to."""
    places = [*_shown(), *(Path(path).resolve() for path in SYSTEM if os.path.exists(path))]
    hidden = _hidden(places)
    readable = [path for place in places for path in landlock.without(place, set(hidden))]
    listed = {parent for path in hidden for parent in path.parents if any(map(parent.is_relative_to, places))}
    devices = [Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom")]
    return landlock.ruleset(readable, listed, [writable, *devices])


def _hidden(places: Sequence[Path]) -> list[Path]:
    """What lies in these places and must not be read: answers, and recordings, without the modules beside them."""
    secret = [ROOT / name for name in SECRET if (ROOT / name).is_dir()]
    recordings = sorted((ROOT / RECORDINGS).glob("*.npz"))
    return [path for path in (*secret, *recordings) if any(map(path.is_relative_to, places))]


def _shown() -> list[Path]:
    """The folders that are seen inside, at the same places."""
    return [*_python_folders(), *(ROOT / package for package in PACKAGES)]


def _python_folders() -> list[Path]:
    """The folders in which this Python and its packages lie, none inside another, and not the checkout."""
    installed = {sys.prefix, sys.base_prefix, sysconfig.get_paths()["stdlib"]}
    named = {*sys.path, site.getusersitepackages()} if site.ENABLE_USER_SITE else set(sys.path)
    folders = _folders(installed) | _links(Path(sys.executable))
    folders |= {
        folder
        for folder in _folders(named)
        if _has_packages(folder) and (folder == ROOT or not ROOT.is_relative_to(folder))
    }
    folders -= {Path("/usr"), Path("/")}
    return sorted(f for f in folders if not any(f != other and f.is_relative_to(other) for other in folders))


def _has_packages(folder: Path) -> bool:
    """Whether packages are installed there; the folder that Python was started in, say, is none of its own."""
    return any(folder.glob("*.dist-info"))


def _folders(names: set[str]) -> set[Path]:
    return {Path(name).resolve() for name in names if name and os.path.isdir(name)}


def _links(executable: Path) -> set[Path]:
    """The prefixes that a chain of links leads through, from a virtual environment's Python to the real one."""
    found = set()
    while os.path.islink(executable):
        executable = executable.parent / os.readlink(executable)
        found.add(executable.parent.parent)
    return {folder.resolve() for folder in found if folder != Path("/usr") and os.path.isdir(folder)}
