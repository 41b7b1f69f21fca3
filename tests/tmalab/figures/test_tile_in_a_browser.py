"""Figure 1 as a learner uses it, on a page without kernel or network, in a real Chromium."""

from __future__ import annotations

import pytest

from tests.tmalab.figures.page import cell, kernel, marked, names, spoken
from tmalab import DataType, Swizzle, TensorMap, reference
from tmalab.figures import TileFigure

pytestmark = pytest.mark.browser
TENSOR, SHARED = 0, 1
MARGIN = 1  # rows and sectors drawn around the tensor


def tensor_cell(page, y: int, sector: int):
    """A sector of the tensor; the window begins MARGIN before it until a box is moved out of it."""
    return cell(page, TENSOR, y + MARGIN, sector + MARGIN)


SECTORS = [(0, 0), (1, 0), (3, 5), (4, 4), (7, 7)]


@pytest.mark.parametrize("swizzle", list(Swizzle))
def test_pointing_at_a_sector_marks_its_place_as_the_library_computes_it(stub, swizzle):
    columns = {Swizzle.B32: 16, Swizzle.B64: 32}.get(swizzle, 64)
    tm = TensorMap(DataType.FLOAT16, 0x1000, (128, 16), (256,), (columns, 8), swizzle=swizzle)
    order = reference.load_footprint(tm, (0, 0), 0).shared  # addresses in delivery order
    page = stub(TileFigure(tm))
    for row, sector in [at for at in SECTORS if at[1] < columns // 8]:
        tensor_cell(page, row, sector).hover()
        address = int(order[row * columns // 8 + sector])
        assert marked(page, SHARED) == (address // 128, address % 128 // 16)
        assert marked(page, TENSOR) == (row + MARGIN, sector + MARGIN)
        assert f"0x{address:04X}" in spoken(page)


def test_pointing_at_shared_memory_finds_the_sector_of_the_tensor(stub):
    page = stub(TileFigure())
    cell(page, SHARED, 3, 6).hover()
    assert marked(page, TENSOR) == (3 + MARGIN, 5 + MARGIN)
    assert marked(page, SHARED, "before") == (3, 5)  # where it would lie without the swizzle


def test_the_bits_that_the_xor_takes_are_shown(stub):
    page = stub(TileFigure())
    tensor_cell(page, 3, 5).hover()
    rows = [row.locator("span").all_inner_texts() for row in page.locator(".tma-bits > div").all()]
    assert rows == [
        ["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"],
        list("0111010000"),
        ["", "", "", "0", "1", "1", "", "", "", ""],
        list("0111100000"),
    ]
    assert page.locator(".tma-bits .tma-taken").all_inner_texts() == ["0", "1", "1"]


@pytest.mark.parametrize("coordinates", [(0, 0), (96, 12), (-16, -3)])
def test_the_browser_says_what_the_kernel_says(stub, coordinates):
    figure = TileFigure(coordinates=coordinates)
    page = stub(figure)
    for row, sector in SECTORS:
        address = figure.places.physical[row][sector]
        cell(page, SHARED, address // 128, address % 128 // 16).hover()
        assert spoken(page) == figure.sentence(row, sector)


def test_the_sentence_is_announced_to_screen_readers(stub):
    page = stub(TileFigure())
    status = page.get_by_role("status")
    assert status.get_attribute("aria-live") == "polite"
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    assert status.inner_text().startswith("The box is at x = 8, y = 0.")


def test_leaving_a_sector_goes_back_to_the_chosen_one(stub):
    page = stub(TileFigure())
    tensor_cell(page, 3, 5).click()
    assert kernel(page, "selected") == [3, 5]
    cell(page, SHARED, 0, 0).hover()
    assert spoken(page).startswith("Row 0, sector 0")
    page.mouse.move(2, 2)
    assert spoken(page).startswith("Row 3, sector 5")


def test_all_of_it_works_by_keyboard(stub):
    page = stub(TileFigure())
    stops = []
    for _ in range(4):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.getAttribute('role') ?? document.activeElement.type"))
    assert stops == ["gridcell", "application", "radio", "gridcell"]  # one stop each, and then out
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement === document.body")

    cell(page, TENSOR, 0, 0).focus()
    for key in ["ArrowDown"] * 4 + ["ArrowRight"] * 6:
        page.keyboard.press(key)
    assert kernel(page, "selected") == [3, 5]
    assert marked(page, SHARED) == (3, 6)
    page.keyboard.press("Enter")  # to its counterpart
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "0x01E0"
    page.keyboard.press("Home")
    assert spoken(page).startswith("Row 3, sector 3 of the tile")  # 3 XOR 3 = 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "y 3, x 24"


def test_plain_keys_stay_in_the_figure_and_shortcuts_pass(stub):
    page = stub(TileFigure())
    page.evaluate("globalThis.seen = []; document.addEventListener('keydown', (event) => seen.push(event.key))")
    tensor_cell(page, 0, 0).focus()
    for key in ("a", "d", "ArrowDown", "Enter", "Shift+Enter", "Control+s"):
        page.keyboard.press(key)
    assert page.evaluate("seen") == ["Enter", "Control", "s"]  # the Enter is the one with Shift, which runs the cell


def test_the_box_is_dragged_by_whole_sectors_and_every_sector_keeps_its_place(stub):
    page = stub(TileFigure())
    before = names(page, SHARED)
    start, end = tensor_cell(page, 2, 2).bounding_box(), tensor_cell(page, 6, 12).bounding_box()
    page.mouse.move(start["x"] + 5, start["y"] + 5)
    page.mouse.down()
    page.mouse.move(end["x"] + 9, end["y"] + 8, steps=7)
    page.mouse.up()
    assert kernel(page, "coordinates") == [80, 4]
    assert names(page, SHARED) == before
    assert all(x % 8 == 0 for sent in page.evaluate("tma.kernel.sent") for x, _ in [sent.get("coordinates", (0, 0))])


def test_keys_move_the_box_and_it_stays_in_touch_with_the_tensor(stub):
    page = stub(TileFigure())
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert kernel(page, "coordinates") == [8, 1]
    page.keyboard.press("Shift+ArrowRight")
    assert kernel(page, "coordinates") == [72, 1]
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    assert kernel(page, "coordinates") == [128, 1]
    page.keyboard.press("Home")
    assert kernel(page, "coordinates") == [0, 0]


def test_what_hangs_over_the_edge_is_hatched_on_both_sides(stub):
    page = stub(TileFigure(coordinates=(96, 12)))
    for side in (TENSOR, SHARED):
        hatched = page.get_by_role("grid").nth(side).locator(".tma-filled").all_inner_texts()
        assert len(hatched) == 64 - 16  # 4 rows of 4 sectors are inside
        assert "3·3" not in hatched
        assert {"3·4", "4·3"} <= set(hatched)


def test_a_refused_swizzle_shows_the_librarys_reason_and_offers_a_narrower_box(stub):
    figure = TileFigure()
    page = stub(figure)
    page.get_by_text("32B").click()
    assert kernel(page, "swizzle") == Swizzle.B32
    assert figure.modes[Swizzle.B32].reason in page.get_by_role("alert").inner_text()
    assert page.get_by_role("grid").count() == 1
    page.get_by_role("button", name="Narrow the box to 8×16").click()
    assert kernel(page, "narrowed") is True
    assert names(page, SHARED) == [  # rows take the span: four to a line, the second four swapped
        ["0·0", "0·1", "1·0", "1·1", "2·0", "2·1", "3·0", "3·1"],
        ["4·1", "4·0", "5·1", "5·0", "6·1", "6·0", "7·1", "7·0"],
    ]
    page.get_by_role("button", name="Back to 8×64").click()
    assert page.get_by_role("alert").count() == 1


def test_the_switch_moves_by_arrow_keys(stub):
    page = stub(TileFigure())
    page.get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowRight")  # from the last round to the first
    assert kernel(page, "swizzle") == Swizzle.NONE
    assert names(page, SHARED)[5] == [f"5·{sector}" for sector in range(8)]
    tensor_cell(page, 5, 3).hover()
    assert "Nothing is swizzled: it lies at 0x02B0, line 5, sector 3." in spoken(page)


def test_what_the_kernel_sets_is_drawn_and_not_sent_back(stub):
    page = stub(TileFigure())
    page.evaluate("tma.fromKernel({ coordinates: [64, 8], swizzle: 0, selected: [7, 1] })")
    assert page.get_by_text("The box: 8×64 elements at x = 64, y = 8").count() == 1
    assert marked(page, SHARED) == (7, 1)
    assert page.evaluate("tma.kernel.sent") == []
    page.evaluate("tma.close(); tma.fromKernel({ swizzle: 3 })")  # a closed view no longer listens
    assert page.get_by_role("radio", checked=True).get_attribute("value") == "0"


def test_a_large_map_is_drawn_in_part_and_the_window_follows_the_box(stub):
    tm = TensorMap(DataType.FLOAT32, 0x1000, (4096, 4096), (16384,), (32, 128), swizzle=Swizzle.B128)
    page = stub(TileFigure(tm, coordinates=(2048, 2000)))
    assert page.get_by_text("Drawn in part: rows 1999 to 2128 of 4096, elements 2036 to 2095 of 4096.").count() == 1
    page.get_by_role("application").focus()
    page.keyboard.press("Shift+ArrowRight")
    assert page.get_by_text("elements 2052 to 2111 of 4096.").count() == 1


def test_enter_finds_a_sector_that_the_window_does_not_show(stub):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (1024, 4096), (2048,), (64, 128), swizzle=Swizzle.B128)
    page = stub(TileFigure(tm))
    cell(page, SHARED, 120, 0).focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "y 120, x 0"  # row 120, 120 % 8 == 0


def test_what_is_left_unwritten_is_said_to_be(stub):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (128, 16), (256,), (48, 8), swizzle=Swizzle.B128)  # rows of 96 bytes
    page = stub(TileFigure(tm))
    cell(page, SHARED, 0, 6).focus()
    assert spoken(page) == "0x0060: not written by this copy."
    page.evaluate("tma.fromKernel({ swizzle: 1 })")  # which refuses the box
    assert page.get_by_role("alert").count() == 1


def test_a_tensors_rows_are_stepped_through_by_its_element_strides(stub):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (128, 16), (256,), (64, 8), element_strides=(1, 2))
    page = stub(TileFigure(tm))
    tensor_cell(page, 2, 3).hover()
    assert spoken(page).startswith("Row 1, sector 3 of the tile holds row 2")
    tensor_cell(page, 1, 3).hover()
    assert spoken(page) == "Row 1, elements 24 to 31 of the tensor: not in the box."


def test_a_sector_across_the_edge_is_hatched_in_part(stub):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (100, 16), (208,), (64, 8), swizzle=Swizzle.B128)
    page = stub(TileFigure(tm, coordinates=(64, 0)))
    assert page.get_by_role("grid").nth(TENSOR).locator(".tma-partly").all_inner_texts() == [f"{y}·4" for y in range(8)]


def test_two_figures_on_a_page_have_switches_of_their_own(stub):
    page = stub(TileFigure())
    page.evaluate("draw(document.esm, tma.kernel.state)")
    names = page.evaluate("[...document.querySelectorAll('input')].map((input) => input.name)")
    assert len(names) == 8
    assert len(set(names)) == 2


def test_a_window_at_its_edge_moves_with_the_arrow_keys(stub):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (1024, 64), (2048,), (64, 8), swizzle=Swizzle.B128)
    page = stub(TileFigure(tm))
    cell(page, TENSOR, 0, 22).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "y -1, x 176"
    assert "elements 176 to 183" in spoken(page)


