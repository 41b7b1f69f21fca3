"""Figure 1 keeps up with the hand: an event is answered within a frame, and a large figure appears at once."""

from __future__ import annotations

import pytest

from tests.pace import within
from tests.tmalab.figures.page import drawing_ms, is_within_a_frame
from tmalab import DataType, Swizzle, TensorMap
from tmalab.figures import TileFigure

pytestmark = pytest.mark.browser
MOVE = """(event) => {
  const key = event % 20 < 10 ? "ArrowRight" : "ArrowLeft";
  document.querySelector("[role=application]").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}"""


def test_a_box_that_is_moved_is_drawn_within_a_frame(stub):
    assert is_within_a_frame(stub(TileFigure()), MOVE)


def test_a_figure_of_4096_sectors_appears_within_300_ms(stub):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (2048, 4096), (4096,), (64, 256), swizzle=Swizzle.B128)
    page = stub(TileFigure(tm))
    count, clock = page.locator("[role=gridcell]").count(), page.evaluate("tma.drawn_in")
    processor = min(drawing_ms(page) for _ in range(2))
    print(f"{count} sectors: {clock:.0f} ms by the clock, {processor:.0f} ms of processor time")
    assert count >= 4096
    assert within(processor, 300)
