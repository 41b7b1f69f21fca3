"""From a fresh clone to a running command, in a small checkout that has tmalab's bootstrap and one tiny dependency."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tmalab import bootstrap

BASE_PYTHON = bootstrap.outer_python()
BACKEND = '''
import zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    """An editable wheel by hand, so that no build tool is needed."""
    name = "tmalab-1-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("tmalab-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tmalab\\nVersion: 1\\n")
        wheel.writestr("tmalab-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("tmalab-1.dist-info/RECORD", "")
    return name
'''
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "tmalab"
dependencies = ["tiny[more]>=1,<2", "elsewhere>=1; sys_platform == 'nowhere'"]
[project.optional-dependencies]
classroom = []
docs = []
test = []
"""
MAIN = """
import sys
from tmalab.bootstrap import ensure
ensure("tmalab", sys.argv[1:])
import tiny
print(tiny.VERSION, sys.prefix, *sys.argv[1:])
"""

DEBIAN = """
import subprocess, sys
real = subprocess.run
def run(command, *rest, **options):
    if command[1:3] == ["-m", "venv"] and "--without-pip" not in command:
        return subprocess.CompletedProcess(command, 1, "ensurepip is not available\\n", "")
    if {no_pip} and "import pip" in command:
        return subprocess.CompletedProcess(command, 1, "", "No module named pip\\n")
    return real(command, *rest, **options)
subprocess.run = run
from tmalab.bootstrap import ensure
ensure("tmalab", sys.argv[1:])
"""  # as on Debian without python3-venv, which has the module venv, but no ensurepip; also the quicker way


def add_wheel(folder: Path, version: str) -> str:
    """Put a package's wheel there; the line that locks it."""
    with zipfile.ZipFile(folder / f"tiny-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", f"VERSION = {version!r}\n")
        info = f"tiny-{version}.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    digest = hashlib.sha256((folder / f"tiny-{version}-py3-none-any.whl").read_bytes()).hexdigest()
    return f"tiny=={version} --hash=sha256:{digest}\n"


PYTHON = (BASE_PYTHON, "-m", "tmalab")
DEBIANS_PYTHON = (BASE_PYTHON, "-c", DEBIAN.format(no_pip=False))
PYTHON_WITHOUT_PIP = (BASE_PYTHON, "-c", DEBIAN.format(no_pip=True))


class Checkout:
    """A folder like a fresh clone, whose only pinned package lies in a folder beside it."""

    def __init__(self, folder: Path):
        self.root, self.wheels = folder / "clone", folder / "wheels"
        (self.root / "tmalab").mkdir(parents=True)
        self.wheels.mkdir()
        shutil.copy(bootstrap.__file__, self.root / "tmalab")
        locked = add_wheel(self.wheels, "1.0")
        for name, content in {
            "tmalab/__init__.py": "",
            "tmalab/__main__.py": MAIN,
            "backend.py": BACKEND,
            "pyproject.toml": PROJECT,
            "binder/requirements.txt": locked,
            "tests/requirements.txt": locked,
        }.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(content)
        self.venv = self.root / ".venv"

    def start(self, *arguments: str, python: tuple[str, ...] = DEBIANS_PYTHON, **variables: str):
        """Run the command; pip reaches the wheels' folder and nothing else."""
        pip = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
        environment = {"HOME": str(self.root.parent), **kept, **pip, **variables}
        return subprocess.run(
            [*python, *arguments], cwd=self.root, env=environment, capture_output=True, text=True, timeout=120
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path.resolve())


@pytest.fixture
def installed(checkout: Checkout) -> Checkout:
    assert checkout.start().returncode == 0
    return checkout


def test_the_first_start_makes_an_environment_and_runs_the_command_in_it(checkout):
    result = checkout.start("demo", "--json", python=PYTHON)
    assert result.stdout.split() == ["1.0", str(checkout.venv), "demo", "--json"], result.stderr
    assert "installing the pinned packages" in result.stderr


def test_the_second_start_installs_nothing_and_says_nothing(installed):
    shutil.rmtree(installed.wheels)
    result = installed.start()
    assert (result.returncode, result.stderr) == (0, "")


def test_an_interrupted_installation_is_made_anew(installed):
    (installed.venv / bootstrap.STAMP.name).unlink()
    shutil.rmtree(next(installed.venv.rglob("tiny-1.0.dist-info")).parent)
    assert installed.start().stdout.startswith("1.0 ")


def test_an_environment_whose_python_is_gone_is_made_anew(installed):
    for path in installed.venv.glob("bin/*"):
        path.unlink()
    assert installed.start().stdout.startswith("1.0 ")


