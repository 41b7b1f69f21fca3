"""Maps as rows of memory: a copy, or what another process gets, knows its maps as the first does."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tmalab import TensorMap, map_rows


@pytest.fixture
def rows():
    return map_rows(TensorMap.from_array(np.full((16, 64), i, np.float16), (8, 64)) for i in range(2))


@pytest.mark.parametrize("copied", [lambda rows: rows.copy(), lambda rows: pickle.loads(pickle.dumps(rows))])
def test_a_copy_of_rows_has_the_same_bytes_and_maps_in_memory_of_its_own(rows, copied):
    other = copied(rows)
    assert other.maps == rows.maps
    assert np.array_equal(other.maps[1].array, rows.maps[1].array)
    assert np.array_equal(other, rows)
    other[0, 0] ^= 1
    assert not np.array_equal(other, rows)


@pytest.mark.parametrize("copied", [lambda row: row.copy(), lambda row: pickle.loads(pickle.dumps(row))])
def test_a_single_row_is_plain_bytes_without_maps(rows, copied):
    other = copied(rows[1])
    assert other.tobytes() == rows[1].tobytes()
    assert not other.maps
