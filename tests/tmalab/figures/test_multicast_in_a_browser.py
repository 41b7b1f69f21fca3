"""Figure 7 as a learner uses it, on a page without kernel or network, in a real Chromium."""

from __future__ import annotations

import pytest

from tests.tmalab.figures.page import kernel, spoken
from tests.tmalab.simulator.test_multicast import launched
from tmalab.figures import MulticastFigure

pytestmark = pytest.mark.browser


def cards(page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(".tma-card:not([hidden])").all_inner_texts()]


@pytest.mark.parametrize(("mask", "promises"), [(0b1011, 0b1011), (0b0101, 0b0011), (0, 0)])
def test_every_step_says_what_the_kernel_says_for_any_mask_and_promises(stub, mask, promises):
    figure = MulticastFigure()
    page = stub(figure)
    page.evaluate(f"tma.fromKernel({{ mask: {mask}, promises: {promises} }})")
    figure.mask, figure.promises = mask, promises
    for number, frame in enumerate(figure.frames):
        page.evaluate(f"tma.fromKernel({{ step: {number} }})")
        assert spoken(page) == frame.says
        for rank, state in enumerate(frame.ctas):
            assert f"phase {state.phase} pending {state.pending} tx {state.tx:,}" in cards(page)[rank]


def test_the_mask_is_switched_bit_by_bit(stub):
    page = stub(MulticastFigure())
    page.get_by_label("CTA 2").first.check(force=True)
    assert kernel(page, "mask") == 0b1111
    assert page.get_by_text("Mask 0b1111", exact=True).count() == 1
    page.get_by_label("CTA 0").nth(1).uncheck(force=True)
    assert kernel(page, "promises") == 0b1010


def test_all_of_it_works_by_keyboard(stub):
    page = stub(MulticastFigure())
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # CTA 0 leaves the mask
    assert kernel(page, "mask") == 0b1010
    page.get_by_role("listbox").focus()
    page.keyboard.press("End")
    assert kernel(page, "step") == 7
    assert "CTA 0: 1,024 bytes were promised and none will come" in spoken(page)
    page.keyboard.press("ArrowUp")
    assert kernel(page, "step") == 6


def test_a_run_is_stepped_through_with_the_states_of_its_barriers(stub):
    run, _ = launched(0b1010, 1, promises=0b1010, seed=2)
    figure = MulticastFigure(run)
    page = stub(figure)
    for number in (0, 5, 8, len(figure.frames) - 1):
        page.evaluate(f"tma.fromKernel({{ step: {number} }})")
        frame = figure.frames[number]
        assert spoken(page) == frame.says
        for rank, state in enumerate(frame.ctas):
            shown = f"phase {state.phase} pending {state.pending} tx {state.tx:,}"
            assert shown in cards(page)[rank]
            if rank in (1, 3):
                assert f"landed {state.landed:,}" in cards(page)[rank]
    assert [card[:12] for card in cards(page)][1] == "CTA 1 issues"
