"""What the results that were kept must show: the targets of the ladder on an H200."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tmalab.bench import ON_GPU, command, products, shapes
from tmalab.bench.rounds import FEWEST, ratio


@pytest.mark.parametrize("name", ON_GPU)
def test_a_kept_result_has_rounds_enough_and_says_where_it_is_from(name):
    found = command.recorded(name)
    assert found["rounds"] >= FEWEST
    assert found["provenance"]["gpu"] == "NVIDIA H200"
    for case in found["cases"]:
        assert {len(made["seconds"]) for made in case["contenders"].values()} == {found["rounds"]}


def test_each_step_of_the_ladder_was_faster_than_the_one_before():
    made = command.recorded("ladder")["cases"][0]["contenders"]
    seconds = {name: made[name]["seconds"] for name in reversed(made) if name.startswith("gemm")}
    assert list(seconds) == list(products.steps((8192,) * 3))
    assert [name for before, name in pairwise(seconds) if ratio(seconds, name, before) <= 1] == []


def test_the_products_were_level_with_the_library():
    found = command.recorded("gemm")
    assert [tuple(case["case"]) for case in found["cases"]] == list(shapes.PRODUCTS)
    assert found["geometric_mean"] >= 1
    assert min(case["contenders"]["tmalab"]["ratio"] for case in found["cases"]) >= 0.9
    errors = [made["relative_error"] for case in found["cases"] for made in case["contenders"].values()]
    assert 0 < max(errors) < products.LARGEST_ERROR


def test_the_copy_was_as_fast_as_the_frameworks():
    case = command.recorded("copy")["cases"][0]
    assert case["case"] == 2 << 30
    assert case["contenders"]["copy_tensor"]["ratio"] >= 0.98
