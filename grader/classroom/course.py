"""A course's folder as nbgrader, formgrader and JupyterHub want it: settings, and the lessons as their source.

    tmalab-course/nbgrader_config.py       all that nbgrader needs
    tmalab-course/jupyterhub_config.py     a hub for the class
    tmalab-course/everyone/nbgrader_config.py    for all accounts of the hub
    tmalab-course/source/LESSON/NAME.ipynb

A checkout has the instructor's notebooks; an installed package holds no solutions, and its lessons are those that
students get. Both can be released and graded: a grade does not come from the solutions.
"""

from __future__ import annotations

from pathlib import Path

from grader.release import CONFIG
from tmalab.bootstrap import ROOT
from tmalab.lab import released
from tmalab.lab_language import in_language
from tmalab.texts import FALLBACK

HUB, EVERYONE = "jupyterhub_config.py", f"everyone/{CONFIG}"
AS_RELEASED = (
    "\nc.ClearSolutions.enabled = False  # source holds no solutions: what is released is as it stands there\n"
)
SEEDED = '\nc.TrustedGrades.seed = {seed}  # the students\' servers need TMALAB_CLASS_SEED="{seed}"\n'


def write_course(folder: Path, solutions: bool = True, seed: int | None = None, language: str = FALLBACK) -> list[Path]:
    """Write the files of a course that `folder` lacks; returns them. What is there is kept.

    solutions   take the instructor's notebooks, where there are any
    seed        the class's, kept in the settings; None: TMALAB_CLASS_SEED decides
    language    of the notebooks; what is not translated is English
    """
    sources = instructors() if solutions else None
    settings = (_templates() / CONFIG).read_text("utf-8")
    settings += ("" if sources else AS_RELEASED) + ("" if seed is None else SEEDED.format(seed=seed))
    hub = (_templates() / HUB).read_text("utf-8")
    wanted = {CONFIG: settings, HUB: hub if seed is None else hub.replace('SEED = "0"', f'SEED = "{seed}"')}
    wanted[EVERYONE] = (_templates() / EVERYONE).read_text("utf-8")
    for path in sorted((sources or released()).glob("*/*.ipynb")):
        wanted[f"source/{path.parent.name}/{path.name}"] = in_language(path, language).decode("utf-8")
    written = [folder / name for name in wanted if not (folder / name).exists()]
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path.relative_to(folder).as_posix()], "utf-8")
    return written


def instructors() -> Path | None:
    """The folder of notebooks with solutions, which a checkout has."""
    found = ROOT / "notebooks" / "source"
    return found if found.is_dir() else None


def _templates() -> Path:
    """Where the settings lie: in an installed package its own, in a checkout the ones that are committed."""
    installed = Path(__file__).parent / "templates"
    return installed if installed.is_dir() else ROOT / "notebooks"
