"""Figure 2 as a learner uses it, on a page without kernel or network, in a real Chromium."""

from __future__ import annotations

import pytest

from tests.pace import within
from tests.tmalab.figures.page import cell, drawing_ms, kernel, marked, spoken
from tmalab import DataType, Swizzle, TensorMap
from tmalab.figures import GroupingFigure

pytestmark = pytest.mark.browser
MATRIX, VIEW, SHARED = 0, 1, 2
SECTORS = [(0, 0, 0), (1, 3, 5), (1, 15, 7), (0, 9, 2)]


@pytest.mark.parametrize("swizzle", [Swizzle.NONE, Swizzle.B128])
def test_pointing_at_a_sector_marks_it_in_all_three_views_and_says_what_the_kernel_says(stub, swizzle):
    figure = GroupingFigure(coordinates=(0, 0, 2))
    figure.swizzle = swizzle
    page = stub(figure)
    for group, row, sector in SECTORS:
        address = figure.places.physical[16 * group + row][sector]
        places = {MATRIX: (row, (2 + group) * 8 + sector), VIEW: (row, group * 8 + sector)}
        places[SHARED] = (address // 128, address % 128 // 16)
        for side in places:
            cell(page, side, *places[side]).hover()
            assert {side: marked(page, side) for side in places} == places
            assert spoken(page) == figure.sentence(group, row, sector)


def test_the_column_offset_chooses_a_half(stub):
    page = stub(GroupingFigure())
    page.get_by_text("128 to 255").click()
    assert kernel(page, "coordinates") == [0, 0, 2]
    assert cell(page, MATRIX, 0, 0).inner_text() == ""
    assert cell(page, MATRIX, 0, 16).inner_text() == "0"
    cell(page, SHARED, 0, 0).hover()
    assert "columns 128 to 135" in spoken(page)


def test_groups_and_atoms_are_named_beside_shared_memory(stub):
    page = stub(GroupingFigure())
    assert page.locator(".tma-mark").all_inner_texts() == ["group 0", "group 1", *(f"atom {i}" for i in range(4))]
    page.get_by_text("NONE").click()
    assert page.locator(".tma-mark").all_inner_texts() == ["group 0", "group 1"]
    assert cell(page, SHARED, 17, 3).inner_text() == "1·3"


def test_all_of_it_works_by_keyboard(stub):
    page = stub(GroupingFigure())
    stops = []
    for _ in range(5):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.getAttribute('role') ?? document.activeElement.type"))
    assert stops == ["radio", "gridcell", "gridcell", "radio", "gridcell"]
    cell(page, MATRIX, 0, 0).focus()
    for key in ["ArrowDown"] * 3 + ["ArrowRight"] * 13:
        page.keyboard.press(key)
    assert kernel(page, "selected") == [1, 3, 5]
    page.keyboard.press("Enter")  # to shared memory: group 1 begins at line 16, and 5 XOR 3 = 6
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "0x09E0"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")  # and back to the matrix
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "z 1, y 3, x 48"


def test_a_learners_map_has_numbers_to_move_its_box(stub):
    tm = TensorMap(DataType.FLOAT32, 0x1000, (100, 40, 12), (416, 416 * 40), (24, 10, 3), swizzle=Swizzle.B128)
    page = stub(GroupingFigure(tm, shared_address=1024))
    assert page.get_by_text("Drawn in part: z 0 to 3 of 12, y 0 to 9 of 40, x 0 to 31 of 100.").count() == 1
    page.get_by_label("z", exact=True).fill("10")
    page.keyboard.press("Enter")
    page.get_by_label("x", exact=True).fill("86")
    page.keyboard.press("Enter")
    assert kernel(page, "coordinates") == [84, 0, 10]  # whole sectors of four elements
    assert page.get_by_label("x", exact=True).input_value() == "84"
    cell(page, VIEW, 0, 2 * 6).hover()
    assert "would be tensor[12, 0, 84:88]: outside" in spoken(page)
    assert marked(page, MATRIX) is None
    assert cell(page, VIEW, 0, 12).evaluate("cell => cell.classList.contains('tma-filled')")


def test_a_refused_swizzle_shows_the_librarys_reason_and_offers_a_narrower_box(stub):
    figure = GroupingFigure()
    page = stub(figure)
    page.get_by_text("64B").click()
    assert figure.modes[Swizzle.B64].reason in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Narrow the box").click()
    assert kernel(page, "narrowed") is True
    figure.swizzle, figure.narrowed = Swizzle.B64, True
    address = figure.places.physical[16 + 5][3]
    cell(page, VIEW, 5, 4 + 3).hover()
    assert marked(page, SHARED) == (address // 128, address % 128 // 16)


def test_what_the_kernel_sets_is_drawn_and_not_sent_back(stub):
    page = stub(GroupingFigure())
    page.evaluate("tma.fromKernel({ coordinates: [0, 0, 2], swizzle: 0, selected: [1, 2, 3] })")
    assert marked(page, MATRIX) == (2, 24 + 3)
    assert marked(page, SHARED) == (18, 3)
    assert page.evaluate("tma.kernel.sent") == []
    page.evaluate("tma.close(); tma.fromKernel({ swizzle: 3 })")
    assert marked(page, SHARED) == (18, 3)


def test_a_figure_of_4096_sectors_appears_within_300_ms(stub):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (64, 128, 32), (4096, 128), (64, 128, 8), swizzle=Swizzle.B128)
    page = stub(GroupingFigure(tm))
    count, clock = page.locator("[role=gridcell]").count(), page.evaluate("tma.drawn_in")
    processor = min(drawing_ms(page) for _ in range(2))
    print(f"{count} sectors: {clock:.0f} ms by the clock, {processor:.0f} ms of processor time")
    assert count >= 4096
    assert within(processor, 300)
