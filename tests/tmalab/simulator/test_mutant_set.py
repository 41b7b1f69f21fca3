"""The set of right and wrong kernels itself: as large as it must be, with its reasons, and its pages in step."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from tests.mutants import equivalent, pages, pieces, runs
from tests.mutants.edits import every
from tests.mutants.mutant import source_of
from tests.mutants.right import CASES
from tests.mutants.runs import EDITED, check_edits, check_right, check_wrong
from tests.mutants.wrong import MUTANTS
from tmalab.bootstrap import ROOT
from tmalab.simulator.hazards import CATALOGUE

SEEDS = 4
IN_CI = ("copy_tile", "store_what_was_loaded", "the_same_flag")


def test_there_are_right_kernels_in_25_styles_and_60_wrong_ones_half_of_them_mechanical():
    assert len({CASES[name]().kernel.__name__ for name in CASES}) >= 25
    assert len(MUTANTS) >= 60
    assert 2 * sum(mutant.is_mechanical for mutant in MUTANTS.values()) >= len(MUTANTS)


def test_every_hazard_of_the_catalogue_has_a_wrong_kernel():
    named = set(chain.from_iterable(mutant.names for mutant in MUTANTS.values()))
    assert named == set(CATALOGUE)


def test_every_wrong_kernel_differs_from_its_right_one():
    for name, mutant in MUTANTS.items():
        assert mutant.edited.source != source_of(CASES[mutant.case]().kernel), name


def test_every_survivor_has_a_reason_that_is_told():
    known = {reason for name in EDITED for reason in equivalent.explained(name).values()}
    assert known == set(equivalent.reasons())
    for name in EDITED:
        edits = set(map(str, every(source_of(CASES[name]().kernel))))
        assert set(equivalent.explained(name)) <= edits, name


@pytest.mark.parametrize("name", IN_CI)
def test_mechanical_edits_are_reported_or_known_to_change_nothing(name):
    assert equivalent.unexplained([check_edits(name, SEEDS)]) == []


@pytest.fixture
def a_few(monkeypatch):
    """Two kernels with a mutant, in small pieces."""
    monkeypatch.setattr(pieces, "CASES", ["copy_tile", "the_same_flag"])
    monkeypatch.setattr(pieces, "MUTANTS", ["wait removed"])
    monkeypatch.setattr(pieces, "EDITED", ["copy_tile"])
    monkeypatch.setattr(pieces, "ORDERS", {pieces.check_right: 2, pieces.check_wrong: 2})
    monkeypatch.setattr(pieces, "EDITS", 3)
    for module in (pieces, runs):
        monkeypatch.setattr(module, "edits_of", lambda name: every(source_of(CASES[name]().kernel))[3:8])


def test_work_in_pieces_comes_to_what_it_comes_to_as_a_whole(a_few):
    made = pieces.tables(5, 3, 1)
    assert made.right == [check_right(name, 5) for name in ("copy_tile", "the_same_flag")]
    assert made.wrong == [check_wrong("wait removed", 3)]
    assert made.edits == [check_edits("copy_tile", 1)]
    assert made.not_run == 0


def test_pieces_that_the_time_did_not_suffice_for_are_counted_and_missing(a_few):
    made = pieces.tables(5, 3, 1, seconds=0)
    assert made.not_run > 0
    assert made.edits == []  # a few of them say nothing about all
    assert all(each.seeds < 5 for each in made.right)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", EDITED)
def test_every_mechanical_edit_is_reported_or_known_to_change_nothing(name):
    assert equivalent.unexplained([check_edits(name, SEEDS)]) == []


def test_the_page_of_hazards_is_in_step():
    assert (ROOT / "docs" / "hazards.md").read_text("utf-8") == pages.hazards()


def test_the_page_of_mutants_lists_those_that_there_are():
    page = (ROOT / "docs" / "mutants.md").read_text("utf-8")
    right, wrong = page.split("## Right kernels")[1].split("## Wrong kernels")
    wrong = wrong.split("## Every mechanical edit")[0]
    assert re.findall(r"(?m)^\| `(.+?)` \|", right) == list(CASES)
    assert re.findall(r"(?m)^\| (.+?) \| `", wrong) == list(MUTANTS)
