"""Maps that are neither of rank 2 nor 3: a part is drawn, with the places that the whole copy has, and says so."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import DataType, Interleave, Swizzle, TensorMap, reference
from tmalab.figures import GroupingFigure, TileFigure


def rank_5(**more) -> TensorMap:
    tensor = np.arange(3 * 2 * 4 * 16 * 64, dtype=np.uint16).reshape(3, 2, 4, 16, 64)
    return TensorMap.from_array(tensor, (1, 2, 2, 8, 64), swizzle=Swizzle.B128, **more)


def test_a_slice_of_rank_5_lies_where_the_whole_copy_puts_it_and_holds_what_it_brings():
    tm, at = rank_5(), (0, 8, 1, 0, 2)
    figure = tm.show(at, shared_address=1024)
    assert isinstance(figure, GroupingFigure)
    memory = tm.array.reshape(-1).view(np.uint8)
    whole = reference.load(tm, at, memory, shared_address=1024).data.view(np.uint16)
    offset = figure.tensor_map.global_address - tm.global_address
    part = reference.load(figure.tensor_map, figure.coordinates, memory[offset:], shared_address=1024).data
    assert (part.view(np.uint16) == whole[: len(part) // 2]).all()


def test_it_says_in_each_form_what_is_drawn():
    figure = rank_5().show((0, 0, 0, 1, 2))
    said = "Drawn in part: slice w = 1, v = 2 of this map of rank 5, the first of 2 slices of its box."
    assert said in figure.table()
    assert figure.data["modes"][Swizzle.B128]["given"]["notes"] == [said]
    assert all(words in figure.svg() for words in ("Drawn in part: slice w = 1", "slices of its box."))


def test_a_map_of_rank_1_is_a_matrix_of_one_row():
    tm = TensorMap(DataType.FLOAT32, 0x1000, (1000,), (), (64,))
    figure = tm.show((32,))
    assert isinstance(figure, TileFigure)
    assert (figure.tensor_map.global_dim, figure.tensor_map.box_dim, figure.coordinates) == (
        (1000, 1),
        (64, 1),
        (32, 0),
    )
    assert "row 0, elements 36 to 39" in figure.sentence(0, 1)


def test_what_cannot_be_drawn_is_one_sentence():
    with pytest.raises(ValueError, match="v = 3 is outside the tensor, which has 3 slices along v"):
        rank_5().show((0, 0, 0, 0, 3))
    interleaved = TensorMap(6, 0x1000, (8, 8, 4), (128, 1024), (8, 8, 2), interleave=Interleave.B16)
    with pytest.raises(ValueError, match="without interleave, and this one is INTERLEAVE_16B"):
        interleaved.show()
