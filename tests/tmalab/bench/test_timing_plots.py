"""Both curves of the time model: every number of a comparison is in its drawing."""

from __future__ import annotations

import warnings
from xml.etree import ElementTree

import pytest

from tmalab.bench import timing, timing_plots
from tmalab.texts import speaking
from tmalab.timing.trials import HELD_OUT, TRIALS

RING = "ring copy mib=14 rows=56"


def comparison():
    """Made-up times of a ring with one to six stages."""
    names = [f"{RING} stages={stages}" for stages in (3, 1, 2, 4, 5, 6)]
    rows = [
        {"configuration": name, "use": TRIALS[name].use, "measured_us": 60 / number, "predicted_us": 66 / number}
        for number, name in enumerate(names, 1)
    ]
    return {"configurations": rows}


def test_trials_are_drawn_by_their_measured_time_with_a_ring_around_those_that_judge():
    figure = timing_plots.trials(comparison())
    (panel,) = figure.axes
    assert panel.get_title() == "ring copy"
    measured, predicted, judging = panel.get_lines()
    assert list(measured.get_ydata()) == sorted(60 / number for number in range(1, 7))
    assert list(predicted.get_ydata()) == sorted(66 / number for number in range(1, 7))
    held_out = sum(row["use"] == HELD_OUT for row in comparison()["configurations"])
    assert 0 < len(judging.get_ydata()) == held_out < 6


def test_a_curve_by_depth_has_a_point_for_each_number_of_stages():
    (panel,) = timing_plots.depths([RING], comparison()).axes
    measured, predicted = panel.get_lines()
    assert list(measured.get_xdata()) == [1, 2, 3, 4, 5, 6]
    assert list(measured.get_ydata()) == [30, 20, 60, 15, 12, 10]
    assert list(predicted.get_ydata()) == pytest.approx([33, 22, 66, 16.5, 13.2, 11])


def test_a_drawing_shows_itself_in_a_notebook():
    root = ElementTree.fromstring(timing_plots.depths([RING], comparison())._repr_svg_())
    assert root.tag.endswith("svg")


def test_a_drawings_words_are_text_in_the_language_that_is_read():
    with speaking("zh"), warnings.catch_warnings():
        warnings.simplefilter("error")
        root = ElementTree.fromstring(timing_plots.depths([RING], comparison())._repr_svg_())
    words = {"".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"级数", "实测（H200）", "预测", "µs", "6"} <= words


def test_a_kernel_without_a_curve_is_told_with_those_that_have_one():
    with pytest.raises(ValueError, match=f"of something; there are those of {RING}"):
        timing_plots.depths(["something"], comparison())


def test_what_is_kept_has_curves_of_copies_and_of_products_and_all_of_them_are_drawn():
    found = timing_plots.curves(timing.kept())
    assert {name.split(" ")[0] for name in found} == {"ring", "product"}
    assert len(timing_plots.depths().axes) == len(found) >= 4
