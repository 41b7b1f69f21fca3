"""What a notebook shows of an error that the library raises."""

from IPython.core.interactiveshell import InteractiveShell


def shown_in_a_notebook(cell: str, capsys) -> str:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(colors="nocolor")
    try:
        shell.run_cell(cell)
    finally:
        InteractiveShell.clear_instance()
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_a_refused_map_shows_the_learners_line_and_none_of_the_library(capsys):
    cell = "import tmalab\ndef my_map():\n    return tmalab.TensorMap(6, 0x1000, (100, 64), (200,), (64, 8))\nmy_map()"
    shown = shown_in_a_notebook(cell, capsys)
    assert "line 3: return tmalab.TensorMap" in shown
    assert "nearest legal: 208" in shown.lower()
    assert "tensor_map.py" not in shown
    assert "__post_init__" not in shown


def test_an_error_of_the_learner_looks_as_ever(capsys):
    assert "ZeroDivisionError" in shown_in_a_notebook("1 / 0", capsys)
