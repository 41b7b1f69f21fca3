"""The 128 bytes: as the driver wrote them for thousands of maps, as a kernel may have edited them, and as no map."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import DataType, Im2colMap, TensorMap
from tmalab.descriptor import TABLE, DescriptorError, decode, encode, read, stale
from tmalab.gpu.verdicts import verdict
from tmalab.recorded import verdicts
from tmalab.tensormap_replace import replaced

TILED = TensorMap(9, 0x1000, (64, 64), (128,), (64, 8), swizzle=3)
IM2COL = TensorMap.im2col(6, 0x1000, (64, 5, 9, 8), (128, 640, 5760), (-1, 0), (2, -2), 64, 32, swizzle=3)


# What the driver of an H200 said and wrote.


def test_the_judge_agrees_with_the_driver_on_every_recorded_map():
    recorded = verdicts.read()
    wrong = [fields for fields, encoded in zip(*recorded[2:]) if (encoded is None) != bool(verdict(fields))]
    assert wrong == []


def test_the_driver_wrote_the_same_128_bytes():
    recorded = verdicts.read()
    accepted = [(fields, encoded) for fields, encoded in zip(*recorded[2:]) if encoded is not None]
    assert len(accepted) > 2000
    assert [fields for fields, encoded in accepted if encode(fields) != encoded] == []
    assert [fields for fields, encoded in accepted if decode(encoded) != fields] == []


def test_the_recording_has_every_kind_of_map():
    kinds = {(type(fields).__name__, len(fields.global_dim), fields.interleave) for fields in verdicts.read().maps}
    wanted = {("Fields", rank, 0) for rank in range(1, 6)} | {("Fields", rank, i) for rank in (3, 4, 5) for i in (1, 2)}
    assert kinds >= wanted | {("Im2colFields", rank, interleave) for rank in (3, 4, 5) for interleave in (0, 1, 2)}


# Fields.


def test_what_an_im2col_map_says_field_by_field():
    said = {field.name: value for field, value in read(IM2COL.encode())}
    assert (said["im2col"], said["rank - 1"], said["channels_per_pixel - 1"], said["pixels_per_column - 1"]) == (
        *(1, 3),
        *(63, 31),
    )
    corners = [said[f"pixel_box_{side}_corner[{i}]"] for side in ("lower", "upper") for i in (0, 1)]
    assert corners == [-1, 0, 2, -2]
    assert said["box bytes"] == 64 * 32 * 2
    assert not any(name.startswith("box_dim") for name in said)


def test_corners_follow_each_other_in_16_8_or_5_bits():
    """Lower corners from byte 56 on, upper ones from byte 58 on."""
    for rank, code in ((3, "<h"), (4, "<bb")):
        corners = (-1,) if rank == 3 else (-1, 5)
        dims, strides = (64,) * rank, (4096,) * (rank - 1)
        data = TensorMap.im2col(6, 0x1000, dims, strides, corners, (7,) * (rank - 2), 64, 32).encode()
        assert struct.unpack_from(code, data, 56) == corners
        assert struct.unpack_from(code, data, 58) == (7,) * (rank - 2)
    data = TensorMap.im2col(6, 0x1000, (64,) * 5, (4096,) * 4, (-1, 5, -16), (0, 0, 0), 64, 32).encode()
    (bits,) = struct.unpack_from("<H", data, 56)
    assert [bits & 31, bits >> 5 & 31, bits >> 10] == [31, 5, 16]


def test_no_two_fields_of_one_kind_of_map_share_a_bit():
    for kind in ("tiled", "im2col, rank 3", "im2col, rank 4", "im2col, rank 5"):
        fields = [field for field in TABLE if field.kinds in ("all", kind, kind.split(",")[0])]
        bits = [bit for field in fields for bit in range(field.start, field.stop)]
        assert len(bits) == len(set(bits))


@pytest.mark.parametrize("tm", [TILED, IM2COL])
def test_a_map_is_decoded_to_what_it_was(tm):
    again = TensorMap.decode(tm.encode())
    assert again == tm
    assert type(again) is type(tm)
    assert again.encode() == tm.encode()


def test_decode_gives_the_kind_of_map_that_it_is():
    assert isinstance(TensorMap.decode(IM2COL.encode()), Im2colMap)
    assert not isinstance(TensorMap.decode(TILED.encode()), Im2colMap)


# What is no map, or not the driver's.


@given(st.binary(min_size=128, max_size=128))
def test_128_random_bytes_are_refused_by_a_field(data):
    with pytest.raises(DescriptorError, match=r"field|all are zero"):
        decode(data)


def test_128_zeros_are_said_to_be_no_map():
    with pytest.raises(DescriptorError, match="all are zero, so that none was encoded there"):
        decode(bytes(128))


@pytest.mark.parametrize("tm", [TILED, IM2COL])
def test_any_bit_that_is_flipped_changes_the_map_or_is_noticed(tm):
    data = int.from_bytes(tm.encode(), "little")
    for bit in range(1024):
        flipped = (data ^ 1 << bit).to_bytes(128, "little")
        try:
            fields = decode(flipped)
        except DescriptorError:
            continue
        assert fields != decode(tm.encode())
        assert encode(fields) == flipped


def test_im2col_of_rank_2_is_refused():
    data = bytearray(TILED.encode())
    data[8] |= 1
    with pytest.raises(DescriptorError, match="rank - 1"):
        decode(data)


def test_an_edited_box_leaves_the_boxs_bytes_as_they_were():
    edited = replaced(TILED.encode(), "box_dim", 1, 16)
    with pytest.raises(DescriptorError, match=r'"box bytes" holds 1024, where the driver writes 2048 .* edited'):
        TensorMap.decode(edited)


def test_an_edited_swizzle_leaves_the_swizzles_own_bit_as_it_was():
    edited = replaced(TILED.encode(), "swizzle_mode", None, 0)
    with pytest.raises(DescriptorError, match="swizzle is NONE"):
        TensorMap.decode(edited)


def test_two_swizzles_at_once_are_noticed():
    bits = int.from_bytes(TILED.encode(), "little") | 1 << 584
    with pytest.raises(DescriptorError, match="more than one"):
        TensorMap.decode(bits.to_bytes(128, "little"))


def test_m20_the_apis_number_of_bfloat16_in_an_edited_map_is_explained():
    """tensormap.replace counts types as PTX does: 9 is float64 there, bfloat16 is 10."""
    edited = replaced(TILED.encode(), "elemtype", None, int(DataType.BFLOAT16))
    with pytest.raises(DescriptorError) as caught:
        TensorMap.decode(edited)
    for part in ('"box bytes" holds 1024', "9 is FLOAT64 there", "in the API BFLOAT16", "For BFLOAT16 write 10"):
        assert part in str(caught.value)
    right = replaced(TILED.encode(), "elemtype", None, 10)
    assert TensorMap.decode(right) == TILED


def test_an_edited_type_of_the_same_number_in_both_is_no_mistake_in_numbers():
    edited = replaced(TILED.encode(), "elemtype", None, 7)
    with pytest.raises(DescriptorError, match=r"which leaves this field as it was$"):
        TensorMap.decode(edited)


def test_what_the_driver_wrote_is_not_stale():
    assert stale(TILED.encode(), decode(TILED.encode())) == []
