"""The matrix descriptor of wgmma: its bits as PTX ISA numbers them, and what a number from somewhere says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import Swizzle
from tmalab.wgmma_descriptor import WgmmaDescriptor


def units(bytes: int) -> int:
    """matrix-descriptor-encode of PTX ISA."""
    return (bytes & 0x3FFFF) >> 4


def test_the_bits_are_those_of_ptx_isa():
    made = WgmmaDescriptor(0x1F430, Swizzle.B128, stride_bytes=1024, leading_bytes=4096, base_offset=5)
    assert made.encode() == units(0x1F430) | units(4096) << 16 | units(1024) << 32 | 5 << 49 | 1 << 62


@pytest.mark.parametrize(("swizzle", "code"), [("NONE", 0), ("B128", 1), ("B64", 2), ("B32", 3)])
def test_swizzles_are_numbered_in_the_reverse_of_a_tensor_maps_order(swizzle, code):
    assert WgmmaDescriptor(0, Swizzle[swizzle], 0).encode() & (1 << 64) - 1 == code << 62


def test_a_descriptor_is_a_signed_number_as_kernels_hold_it():
    assert WgmmaDescriptor(0, Swizzle.B32, 0).encode() == -(1 << 62)


@given(st.integers(0, (1 << 64) - 1))
def test_decoding_and_encoding_gives_the_bits_back_whatever_they_are(bits):
    assert WgmmaDescriptor.decode(bits).encode() & (1 << 64) - 1 == bits
    signed = bits - (bits >> 63 << 64)
    assert WgmmaDescriptor.decode(signed) == WgmmaDescriptor.decode(bits)


@pytest.mark.parametrize("bits", [1 << 64, -(1 << 63) - 1])
def test_what_has_more_than_64_bits_is_no_descriptor(bits):
    with pytest.raises(ValueError, match="64 bits"):
        WgmmaDescriptor.decode(bits)


@pytest.mark.parametrize(
    ("swizzle", "stride"), [(Swizzle.B128, 1024), (Swizzle.B64, 512), (Swizzle.B32, 256), (Swizzle.NONE, 128)]
)
def test_a_tile_as_its_map_lays_it_out_is_not_doubted(swizzle, stride):
    assert WgmmaDescriptor(0x8400, swizzle, stride, leading_bytes=1024).doubts == []


def test_offsets_that_were_not_shifted_are_decoded_and_shown_as_wrong():
    unshifted = WgmmaDescriptor.decode(0x8400 | 1024 << 32 | 1 << 62)
    assert unshifted.stride_bytes == 16 * 1024
    assert [doubt for doubt in unshifted.doubts if "stride_bytes is 16,384" in doubt and "shifted" in doubt]
    assert [doubt for doubt in unshifted.doubts if "bits 14-15" in doubt and "33,792 stands at address" in doubt]
    assert "doubtful: stride_bytes is 16,384" in str(unshifted)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (WgmmaDescriptor(0x3F000, Swizzle.B128, 1024), "shared memory ends"),
        (WgmmaDescriptor(0x8400, Swizzle.B128, 128), "less than the 1,024 bytes that 8 rows take"),
        (WgmmaDescriptor(0x8480, Swizzle.B128, 1024), "128 bytes into the pattern"),
        (WgmmaDescriptor.decode(1 << 46 | 1024 >> 4 << 32 | 1 << 62), "bits 46-47 belong to no field"),
        (WgmmaDescriptor.decode(1 << 55 | 1024 >> 4 << 32 | 1 << 62), "belong to no field"),
    ],
)
def test_what_can_hardly_be_meant_is_said(made, said):
    assert any(said in doubt for doubt in made.doubts)


def test_columns_further_on_in_a_row_are_not_doubted():
    assert WgmmaDescriptor(0x8400 + 96, Swizzle.B128, 1024).doubts == []
