"""Saved notebooks: a figure that is written to a file is its drawing and its table, which need no kernel.

A figure's output holds three forms: the widget, an SVG with hover, and a text table. JupyterLab always takes the
widget, and without the kernel that made it says "model not found" instead of going on to the next form. So the widget
is left out of what is saved: a notebook that is opened again, here or elsewhere, shows the drawing until its cells are
run.

This module is an extension of Jupyter's server; `tmalab lab` and an installed tmalab switch it on.

>>> output = {"data": {WIDGET: {"model_id": "1"}, "text/html": "<svg></svg>", "text/plain": "a table"}}
>>> drop_widgets({"cells": [{"outputs": [output]}]})
>>> sorted(output["data"])
['text/html', 'text/plain']
"""

from __future__ import annotations

from typing import Any

WIDGET = "application/vnd.jupyter.widget-view+json"


def drop_widgets(notebook: dict) -> None:
    """Leave the widget out of each output of a notebook (nbformat 4) that has a drawing to take its place."""
    for cell in notebook.get("cells", ()):
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if WIDGET in data and "".join(data.get("text/html", "")).startswith("<svg"):
                del data[WIDGET]


def before_saving(model: dict, **_: object) -> None:
    """A hook of Jupyter's contents manager; `model` is what it is about to write."""
    if model.get("type") == "notebook" and model.get("content"):
        drop_widgets(model["content"])


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    server.contents_manager.register_pre_save_hook(before_saving)
