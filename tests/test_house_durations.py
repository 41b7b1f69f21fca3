"""Where the tests' time goes is told by file and by folder, the processor's seconds of each test once."""

from __future__ import annotations

from types import SimpleNamespace

from tests import durations
from tests.__main__ import pytest_arguments


class Reporter:
    """What pytest hands the summary: what came of each phase of two tests in one file and of one in another."""

    def __init__(self, most):
        self.config = SimpleNamespace(option=SimpleNamespace(durations=most))
        self.said = []
        nodes = (
            ("tests/a/test_x.py::test_1", 1),
            ("tests/a/test_x.py::test_2[a/b]", 2),
            ("tests/b/test_y.py::test", 4),
        )
        phases = (("setup", ()), ("call", ()), ("teardown", (("processor", 8),)))
        self.stats = {
            "passed": [
                SimpleNamespace(nodeid=node, duration=seconds, when=when, user_properties=[*used])
                for node, seconds in nodes
                for when, used in phases
            ]
        }

    def section(self, title):
        self.said.append(title.partition(":")[0])

    def write_line(self, line):
        self.said.append(line.split())


def test_files_and_folders_are_told_by_what_they_take():
    reporter = Reporter(10)
    durations.pytest_terminal_summary(reporter)
    files = [["16.00", "9.00", "tests/a/test_x.py"], ["8.00", "12.00", "tests/b/test_y.py"]]
    folders = [["16.00", "9.00", "tests/a"], ["8.00", "12.00", "tests/b"]]
    assert reporter.said == ["slowest files", *files, "slowest folders", *folders]


def test_only_so_many_are_told_as_are_asked_for_and_none_where_nobody_asks():
    one, none = Reporter(1), Reporter(None)
    for reporter in (one, none):
        durations.pytest_terminal_summary(reporter)
    assert [said for said in one.said if isinstance(said, list)] == [
        ["16.00", "9.00", "tests/a/test_x.py"],
        ["16.00", "9.00", "tests/a"],
    ]
    assert none.said == []


def test_the_command_of_the_tests_brings_it_along():
    assert "tests.durations" in pytest_arguments(["--durations=30"])
