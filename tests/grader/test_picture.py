"""Figures of wrong runs: what a browser may be shown of them, and that each kind of figure is such a drawing."""

from __future__ import annotations

import pytest

import tmalab.figures
from grader import picture
from grader.alone import Shape
from grader.exercises.copy_2d_cases import tile_cases
from grader.source import take_source
from tests.lessons import answers

LONG = 1 << 20  # characters
HEAD = '<svg id="tma-1" xmlns="http://www.w3.org/2000/svg">'


OF_BENCHES = {"GemmFigure"}  # matplotlib's, and never of a learner's run


@pytest.mark.parametrize("name", sorted(set(tmalab.figures.__all__) - OF_BENCHES))
def test_every_figure_of_a_run_or_a_map_may_be_shown(name):
    svg = getattr(tmalab.figures, name)().svg()
    assert picture.safe(svg) == svg


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<rect onload="alert(1)"/>',
        '<a href="https://example.org"><text>here</text></a>',
        '<image href="https://example.org/x.png"/>',
        '<use href="#x"/>',
        "<foreignObject/>",
        '<rect fill="url(https://example.org/x)"/>',
        "<style>@import 'https://example.org/x.css';</style>",
        "<style>body { display: none; }</style>",
        "<style>#tma-1 text, body { display: none; }</style>",
        '<animate attributeName="href"/>',
        '<rect style="position: fixed"/>',
        '<text style="text-anchor: start; fill: url(//example.org)"/>',
        "<g>",
        "<html:p xmlns:html='http://www.w3.org/1999/xhtml'/>",
    ],
)
def test_what_a_browser_would_fetch_run_or_follow_is_no_drawing(inside):
    assert picture.safe(f"{HEAD}{inside}</svg>") == ""


@pytest.mark.parametrize(
    "svg", ["", "hello", '<!DOCTYPE x [<!ENTITY a "b">]><svg/>', "<svg/>", f"{HEAD}{'x' * LONG}</svg>"]
)
def test_what_is_no_drawing_is_dropped(svg):
    assert picture.safe(svg) == ""


def test_a_kernel_that_reads_too_early_is_shown_with_its_hazard():
    (case, *_) = tile_cases(0)
    source = take_source(answers("01-copy-2d").tile_without_wait)
    svg = picture.draw_alone(picture.WrongRun(source, case.arguments, Shape(128), 0), (3.0, 6.0))
    assert picture.safe(svg) == svg
    assert "read before wait" in svg
