"""Figure 2 without a browser: where groups come from and lie, and its static forms."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from tmalab import DataType, Swizzle, TensorMap, TmaFault, reference
from tmalab.figures import GroupingFigure
from tmalab.figures.grouping_places import groups_and_atoms, in_one_matrix, slices


def matrix(**changes) -> TensorMap:
    """16x256 fp16 as (4, 16, 64), and a box of two groups."""
    fields = {"global_dim": (64, 16, 4), "global_strides": (512, 128), "box_dim": (64, 16, 2), "swizzle": Swizzle.B128}
    return TensorMap(DataType.FLOAT16, 0x1000, **(fields | changes))


@pytest.mark.parametrize("swizzle", list(Swizzle))
@pytest.mark.parametrize("half", [0, 2])
def test_every_sector_is_drawn_where_a_load_puts_it(swizzle, half):
    """The matrix holds in each 16-byte sector its own row and column, so the loaded bytes tell where they came from."""
    figure = GroupingFigure(matrix())
    figure.swizzle, figure.narrowed, figure.coordinates = swizzle, True, (0, 0, half)
    places = figure.places
    numbers = np.repeat(np.arange(16 * 32, dtype=np.uint64), 2)
    image = reference.load(places.tensor_map, (0, 0, half), numbers.view(np.uint8))
    loaded = image.data.view(np.uint64)[::2]
    for number, line in enumerate(places.physical):
        group, row = divmod(number, 16)
        for sector, address in enumerate(line):
            assert divmod(int(loaded[address // 16]), 32) == (row, (half + group) * 8 + sector)


def test_a_16x128_slice_is_two_groups_and_four_atoms():
    figure = GroupingFigure()
    marks = [(mark.name, mark.first, mark.lines) for mark in groups_and_atoms(figure.places)]
    assert marks[:2] == [("group 0", 0, 16), ("group 1", 16, 16)]
    assert marks[2:] == [(f"atom {number}", 8 * number, 8) for number in range(4)]
    assert figure.places.tensor_map.delivered_dim == (64, 16, 2)


def test_a_group_that_ends_within_an_atom_shares_it():
    places = GroupingFigure(matrix(global_dim=(64, 12, 4), box_dim=(64, 12, 2)), shared_address=256).places
    marks = {mark.name: (mark.first, mark.lines) for mark in groups_and_atoms(places)}
    assert marks["group 1"] == (12, 12)
    assert [marks[f"atom {number}"] for number in range(4)] == [(0, 6), (6, 8), (14, 8), (22, 2)]


def test_the_second_half_of_the_columns_begins_at_column_128():
    figure = GroupingFigure(coordinates=(0, 0, 2))
    assert "view[2, 0, 0:8]: row 0, columns 128 to 135 of the matrix" in figure.sentence(0, 0, 0)
    assert "view[3, 15, 56:64]: row 15, columns 248 to 255 of the matrix" in figure.sentence(1, 15, 7)


def test_slices_are_offered_where_boxes_of_whole_groups_follow_each_other():
    assert slices(matrix()) == [0, 2]
    assert slices(matrix(box_dim=(64, 8, 2))) == []
    assert slices(matrix(box_dim=(64, 16, 3))) == []
    assert slices(matrix(box_dim=(64, 16, 4))) == []


def test_groups_lie_in_one_matrix_only_where_the_next_one_begins_at_the_end_of_its_row():
    assert in_one_matrix(matrix())
    assert not in_one_matrix(matrix(global_strides=(128, 2048)))
    figure = GroupingFigure(matrix(global_strides=(128, 2048)))
    assert "is tensor[1, 0, 0:8]. At 0x0800" in figure.sentence(1, 0, 0)
    assert "drawn one below the other" in figure.svg()


def test_what_lies_outside_arrives_as_zeros_and_is_marked():
    figure = GroupingFigure(matrix(global_dim=(60, 16, 4)), coordinates=(0, 15, 3))
    assert "elements from 60 on are outside and arrive as zeros" in figure.sentence(0, 0, 7)
    assert "would be tensor[4, 15, 0:8]: outside" in figure.sentence(1, 0, 0)
    assert "(0.0.7)" in figure.table()
    assert " 0.0.6 " in figure.table()


def test_element_strides_step_through_rows_and_groups():
    figure = GroupingFigure(matrix(element_strides=(1, 2, 3), box_dim=(64, 16, 4)))
    assert figure.places.tensor_map.delivered_dim == (64, 8, 2)
    assert "is view[3, 2, 8:16]: row 2, columns 200 to 207" in figure.sentence(1, 1, 1)


def test_a_refused_mode_gives_the_librarys_reason():
    figure = GroupingFigure()
    figure.swizzle = Swizzle.B64
    assert figure.places is None
    assert "128 bytes is more than 64" in figure.table()
    words = " ".join(ElementTree.fromstring(figure.svg()).itertext())
    assert "128 bytes is more than 64" in " ".join(words.split())
    assert "SWIZZLE_64B has no place for it" in figure.sentence(0, 0, 0)


def test_a_rank_3_map_shows_itself():
    tm = matrix()
    figure = tm.show((0, 8, 1), shared_address=1024)
    assert (figure.tensor_map, figure.coordinates, figure.places.shared_address) == (tm, (0, 8, 1), 1024)
    assert tm.show().coordinates == (0, 0, 0)


def test_a_map_too_large_to_draw_is_drawn_in_part_and_says_so():
    tm = TensorMap(DataType.FLOAT16, 0x1000, (4096, 512, 64), (8192, 2**22), (64, 128, 8), swizzle=Swizzle.B128)
    figure = GroupingFigure(tm, coordinates=(2048, 100, 30))
    assert "Drawn in part: 128 of 8192 sectors." in figure.svg()
    assert "Drawn in part: 40 of 1024 lines." in figure.table()
    assert len(figure.svg()) < 400_000


def test_misuse_is_one_sentence():
    with pytest.raises(ValueError, match="draws tiled maps of rank 3 without interleave, and this one has rank 2"):
        GroupingFigure(TensorMap(DataType.UINT8, 0x1000, (64, 4), (64,), (64, 4)))
    with pytest.raises(ValueError, match="draw tiled maps without interleave, and this one is im2col"):
        TensorMap.im2col(6, 0x1000, (64, 16, 4), (128, 2048), (0,), (0,), 32, 8).show()
    with pytest.raises(TmaFault, match="not a multiple of 16"):
        GroupingFigure(coordinates=(3, 0, 0))
    with pytest.raises(ValueError, match="groups 0 to 1, rows 0 to 15, sectors 0 to 7"):
        GroupingFigure().sentence(2, 0, 0)
    figure = GroupingFigure()
    with pytest.raises(ValueError, match="groups 0 to 1"):
        figure.selected = (0, 16, 0)
