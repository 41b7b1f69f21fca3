"""The bar of long work: after a second, on a terminal or in a notebook, with the time that is left."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import textwrap
from contextlib import suppress

import pytest

from tmalab import progress_bar
from tmalab.bootstrap import ROOT
from tmalab.progress_bar import Progress, bar, display, duration, shown, watched


class Shown:
    """A display that remembers."""

    def __init__(self):
        self.pictures, self.closed = [], False

    def show(self, part, sentence):
        self.pictures.append((part, sentence))

    def close(self):
        self.closed = True


def words(left: str) -> str:
    return f"{left} left" if left else "working"


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    return now


def test_nothing_is_shown_in_the_first_second(clock):
    screen = Shown()
    with Progress(screen) as made:
        clock[0] += 0.9
        made.tell(0.5, words)
    assert (screen.pictures, screen.closed) == ([], False)


def test_the_time_left_is_that_of_the_parts_so_far(clock):
    screen = Shown()
    with Progress(screen) as made:
        clock[0] += 30
        made.tell(0.25, words)
        clock[0] += 0.01
        made.tell(0.26, words)  # too soon after the last picture
    assert screen.pictures == [(0.25, "1:30 left")]
    assert screen.closed


def test_before_any_part_is_done_no_time_is_named(clock):
    screen = Shown()
    with Progress(screen) as made:
        clock[0] += 5
        made.tell(0.0, words)
    assert screen.pictures == [(0.0, "working")]


def test_nobody_looks_at_a_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert display() is None
    with Progress(None) as made:
        made.tell(0.5, words)


def test_items_are_counted_as_they_are_asked_for(clock, monkeypatch):
    screen = Shown()
    monkeypatch.setattr(progress_bar, "display", lambda: screen)
    for _ in watched(["a", "b", "c", "d"]):
        clock[0] += 10
    assert screen.pictures == [
        (0.25, "1 of 4, 0:30 left"),
        (0.5, "2 of 4, 0:20 left"),
        (0.75, "3 of 4, 0:10 left"),
    ]
    assert screen.closed


def test_a_bar_is_closed_when_the_work_breaks_off(clock, monkeypatch):
    screen = Shown()
    monkeypatch.setattr(progress_bar, "display", lambda: screen)

    def work() -> None:
        for item in watched(iter([1, 2, 0]), total=3):
            clock[0] += 10
            _ = 1 // item

    with pytest.raises(ZeroDivisionError):
        work()
    assert screen.closed


def test_nothing_is_shown_where_it_is_not_wanted(monkeypatch):
    monkeypatch.setattr(progress_bar, "_in_notebook", lambda: True)
    assert display() is not None
    with shown(False):
        assert display() is None
    assert display() is not None


@pytest.mark.parametrize(("seconds", "words"), [(5, "0:05"), (65.4, "1:05"), (7200, "2:00:00"), (0, "0:00")])
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_a_bar_of_characters():
    assert bar(0) == f"[{' ' * 30}]"
    assert bar(0.5) == f"[{'#' * 15}{' ' * 15}]"
    assert bar(1) == f"[{'#' * 30}]"


def test_a_notebook_without_widgets_shows_a_line_that_changes(monkeypatch):
    import IPython.display

    lines = []

    class Handle:
        def update(self, shown, raw):
            lines.append(shown["text/plain"])

    def put(shown, raw, display_id):
        lines.append(shown["text/plain"])
        return Handle()

    monkeypatch.setattr(IPython.display, "display", put)
    line = progress_bar.Line()
    line.show(0.5, "words")
    line.show(1.0, "more")
    line.close()
    assert lines == [f"{bar(0.5)} words", f"{bar(1)} more", ""]


def test_a_notebook_with_widgets_shows_one_and_keeps_nothing_of_it(monkeypatch):
    import IPython.display

    boxes, left = [], []

    class Handle:
        def update(self, shown, raw):
            left.append(shown)

    def put(box, display_id):
        boxes.append(box)
        return Handle()

    monkeypatch.setattr(IPython.display, "display", put)
    widget = progress_bar.Widget()
    widget.show(0.25, "a third is left")
    (box,) = boxes
    assert (box.children[0].value, box.children[1].value) == (0.25, "a third is left")
    assert left == []
    widget.close()
    assert left == [{"text/plain": ""}]  # a widget that is closed would be "model not found" in the saved notebook


def test_a_terminal_shows_a_bar_and_takes_it_away():
    script = """
        import numpy as np, tmalab
        from numba import cuda

        @tmalab.kernel
        def take_turns(out):
            out[cuda.atomic.add(out, 8, 1)] = cuda.threadIdx.x

        tmalab.explore(take_turns, 1, 8, (np.zeros(9, np.int32),), exhaustive=True, time_limit=2.5)
        print("done")
    """
    main, terminal = pty.openpty()
    command = [sys.executable, "-c", textwrap.dedent(script)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=terminal, text=True)
    os.close(terminal)
    shown = b""
    with suppress(OSError):  # the end of a terminal
        while part := os.read(main, 1 << 16):
            shown += part
    os.close(main)
    assert process.communicate(timeout=300)[0] == "done\n"
    assert "orders, 0 wrong" in shown.decode(errors="replace")
