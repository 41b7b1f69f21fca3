"""What is written of a figure when a notebook is saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbformat import v4

from tmalab.figures import TileFigure
from tmalab.figures.saved import WIDGET, before_saving, drop_widgets
from tmalab.lab import CONFIGURATION


def notebook(*data: dict) -> dict:
    outputs = [{"output_type": "display_data", "data": each, "metadata": {}} for each in data]
    return {"type": "notebook", "content": {"cells": [{"cell_type": "code", "outputs": outputs}, {"cell_type": "raw"}]}}


def test_a_figures_widget_is_left_out_and_its_drawing_and_table_stay():
    data, _ = TileFigure()._repr_mimebundle_()
    model = notebook(dict(data))
    before_saving(model, path="a.ipynb", contents_manager=None)
    del data[WIDGET]
    assert model["content"]["cells"][0]["outputs"][0]["data"] == data


@pytest.mark.parametrize("html", [None, "<p>another's</p>"])
def test_a_widget_without_a_drawing_stays(html):
    data = {WIDGET: {"model_id": "1"}, "text/plain": "Button()"} | ({"text/html": html} if html else {})
    model = notebook(dict(data), {"text/plain": "1"})
    before_saving(model)
    assert model["content"]["cells"][0]["outputs"][0]["data"] == data


@pytest.mark.parametrize("model", [{"type": "file", "content": "text"}, {"type": "notebook"}, {"type": "directory"}])
def test_what_is_no_notebook_is_left_alone(model):
    before = dict(model)
    before_saving(model)
    assert model == before


def test_the_courses_configuration_switches_it_on():
    settings = json.loads((Path(CONFIGURATION) / "jupyter_server_config.json").read_text("utf-8"))
    assert settings["ServerApp"]["jpserver_extensions"] == {"tmalab.figures.saved": True}


def test_a_saved_notebook_that_is_exported_shows_the_drawing_and_asks_the_network_for_no_widget():
    from nbconvert import HTMLExporter

    data, _ = TileFigure()._repr_mimebundle_()
    notebook = v4.new_notebook(cells=[v4.new_code_cell(outputs=[v4.new_output("display_data", data)])])
    drop_widgets(notebook)
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert 'aria-label="Tile of 8x64 FLOAT16' in page
    assert WIDGET not in page.rpartition("</style>")[2]
