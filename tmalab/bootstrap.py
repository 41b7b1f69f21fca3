"""From a fresh clone to a running command: the virtual environment that the commands make for themselves.

`python3 -m tmalab ...` and `python3 -m tests` start with whatever Python there is. Where that one holds the packages
that the command needs, nothing happens here. Otherwise the checkout gets a `.venv` with the pinned versions, each
file of them checked against its hash, and the command starts again inside it. Only the standard library is used, and
no syntax that Python 3.7 could not read, so that an old Python still answers with a sentence. A tmalab that pip
installed has no checkout around it and is left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "tmalab-stamp"
OLDEST, NEWEST = (3, 11), (3, 13)
LEARNERS, TESTS = "binder/requirements.txt", "tests/requirements.txt"  # pins; the tests' hold the learners' as well
LOCKS = {"tmalab": LEARNERS, "grader": LEARNERS, "tests": TESTS}  # command: its pins
EXTRAS = {"tests": ("classroom", "cluster", "postgresql", "docs", "hub", "test")}  # command: the extras that it needs
WITHOUT_NOTEBOOKS = {"tmalab": ("bench", "map", "record", "verdicts", "verify")}  # what may run on a bare GPU server
NOTEBOOKS = ("anywidget", "babel", "ipywidgets", "jupyterlab")  # requirements that those do not have
TRIED = "TMALAB_BOOTSTRAPPED"  # set in the command that starts again, so that it never does so for ever


class BootstrapError(Exception):
    """The environment cannot be made; the message is one sentence that says what to do."""


def ensure(command: str, arguments: Sequence[str]) -> None:
    """Return if this Python can run `python -m command arguments`, else run that in the checkout's .venv and exit.

    Ends the process with status 2 and one sentence on stderr where no such environment can be made.
    """
    tried = os.environ.pop(TRIED, None)
    if not (ROOT / LOCKS[command]).is_file():
        return
    try:
        check_version(sys.version_info[:2])
        lacking = missing(command, arguments)
        if not lacking:
            return
        if tried == command:
            raise BootstrapError(f"{sys.prefix} still lacks {', '.join(lacking)}: remove {VENV} and start again")
        python = environment(command)
    except BootstrapError as error:
        print(f"tmalab: {error}", file=sys.stderr)
        sys.exit(2)
    become([str(python), "-m", command, *arguments], {**os.environ, TRIED: command})


def check_version(version: tuple[int, int]) -> None:
    """Raise BootstrapError unless the pinned packages exist for this Python version."""
    if not OLDEST <= version <= NEWEST:
        here, oldest, newest = (f"{major}.{minor}" for major, minor in (version, OLDEST, NEWEST))
        raise BootstrapError(
            f"this is Python {here}, and TMA Lab needs {oldest} to {newest}: start the command with such a Python, "
            "for instance python3.12"
        )


def missing(command: str, arguments: Sequence[str] = ()) -> list[str]:
    """What this Python lacks to run a command: the requirements of pyproject.toml that are absent or out of range.

    Requirements with a marker exist on some platforms only; the command works without them. What measures and records
    works without those of the notebooks.
    """
    import tomllib  # since Python 3.11, which check_version has seen to
    from importlib import metadata

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = (project["optional-dependencies"][extra] for extra in EXTRAS.get(command, ()))
    spared = NOTEBOOKS if set(arguments[:1]) & set(WITHOUT_NOTEBOOKS.get(command, ())) else ()
    lacking = []
    for line in (line for lines in (project["dependencies"], *extras) for line in lines if ";" not in line):
        name = re.split(r"[\[<>=]", line)[0]  # an extra, as in `psycopg[binary]`, is no part of it
        if name in spared:
            continue
        try:
            satisfied = in_range(metadata.version(name), line[len(name) :])
        except metadata.PackageNotFoundError:
            satisfied = False
        if not satisfied:
            lacking.append(line)
    return lacking


def in_range(version: str, bounds: str) -> bool:
    """Whether a version satisfies bounds such as `>=2.2,<2.5`; `>=`, `<` and `==` are what pyproject.toml uses.

    >>> in_range("2.4.6", ">=2.2,<2.5"), in_range("2.5.0", ">=2.2,<2.5")
    (True, False)
    """

    def numbers(text: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", text)]

    here = numbers(version)
    judge = {">=": here.__ge__, "<": here.__lt__, "==": here.__eq__}
    return all(judge[sign](numbers(bound)) for sign, bound in re.findall(r"(>=|<|==)([\d.]+)", bounds))


def environment(command: str) -> Path:
    """The Python of the checkout's .venv, which is made, mended or brought up to date where its stamp asks for it.

    The stamp names the Python version, the place and the locks that were installed to their end. It goes first and
    comes back last, so that an environment whose making was interrupted has none and is made anew.
    """
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    place = {f"Python {sys.version_info[0]}.{sys.version_info[1]}", f"at {VENV}"}
    wanted = place | lock_lines(command)
    inside = Path(sys.prefix) == VENV  # then something is missing from it, whatever the stamp says
    with only_one():
        stamp = set(STAMP.read_text("utf-8").splitlines()) if STAMP.is_file() else set()
        if stamp >= wanted and python.exists() and not inside:
            return python
        print(f"tmalab: installing the pinned packages into {VENV}, once; this takes a minute or two", file=sys.stderr)
        if not inside and not (stamp >= place and python.exists()):
            create()
        with contextlib.suppress(FileNotFoundError):
            STAMP.unlink()
        pip = pip_for(python)
        install(pip, ["--require-hashes", "-r", str(ROOT / LOCKS[command])])
        install(pip, ["--no-deps", "--no-build-isolation", "-e", str(ROOT)])
        STAMP.write_text("\n".join(sorted(wanted)), "utf-8")
    return python


def lock_lines(command: str) -> set[str]:
    """The stamp's lines for the locks that a command's installation satisfies."""
    locks = {LOCKS[command], LEARNERS}
    return {f"{hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()} {lock}" for lock in locks}


def create() -> None:
    """Make the virtual environment anew, with a pip of its own where this Python can give it one."""
    for options in ([], ["--without-pip"]):  # Debian's Python lacks ensurepip where python3-venv is not installed
        shutil.rmtree(str(VENV), ignore_errors=True)
        result = _run(outer_python(), "-m", "venv", *options, str(VENV), stdout=subprocess.PIPE)
        if result.returncode == 0:
            return
    reason = last_line(result.stderr + result.stdout)
    hint = "; on Debian and Ubuntu `apt install python3-venv` brings what is missing" if "No module" in reason else ""
    raise BootstrapError(f"{VENV} cannot be made: {reason}{hint}")


def outer_python() -> str:
    """The Python that virtual environments are made from: the one that runs this, or the one that its own came from."""
    return getattr(sys, "_base_executable", sys.executable)


def pip_for(python: Path) -> list[str]:
    """The pip that installs into the environment: its own, or else the outer Python's."""
    for owner, target in ((str(python), []), (outer_python(), ["--python", str(python)])):
        if subprocess.run([owner, "-c", "import pip"], capture_output=True).returncode == 0:
            return [owner, "-m", "pip", *target]
    raise BootstrapError("this Python has no pip; on Debian and Ubuntu `apt install python3-venv` brings it")


