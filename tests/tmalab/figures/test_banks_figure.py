"""Figure 3 without a browser: the layouts of its tile, any access of a warp, its static forms."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
import traitlets
from numba import cuda

from tmalab import DataType, Swizzle, TensorMap, kernel, reference
from tmalab.banks import conflicts
from tmalab.figures import BanksFigure
from tmalab.figures.banks_places import layouts

LAYOUTS = layouts((Swizzle.NONE, Swizzle.B128))


@pytest.mark.parametrize("swizzle", [Swizzle.NONE, Swizzle.B128])
def test_the_grouped_tile_lies_where_a_copy_of_two_groups_puts_it(swizzle):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (64, 16, 2), (256, 128), (64, 16, 2), swizzle=swizzle)
    numbers = np.repeat(np.arange(16 * 16, dtype=np.uint64), 2)  # of sectors, row by row of 256 bytes
    loaded = reference.load(tm, (0, 0, 0), numbers.view(np.uint8)).data.view(np.uint64)[::2]
    for row in range(16):
        for sector in range(16):
            assert loaded[LAYOUTS[True, swizzle][row][sector] // 16] == 16 * row + sector


def test_rows_of_256_bytes_are_no_legal_box():
    with pytest.raises(ValueError, match="256 bytes is more than 128"):
        TensorMap(DataType.FLOAT16, 0x1000, (128, 16), (256,), (128, 16), swizzle=Swizzle.B128)
    plain = LAYOUTS[False, Swizzle.NONE]
    assert [plain[row][sector] for row, sector in [(0, 0), (0, 15), (3, 2)]] == [0, 240, 800]
    assert LAYOUTS[False, Swizzle.B128][1][0] == 256 ^ 0b010_0000  # address bit 8 into bit 5


@pytest.mark.parametrize(
    ("grouped", "swizzle", "ways"),
    [(True, "NONE", 8), (True, "B128", 1), (False, "NONE", 8), (False, "B128", 2)],
)
def test_a_column_of_eight_rows_conflicts_as_public_reports_say(grouped, swizzle, ways):
    """Case D2, for every column and first row."""
    figure = BanksFigure()
    figure.grouped, figure.swizzle = grouped, swizzle
    for figure.column in range(16):
        for figure.row in range(9):
            assert figure.access.ways == ways


def test_the_type_moves_nothing():
    figure = BanksFigure()
    before = figure.access
    for data_type, columns in [("UINT8", 256), ("FLOAT32", 64), ("FLOAT64", 32)]:
        figure.data_type = DataType[data_type]
        assert figure.access == before
        assert f"A tile of 16×{columns} {data_type}" in figure.svg()


def test_the_comparison_is_labelled_as_no_legal_box():
    figure = BanksFigure()
    assert "legal box of rank 3" in figure.svg()
    figure.grouped = False
    assert "not a legal box, for comparison only" in figure.svg()


def test_an_access_shows_itself_with_every_lane_and_count():
    access = conflicts([64 * lane for lane in range(32)])  # two banks, sixteen words each
    table = access.show().table().splitlines()
    assert table[0] == "32 lanes of 4 bytes: 16-way conflict (turns: 16)"
    assert table[2].split()[:2] == ["0x0000", "0"]
    assert table[2].split()[17] == "1"
    assert table[-1].split()[1:] == ["16", *["0"] * 15, "16", *["0"] * 15]


def test_lanes_that_share_a_word_are_one_cell_of_that_many():
    figure = conflicts([0] * 5 + [4]).show()
    assert figure.table().splitlines()[2].split()[1:4] == ["5×", "5", "--"]
    assert "0x0000, bank 0: lanes 0 to 4. Bank 0 has to hand out 1 words." in figure.svg()


def test_an_access_of_16_bytes_a_lane_is_drawn_phase_by_phase():
    figure = conflicts([16 * (lane % 4) + 128 * lane for lane in range(32)], 16).show()
    figure.phase = 3
    words = " ".join(ElementTree.fromstring(figure.svg()).itertext())
    assert "phase 3: lanes 24 to 31" in words
    assert "S1" in words
    assert "lane 25." in words
    assert "lane 7." not in words


@kernel
def columns(out):
    """Each warp writes a row of words, and reads a column of them."""
    words = cuda.shared.array(1024, np.int32)
    words[cuda.threadIdx.x] = 1
    out[cuda.threadIdx.x] = words[32 * cuda.threadIdx.x]


def test_a_run_shows_its_worst_access():
    run = columns.run(block=32, args=(np.zeros(32, np.int32),))
    assert run.show("banks").access.ways == 32
    read = run.bank_conflicts.show().access.addresses
    assert [address - read[0] for address in read] == [128 * lane for lane in range(32)]


def test_a_run_that_accesses_no_shared_memory_has_no_access_to_show():
    run = nothing.run(block=32, args=(np.zeros(32, np.int32),))
    with pytest.raises(ValueError, match="no thread has accessed shared memory"):
        run.show("banks")


@kernel
def nothing(out):
    out[cuda.threadIdx.x] = 1


def test_misuse_is_one_sentence():
    figure = BanksFigure()
    with pytest.raises(ValueError, match="B32 is not drawn here: this figure has NONE, B128"):
        figure.swizzle = "B32"
    with pytest.raises(ValueError, match="BFLOAT16 is not drawn here"):
        figure.data_type = DataType.BFLOAT16
    with pytest.raises(traitlets.TraitError, match="8"):
        figure.row = 9
    with pytest.raises(ValueError, match="no phase 1: this access has phases 0 to 0"):
        conflicts([0]).show().phase = 1
