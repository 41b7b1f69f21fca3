"""The wheel, as someone installs it: made from the sdist, in an environment of its own, in an empty folder, offline."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path

import pytest

from tests.test_house_lab import LESSON, Server
from tests.test_house_repository import PROJECT, files
from tmalab.bootstrap import ROOT, TESTS, outer_python, pip_for

OFFLINE = """
import socket
connect = socket.socket.connect
def refuse(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"{address} was asked for: there is no network")
    return connect(self, address)
socket.socket.connect = refuse
"""
MACOS = """
import importlib.abc, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba_cuda", "cuda", "nvidia"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
"""  # what has no wheels there
EVERYTHING = """
import numpy as np, pytest
from tmalab import TensorMap, kernels
from tmalab.gpu.errors import GpuUnavailable, NoCompiler
from tmalab.kernels.copy_2d import copy_2d
args = (TensorMap.from_array(np.zeros((16, 128), np.float16), (8, 64)), np.zeros((8, 64), np.float16), 64, 8)
run = copy_2d.run(args=args)
assert run.ok, run
assert run.bank_conflicts is not None and "<svg" in run.show().svg()
for asked in (copy_2d.ptx, copy_2d.sass, copy_2d.counts):
    with pytest.raises(NoCompiler, match="numba-cuda"):
        asked(args)
for asked in (lambda: copy_2d.run(args=args, on="gpu"), lambda: copy_2d.prepare(args=args)):
    with pytest.raises(GpuUnavailable):
        asked()
import grader, contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as said:
    grader.check("copy-2d.kernel", copy_2d)
