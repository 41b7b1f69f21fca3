"""A browser for the figures' tests, and a page that stands in for the notebook: it holds one figure and a fake model.

    def test_a_fact(stub):
        page = stub(TileFigure())                # a playwright page
        page.evaluate("tma.kernel.sent")         # what the kernel would have been told

With TMALAB_PICTURES=folder the tests leave pictures of the figures there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

QUIET = [  # Chromium as it runs in a container, without traffic of its own
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
]

MODEL = """
const listeners = new Map();
const kernel = { state: {}, sent: [] };  // what the kernel knows, and the messages that brought it there
let pending = {};
const model = {
  get: (name) => kernel.state[name],
  set(name, value) {
    if (JSON.stringify(kernel.state[name]) === JSON.stringify(value)) return;
    kernel.state[name] = value;
    pending[name] = value;
    for (const listener of listeners.get(`change:${name}`) ?? []) listener();
  },
  save_changes() {
    if (Object.keys(pending).length) kernel.sent.push(pending);
    pending = {};
  },
  on(names, listener) {
    for (const name of names.split(" ")) listeners.set(name, [...(listeners.get(name) ?? []), listener]);
  },
  off(names, listener) {
    for (const name of names.split(" ")) listeners.set(name, listeners.get(name).filter((other) => other !== listener));
  },
};
const fromKernel = (traits) => {
  for (const name in traits) model.set(name, traits[name]);
  pending = {};
};
globalThis.tma = { kernel, fromKernel };
globalThis.draw = async (esm, state) => {
  Object.assign(document, { esm });
  kernel.state = state;
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: figure } = await import(url);
  const before = performance.now();
  tma.close = await figure.render({ model, el: document.querySelector("#figure") });
  document.body.getBoundingClientRect();
  tma.drawn_in = performance.now() - before;
};
"""
PAGE = """<!doctype html><html lang="en"><title>A figure</title><style>{css}</style>
<body data-jp-theme-light="{light}" style="margin: 8px; background: {ground}">
<main id="figure"></main><script>{model}</script>"""


@pytest.fixture(scope="module")
def browser(chromium) -> Iterator:
    """A headless Chromium. One for each module, not longer: playwright keeps an event loop running meanwhile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def new_page(browser) -> Iterator[Callable]:
    """new_page(width=1280, height=900, **context options) opens a page; an error in its scripts fails the test."""
    contexts, errors = [], []

    def open_page(width: int = 1280, height: int = 900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(error))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def stub(new_page) -> Callable:
    """stub(figure, light=True, **options of new_page) draws a figure on a page without network or kernel."""

    def draw(figure, light: bool = True, **options):
        page = new_page(offline=True, **options)
        ground = "#ffffff" if light else "#111111"
        page.set_content(PAGE.format(css=figure._css, light=json.dumps(light), ground=ground, model=MODEL))
        state = {name: value for name, value in figure.get_state().items() if not name.startswith("_")}
        page.evaluate("([esm, state]) => draw(esm, state)", [figure._esm, json.loads(json.dumps(state))])
        return page

    return draw


@pytest.fixture
def findings() -> Callable:
    """findings(page, *rules): what axe-core finds in a figure by these rules, or all, as `rule: element`.

    Of what it finds, what it calls serious or critical.
    """
    from axe_playwright_python.sync_playwright import Axe

    def look(page, *rules: str) -> list[str]:
        only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
        options = {"resultTypes": ["violations"], **only}
        report = Axe().run(page, context="#figure", options=options).response["violations"]
        grave = [rule for rule in report if rule["impact"] in ("serious", "critical")]
        return [f"{rule['id']}: {node['html'][:200]}" for rule in grave for node in rule["nodes"]]

    return look


@pytest.fixture
def picture() -> Callable:
    """picture(page, name) keeps a picture of the page where TMALAB_PICTURES asks for it."""
    folder = os.environ.get("TMALAB_PICTURES")

    def keep(page, name: str) -> None:
        if folder:
            height = page.evaluate("document.querySelector('#figure').getBoundingClientRect().bottom")
            page.set_viewport_size({**page.viewport_size, "height": int(height) + 8})  # rows out of sight are not drawn
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return keep
