"""Any Python value in any field: a TensorMapError or a TypeError that names the field, and nothing else."""

import collections
import fractions

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab import TensorMap, TensorMapError
from tmalab.tensor_map_fields import SEQUENCES, Fields, Im2colFields

LEGAL = {
    "data_type": 6,
    "global_address": 0x1000,
    "global_dim": (128, 16),
    "global_strides": (256,),
    "box_dim": (64, 8),
    "element_strides": (1, 1),
    "interleave": 0,
    "swizzle": 0,
    "l2_promotion": 0,
    "oob_fill": 0,
}


class Hostile:
    """Whatever is asked of it fails."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __index__(self):
        raise RuntimeError("index")

    def __len__(self):
        raise RuntimeError("len")

    def __iter__(self):
        raise RuntimeError("iter")

    def __repr__(self):
        raise RuntimeError("repr")

    def __eq__(self, other):
        raise RuntimeError("eq")

    __hash__ = None


class Liar(int):
    """An int that answers wrongly."""

    def __mod__(self, other):
        return 0

    def __le__(self, other):
        raise RuntimeError("le")


class Endless:
    """A sequence without an end."""

    def __len__(self):
        return 10**9

    def __getitem__(self, index):
        return 1


def endless():
    while True:
        yield 1


STRANGE = [
    None, True, -1, 10**5000, -(10**5000), 2**64, 1.5, float("nan"), "16", b"\x10", "", (), [], {}, {1: 2}, {1, 2},
    (1, "2"), [None], [1.0, 2.0], np.float32(1), np.array(3), np.array([1.0]), np.array([[1, 2]]), np.array([], int),
    np.bool_(True), np.uint64(2**63), fractions.Fraction(16), object(), int, Hostile(), Liar(13), [Liar(13), 1],
    Endless(), endless(), range(10**12), collections.deque([64, 8]), memoryview(b"\1\2"), [[1], [2]], lambda: 0, ...,
]  # fmt: skip
anything = st.one_of(
    st.sampled_from(STRANGE),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.lists(st.one_of(st.integers(), st.floats(), st.none()), max_size=7),
    st.dictionaries(st.integers(), st.integers(), max_size=2),
)


IM2COL = {
    "data_type": 6,
    "global_address": 0x1000,
    "global_dim": (64, 16, 4),
    "global_strides": (128, 2048),
    "pixel_box_lower_corner": (-1,),
    "pixel_box_upper_corner": (-1,),
    "channels_per_pixel": 64,
    "pixels_per_column": 32,
    "element_strides": (1, 1, 1),
    "interleave": 0,
    "swizzle": 0,
    "l2_promotion": 0,
    "oob_fill": 0,
}
MAKERS = {TensorMap: LEGAL, TensorMap.im2col: IM2COL}


def refusal(changes: dict, make=TensorMap) -> TensorMapError | TypeError | None:
    """How a map with these changes is refused; whatever else it raises fails the test."""
    try:
        make(**(MAKERS.get(make, {}) | changes))
    except (TensorMapError, TypeError) as error:
        return error
    return None


@pytest.mark.parametrize(("make", "field"), [(make, field) for make, legal in MAKERS.items() for field in legal])
def test_a_strange_value_is_accepted_or_refused_by_its_fields_name(make, field):
    for value in STRANGE:
        error, kind = refusal({field: value}, make), type(value).__name__
        if isinstance(error, TypeError):
            assert str(error).startswith(field), kind
        elif error:
            assert all(any(name in message for name in MAKERS[make]) for _, message in error.violations), kind
            assert field in str(error) or field == "interleave", kind  # an interleave changes the limits of others


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_strange_values_together_raise_nothing_else(data):
    make = data.draw(st.sampled_from([TensorMap, TensorMap.im2col]))
    changes = data.draw(st.dictionaries(st.sampled_from(list(MAKERS[make])), anything, min_size=1))
    error = refusal(changes, make)
    assert error is None or any(name in str(error) for name in MAKERS[make])


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["box_shape", "swizzle", "data_type", "element_strides", "interleave"]), anything)
)
def test_strange_arguments_beside_an_array_raise_nothing_else(options):
    error = refusal({"array": np.zeros((64, 128), np.float16), "box_shape": (8, 64)} | options, TensorMap.from_array)
    assert error is None or any(name in str(error) for name in ("box_shape", *LEGAL))


@pytest.mark.parametrize("field", sorted(set(LEGAL) - SEQUENCES))
def test_a_number_of_another_kind_is_a_type_error_that_says_what_is_meant(field):
    for value in (1.0, "1", None, [1], np.float16):
        with pytest.raises(TypeError, match=rf"^{field} must be (an integer|a tmalab\.\w+ or its number), not \w+$"):
            TensorMap(**(LEGAL | {field: value}))


@pytest.mark.parametrize("field", sorted(set(LEGAL) & SEQUENCES))
def test_a_sequence_of_another_kind_is_a_type_error(field):
    for value in (64, "64", {64: 8}, {64, 8}, b"\x40", endless()):
        with pytest.raises(TypeError, match=f"^{field} must be a short sequence of integers"):
            TensorMap(**(LEGAL | {field: value}))
    with pytest.raises(TypeError, match=rf"^{field}\[1\] must be an integer, not float"):
        TensorMap(**(LEGAL | {field: (64, 8.0)}))


def test_ints_that_answer_wrongly_are_taken_at_their_value():
    with pytest.raises(TensorMapError, match="global_address = 0xd"):
        TensorMap(**(LEGAL | {"global_address": Liar(13)}))


def test_the_fields_are_the_drivers_arguments_in_the_drivers_order():
    assert list(LEGAL) == list(Fields._fields)
    assert list(IM2COL) == list(Im2colFields._fields)
