"""`tmalab bench`: figures as one JSON object or one sentence, and the promise about the reference's speed."""

import json

import pytest
from click.testing import CliRunner

from tmalab import bench
from tmalab.cli import main


def test_the_reference_copies_within_ten_times_numpys_gather():
    """Measured again where the machine was busy: the best of three."""
    ratios = [bench.measure("reference")["ratio_to_numpy_copy"] for _ in range(3)]
    assert 1 < min(ratios) < 10


def test_figures_are_one_json_object_of_numbers():
    result = CliRunner().invoke(main, ["bench", "reference", "--json"])
    assert result.exit_code == 0
    figures = json.loads(result.stdout)
    assert figures["ratio_to_numpy_copy"] == pytest.approx(figures["load_us"] / figures["numpy_copy_us"], rel=0.02)


def test_figures_are_a_sentence_for_people():
    result = CliRunner().invoke(main, ["bench", "reference"])
    assert result.exit_code == 0
    assert "times NumPy's gather" in result.stdout


def test_functions_take_turns_and_the_best_round_counts():
    calls = []
    times = bench.fastest([lambda: calls.append("a"), lambda: calls.append("b")], rounds=3)
    assert calls == ["a", "b"] * 3
    assert all(0 < seconds < 1 for seconds in times)
