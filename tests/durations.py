"""`python3 -m tests --durations=N`: besides the slowest tests, the N files and the folders that take the most.

Seconds of the processor, of a test's process and of the processes that it started and that are over, and by the clock:
where the clock says much more, a test waits, or the computer was busy with something else.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

USED = "processor"
_before: list[float] = []


def _used() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _before[:] = [_used()]
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo) -> Iterator[None]:
    report = yield
    if call.when == "teardown":
        report.user_properties.append((USED, _used() - _before[0]))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell the files and folders, where durations are asked for."""
    most = terminalreporter.config.option.durations
    if most is None:
        return
    reports = [each for kept in terminalreporter.stats.values() for each in kept if hasattr(each, "duration")]
    for title, name in (("files", str), ("folders", lambda path: str(path.parent))):
        rows: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for report in reports:
            row = rows[name(PurePosixPath(report.nodeid.split("::")[0]))]
            row[0] += dict(report.user_properties).get(USED, 0.0) if report.when == "teardown" else 0.0
            row[1] += report.duration
        terminalreporter.section(f"slowest {title}: seconds of the processor, by the clock")
        for place, (used, clock) in sorted(rows.items(), key=lambda item: -item[1][0])[: most or None]:
            terminalreporter.write_line(f"{used:8.2f} {clock:8.2f}  {place}")
