"""Run a notebook from top to bottom and read what its checks gave: for lessons, not for grades (`grader.trusted`).

A check's score is the number that its cell displays. As with nbgrader, a cell that raises or writes to stderr scores 0;
other than there, so does one that displays no plain number in range.
"""

from __future__ import annotations

import math
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.texts import text

CELL_SECONDS = 120


class NoKernel(RuntimeError):
    """The notebook could not be run here: a fault of the set-up, not of the notebook."""


@dataclass(frozen=True)
class Score:
    """What one check cell gave."""

    exercise: str
    points: float
    maximum: float
    report: str  # what the check printed


def execute(notebook: Any, folder: Path) -> None:
    """Run all cells in a fresh kernel; cells that raise don't stop the rest."""
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    notebook.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        interrupt_on_timeout=True,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]  # the notebook gets this very grader
    try:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        client.execute(env=environment, stderr=subprocess.DEVNULL)  # the kernel's own log, not the cells' output
    except NoSuchKernel:
        raise NoKernel(text("cli.no-kernel")) from None
    except DeadKernelError:
        return  # the checks that came before it count, the others have no output


def scores(notebook: Any) -> list[Score]:
    """The scores in an executed notebook."""
    return [_score(cell) for cell in notebook.cells if _check_of(cell)]


def _check_of(cell: Any) -> str | None:
    """The exercise that a cell checks, None where it checks none."""
    graded = cell.get("cell_type") == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    return cell.metadata.get("tmalab", {}).get("exercise") if graded else None


def _score(cell: Any) -> Score:
    outputs = cell.get("outputs", [])
    printed = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    spoilt = any(output.output_type == "error" or output.get("name") == "stderr" for output in outputs)
    shown = [output.data.get("text/plain", "") for output in outputs if output.output_type == "execute_result"]
    maximum = float(cell.metadata.nbgrader.points)
    points = 0.0 if spoilt or not shown else _plain_number(shown[0], maximum)
    return Score(cell.metadata.tmalab.exercise, points, maximum, printed.rstrip("\n"))


def _plain_number(shown: str, maximum: float) -> float:
    try:
        points = float(shown)
    except ValueError:
        return 0.0
    return points if math.isfinite(points) and 0 <= points <= maximum else 0.0
