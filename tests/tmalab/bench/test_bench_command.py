"""`tmalab bench copy|gemm|ladder`: what it prints, draws and keeps; and what it says where it can't run."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from tmalab.bench import command, products, results
from tmalab.cli import main
from tmalab.gpu import device


def measured(shapes=((1024, 1024, 1024),), rounds=15):
    seconds = {"tmalab": [1e-5] * rounds, "cuBLAS": [2e-5] * rounds}
    cases = [results.case("gemm", list(shape), 2e9, "cuBLAS", seconds, {}) for shape in shapes]
    provenance = {"gpu": "NVIDIA H200", "date": "2026-12-02"}
    return results.result("gemm", cases, rounds, provenance, [1700])


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(device, "why_no_gpu", lambda: None)
    monkeypatch.setattr(products, "measure_gemm", measured)


def bench(*arguments):
    return CliRunner().invoke(main, ["bench", *map(str, arguments)])


def test_a_result_is_one_json_object(gpu):
    done = bench("gemm", "--json", "--shapes", "64,128x64x72", "--rounds", 3)
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert [case["case"] for case in found["cases"]] == [[64, 64, 64], [128, 64, 72]]
    assert found["geometric_mean"] == pytest.approx(2.0)
    assert len(found["cases"][0]["contenders"]["tmalab"]["seconds"]) == 3


def test_a_result_is_a_table_and_a_sentence_for_people(gpu):
    done = bench("gemm")
    assert "1024 x 1024 x 1024" in done.stdout
    assert "2.000" in done.stdout
    assert "geometric mean of the first contender's ratios to cuBLAS: 2.000" in done.stdout


def test_a_result_is_drawn_and_kept(gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_file", lambda name: tmp_path / f"bench-{name}.json")
    assert bench("gemm", "--plot", tmp_path / "gemm.svg", "--record").exit_code == 0
    assert ElementTree.parse(tmp_path / "gemm.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert command.recorded("gemm") == json.loads((tmp_path / "bench-gemm.json").read_text("utf-8"))
    assert command.recorded("ladder") is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("gemm", "--shapes", "10"), "'10' is no product"),
        (("copy", "--shapes", "10"), "'10' is no size of a copy"),
        (("gemm", "--record", "--rounds", "3"), "3 rounds are too few for a result that is kept: at least 15"),
        (("gemm", "--plot", "a.word"), "a.word is no kind of drawing: its name ends in one of"),
        (("gemm", "--plot", "/nowhere/a.svg"), "/nowhere/a.svg cannot be written: No such file"),
        (
            ("reference", "--rounds", "3"),
            "reference has no options but --json",
        ),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_is_measured(arguments, sentence):
    done = bench(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"tmalab: {sentence}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["copy", "gemm", "ladder"])
def test_without_a_gpu_a_bench_says_so_and_exits_with_3(name, monkeypatch):
    monkeypatch.setattr(device, "why_no_gpu", lambda: "no GPU is here")
    done = bench(name)
    assert (done.exit_code, done.stderr) == (3, "tmalab: no GPU is here\n")
    done = bench(name, "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (3, {"bench": name, "error": "no GPU is here"})


def test_a_wrong_result_fails_the_bench(gpu, monkeypatch):
    def wrong(**_):
        raise products.BenchError("tmalab is wrong")

    monkeypatch.setattr(products, "measure_gemm", wrong)
    assert (bench("gemm").exit_code, bench("gemm").stderr) == (2, "tmalab: tmalab is wrong\n")
