"""Promises that are not what a load brings: what an H200 did, and that the model of a barrier says so too."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tmalab import MBarrier
from tmalab.cli import main
from tmalab.gpu import promise_recorder
from tmalab.recorded import promises
from tmalab.recorded.promises import Tried

PIECE = 32  # bytes that are credited at once


def barrier_after(tried: Tried, pieces: int) -> MBarrier:
    """The model, when so many pieces have come."""
    bar = MBarrier(1)
    bar.arrive_expect_tx(tried.promise)
    for _ in range(pieces):
        bar.complete_tx(PIECE)
    return bar


def test_the_recorded_promises_are_those_that_the_recorder_tries():
    assert [(tried.bytes, tried.promise) for tried in promises.read().tried] == promises.promises()


@pytest.mark.parametrize("tried", promises.read().tried, ids=lambda tried: f"{tried.promise} of {tried.bytes}")
def test_a_wait_ended_where_the_model_has_a_moment_that_keeps_the_promise(tried):
    barriers = [barrier_after(tried, pieces) for pieces in range(tried.bytes // PIECE + 1)]
    assert bool(tried.ended) == any(bar.phase for bar in barriers)
    assert tried.tx == (barriers[-1].tx_count,)
    if tried.promise in (0, tried.bytes):
        assert tried.ended == tried.tries  # at once, and at the end: in every order


def test_only_the_exact_promise_is_never_ended_short_of_bytes_and_leaves_the_barrier_as_it_was():
    exact = [tried for tried in promises.read().tried if tried.promise == tried.bytes]
    assert [(tried.short, tried.next_ended, tried.tx) for tried in exact] == [(0, tried.tries, (0,)) for tried in exact]
    wrong = [tried for tried in promises.read().tried if tried.promise not in (0, tried.bytes)]
    assert all(tried.next_ended < tried.tries for tried in wrong)


def test_what_is_told_is_counted_and_would_change_with_the_hardware(monkeypatch):
    told = promises.counts()
    assert told["count"] == told["early"] + told["never"]
    assert 0 < told["next"] < told["ended"]
    assert (told["step"], told["more_never"]) == (PIECE, told["more"])
    hanging = [tried._replace(ended=0, next_ended=0) for tried in promises.read().tried]
    other = promises.read()._replace(tried=tuple(hanging))
    monkeypatch.setattr(promises, "read", lambda: other)
    assert (promises.counts()["early"], promises.counts()["never"]) == (0, told["count"])


def test_what_is_recorded_is_read_back(monkeypatch, tmp_path):
    tried = {(512, 512): Tried(512, 512, 2, 2, 0, 2, 0, (0,)), (512, 16): Tried(512, 16, 2, 0, 0, 0, 0, (-496,))}
    monkeypatch.setattr(promises, "promises", lambda: list(tried))
    monkeypatch.setattr(promise_recorder, "describe", lambda command: {"gpu": "a GPU", "command": command})
    monkeypatch.setattr(promise_recorder, "tried_in", lambda size, promise, on: (tried[size, promise], 3000))
    assert promise_recorder.record_promises(tmp_path, "by hand") == 2
    monkeypatch.setattr(promises.resources, "files", lambda package: tmp_path)
    (tmp_path / "recorded").symlink_to(tmp_path)
    assert promises.read.__wrapped__() == promises.Promises(
        {"gpu": "a GPU", "command": "by hand"}, 3.0, tuple(tried.values())
    )


def test_the_command_says_that_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr("tmalab.gpu.device.why_no_gpu", lambda: "no GPU")
    done = CliRunner().invoke(main, ["record", "promises", "--json"])
    assert done.exit_code == 3
    assert json.loads(done.stdout) == {"folder": None, "error": "no GPU"}
