"""What a bench does beside measuring: rounds, cases, results as data, tables, drawings."""

from __future__ import annotations

import json
import warnings
from statistics import median

import pytest

from tmalab.bench import plots, results, shapes
from tmalab.bench.rounds import geometric_mean, interleaved, ratio
from tmalab.texts import speaking

PROVENANCE = {"gpu": "NVIDIA H200", "date": "2026-12-02"}


def test_contenders_take_turns_in_an_order_that_changes_from_round_to_round():
    order = []
    contenders = {name: lambda name=name: order.append(name) or len(order) for name in "abc"}
    found = interleaved(contenders, 30)
    rounds = ["".join(order[at : at + 3]) for at in range(0, 90, 3)]
    assert {"".join(sorted(names)) for names in rounds} == {"abc"}
    assert len(set(rounds)) == 6  # so that nobody always comes after the same one
    assert {name: [order.index(name, at) + 1 for at in range(0, 90, 3)] for name in "abc"} == found


def test_a_ratio_is_the_median_of_the_rounds_ratios_not_the_ratio_of_medians():
    seconds = {"ours": [1.0, 10.0, 3.0], "theirs": [2.0, 10.0, 1.5]}  # a round in which the clock was low hits both
    assert ratio(seconds, "ours", "theirs") == 1.0
    assert median(seconds["theirs"]) / median(seconds["ours"]) != 1.0


def test_rounds_that_do_not_belong_together_are_not_compared():
    with pytest.raises(ValueError, match="zip"):
        ratio({"a": [1.0], "b": [1.0, 2.0]}, "a", "b")


def test_the_mean_of_a_half_and_its_double_is_one():
    assert geometric_mean([0.5, 2.0, 1.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "given", ["", "8192x8192", "8192x8192x12", "0", "8192y8192y8192", "1e3", "65544", "١٠٢٤", "-64", "64x64x64x64"]
)
def test_what_is_no_product_is_refused_with_what_it_was(given):
    with pytest.raises(ValueError, match="is no product: write 8192") as caught:
        shapes.products(given)
    assert repr(given) in str(caught.value)


@pytest.mark.parametrize("given", ["2", "2GB", "1KiB", "0MiB", "64GiB", "MiB"])
def test_what_is_no_size_of_a_copy_is_refused(given):
    with pytest.raises(ValueError, match="is no size of a copy"):
        shapes.copies(given)


def test_the_products_of_the_comparison_are_eight():
    assert len(set(shapes.PRODUCTS)) == 8
    assert shapes.products(",".join("x".join(map(str, shape)) for shape in shapes.PRODUCTS)) == list(shapes.PRODUCTS)


def product(m, n, k, ours, theirs):
    about = {"tmalab": {"relative_error": 0.001}}
    return results.case(
        "gemm", [m, n, k], 2.0 * m * n * k, "cuBLAS", {"tmalab": ours, "cuBLAS": theirs}, about, buffers=1
    )


@pytest.fixture
def found():
    cases = [product(1024, 1024, 1024, [4e-6, 5e-6], [5e-6, 5e-6]), product(8192, 8192, 8192, [2e-3] * 2, [1e-3] * 2)]
    return results.result("gemm", cases, 2, PROVENANCE, [1700, 1650])


def test_a_result_is_plain_data_with_every_round(found):
    again = json.loads(json.dumps(found))
    assert again == found
    ours = found["cases"][0]["contenders"]["tmalab"]
    assert ours["seconds"] == [4e-6, 5e-6]
    assert ours["ratio"] == pytest.approx((5 / 4 + 1) / 2)
    assert ours["speed"] == pytest.approx(2 * 1024**3 / 4.5e-6 / 1e12)
    assert found["geometric_mean"] == pytest.approx((1.125 * 0.5) ** 0.5)


def test_a_table_has_a_row_for_each_contender(found):
    assert list(results.rows(found))[2] == ("8192 x 8192 x 8192", "tmalab", "550 TFLOP/s", "0.500")
    assert len(list(results.rows(found))) == 4


def test_the_sentence_says_the_mean_the_lowest_and_the_clocks(found):
    assert results.sentence(found) == (
        "geometric mean of the first contender's ratios to cuBLAS: 0.750, the lowest 0.500; "
        "2 interleaved rounds, medians; SM clocks 1650 to 1700 MHz"
    )
    found["clocks_mhz"] = []
    assert "clocks unknown" in results.sentence(found)


def test_a_copys_speed_counts_what_it_reads_and_writes():
    case = results.case("copy", 1 << 30, 2.0 * (1 << 30), "theirs", {"ours": [1e-3], "theirs": [1e-3]}, {})
    assert case["contenders"]["ours"]["speed"] == pytest.approx(2 * (1 << 30) / 1e-3 / 1e9)
    assert results.called(case["case"]) == "1,024 MiB"


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_result_is_drawn_with_a_roofline_where_the_bandwidth_is_known(found, tmp_path, suffix):
    for bandwidth in (None, 4.2e12):
        path = tmp_path / f"{bandwidth}.{suffix}"
        plots.save(found, path, bandwidth)
        assert path.stat().st_size > 5000
    assert (tmp_path / f"None.{suffix}").stat().st_size < (tmp_path / f"4200000000000.0.{suffix}").stat().st_size


@pytest.mark.parametrize(("suffix", "chinese"), [("svg", True), ("pdf", False)])
def test_a_file_is_in_the_language_that_is_read_where_its_kind_has_the_signs(found, tmp_path, suffix, chinese):
    path = tmp_path / f"drawn.{suffix}"
    with speaking("zh"), warnings.catch_warnings():
        warnings.simplefilter("error")
        plots.save(found, path)
    assert ("几何平均".encode() in path.read_bytes()) == chinese


def test_the_ladder_is_a_bar_for_each_step_with_its_speed_and_ratio():
    seconds = {"gemm_cluster": [2e-3], "gemm_naive": [8e-3], "cuBLAS": [2e-3]}
    case = results.case("ladder", [8192] * 3, 2.0 * 8192**3, "cuBLAS", seconds, {})
    axes = plots.bars(results.result("ladder", [case], 1, PROVENANCE, [])).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["gemm_naive", "gemm_cluster", "cuBLAS"]
    assert axes.yaxis_inverted()  # the first step on top
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([137.4, 549.8, 549.8], rel=1e-3)
    assert [label.get_text() for label in axes.texts] == ["137  (0.25)", "550  (1.00)", "550  (1.00)"]
    assert "NVIDIA H200, 2026-12-02, 1 rounds" in axes.get_title()


def test_the_roofline_bends_where_memory_and_tensor_cores_meet(found):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    plots.roofline(found, axes, 4e12)
    (xs, ys) = axes.lines[0].get_data()
    peak = 4096 * 132 * 1675e6
    assert ys[1:] == pytest.approx([peak / 1e12] * 2)
    assert xs[1] == pytest.approx(peak / 4e12)
    assert ys[0] == pytest.approx(xs[0] * 4)
