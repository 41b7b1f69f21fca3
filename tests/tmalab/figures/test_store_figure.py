"""Figure 5 without a browser: what may be overwritten when, against what the simulator reports."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.tmalab.figures.runs import loaded, stored
from tmalab.figures import StoreFigure
from tmalab.simulator.story import Story

MAY = ("never", "free")


def test_the_example_refills_a_buffer_once_wait_group_read_has_returned():
    figure = StoreFigure()
    buffers = [frame.buffers for frame in figure.frames]
    assert buffers[5] == ("read", "busy")  # read, but the thread has not waited
    assert buffers[6] == ("free", "busy")
    assert buffers[-1] == ("free", "free")
    assert [frame.arrived[0] for frame in figure.frames[6:8]] == ["", ""]  # read is not written
    assert figure.frames[-1].arrived == ("known", "known")


def test_a_right_kernel_writes_only_what_may_be_overwritten():
    run = stored(pending=1)
    assert run.ok
    figure = run.show("stores")
    at = [number for number, frame in enumerate(figure.frames) if "issues the store" in frame.did]
    refilled = [figure.frames[number - 1].buffers[turn % 2] for turn, number in enumerate(at)]
    assert set(refilled) <= set(MAY)


def test_a_wrong_kernel_writes_what_must_not_be_overwritten():
    run = stored(pending=2)
    assert [hazard.name for hazard in run.hazards] == ["store-source-reuse"]
    figure = run.show("stores")
    at = [number for number, frame in enumerate(figure.frames) if "issues the store" in frame.did]
    assert figure.frames[at[2] - 1].buffers[0] not in MAY


def test_every_store_is_read_before_it_is_written_and_both_are_told():
    figure = StoreFigure(stored())
    said = [(frame.who, frame.did) for frame in figure.frames]
    for buffer in ("stages[0]", "stages[1]"):
        read, written = (f"has {what}" for what in ("read its source", "written global memory"))
        assert said.index((f"the store of {buffer}", read)) < said.index((f"the store of {buffer}", written))


def test_groups_are_counted_in_the_order_of_their_commits():
    frames = StoreFigure(stored(tiles=3)).frames
    assert [f.did for f in frames if "commits" in f.did] == [
        "commits group 0: stages[0]",
        "commits group 1: stages[1]",
        "commits group 2: stages[0]",
    ]


def test_an_empty_group_counts():
    story = Story.of(stored(tiles=1))
    (commit,) = [number for number, moment in enumerate(story.moments) if moment.what == "commit_group"]
    story.moments.insert(commit + 1, story.moments[commit])
    figure = StoreFigure(story)
    assert "commits group 1, which is empty and counts all the same" in [frame.did for frame in figure.frames]


def test_a_wait_says_what_it_has_shown():
    figure = StoreFigure(stored())
    waits = [frame.says for frame in figure.frames if "wait_group" in frame.says and "returns" in frame.says]
    assert waits[0].endswith("No buffer became free by it.")
    assert any("So stages[0] may be overwritten." in says for says in waits)
    assert waits[-1].startswith("wait_group(0) returns to thread 0: all groups have been read and written.")


def test_misuse_is_one_sentence():
    with pytest.raises(ValueError, match="no stores"):
        StoreFigure(loaded())
    with pytest.raises(ValueError, match="thread 3 issues no store in this run: these do: thread 0"):
        StoreFigure(stored(), "thread 3")


def test_many_buffers_are_drawn_in_part(monkeypatch):
    monkeypatch.setattr("tmalab.figures.store.MOST_BUFFERS", 1)
    figure = StoreFigure()
    assert figure.data["buffers"] == [["ring[0]"]]
    assert "Drawn in part: 1 of 2 buffers." in figure.table()


def test_the_drawing_hatches_what_must_not_be_overwritten():
    figure = StoreFigure()
    root = ElementTree.fromstring(figure.svg())
    shown = [node for node in root.iter() if " rest" in (node.get("class") or "")]
    assert len(shown) == 1
    assert sum(node.get("class") == "f" for node in shown[0].iter()) == 1  # ring[0] is hatched at the first event


def test_of_many_groups_under_way_the_newest_are_told_one_by_one():
    figure = StoreFigure(stored(tiles=17))
    groups = max((frame.groups for frame in figure.frames), key=lambda groups: (len(groups), groups))
    assert groups[0] == "9 older groups"
    assert [words.split(":")[0] for words in groups[1:]] == [f"group {number}" for number in range(9, 17)]


def test_what_was_known_of_a_buffer_stays_known_however_many_stores_there_were():
    """Against every store ever sent: a buffer is free when a wait has shown all of them to be read."""
    figure = StoreFigure(stored(tiles=9))
    known = {"stages[0]": set(), "stages[1]": set()}  # stores of each that no wait has shown to be read
    committed, sent = [], []
    for frame in figure.frames:
        if frame.did.startswith("issues the store of "):
            sent.append((len(committed) + len(sent), frame.did.split()[4].rstrip(",")))
            known[sent[-1][1]].add(sent[-1][0])
        elif frame.did.startswith("commits"):
            committed, sent = committed + sent, []
        elif frame.did.startswith("goes on after wait_group"):
            newest = int(frame.did.rstrip(")").rpartition("(")[2])
            for number, buffer in committed[: len(committed) - newest]:
                known[buffer].discard(number)
        for at, (name, unknown) in enumerate(known.items()):
            assert (frame.buffers[at] in ("free", "never")) == (not unknown), (frame, name)
