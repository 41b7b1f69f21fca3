"""What must hold of the files as they lie in the repository: no machine's paths, one set of pins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tmalab.bootstrap import LEARNERS, ROOT, TESTS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PLATFORMS = [  # what markers ask for, and a machine's answers
    {"sys_platform": "linux", "platform_machine": "x86_64"},
    {"sys_platform": "linux", "platform_machine": "aarch64"},
    {"sys_platform": "win32", "platform_machine": "AMD64"},
    {"sys_platform": "darwin", "platform_machine": "arm64"},
]
PYTHONS = ["3.11", "3.12", "3.13"]
MACHINES = re.compile(r"(?<![\w.])/(?:work|opt|root)/\w|://(?:pypi|registry|files|deb|mirror)\w*\.")


def files() -> list[Path]:
    """The repository's text files: those of git, or, in a copy without git, all but what is generated."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    paths = [ROOT / line for line in listed.stdout.splitlines()] or [
        path for path in ROOT.rglob("*") if not {".git", ".venv", "_build", "__pycache__"} & set(path.parts)
    ]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:4096]]


def lines_of(lock: str) -> list[str]:
    """A lock's requirements as they are written, without their hashes."""
    return re.findall(r"^(\w.*?) \\$", (ROOT / lock).read_text("utf-8"), re.MULTILINE)


def pins(lock: str, **machine: str) -> dict[str, Requirement]:
    """A lock's requirements that apply to a machine."""
    requirements = list(map(Requirement, lines_of(lock)))
    applying = [line for line in requirements if line.marker is None or line.marker.evaluate({"extra": "", **machine})]
    names = [canonicalize_name(line.name) for line in applying]
    assert len(names) == len(set(names)), f"{lock} pins a package twice for {machine}"
    return dict(zip(names, applying, strict=True))


def wanted(extras: list[str], **machine: str) -> list[Requirement]:
    """pyproject.toml's requirements with some extras, as they apply to a machine."""
    project = PROJECT["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    requirements = map(Requirement, lines)
    return [line for line in requirements if line.marker is None or line.marker.evaluate(machine)]


def test_no_file_names_a_machines_path_or_a_package_registry():
    named = {
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in files()
        for found in MACHINES.finditer(path.read_text("utf-8"))
    }
    assert named == set()


@pytest.mark.parametrize("lock", [LEARNERS, TESTS])
def test_a_lock_holds_exact_versions_their_hashes_and_no_address(lock):
    content = (ROOT / lock).read_text("utf-8")
    assert "://" not in content
    entries = re.findall(r"^\w[^#]*", content, re.MULTILINE)
    assert [entry for entry in entries if not re.search(r"\n    --hash=sha256:[0-9a-f]{64}\b", entry)] == []
    assert len(entries) == len(lines_of(lock)) == len(re.findall(r"^\w", content, re.MULTILINE))
    for requirement in map(Requirement, lines_of(lock)):
        assert [(pin.operator) for pin in requirement.specifier] == ["=="], requirement


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: "-".join(platform.values()))
@pytest.mark.parametrize(
    ("lock", "extras"),
    [(LEARNERS, ["cuda"]), (TESTS, ["cuda", "classroom", "cluster", "docs", "hub", "postgresql", "test"])],
)
def test_the_pins_are_what_the_project_asks_for_on_every_platform(lock, extras, platform, python):
    machine = {**platform, "python_version": python, "python_full_version": f"{python}.9"}
    locked = pins(lock, **machine)
    for requirement in wanted(extras, **machine):
        (pin,) = locked[canonicalize_name(requirement.name)].specifier
        assert requirement.specifier.contains(pin.version), f"{requirement} is pinned to {pin.version}"


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: "-".join(platform.values()))
def test_the_tests_run_with_the_versions_that_learners_get(platform):
    learners, tests = pins(LEARNERS, **platform), pins(TESTS, **platform)
    assert {name: str(line.specifier) for name, line in learners.items()}.items() <= {
        name: str(line.specifier) for name, line in tests.items()
    }.items()


def test_each_commit_is_checked_as_ci_checks_it():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    checks = {re.search(r"-m (\w+(?: check| format)?)", hook["entry"])[1] for hook in local["hooks"]}
    assert checks == {"ruff check", "ruff format", "mypy"}
    in_ci = (ROOT / ".ci/run").read_text("utf-8")
    assert all(f'"$python" -m {check}' in in_ci for check in checks - {"ruff format"})


def test_a_commit_of_bad_style_is_refused(tmp_path):
    """With the hook of pre-commit: the files are those of a checkout with an environment."""

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache"), "SKIP": "mypy"}  # of all modules: CI's
        for person in ("AUTHOR", "COMMITTER"):
            variables |= {f"GIT_{person}_NAME": "a", f"GIT_{person}_EMAIL": "a@example.org"}
        return subprocess.run(command, cwd=clone, env=variables, capture_output=True, text=True)

    clone = tmp_path / "clone"
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / ".venv/bin/python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (clone / ".venv/bin/python").chmod(0o755)
    for name in (".pre-commit-config.yaml", ".gitignore", "pyproject.toml"):
        shutil.copy(ROOT / name, clone)
    (clone / "new.py").write_text("import os\n")
    run("git", "init", "--quiet")
    assert run(sys.executable, "-m", "pre_commit", "install").returncode == 0
    run("git", "add", ".")
    refused = run("git", "commit", "-m", "unused")
    assert refused.returncode == 1
    assert "imported but unused" in refused.stdout + refused.stderr
    (clone / "new.py").write_text('"""Nothing yet."""\n')
    run("git", "add", ".")
    taken = run("git", "commit", "-m", "mended")
    assert taken.returncode == 0, taken.stderr


def test_a_forks_ci_runs_what_ci_runs():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))["jobs"]
    assert [step["run"] for step in jobs["all"]["steps"] if ".ci/run" in step.get("run", "")] == ["bash .ci/run"]
    named = {path for step in jobs["elsewhere"]["steps"] for path in re.findall(r"tests/\S+\.py", step.get("run", ""))}
    assert named
    assert [path for path in named if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("form", sorted(ROOT.glob(".github/ISSUE_TEMPLATE/*.yml")), ids=lambda form: form.stem)
def test_an_issue_brings_what_the_doctor_says(form):
    asked = yaml.safe_load(form.read_text("utf-8"))
    assert {"name", "description", "body"} <= asked.keys()
    said = {field["id"]: field["attributes"].get("description", "") for field in asked["body"]}
    assert "python3 -m tmalab doctor --json" in said["doctor"]
    assert form.stem != "simulator" or "tmalab record" in said["recording"]


def test_every_module_that_types_are_not_checked_in_exists_and_stands_in_one_list():
    overrides = PROJECT["tool"]["mypy"]["overrides"]
    lists = [of["module"] for of in overrides if {"ignore_errors", "strict_optional"} & of.keys()]
    names = [name for listed in lists for name in listed]
    assert [name for name in names if not list(ROOT.glob(name.replace(".", "/") + "*"))] == []
    assert len(names) == len(set(names))
    assert all(listed == sorted(listed) for listed in lists)