assert "compiles – not judged here" in " ".join(said.getvalue().split()), said.getvalue()
"""
MAP = {
    "data_type": "FLOAT16",
    "global_address": "0x1000",
    "global_dim": [128, 16],
    "global_strides": [256],
    "box_dim": [64, 8],
    "swizzle": "B128",
}


class Installed:
    """An environment that holds the wheel, an empty folder, and an empty home."""

    def __init__(self, folder: Path):
        self.folder, self.home, self.venv = folder / "empty", folder / "home", folder / "environment"
        self.folder.mkdir()
        self.home.mkdir()
        subprocess.run([outer_python(), "-m", "venv", "--without-pip", str(self.venv)], check=True)
        self.bin = self.venv / ("Scripts" if os.name == "nt" else "bin")
        (site,) = self.venv.glob("lib/python*/site-packages")
        self.site = site

    def pip(self, *arguments: str) -> None:
        """Install into the environment."""
        command = [*pip_for(self.bin / "python"), "install", "--quiet", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def borrow_packages(self, redirected: bool = True) -> None:
        """Take every other package from the environment of the tests; numba-cuda in numba.cuda's place, or not."""
        theirs = sysconfig.get_path("purelib")
        line = f"import site; site.addsitedir({theirs!r})" if redirected else theirs
        (self.site / "borrowed.pth").write_text(line + "\n")
        (self.venv / "share").mkdir()
        (self.venv / "share/jupyter").symlink_to(Path(sys.prefix, "share/jupyter"))
        if redirected:
            (self.site / "nvidia").symlink_to(Path(theirs, "nvidia"))  # the toolkit is looked for in these folders only

    def at_start(self, name: str, code: str) -> None:
        """Run some code whenever the environment's Python starts, before all else."""
        (self.site / f"{name}.py").write_text(code)
        (self.site / f"{name}.pth").write_text(f"import {name}\n")

    def run(self, *command: str, status: int = 0) -> str:
        """Run a command of the environment in the empty folder; what it printed."""
        variables = {"HOME": str(self.home), "PATH": f"{self.bin}{os.pathsep}/usr/bin{os.pathsep}/bin"}
        done = subprocess.run(command, cwd=self.folder, env=variables, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout


def build(kind: str, folder: Path, source: Path) -> Path:
    """Make the sdist or the wheel from a folder, as every build tool does: by calling the backend in it."""
    code = f"import hatchling.build; print(hatchling.build.build_{kind}({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True)
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    """The sdist, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build("sdist", folder, ROOT)) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory) -> Path:
    """The wheel, made from the sdist."""
    return build("wheel", tmp_path_factory.mktemp("wheel"), sdist)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Installed:
    """The wheel beside packages of the tests' environment, on a computer without a network."""
    installed = Installed(tmp_path_factory.mktemp("installed"))
    installed.pip("--no-deps", "--no-index", str(wheel))
    installed.borrow_packages()
    installed.at_start("offline", OFFLINE)
    return installed


def test_the_sdist_holds_every_file_of_the_repository(sdist):
    here = {path.relative_to(ROOT).as_posix() for path in files()}
    there = {path.relative_to(sdist).as_posix() for path in sdist.rglob("*")}
    assert here - there == set()


def test_the_wheel_holds_code_texts_figures_recordings_and_notebooks(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    sources = {path.relative_to(ROOT).as_posix() for path in files()}
    assert {source for source in sources if source.startswith(("tmalab/", "grader/"))} - held == set()
    notebooks = {path.relative_to(ROOT / "notebooks/release").as_posix() for path in ROOT.glob("notebooks/release/*/*")}
    assert notebooks
    assert {f"tmalab/workbook/{notebook}" for notebook in notebooks} - held == set()
    translated = {
        path.relative_to(ROOT / "notebooks").as_posix() for path in ROOT.glob("notebooks/translations/*/*.po")
    }
    assert translated
    assert {f"tmalab/{file}" for file in translated} - held == set()
    assert not [name for name in held if name.startswith(("tests/", "docs/"))]


def test_the_wheel_has_the_extras_of_the_project(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told = HeaderParser().parsestr(archive.read(name).decode())
    assert set(told.get_all("Provides-Extra")) == set(PROJECT["project"]["optional-dependencies"])
    assert {"cuda", "classroom", "docs", "test"} <= set(told.get_all("Provides-Extra"))


def test_the_demo_runs_twice_in_an_empty_folder_without_a_network(installed):
    first, second = (json.loads(installed.run("tmalab", "demo", "--json")) for _ in range(2))
    assert first["ok"]
    assert first == second
    assert installed.run("python", "-c", "import tmalab; print(tmalab.__file__)").startswith(str(installed.site))


def test_maps_are_judged_there_twice(installed):
    for _ in range(2):
        assert json.loads(installed.run("tmalab", "map", "--json", json.dumps(MAP)))["legal"]


def test_the_doctor_finds_nothing_wrong_there(installed):
    found = json.loads(installed.run("tmalab", "doctor", "--json"))
    assert [finding for finding in found["findings"] if finding["state"] == "wrong"] == []


def test_lab_makes_the_workbook_there_and_starts_jupyterlab(installed):
    said = installed.run("tmalab", "lab", "--no-browser", "--", "--version").splitlines()
    lesson = installed.folder / "tmalab-workbook/01-copy-2d/copy-2d.ipynb"
    assert str(lesson.parents[1]) in said[0]
    assert json.loads(lesson.read_text("utf-8"))["cells"]
    assert said[-1] == metadata.version("jupyterlab")


def test_lab_makes_it_in_another_language_there(installed):
    options = ("--language", "zh", "--folder", "book", "--no-browser", "--", "--version")
    said = installed.run("tmalab", "lab", *options).splitlines()
    assert said[0].startswith("你的工作簿")
    lesson = json.loads((installed.folder / "book/01-copy-2d/copy-2d.ipynb").read_text("utf-8"))
    assert lesson["metadata"]["tmalab"]["language"] == "zh"
    assert lesson["cells"][0]["source"].startswith("# 第 1 课")


@pytest.mark.slow
def test_lab_serves_the_learners_own_workbook_twice_without_a_network(installed, tmp_path):
    lesson = tmp_path / "tmalab-workbook" / LESSON
    for answers in ("", "my answers"):
        server = Server(tmp_path, installed.home, (str(installed.bin / "tmalab"),), PYTHONPATH="")  # not the checkout
        try:
            served = server.get(f"api/contents/{LESSON}?content=1")["content"]["cells"][0]["source"]
        finally:
            server.stop()
        written = json.loads(lesson.read_text("utf-8"))
        assert served == answers or not answers
        written["cells"][0]["source"] = "my answers"
        lesson.write_text(json.dumps(written), "utf-8")


def test_a_library_test_passes_against_the_wheel_in_a_folder_without_the_repository(installed):
    take_tests(installed)
    said = installed.run("python", "-m", "pytest", "-q", "tests/tmalab/test_mbarrier.py")
    assert " passed" in said


def test_without_cudas_packages_everything_but_compiling_works(wheel, tmp_path):
    """As on macOS, for which numba-cuda, cuda-bindings and the toolkit have no wheels."""
    mac = Installed(tmp_path)
    mac.pip("--no-deps", "--no-index", str(wheel))
    mac.borrow_packages(redirected=False)
    mac.at_start("absent", MACOS)
    found = json.loads(mac.run("tmalab", "demo", "--json"))
    assert (found["ok"], [case["hardware"] for case in found["cases"]]) == (True, ["recorded", "recorded"])
    mac.run("python", "-c", EVERYTHING)
    states = {found["name"]: found["state"] for found in json.loads(mac.run("tmalab", "doctor", "--json"))["findings"]}
    assert (states["compiler"], states["gpu"]) == ("absent", "absent")


def take_tests(installed: Installed) -> None:
    """Put the tests and the course that they look at into the folder, and pytest's settings; no library."""
    for name in ("tests", "notebooks"):
        shutil.copytree(ROOT / name, installed.folder / name, dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", installed.folder)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_pip_installs_the_checkout_and_finds_packages_for_every_extra(sdist, tmp_path):
    """With the library's ranges, and no pin: what there is of each package today."""
    fresh = Installed(tmp_path)
    pip = pip_for(fresh.bin / "python")
    subprocess.run([*pip, "install", "--quiet", "."], cwd=sdist, check=True)
    assert json.loads(fresh.run("tmalab", "demo", "--json"))["ok"]
    for extra in PROJECT["project"]["optional-dependencies"]:
        command = [*pip, "install", "--quiet", "--dry-run", f".[{extra}]"]
        done = subprocess.run(command, cwd=sdist, capture_output=True, text=True)
        assert done.returncode == 0, f"{extra}: {done.stderr}"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_tests_pass_from_a_wheel_in_a_fresh_environment(wheel, tmp_path):
    """Every package comes from its index; what looks at the repository's own files is left out."""
    fresh = Installed(tmp_path)
    fresh.pip("--require-hashes", "-r", str(ROOT / TESTS))
    fresh.pip("--no-deps", "--no-index", str(wheel))
    take_tests(fresh)
    assert " passed" in fresh.run("python", "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "tests")
