"""`python -m tests`: the tests, in an environment that this command makes for itself in a fresh clone.

python3 -m tests                       all that a contributor should run before a commit
python3 -m tests --all                 with the slow ones, such as fresh environments
python3 -m tests tests/tmalab -k swizzle -x      arguments go on to pytest
python3 -m tests --durations=30        and tells which tests, files and folders take the most
"""

from __future__ import annotations

import os
import sys

from tmalab.bootstrap import ROOT, ensure


def pytest_arguments(arguments: list[str]) -> list[str]:
    """What pytest is called with: ours first, so that the caller's own `-m` and `-n` have the last word."""
    workers = str(min(os.cpu_count() or 1, 4))
    ours = ["-n", workers, "--dist", "loadfile"]  # a file's fixtures, such as a server, are made once
    ours += ["--no-loadscope-reorder"]  # else files of few tests come last, which run whole notebooks one after another
    ours += ["--max-worker-restart", "0"]  # a crash ends the run: after a restart pytest-xdist waits for ever
    ours += ["-p", "tests.durations"]
    if "--all" in arguments:
        ours += ["-m", ""]  # pyproject.toml leaves the slow ones out
    return [*ours, *(argument for argument in arguments if argument != "--all")]


if __name__ == "__main__":
    ensure("tests", sys.argv[1:])

    import pytest

    os.chdir(ROOT)
    sys.exit(pytest.main(pytest_arguments(sys.argv[1:])))