def install(pip: Sequence[str], arguments: Sequence[str]) -> None:
    """Install into the environment; what pip says goes to stderr, or into the one sentence where it fails."""
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    result = _run(*pip, "install", *quiet, *arguments, stdout=2)
    if result.returncode:
        raise BootstrapError(explain_pip(result.stderr))


def _run(*command: str, stdout: int) -> subprocess.CompletedProcess[str]:
    """Run a program; what it says, in whichever encoding, becomes text."""
    return subprocess.run(list(command), stdout=stdout, stderr=subprocess.PIPE, text=True, errors="replace")


def explain_pip(output: str) -> str:
    """One sentence for what pip printed when it failed.

    >>> explain_pip("WARNING: Retrying after NewConnectionError('...')\\nERROR: No matching distribution found")
    'pip cannot reach its package index: connect to the network, or set the proxy or index that pip shall use'
    """
    if re.search(r"NewConnectionError|ConnectTimeout|Max retries|NameResolution|ReadTimeout|ProxyError", output):
        return (
            "pip cannot reach its package index: connect to the network, or set the proxy or index that pip shall use"
        )
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in output:
        return "a package's file is not the one that was locked: clear pip's cache (pip cache purge) and start again"
    if "No space left" in output:
        return "the disk is full: the packages take about 1.5 GB"
    return f"pip could not install the pinned packages: {last_line(output)}"


def last_line(output: str) -> str:
    """The last line that names an error, or else the last that says something; without pip's prefix."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"ERROR: |\w*Error: ", line)]
    return re.sub(r"^ERROR: ", "", (errors or lines or ["no reason was given"])[-1])


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Keep a second command that was started meanwhile from installing into the same environment."""
    with open(str(ROOT / LEARNERS), "rb") as file:
        if sys.platform != "win32":  # which has no flock
            import fcntl

            with contextlib.suppress(OSError):  # some network file systems refuse it
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def become(command: Sequence[str], variables: Mapping[str, str]) -> NoReturn:
    """Run a command in this process's place and end with its exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":
        os.execve(command[0], list(command), dict(variables))
    # On Windows exec would give the console back at once: wait for a child, and leave Ctrl-C to it.
    import signal

    child = subprocess.Popen(list(command), env=dict(variables))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(child.wait())
