"""What holds of every figure: it fits its page, reads well by ear, works by keys, keeps up, needs no script."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.tmalab.figures.page import is_within_a_frame, spoken
from tmalab.figures import TileFigure
from tmalab.figures.gallery import GALLERY
from tmalab.figures.theme import DARK, LIGHT

browser_test = pytest.mark.browser
every_figure = pytest.mark.parametrize("made", GALLERY.values(), ids=GALLERY)
POINT = """(event) => {  // at a cell, or at the next line of a list, the next change of a timeline
  const cells = document.querySelectorAll("[role=gridcell]");
  const list = document.querySelector("[role=listbox], [role=slider]");
  const key = event % 10 < 5 ? "ArrowDown" : "ArrowUp";
  const over = new PointerEvent("pointerover", { bubbles: true });
  if (cells.length) cells[(event * 37) % cells.length].dispatchEvent(over);
  else list.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}"""
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"  # sizes were taken up
STOPS = """() => {
  const node = document.activeElement;
  const ring = getComputedStyle(["radio", "checkbox"].includes(node.type) ? node.nextSibling : node);
  const seen = ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 2;
  return node === document.body ? null : [node.getAttribute("role") ?? node.type ?? node.tagName, seen];
}"""


@browser_test
@every_figure
def test_it_fits_its_page_in_both_themes_and_axe_finds_nothing_serious(stub, findings, picture, made):
    page = stub(made())
    for width, light in ((1280, True), (800, True), (1280, False), (800, False)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("([light]) => document.body.setAttribute('data-jp-theme-light', light)", [light])
        page.evaluate(DRAWN)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        picture(page, f"{made.__name__}-{width}-{'light' if light else 'dark'}")
        if width == 800:
            assert findings(page, *([] if light else ["color-contrast"])) == []  # what else there is has no theme


@browser_test
@every_figure
def test_tab_goes_once_through_its_parts_each_with_a_ring_and_nothing_moves_by_itself(stub, made):
    page = stub(made(), reduced_motion="reduce")
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(STOPS))
        if stops[-1] is None:
            break
        page.keyboard.press("ArrowDown")
    assert None in stops, stops
    roles = [role for role, _ in stops[:-1]]
    assert all(seen for _, seen in stops[:-1]), stops
    assert roles.count("gridcell") == page.get_by_role("grid").count()
    assert {"gridcell", "listbox", "slider"} & set(roles)
    assert page.evaluate("document.getAnimations().length") == 0


@browser_test
@every_figure
def test_its_sentence_is_announced(stub, made):
    page = stub(made())
    assert page.get_by_role("status").get_attribute("aria-live") == "polite"
    before = spoken(page)
    page.evaluate(f"({POINT})(3)")
    assert spoken(page) not in ("", before)


@browser_test
@every_figure
def test_it_answers_within_a_frame(stub, made):
    assert is_within_a_frame(stub(made()), POINT)


@every_figure
def test_its_drawing_is_xml_without_script_or_network(made):
    figure = made()
    svg = figure.svg()
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"]
    assert "<script" not in svg
    assert svg.replace('xmlns="http://www.w3.org/2000/svg"', "").count("http") == 0
    assert len(svg) < 400_000


@every_figure
def test_the_same_figure_is_the_same_drawing_so_that_notebooks_do_not_change(made):
    assert made().svg() == made().svg()


@every_figure
def test_its_output_holds_widget_drawing_and_table(made):
    figure = made()
    data, _ = figure._repr_mimebundle_()
    assert (data["text/html"], data["text/plain"]) == (figure.svg(), figure.table())
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == figure.model_id
    assert len(figure.table().splitlines()) > 3


@every_figure
def test_it_is_a_plain_anywidget_of_one_script_as_vs_code_and_others_need_it(made):
    """VS Code knows no extension of ours: it looks for `anywidget` alone, and a script cannot import from a folder."""
    figure = made()
    state = figure.get_state()
    assert {state["_model_module"], state["_view_module"]} == {"anywidget"}
    assert state["_model_name"] == "AnyModel"
    assert state["_view_name"] == "AnyView"
    assert len([line for line in figure._esm.splitlines() if line.startswith("export default ")]) == 1
    assert not re.search(
        r"^\s*(import|export) .* from |\bimport\(|https?://(?!www\.w3\.org/)", figure._esm, re.MULTILINE
    )
    assert not re.search(r"@import|url\((?!#)", figure._css)
    (view,) = [kind for kind in figure._repr_mimebundle_()[0] if "widget-view" in kind]
    assert set(figure._repr_mimebundle_()[0][view]) == {"version_major", "version_minor", "model_id"}


@browser_test
def test_it_follows_vs_codes_theme(stub):
    page = stub(TileFigure())
    page.evaluate("document.body.removeAttribute('data-jp-theme-light')")
    shade = "getComputedStyle(document.querySelector('.tma')).backgroundColor"
    for system in ("light", "dark"):
        page.emulate_media(color_scheme=system)
        for name, palette in (("vscode-light", LIGHT), ("vscode-dark", DARK)):
            page.evaluate("name => document.body.className = name", name)
            red, green, blue = (int(palette["ground"][at : at + 2], 16) for at in (1, 3, 5))
            assert page.evaluate(shade) == f"rgb({red}, {green}, {blue})", (system, name)


@browser_test
@every_figure
def test_its_drawing_answers_to_the_pointer_without_script(new_page, made):
    page = new_page(java_script_enabled=False, offline=True)
    page.set_content(made().svg())
    hidden = page.locator("svg g.s")
    before = sum(group.is_visible() for group in hidden.all()[:40])
    page.locator("svg g[class]:not(.s)").last.hover()
    assert hidden.filter(visible=True).count() == 1
    assert before <= 1  # a list shows the chosen event
