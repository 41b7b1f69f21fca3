"""Notebooks written as text."""

from __future__ import annotations

import pytest

from grader.percent import PercentError, parse

TEXT = """# about the file

# %% [markdown] id="aims"
# # A heading
#
# - a list
#   with a second line

# %% id="kernel" answer="copy-2d.kernel"
x = 1


y = 2  # %% is no cell here
"""


def test_cells_keep_their_text_their_id_and_their_marks():
    aims, kernel = parse(TEXT)
    assert (aims.id, aims.markdown, aims.source) == ("aims", True, "# A heading\n\n- a list\n  with a second line")
    assert (kernel.id, kernel.markdown, kernel.marks) == ("kernel", False, {"answer": "copy-2d.kernel"})
    assert kernel.source == "x = 1\n\n\ny = 2  # %% is no cell here"


@pytest.mark.parametrize("head", ["# %%", '# %% id="A B"', '# %% id="a" colour="red"', "# %% [raw]", '# %% id="aims"'])
def test_a_cell_head_that_is_wrong_is_named_with_its_line(head):
    with pytest.raises(PercentError, match="line 3"):
        parse(f'# %% id="aims"\n\n{head}\n')
