"""`tmalab lab`: the learner's own copy of the workbook, opened in JupyterLab on the first lesson.

What the learner has is kept, always: only notebooks that are not in the folder yet are copied there, in the workbook's
language (see `tmalab.lab_language`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn

from tmalab.bootstrap import ROOT, become
from tmalab.texts import FALLBACK, LANGUAGE

DEFAULT_FOLDER = "tmalab-workbook"
PACKAGE = Path(__file__).resolve().parent
CONFIGURATION = PACKAGE / "jupyter"  # JupyterLab's settings of this course, a folder for JUPYTER_CONFIG_PATH


def released() -> Path:
    """The folder of released notebooks: in an installed package its own, in a checkout the one that is committed."""
    installed = PACKAGE / "workbook"
    return installed if installed.is_dir() else ROOT / "notebooks" / "release"


def fill(folder: Path, language: str = FALLBACK) -> list[Path]:
    """Copy the released files that `folder` lacks into it; the copies are returned, and what was there is kept.

    language   that of the copies; what is not translated is English

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = fill(Path(folder)), fill(Path(folder))
    >>> len(first) > 0, second
    (True, [])
    """
    from tmalab.lab_language import in_language

    copied = []
    for source in sorted(path for path in released().rglob("*") if path.is_file()):
        target = folder / source.relative_to(released())
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(target, "xb") as file:
                file.write(in_language(source, language))
            copied.append(target)
        except FileExistsError:
            continue
    return copied


def first_lesson() -> str:
    """The first lesson's notebook, relative to the workbook, with `/` between folders as in a URL."""
    return min(path.relative_to(released()).as_posix() for path in released().glob("*/*.ipynb"))


def command(folder: Path, browser: bool, arguments: Sequence[str]) -> list[str]:
    """What starts JupyterLab in `folder` on the first lesson, with the Python that runs this."""
    ours = [f"--ServerApp.root_dir={folder}", f"--LabApp.default_url=/lab/tree/{first_lesson()}"]
    if not browser:
        ours.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        ours.append(
            "--allow-root"
        )  # in a container or on a rented GPU one is often root, and JupyterLab would not start
    return [sys.executable, "-m", "jupyterlab", *ours, *arguments]


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of JupyterLab and of its kernels: the course's settings, and a tmalab that can be imported."""
    added = {"JUPYTER_CONFIG_PATH": CONFIGURATION}
    try:
        metadata.version("tmalab")
    except metadata.PackageNotFoundError:  # a checkout that runs with packages from elsewhere
        added["PYTHONPATH"] = ROOT
    joined = {name: os.pathsep.join(filter(None, [str(path), environment.get(name)])) for name, path in added.items()}
    return {**environment, **joined}


def start(folder: Path, browser: bool, arguments: Sequence[str], language: str = FALLBACK) -> NoReturn:
    """Run JupyterLab in this process's place; what is started from it speaks this language."""
    become(command(folder, browser, arguments), variables({**os.environ, LANGUAGE: language}))
