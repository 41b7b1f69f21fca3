"""Figure 1 without a browser: its facts, its sentences, its static forms."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from tmalab import DataType, OobFill, Swizzle, TensorMap, TmaFault, reference
from tmalab.figures import TileFigure
from tmalab.figures.theme import DARK, HUES, LIGHT, contrast


def lesson_map(**changes) -> TensorMap:
    fields = {"global_dim": (128, 16), "global_strides": (256,), "box_dim": (64, 8), "swizzle": Swizzle.B128} | changes
    return TensorMap(DataType.FLOAT16, 0x1000, **fields)


def where_a_load_puts_them(tm: TensorMap, base: int = 0) -> dict[int, tuple[int, int]]:
    """Address: (row, sector), found by loading a tensor whose 16-byte sectors hold their own numbers."""
    columns, rows = tm.global_dim
    per_row = columns * tm.element_size // 16
    tensor = np.repeat(np.arange(rows * per_row, dtype=np.uint64), 2)
    image = reference.load(tm, (0, 0), tensor.view(np.uint8), base)
    numbers = image.data.view(np.uint64)[::2]
    written = image.written[::16]
    return {base + 16 * i: divmod(int(n), per_row) for i, n in enumerate(numbers) if written[i]}


@pytest.mark.parametrize("swizzle", list(Swizzle))
@pytest.mark.parametrize("base", [0, 128, 0x5400])
def test_every_sector_is_drawn_where_a_load_puts_it(swizzle, base):
    figure = TileFigure(lesson_map(), shared_address=base)
    figure.swizzle, figure.narrowed = swizzle, True
    places = figure.places
    assert places.by_address == where_a_load_puts_them(places.tensor_map, base)


def test_a_narrow_box_keeps_the_pitch_of_the_swizzle_span():
    figure = TileFigure(lesson_map(box_dim=(48, 8)))  # rows of 96 bytes
    assert "rows are 128 bytes apart" in figure.svg()
    assert figure.table().splitlines()[3] == "0x0080  1.1  1.0  1.3  1.2  1.5  1.4   --   --"
    assert figure.table().endswith("--: not written")


def test_a_refused_mode_gives_the_librarys_reason_and_the_widest_box_it_takes():
    figure = TileFigure()
    figure.swizzle = Swizzle.B64
    assert figure.places is None
    assert "128 bytes is more than 64" in figure.table()
    assert "128 bytes is more than 64" in " ".join("".join(ElementTree.fromstring(figure.svg()).itertext()).split())
    figure.narrowed = True
    assert figure.places.tensor_map.box_dim == (32, 8)
    assert figure.places.lines == 4  # 8 rows of 64 bytes


def test_the_lessons_sector_lies_at_column_xor_row():
    said = TileFigure().sentence(3, 5)
    assert said == (
        "Row 3, sector 5 of the tile holds row 3, elements 40 to 47 of the tensor. Without the swizzle it would lie at "
        "0x01D0. There address bits 9 to 7 are 011, and 101 XOR 011 = 110: it lies at 0x01E0, line 3, sector 6."
    )


def test_a_shifted_base_shifts_the_pattern_and_the_figure_says_so():
    figure = TileFigure(lesson_map(), shared_address=128)
    assert figure.places.by_address[128] == (0, 1)  # row 0 lies like row 1 of an aligned tile
    assert "0x0080 is not a multiple of 1,024" in figure.table()


def test_element_strides_step_through_the_tensors_rows():
    figure = TileFigure(lesson_map(box_dim=(64, 7), element_strides=(1, 2)), coordinates=(0, 3))
    assert "holds row 9, elements 0 to 7" in figure.sentence(3, 0)
    assert len(figure.places.physical) == 4


@pytest.mark.parametrize(
    ("fill", "words"), [(OobFill.NONE, "its 16 bytes arrive as zeros"), (OobFill.NAN, "its 16 bytes arrive as NaN")]
)
def test_what_lies_outside_is_said_to_arrive_filled(fill, words):
    figure = TileFigure(lesson_map(oob_fill=fill), coordinates=(96, 12))
    assert words in figure.sentence(4, 0)
    assert words in figure.sentence(0, 4)
    assert "holds row 15, elements 120 to 127 of the tensor" in figure.sentence(3, 3)
    assert "(4.4)" in figure.table()


def test_a_sector_across_the_edge_is_filled_from_the_edge_on():
    figure = TileFigure(lesson_map(global_dim=(100, 16)), coordinates=(64, 0))
    assert "elements 96 to 103; those from 100 on are outside" in figure.sentence(0, 4)


@pytest.mark.parametrize(
    ("data_type", "size"), [(DataType.UINT8, 1), (DataType.BFLOAT16, 2), (DataType.FLOAT32, 4), (DataType.INT64, 8)]
)
def test_a_sector_holds_as_many_elements_as_16_bytes_do(data_type, size):
    tm = TensorMap(data_type, 0x1000, (256 // size, 16), (256,), (128 // size, 8), swizzle=Swizzle.B128)
    assert f"elements 0 to {16 // size - 1} " in TileFigure(tm).sentence(0, 0)


def test_a_map_shows_itself():
    tm = lesson_map()
    figure = tm.show((8, 4), shared_address=1024)
    assert (figure.tensor_map, figure.coordinates, figure.places.shared_address) == (tm, (8, 4), 1024)


def test_misuse_is_one_sentence():
    with pytest.raises(ValueError, match="draws tiled maps of rank 2, and this one has rank 3"):
        TileFigure(TensorMap(DataType.UINT8, 0x1000, (64, 4, 2), (64, 256), (64, 4, 2)))
    with pytest.raises(TmaFault, match="not a multiple of 16"):
        TileFigure(coordinates=(3, 0))
    with pytest.raises(TmaFault, match="0x40"):
        TileFigure(shared_address=64)
    figure = TileFigure()
    with pytest.raises(TmaFault, match="not a multiple of 16"):
        figure.coordinates = (4, 0)
    with pytest.raises(ValueError, match="rows 0 to 7, sectors 0 to 7"):
        figure.selected = (8, 0)


def test_a_selection_that_a_narrower_box_lacks_is_dropped():
    figure = TileFigure()
    figure.selected, figure.swizzle = (3, 5), Swizzle.B32
    assert figure.selected == (3, 5)  # refused, but the box is still drawn
    figure.narrowed = True
    assert figure.selected is None


def test_the_mime_bundle_holds_widget_drawing_and_table():
    figure = TileFigure()
    data, _ = figure._repr_mimebundle_()
    assert data["text/html"] == figure.svg()
    assert data["text/plain"] == figure.table()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == figure.model_id


def test_the_drawing_is_xml_without_script_or_network():
    svg = TileFigure(coordinates=(96, -3)).svg()
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-label"].startswith("Tile of 8x64 FLOAT16 at x = 96, y = -3")
    assert "<script" not in svg
    assert svg.replace('xmlns="http://www.w3.org/2000/svg"', "").count("http") == 0


def test_the_same_figure_is_the_same_drawing_and_another_has_its_own_name():
    first, again, other = TileFigure().svg(), TileFigure().svg(), TileFigure(coordinates=(8, 0)).svg()
    assert first == again
    assert first.split('"')[1] != other.split('"')[1]


def test_a_map_too_large_to_draw_is_drawn_in_part_and_says_so():
    tm = TensorMap(DataType.FLOAT16, 0x1000, (8192, 8192), (16384,), (64, 256), swizzle=Swizzle.B128)
    figure = TileFigure(tm, coordinates=(4096, 4096))
    assert "Drawn in part: rows 4094 to 4117 of 8192" in figure.svg()
    assert "Drawn in part: 32 of 256 lines" in figure.table()
    assert len(figure.svg()) < 300_000


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_a_contrast_of_4_5_and_shapes_of_3(palette):
    tints = [palette[f"tint-{i}"] for i in range(len(HUES))]
    assert min(contrast(palette["text"], ground) for ground in (*tints, palette["ground"], palette["panel"])) >= 4.5
    assert min(contrast(palette[name], palette["ground"]) for name in ("muted", "warning", "accent")) >= 4.5
    assert min(contrast(palette["edge"], tint) for tint in tints) >= 3
    assert contrast(palette["line"], palette["ground"]) >= 3


def test_importing_tmalab_imports_no_figures():
    code = "import sys, tmalab; print([m for m in ('tmalab.figures', 'anywidget', 'ipywidgets') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
