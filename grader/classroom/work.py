"""One submission, graded by a worker: its bytes and what is asked go in, an outcome comes back, both plain data.

An outcome has one entry: `report`; or `error`, why the submission has no grade; or `not_graded`, what went wrong on
the computer that graded: that is no fault of the submission, and it is graded again by the next run.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, NamedTuple

from grader import submission, trusted
from grader.limits import Failed, HostFault
from grader.sandbox.allowance import SECONDS
from grader.sandbox.host import Sandbox
from grader.texts import text

Outcome = dict[str, Any]


class Job(NamedTuple):
    """A submission's name in the folder, its file's bytes, and how it is to be graded."""

    name: str
    content: bytes
    assignment: str | None
    seed: int
    live: bool = False  # whether right kernels also run on this computer's GPU
    limit: float = SECONDS  # for all that it runs


_own = threading.Lock()  # held while this process grades: it has one sandbox, and one standard output to keep quiet
_sandbox: Sandbox | None = None


def work(job: Job) -> Outcome:
    """The outcome, found with this process's own sandbox, which its first job starts. Raises NoSandbox."""
    with _own:
        return grade(job, _started())


def start() -> None:
    """Start this process's sandbox before there is a job. Raises NoSandbox."""
    with _own:
        _started()


def _started() -> Sandbox:
    global _sandbox
    _sandbox = _sandbox or Sandbox()
    return _sandbox


def close() -> None:
    """End this process's sandbox."""
    global _sandbox
    with _own, contextlib.suppress(OSError):
        if _sandbox is not None:
            _sandbox.close()
        _sandbox = None


def grade(job: Job, sandbox: Sandbox) -> Outcome:
    """The outcome of one notebook; nothing in it, nor its being no notebook, stops the caller. Raises NoSandbox."""
    try:
        notebook = submission.parse(job.content)
        _, _, assignment, seed, live, limit = job
        report = trusted.regrade(notebook, assignment, seed, sandbox, live=live, figures=True, limit=limit)
        return {"report": report.as_dict()}
    except submission.Unreadable as reason:
        return {"error": str(reason)}
    except (Failed, RecursionError) as error:
        return {"error": text("classroom.broken", reason=str(error) or type(error).__name__)}
    except (HostFault, MemoryError) as error:
        return {"not_graded": text("classroom.not-graded", reason=str(error) or type(error).__name__)}