def test_a_package_that_was_removed_is_installed_again_from_inside(installed):
    for path in installed.venv.rglob("tiny*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    inside = (str(installed.venv / "bin/python"), "-m", "tmalab")
    assert installed.start(python=inside).stdout.startswith("1.0 ")


def test_new_pins_are_installed_at_the_next_start(installed):
    (installed.root / "binder/requirements.txt").write_text(add_wheel(installed.wheels, "1.1"))
    assert installed.start().stdout.startswith("1.1 ")


def test_a_python_that_has_the_packages_is_used_as_it_is(checkout):
    with zipfile.ZipFile(checkout.wheels / "tiny-1.0-py3-none-any.whl") as wheel:
        wheel.extractall(checkout.root.parent / "packages")
    result = checkout.start(python=PYTHON, PYTHONPATH=str(checkout.root.parent / "packages"))
    assert result.stdout.startswith("1.0 ")
    assert not checkout.venv.exists()


def test_a_package_out_of_range_is_as_good_as_none(checkout):
    add_wheel(checkout.wheels, "2.0")
    with zipfile.ZipFile(checkout.wheels / "tiny-2.0-py3-none-any.whl") as wheel:
        wheel.extractall(checkout.root.parent / "packages")
    shutil.rmtree(checkout.wheels)
    result = checkout.start(PYTHONPATH=str(checkout.root.parent / "packages"))
    assert "installing the pinned packages" in result.stderr


def test_without_ensurepip_the_outer_pip_fills_the_environment(checkout):
    result = checkout.start()
    assert result.stdout.startswith("1.0 "), result.stderr
    assert not list(checkout.venv.rglob("site-packages/pip"))


def test_without_any_pip_one_sentence_says_what_to_install(checkout):
    result = checkout.start(python=PYTHON_WITHOUT_PIP)
    assert result.returncode == 2
    assert "apt install python3-venv" in result.stderr.splitlines()[-1]


def test_a_folder_in_which_no_environment_can_be_made_is_named_with_the_reason(checkout):
    checkout.venv.write_text("a file is in the way")
    result = checkout.start()
    assert result.returncode == 2
    assert str(checkout.venv) in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_without_a_network_one_sentence_says_so(checkout):
    (checkout.root / "binder/requirements.txt").write_text(f"not-there==1.0 --hash=sha256:{0:064}\n")
    closed = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "1"}
    result = checkout.start(**closed)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith("tmalab: pip cannot reach its package index")
    assert "Traceback" not in result.stderr


def test_what_pip_refuses_is_named(checkout):
    (checkout.root / "binder/requirements.txt").write_text(f"tiny==7.0 --hash=sha256:{0:064}\n")
    assert "tiny==7.0" in checkout.start().stderr.splitlines()[-1]


def test_a_file_that_is_not_the_locked_one_is_not_installed(checkout):
    add_wheel(checkout.wheels, "1.0")
    with zipfile.ZipFile(checkout.wheels / "tiny-1.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr("tiny_more.py", "print('not what was locked')")
    result = checkout.start()
    assert result.returncode == 2
    assert "not the one that was locked" in result.stderr.splitlines()[-1]
    assert not list(checkout.venv.rglob("tiny*"))


def test_a_pin_without_a_hash_is_not_installed(checkout):
    (checkout.root / "binder/requirements.txt").write_text("tiny==1.0\n")
    result = checkout.start()
    assert result.returncode == 2
    assert not list(checkout.venv.rglob("tiny*"))


@pytest.mark.parametrize("version", [(3, 10), (3, 14)])
def test_another_python_is_named_with_those_that_work(version):
    with pytest.raises(bootstrap.BootstrapError, match=rf"Python {version[0]}\.{version[1]}.*3\.11 to 3\.13"):
        bootstrap.check_version(version)


@pytest.mark.parametrize(
    "name", ["tmalab/__init__.py", "tmalab/__main__.py", "tmalab/bootstrap.py", "tests/__main__.py"]
)
def test_what_runs_before_the_version_is_checked_reads_in_python_3_7(name):
    source = (bootstrap.ROOT / name).read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 7))
    annotated = any(isinstance(node, ast.FunctionDef) and (node.returns or node.args.args) for node in ast.walk(tree))
    assert not annotated or "from __future__ import annotations" in source


def test_an_installed_tmalab_without_a_checkout_is_left_alone(tmp_path):
    shutil.copytree(Path(bootstrap.__file__).parent, tmp_path / "tmalab")
    code = "from tmalab import bootstrap; bootstrap.ensure('tmalab', []); print('unchanged')"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert result.stdout == "unchanged\n"


@pytest.mark.parametrize(("arguments", "needed"), [(["bench", "gemm"], False), (["verify"], False), (["lab"], True)])
def test_what_measures_on_a_gpu_server_needs_no_notebook_packages(arguments, needed, monkeypatch):
    from importlib import metadata

    real = metadata.version

    def version(name):
        if name in bootstrap.NOTEBOOKS:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    lacking = bootstrap.missing("tmalab", arguments)
    assert {line.split(">")[0] for line in lacking} == (set(bootstrap.NOTEBOOKS) if needed else set())


def test_commands_that_need_no_notebook_packages_import_none():
    names = bootstrap.WITHOUT_NOTEBOOKS["tmalab"]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({bootstrap.NOTEBOOKS!r}))
from tmalab.cli import main
for name in {names!r}:
    main([name, "--help"], standalone_mode=False)
import tmalab.gpu.recorder, tmalab.gpu.verify, tmalab.gpu.timing_recorder, tmalab.bench.products
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=bootstrap.ROOT)
    assert found.returncode == 0, found.stderr
