"""The memory behind a launch's arguments: one buffer is one memory, whoever looks at it."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from tmalab.buffers import GlobalLayout


def hidden(array: np.ndarray) -> np.ndarray:
    """The same bytes by their address alone: NumPy no longer knows whose they are."""
    return np.frombuffer((ctypes.c_uint8 * array.nbytes).from_address(array.ctypes.data), np.uint8)


def test_arrays_of_their_own_start_at_multiples_of_256_in_the_order_of_the_arguments():
    a, b, c = np.zeros(1, np.uint8), np.zeros(257, np.uint8), np.zeros((4, 4), np.float32)
    layout = GlobalLayout([a, b, c], 0x1000)
    assert [layout.address_of(array) for array in (a, b, c)] == [0x1000, 0x1100, 0x1300]


def test_views_keep_their_offsets_in_the_buffer():
    whole = np.zeros((16, 128), np.float16)
    layout = GlobalLayout([whole[8:, 64:], whole.T, whole[::-1]], 0x1000)
    assert len(layout.buffers) == 1
    assert layout.address_of(whole[8:, 64:]) == 0x1000 + 8 * 256 + 128
    assert layout.address_of(whole.T) == 0x1000
    assert layout.address_of(whole[::-1]) == 0x1000 + 15 * 256


def test_a_view_brings_its_whole_buffer():
    whole = np.zeros(1000, np.uint8)
    assert GlobalLayout([whole[990:]], 0).size == 1000


def test_views_that_hide_their_base_are_known_by_their_bytes():
    whole = np.arange(64, dtype=np.uint8)
    middle = hidden(whole[8:40])
    layout = GlobalLayout([middle, whole], 0x1000)
    assert len(layout.buffers) == 1
    assert layout.address_of(middle) == 0x1008


def test_an_as_strided_view_brings_its_whole_buffer_and_keeps_its_offset():
    whole = np.zeros(65 * 4, np.float16)
    rows = as_strided(whole[1:], (3, 64), (130, 2))
    layout = GlobalLayout([rows], 0)
    assert layout.size == whole.nbytes
    assert layout.address_of(rows) == 2


def test_a_buffer_that_joins_two_others_makes_them_one():
    whole = np.zeros(512, np.uint8)
    left, right = hidden(whole[:100]), hidden(whole[300:400])
    layout = GlobalLayout([left, np.zeros(8), right, whole], 0)
    assert [buffer.size for buffer in layout.buffers] == [512, 64]
    assert layout.address_of(right) == 300


def test_neighbours_in_memory_stay_two_buffers():
    whole = np.zeros(64, np.uint8)
    left, right = hidden(whole[:32]), hidden(whole[32:])
    assert GlobalLayout([left, right], 0).address_of(right) == 256


def test_bytes_go_up_and_come_back_in_place():
    a, b = np.arange(10, dtype=np.uint8), np.arange(4, dtype=np.int64)
    layout = GlobalLayout([a, b], 0x1000)
    memory = np.zeros(layout.size, np.uint8)
    layout.upload(memory)
    assert memory[:10].tolist() == list(range(10))
    assert memory[256:].view(np.int64).tolist() == [0, 1, 2, 3]
    memory[3], memory[256] = 77, 55
    layout.download(memory)
    assert (a[3], b[0]) == (77, 55)


def test_what_may_not_be_written_is_not():
    frozen = np.arange(4, dtype=np.uint8)
    frozen.flags.writeable = False
    layout = GlobalLayout([frozen], 0)
    layout.download(np.full(4, 9, np.uint8))
    assert frozen.tolist() == [0, 1, 2, 3]


def test_a_read_only_view_of_a_writable_array_does_not_protect_it():
    whole = np.zeros(4, np.uint8)
    view = whole[:2]
    view.flags.writeable = False
    GlobalLayout([view], 0).download(np.full(4, 9, np.uint8))
    assert whole.tolist() == [9, 9, 9, 9]


def test_an_empty_array_has_an_address_and_no_bytes():
    empty = np.zeros((0, 4))
    layout = GlobalLayout([empty, np.zeros(2)], 0x1000)
    assert layout.address_of(empty) == 0x1000


def test_an_array_from_elsewhere_has_no_address():
    with pytest.raises(KeyError):
        GlobalLayout([np.zeros(4)], 0).address_of(np.zeros(4))
