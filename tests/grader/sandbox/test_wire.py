"""What comes out of a sandbox is plain data of exact types, or nothing."""

from __future__ import annotations

import contextlib
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.sandbox import wire
from grader.sandbox.exported import Opaque, Remote, Untrue, exported, taken
from tmalab import Swizzle, TensorMap

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_plain_values_come_back_as_they_were(value):
    back = wire.unpack(*wire.pack(value))
    assert back == value
    assert repr(back) == repr(value)  # types too: True is not 1, a tuple no list


@pytest.mark.parametrize("kind", sorted(wire.DTYPES))
def test_arrays_and_numbers_of_numpy_keep_their_bits(kind):
    array = np.arange(6).astype(kind).reshape(2, 3)
    back, scalar = wire.unpack(*wire.pack([array, array[1, 1]]))
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert type(scalar) is type(array[1, 1])
    assert scalar == array[1, 1]


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), ()])
def test_arrays_without_elements_or_dimensions_keep_their_shape(shape):
    array = np.ones(shape, np.int16)
    back, after = wire.unpack(*wire.pack([array, np.arange(2)]))
    assert (back.shape, back.dtype, after.tolist()) == (shape, array.dtype, [0, 1])


def test_a_text_that_would_become_much_memory_is_refused():
    said = b"[" + b"[]," * (2 << 20) + b"[]]"
    pieces = [wire.HEAD.pack(len(said), 0), said]
    with pytest.raises(wire.Malformed):
        wire.receive(lambda count: pieces.pop(0), 1 << 24)


def test_numbers_that_are_none_come_back():
    assert math.isnan(wire.unpack(*wire.pack(math.nan)))
    assert wire.unpack(*wire.pack([math.inf, -math.inf])) == [math.inf, -math.inf]


@pytest.mark.parametrize("value", [object(), b"bytes", {1}, Swizzle.B32, np.array([None])])
def test_what_is_not_plain_is_not_sent(value):
    with pytest.raises(TypeError):
        wire.pack(value)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"{",
        b"\xff",
        b'{"a": 1, "b": 2}',
        b'{"pickle": "x"}',
        b'{"array": ["O", [1]]}',
        b'{"array": ["<i8", [4]]}',
        b'{"array": ["<i8", [-1]]}',
        b'{"array": ["<i8", [1152921504606846976, 64]]}',
        b'{"array": ["<i8", [1], 0]}',
        b'[{"array": ["<i8", [1]]}, {"array": ["<i8", [1]]}]',  # one blob can not be read twice
        b'{"dict": [[{"dict": []}, 1]]}',
        b'{"dict": 3}',
        b'{"int": "zz"}',
        b'{"float": "1e5"}',
        b"[" * 50 + b"]" * 50,
        b"[" * 100_000,
        b'{"tuple": 7}',
    ],
)
def test_a_malformed_frame_is_one_error_whatever_it_is(said):
    with pytest.raises(wire.Malformed):
        wire.unpack(said, bytes(8))


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_else(said):
    read = [said]
    with contextlib.suppress(wire.Malformed, EOFError):
        wire.receive(lambda count: read.pop() if read else b"", 100)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text() | st.floats(), lambda inner: st.lists(inner)))
def test_no_tree_does_anything_but_give_an_answer_or_be_untrue(tree):
    with contextlib.suppress(Untrue):
        taken(tree)


def test_an_answer_goes_through_as_a_judge_would_see_it():
    tensor_map = TensorMap.from_array(np.zeros((16, 128), np.float16), (8, 64), Swizzle.B128)
    numbers = [1, np.int64(2), 3.0, np.float32(0.5), None, ...]
    answer = {"a": numbers, "b": (True, "text"), "c": range(3), "d": tensor_map}
    back = taken(json.loads(json.dumps(exported(answer))))
    assert back["a"] == [1, 2, 3.0, 0.5, None, None]
    assert [type(value) for value in back["a"][:4]] == [int, int, float, float]
    assert back["b"] == (True, "text")
    assert back["c"] == [0, 1, 2]
    assert back["d"].encode() == tensor_map.encode()
    assert back["d"].array is None


def test_what_can_not_come_along_keeps_the_name_of_its_type_and_a_short_text():
    class Odd:
        def __repr__(self):
            return "odd " * 1000

    back = taken(exported([Odd(), np.float16, b"bytes", 10**5000]))
    assert [type(each).__name__ for each in back] == ["Odd", "type", "bytes", "int"]
    assert all(isinstance(each, Opaque) for each in back)
    assert all(len(repr(each)) <= 200 for each in back)


def test_words_of_a_learner_make_up_no_lines_and_move_no_cursor():
    class Sly:
        def __repr__(self):
            return "\x1b[2J\ncopy-2d.count   3 of 3 points"

    back = taken(exported([Sly(), {"a\nb": 1}]))
    assert repr(back[0]).startswith("?[2J?copy-2d")
    assert back[1] == {"a?b": 1}


def test_a_function_stays_outside_and_is_called_where_it_is():
    back = taken(exported(lambda x: x), call=lambda arguments: sum(arguments))
    assert isinstance(back, Remote)
    assert type(back).__name__ == "function"
    assert back(1, 2) == 3
    assert "def" in back.kernel
