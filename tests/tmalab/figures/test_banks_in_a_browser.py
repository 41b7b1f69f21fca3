"""Figure 3 as a learner uses it, on a page without kernel or network, in a real Chromium."""

from __future__ import annotations

import pytest

from tests.tmalab.figures.page import cell, kernel, marked, spoken
from tmalab.banks import conflicts
from tmalab.figures import BanksFigure

pytestmark = pytest.mark.browser
TILE, SHARED = 0, 1


def counts(page) -> list[int]:
    return [int(text) for text in page.locator(".tma-counts td").all_inner_texts()[1:]]


def lanes(page, side: int = SHARED) -> dict[tuple[int, int], str]:
    """What stands in shared memory, by (line, column)."""
    script = """side => [...document.querySelectorAll('[role=grid]')[side].querySelectorAll('[role=row]')].slice(1)
      .map((row) => [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent))"""
    rows = page.evaluate(script, side)
    return {(y, x): text for y, row in enumerate(rows) for x, text in enumerate(row) if text}


@pytest.mark.parametrize("swizzle", [0, 3])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize(("column", "row"), [(0, 0), (13, 5)])
def test_lanes_and_counts_are_the_librarys(stub, grouped, swizzle, column, row):
    figure = BanksFigure()
    page = stub(figure)
    page.evaluate(
        f"tma.fromKernel({{ grouped: {str(grouped).lower()}, swizzle: {swizzle}, column: {column}, row: {row} }})"
    )
    figure.grouped, figure.swizzle, figure.column, figure.row = grouped, swizzle, column, row
    access = figure.access
    places = {divmod(address // 16, 8): str(lane) for lane, address in enumerate(access.addresses)}
    assert lanes(page) == places
    assert counts(page) == list(access.by_bank[::4])
    verdict = "No lane waits" if access.ways == 1 else f"A {access.ways}-way conflict: {access.ways} turns"
    assert verdict in spoken(page)


def test_a_column_and_its_first_row_are_chosen_by_keys_or_a_click(stub):
    page = stub(BanksFigure())
    cell(page, TILE, 3, 9).click()
    assert (kernel(page, "column"), kernel(page, "row")) == (9, 3)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageDown")
    assert (kernel(page, "column"), kernel(page, "row")) == (10, 8)  # the last eight rows
    assert spoken(page).startswith("Eight lanes read sector 10 of rows 8 to 15")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "0x0C00, S2: lane 0"


def test_pointing_links_both_sides(stub):
    figure = BanksFigure()
    figure.swizzle = "B128"
    page = stub(figure)
    cell(page, TILE, 3, 13).hover()  # group 1, row 3, sector 5: 5 XOR 3
    assert marked(page, SHARED) == (19, 6)
    assert spoken(page) == (
        "Row 3, sector 13 of the tile, elements 104 to 111: at 0x09E0, in S6, which is banks 24 to 27."
    )
    cell(page, SHARED, 19, 6).hover()
    assert marked(page, TILE) == (3, 13)


def test_the_type_changes_the_elements_and_nothing_else(stub):
    page = stub(BanksFigure())
    before = lanes(page, TILE), lanes(page), counts(page)
    page.get_by_text("FLOAT64").click()
    assert page.get_by_text("A tile of 16×32 FLOAT64").count() == 1
    assert (lanes(page, TILE), lanes(page), counts(page)) == before


def test_rows_of_256_bytes_are_said_to_be_no_legal_box(stub):
    page = stub(BanksFigure())
    page.get_by_text("256-byte rows", exact=True).click()
    assert kernel(page, "grouped") is False
    assert page.get_by_text("not a legal box, for comparison only").is_visible()


def test_any_access_is_drawn_with_its_lanes_phase_by_phase(stub):
    access = conflicts([16 * (lane % 4) + 128 * lane for lane in range(16)], 16)
    page = stub(access.show())
    assert lanes(page, 0) == {(lane, lane % 4): str(lane) for lane in range(8)}
    page.get_by_text("lanes 8 to 15").click()
    assert kernel(page, "phase") == 1
    assert lanes(page, 0) == {(lane, lane % 4): str(lane) for lane in range(8, 16)}
    assert counts(page) == [2, 2, 2, 2, 0, 0, 0, 0]
    cell(page, 0, 9, 1).hover()
    assert spoken(page).startswith("0x0490, S1: lane 9. S1 has to hand out 2 sectors.")


def test_words_are_drawn_in_their_banks(stub):
    page = stub(conflicts([132 * lane for lane in range(32)]).show())
    assert lanes(page, 0) == {divmod(33 * lane, 32): str(lane) for lane in range(32)}
    assert counts(page) == [1] * 32
    assert spoken(page) == "No lane waits for another: one turn."
