"""How a check reads."""

from __future__ import annotations

from rich.cells import cell_len

from grader.exercise import evidence, right, wrong
from grader.report import number, render


def test_a_report_has_points_a_line_for_each_part_and_one_hint():
    judged = [right("compiles", 1, "sm_90a"), wrong("order", 2, "read-before-wait", "wait")]
    assert render("copy-2d.kernel", 3, [*judged, evidence("hardware", "recorded")], (1, "Who tells the threads?")) == (
        "copy-2d.kernel                                     1 of 3 points\n"
        "  compiles   ✔ 1/1  sm_90a\n"
        "  order      ✘ 0/2  read-before-wait\n"
        "  hardware   –      recorded\n"
        "  hint 1/3          Who tells the threads?"
    )


def test_a_long_sentence_is_folded_under_itself_and_a_listing_keeps_its_indentation():
    report = render("x", 1, [wrong("order", 1, "word " * 40 + "\n    line 12", "x")])
    lines = report.splitlines()
    assert all(len(line) <= 120 for line in lines)
    assert lines[2].startswith(" " * 20 + "word")
    assert lines[-1] == " " * 24 + "line 12"


def test_points_are_written_without_needless_digits():
    assert [number(points) for points in (3, 3.0, 2.5, 1 / 3)] == ["3", "3", "2.5", "0.33"]


def test_chinese_stands_in_the_same_columns(monkeypatch):
    monkeypatch.setenv("TMALAB_LANGUAGE", "zh")
    long = "复制是异步的：只有在给它计数的屏障上成功等待之后，字节才一定在那里。" * 4
    said = render("demo", 3, [right("compiles", 1, "sm_90a"), wrong("order", 2, long, "x")], (1, "谁来告诉线程？"))
    first, *_, order, folded, _, hint = said.splitlines()
    assert first.endswith("得 1 分，满分 3 分")
    assert hint == "  提示 1/3          谁来告诉线程？"
    assert order.startswith("  order      ✘ 0/2  复制")
    assert folded.startswith(" " * 20 + long[48])
    assert all(cell_len(line) <= 116 for line in said.splitlines())
