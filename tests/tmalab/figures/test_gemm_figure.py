"""Figure 9: every number in it is one of the results', and it reads in both themes, by eye and as text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tmalab import texts
from tmalab.bench import command, results
from tmalab.figures import GemmFigure
from tmalab.figures.theme import DARK, LIGHT

SHAPE, SMALL = [8192, 8192, 8192], [1024, 1024, 1024]
PROVENANCE = {"gpu": "NVIDIA H200", "date": "2026-12-02"}
CLOCKS = [1980, 1500, 1500]


def product(bench: str, shape: list[int], speeds: dict[str, float]) -> dict:
    """A case in which the contenders reach so many TFLOP/s."""
    m, n, k = shape
    work = 2.0 * m * n * k
    seconds = {name: [work / speed / 1e12] * 3 for name, speed in speeds.items()}
    return results.case(bench, shape, work, "cuBLAS", seconds, {})


def made(clocks: list[int] = CLOCKS, **speeds: float) -> dict[str, dict]:
    ladder = {"gemm_cluster": 680.0, "gemm_naive": 290.0, **speeds, "cuBLAS": 640.0, "Triton": 500.0}
    gemm = [
        product("gemm", SMALL, {"tmalab": 270.0, "cuBLAS": 340.0, "Triton": 250.0}),
        product("gemm", SHAPE, {"tmalab": 650.0, "cuBLAS": 640.0}),
    ]
    copied = {"copy_tensor": [1e-3] * 3, "PyTorch's copy_": [2e-3] * 3}  # 4e9 bytes: 4 and 2 TB/s
    copy = results.case("copy", 2 << 30, 4e9, "PyTorch's copy_", copied, {})
    found = {"ladder": [product("ladder", SHAPE, ladder)], "gemm": gemm, "copy": [copy]}
    return {name: results.result(name, cases, 3, PROVENANCE, clocks) for name, cases in found.items()}


@pytest.fixture(scope="module")
def figure() -> GemmFigure:
    return GemmFigure(**made())


def test_the_roof_is_the_copys_bandwidth_and_the_tensor_cores_at_the_median_clock(figure):
    assert figure.bandwidth == pytest.approx(4e12)  # the faster copy: no kernel may lie above the roof
    assert figure.peak(1830) == pytest.approx(989.4, abs=0.1)  # NVIDIA's data sheet: 989 TFLOP/s of dense bf16
    assert figure.roof(SHAPE) == figure.peak(1500)
    assert figure.roof([64, 64, 64]) == pytest.approx(4 * 64 / 3)  # 64/3 operations a byte


def test_its_text_names_every_result(figure):
    lines = figure.table().splitlines()
    assert [line.split()[0] for line in lines[2:6]] == ["gemm_naive", "gemm_cluster", "cuBLAS", "Triton"]
    assert lines[2].split()[1:] == ["290", "TFLOP/s", "0.45"]
    peak = 4096 * 132 * 1500e6 / 1e12
    assert f"tmalab, 8192 x 8192 x 8192: 650 TFLOP/s, {100 * 650 / peak:.0f} % of the roof" in lines
    assert sum(line.startswith(("tmalab,", "cuBLAS,", "Triton,")) for line in lines) == 5
    assert figure.alt().startswith("8192 x 8192 x 8192: gemm_naive reaches 290 TFLOP/s, gemm_cluster 680, cuBLAS 640.")


def test_its_drawing_has_a_bar_and_a_mark_for_each_result_and_says_what_it_is(figure):
    root = ElementTree.fromstring(figure.svg())
    titles = [node.text for node in root.iter() if node.tag.endswith("title")]
    assert len(titles) == 4 + 5 + 2  # bars, marks of the products, marks of the steps
    assert "gemm_naive, 8192 x 8192 x 8192: 290 TFLOP/s, 36 % of the roof" in titles
    words = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("text")]
    assert {"290 (0.45)", "tensor cores at 1,500 MHz: 811 TFLOP/s", "memory: 4.0 TB/s, as a copy has it"} <= set(words)
    assert root.get("aria-label") == figure.alt()


def test_its_bars_are_as_long_as_their_speeds(figure):
    ladder, _ = figure.figure().axes
    assert [bar.get_width() for bar in ladder.patches] == pytest.approx([290, 680, 640, 500])
    assert all(bar.get_hatch() for bar in ladder.patches[2:])  # what it is compared with: told by more than colour


def test_its_marks_lie_below_the_roof_and_differ_in_shape(figure):
    _, roofline = figure.figure().axes
    lines, marks = (
        [line for line in roofline.lines if (line.get_marker() == "None") == plain] for plain in (True, False)
    )
    assert {line.get_marker() for line in marks} == set("os^D")
    top = [max(line.get_ydata()) for line in lines]
    assert top == pytest.approx([figure.peak(1980), figure.peak(1500)])
    assert all(line.get_ydata()[0] < figure.peak(1500) for line in marks)


def test_its_drawing_follows_the_page_and_touches_nothing_else_on_it(figure):
    svg = figure.svg()
    outside_of_variables = re.sub(r"--tma-[\w-]+: [^;]+;", "", svg)
    assert set(re.findall(r"#[0-9a-f]{6}\b", outside_of_variables)) == set()
    assert "var(--tma-text)" in svg
    (identity,) = re.findall(r'^<svg id="([\w-]+)"', svg)
    rules = re.findall(r"([^{}]+)\{", "".join(re.findall(r"<style[^>]*>(.*?)</style>", svg, re.DOTALL)))
    assert len(rules) > 1
    assert [rule for rule in rules if f"#{identity}" not in rule and not rule.strip().startswith("@media")] == []
    assert all(name.startswith(identity) for name in re.findall(r' id="([\w-]+)"', svg))
    assert svg == GemmFigure(**made()).svg()
    assert "<script" not in svg
    assert len(svg) < 100_000


@pytest.mark.parametrize(("theme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_matplotlibs_drawing_has_a_theme(figure, theme, palette):
    from matplotlib.colors import to_hex

    drawing = figure.figure(theme)
    assert to_hex(drawing.get_facecolor()) == palette["ground"]
    assert to_hex(drawing.axes[0].title.get_color()) == palette["text"]


def test_in_a_notebook_it_is_a_drawing_and_its_text(figure):
    assert figure._repr_mimebundle_() == {"text/html": figure.svg(), "text/plain": figure.table()}


def test_misuse_is_one_sentence(monkeypatch):
    found = made()
    with pytest.raises(ValueError, match="a result of `tmalab bench ladder` is wanted, and this is one of gemm"):
        GemmFigure(ladder=found["gemm"])
    monkeypatch.setattr("tmalab.figures.gemm.recorded", lambda name: None)
    with pytest.raises(ValueError, match="no result of `tmalab bench copy` is kept here"):
        GemmFigure(ladder=found["ladder"], gemm=found["gemm"])
    with pytest.raises(ValueError, match="has no clocks"):
        GemmFigure(**made(clocks=[]))


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 800])
@pytest.mark.parametrize("light", [True, False], ids=["light", "dark"])
def test_it_fits_its_page_and_axe_finds_nothing_serious(new_page, findings, picture, figure, width, light):
    page = new_page(width=width)
    ground = "#ffffff" if light else "#111111"
    theme = "true" if light else "false"
    page.set_content(
        f'<html lang="en"><title>A figure</title><body data-jp-theme-light="{theme}" style="background: {ground}">'
        f'<main id="figure">{figure.svg()}</main>'
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert findings(page) == []
    inside = """() => { const box = document.querySelector("svg").getBoundingClientRect();
      return [...document.querySelectorAll("svg text")].every((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return left >= box.left && right <= box.right && top >= box.top && bottom <= box.bottom; }); }"""
    assert page.evaluate(inside)
    picture(page, f"gemm-{width}-{'light' if light else 'dark'}")


def test_without_results_it_draws_the_recorded_ones():
    figure = GemmFigure()
    recorded = command.recorded("ladder")["cases"][0]["contenders"]
    assert {name for name, _ in figure.steps} == set(recorded)
    assert all(made["speed"] < figure.peak(figure.clocks[-1]) for made in recorded.values())
    assert "NVIDIA H200" in figure.table()


def test_in_chinese_the_page_has_its_words_and_a_picture_the_english_ones(monkeypatch, recwarn):
    monkeypatch.setenv("TMALAB_LANGUAGE", "zh")
    figure = GemmFigure()
    assert "每字节的运算次数" in figure.svg()
    assert not [found for found in recwarn if "Glyph" in str(found.message)]
    assert [axes.get_xlabel() for axes in figure.figure().axes][1] == "operations for each byte of A, B and C"
    assert texts.language() == "zh"
