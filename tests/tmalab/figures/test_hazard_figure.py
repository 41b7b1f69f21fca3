"""Figure 8 without a browser: accesses in their order, the missing edge, and the bytes."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from tests.tmalab.figures.runs import TILE_BYTES, loaded, stored, take_a_ticket, two_loads
from tmalab import TensorMap
from tmalab.figures import HazardFigure, MbarrierFigure, PipelineFigure, StoreFigure
from tmalab.run import Run
from tmalab.simulator.hazards import Hazard
from tmalab.texts import text


def letters(figure: HazardFigure) -> str:
    return "".join(frame.letter for frame in figure.scene.frames)


def test_a_read_before_its_wait_lies_between_the_loads_issue_and_its_end():
    run = loaded(waits=0)
    figure = run.hazards[0].show()
    assert letters(figure) == "BAB"
    frames = figure.scene.frames
    start, end = figure.scene.edge
    assert (frames[start].letter, frames[start].ends) == ("B", True)
    assert (frames[end].letter, frames[end].who) == ("A", run.hazards[0].accesses[0].who)
    assert figure.scene.why == "missing: a wait on full, phase 0, between the two"


def test_a_store_that_still_reads_is_the_one_before_the_refill():
    figure = stored(pending=2).show()
    assert letters(figure) == "BAB"
    ends = [frame for frame in figure.scene.frames if frame.ends]
    assert [frame.did for frame in ends] == ["has read its source"]


def test_the_bytes_are_those_of_the_copy_and_of_the_access():
    run = loaded(waits=0)
    figure = run.show()
    (a, at, size, name), (b, start, whole, tile) = figure.scene.places
    assert (a, b, whole, tile) == ("A", "B", TILE_BYTES // 2, "tile[0]")
    assert size == np.dtype(np.float16).itemsize
    assert name == "tile[0, 0, 0]"
    assert start <= at < start + whole


def test_all_hazards_of_a_run_can_be_chosen():
    run = loaded(waits=0, promised=TILE_BYTES // 2)
    figure = run.show("hazards")
    assert len(figure.names) == len([hazard for hazard in run.hazards if hazard.accesses]) > 1
    figure.choice = 1
    assert figure.scene.hazard is run.hazards[1]


def test_a_hazard_of_one_access_has_no_edge():
    run = loaded(promised=2 * TILE_BYTES)
    figure = HazardFigure(run)
    assert figure.scene.edge is None
    assert "missing order" not in figure.table()
    assert text("view.missing-edge") not in figure.svg()


@pytest.mark.parametrize("name", ["read", "store"])
def test_the_fix_is_told_and_its_edge_drawn(name):
    run = loaded(waits=0) if name == "read" else stored(pending=2)
    figure, (hazard, *_) = HazardFigure(run), run.hazards
    assert figure.table().endswith(f"write: {hazard.fix}")
    assert hazard.fix.splitlines()[0] in figure.data["scenes"][0]["edge"][1]
    assert figure.data["scenes"][0]["picture"].count('class="edge"') == 2  # missing, and as the fix draws it


def test_the_drawing_marks_the_bytes_of_both():
    picture = ElementTree.fromstring(HazardFigure().svg())
    marks = [node.text for node in picture.iter() if node.get("class") == "at"]
    assert marks.count("A+B") == 1
    assert len(marks) == 1024 // 16  # the tile's sectors


def test_much_memory_is_drawn_in_part(monkeypatch):
    monkeypatch.setattr("tmalab.figures.hazard_svg.LINES", 2)
    assert "Drawn in part: 2 of 8 lines." in HazardFigure().svg()
    assert "A+B" in HazardFigure().svg()


def test_a_run_shows_what_tells_most():
    clean, hangs = loaded(), loaded(promised=2 * TILE_BYTES)
    assert isinstance(clean.show(), (PipelineFigure, MbarrierFigure))
    assert isinstance(clean.show("barriers"), MbarrierFigure)
    assert isinstance(hangs.show(), MbarrierFigure)
    assert isinstance(loaded(waits=0).show(), HazardFigure)
    assert isinstance(stored().show("stores"), StoreFigure)


def test_a_deadlock_shows_who_waits():
    hazards = {hazard.name: hazard for hazard in loaded(promised=2 * TILE_BYTES).hazards}
    figure = hazards["deadlock"].show()
    assert isinstance(figure, MbarrierFigure)
    assert figure.frames[figure.step].waits


def test_what_there_is_not_is_one_sentence():
    with pytest.raises(ValueError, match="'bars' is no figure of a run: write one of hazards, barriers"):
        loaded().show("bars")
    with pytest.raises(ValueError, match="no hazard to show"):
        loaded().show("hazards")
    with pytest.raises(ValueError, match="only a run in the simulator"):
        Run(on="gpu").show()
    with pytest.raises(ValueError, match="there is nothing to show"):
        take_a_ticket.run(block=8, args=(np.zeros(1, np.int32), np.zeros(8, np.int32))).show()
    with pytest.raises(ValueError, match="only a run in the simulator"):
        Hazard("wait-ignored", "a wait", loaded(waits=0).hazards[0].accesses, "").show()


def test_showing_leaves_the_arrays_alone():
    tensor, out = np.ones((8, 64), np.float16), np.zeros((8, 64), np.float16)
    run = two_loads.run(block=32, args=(TensorMap.from_array(tensor, (4, 64)), out, TILE_BYTES, 1))
    out[:] = 7
    run.show("barriers")
    assert (out == 7).all()