def test_nothing_moves_by_itself(stub):
    page = stub(TileFigure(), reduced_motion="no-preference")
    page.get_by_role("application").focus()
    page.keyboard.press("Shift+ArrowRight")
    page.get_by_text("NONE").click()
    assert page.evaluate("document.getAnimations().length") == 0


def test_it_fits_a_narrow_page_without_scrolling(stub):
    page = stub(TileFigure(coordinates=(96, 12)), width=800)
    tensor_cell(page, 13, 10).hover()
    inside = "[...document.querySelectorAll('.tma-scroll')].every((box) => box.scrollWidth <= box.clientWidth)"
    assert page.evaluate(inside)


def test_the_dark_theme_is_the_notebooks(stub):
    ground = "getComputedStyle(document.querySelector('.tma')).backgroundColor"
    assert stub(TileFigure(), color_scheme="dark").evaluate(ground) == "rgb(255, 255, 255)"
    assert stub(TileFigure(), light=False, color_scheme="light").evaluate(ground) == "rgb(17, 17, 17)"


def test_the_drawing_answers_to_the_pointer_without_script(new_page):
    page = new_page(java_script_enabled=False, offline=True)
    page.set_content(TileFigure().svg())
    sentence = page.get_by_text("Row 3, sector 5 of the tile holds row 3")
    assert not sentence.is_visible()
    for side in (TENSOR, SHARED):
        page.locator("g.s3-5").nth(side).hover()
        assert sentence.is_visible()
    page.locator("g.s0-0").first.hover()
    assert not sentence.is_visible()
