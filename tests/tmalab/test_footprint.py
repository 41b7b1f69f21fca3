"""Footprints are exact to the byte: what a copy that leaves traces is seen to touch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_maps import loadable, memory_of, places, storable
from slow_copy import elements, slow_load, slow_store, unit_of

from tmalab import TensorMap, TmaFault, reference


def covered(starts: np.ndarray, stops: np.ndarray) -> set[int]:
    return {byte for start, stop in zip(starts.tolist(), stops.tolist(), strict=True) for byte in range(start, stop)}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_load_reads_the_in_bounds_bytes_and_writes_the_delivered_ones(data):
    tm = data.draw(loadable)
    coordinates, shared_address, offsets = data.draw(places(tm))
    footprint = reference.load_footprint(tm, coordinates, shared_address, im2col_offsets=offsets)
    delivered = slow_load(tm, coordinates, memory_of(tm), shared_address, offsets)
    assert covered(footprint.shared, footprint.shared + 16) == set(delivered)
    assert footprint.transaction_bytes == len(delivered)
    inside = [offset for inside, offset, _ in elements(tm, coordinates, shared_address, offsets) if inside]
    read = {tm.global_address + offset + b for offset in inside for b in range(unit_of(tm))}
    assert covered(footprint.global_starts, footprint.global_stops) == read


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_store_reads_and_writes_only_chunks_that_hold_an_element_inside(data):
    tm = data.draw(storable())
    coordinates, shared_address, _ = data.draw(places(tm, stores=True))
    footprint = reference.store_footprint(tm, coordinates, shared_address)
    stored = slow_store(tm, coordinates, bytes(shared_address + tm.shared_bytes), shared_address)
    expected = {tm.global_address + offset for offset in stored}
    assert covered(footprint.global_starts, footprint.global_stops) == expected
    delivered = elements(tm, coordinates, shared_address)
    read = {address // 16 * 16 for inside, _, addresses in delivered if inside for address in addresses}
    assert set(footprint.shared.tolist()) == read


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_footprints_chunks_are_the_pieces_in_delivery_order(data):
    tm = data.draw(loadable)
    coordinates, shared_address, offsets = data.draw(places(tm))
    footprint = reference.load_footprint(tm, coordinates, shared_address, im2col_offsets=offsets)
    memory = np.frombuffer(memory_of(tm), np.uint8)
    pieces = reference.load_pieces(tm, coordinates, memory, shared_address, im2col_offsets=offsets)
    size = footprint.piece_bytes
    assert pieces.addresses.shape == pieces.data.shape == (tm.transaction_bytes // size, size)
    assert pieces.addresses.reshape(-1, 16)[:, 0].tolist() == footprint.shared.tolist()


@pytest.mark.parametrize(("row", "piece"), [(16, 16), (32, 32), (48, 16), (64, 32), (128, 32)])
def test_pieces_are_32_bytes_or_16_where_rows_are_no_multiples_of_32(row, piece):
    tm = TensorMap(0, 0, (128, 4), (128,), (row, 4))
    assert reference.load_footprint(tm, (0, 0), 0).piece_bytes == piece


def test_pieces_are_16_bytes_where_rows_start_inside_a_sector_of_global_memory():
    """Seen on the H200 with x = -16: partial sums of the credit that are no multiples of 32."""
    tm = TensorMap(0, 0, (256, 64), (256,), (64, 16))
    assert reference.load_footprint(tm, (-16, 0), 0).piece_bytes == 16
    assert reference.load_footprint(tm, (-32, 0), 0).piece_bytes == 32
    assert reference.load_footprint(tm.with_address(16), (0, 0), 0).piece_bytes == 16


@pytest.mark.parametrize(
    ("interleave", "steps", "piece"), [(1, (1, 1, 1), 32), (1, (2, 1, 1), 16), (2, (1, 1, 1), 32), (2, (2, 1, 1), 32)]
)
def test_slices_land_in_pieces_of_32_bytes_where_they_follow_each_other(interleave, steps, piece):
    tm = TensorMap(0, 0, (64, 4, 4), (2048, 8192), (16, 1, 4), steps, interleave=interleave)
    assert reference.load_footprint(tm, (0, 0, 0), 0).piece_bytes == piece


def test_a_piece_of_32_bytes_lands_within_an_aligned_block_of_32():
    tm = TensorMap(0, 0, (128, 16), (128,), (128, 16), swizzle=3)
    addresses = reference.load_pieces(tm, (0, 0), np.zeros(2048, np.uint8), 384).addresses
    assert (np.ptp(addresses // 32, axis=1) == 0).all()


def test_ranges_are_absolute_addresses():
    tm = TensorMap(0, 0x5000, (32, 4), (64,), (16, 2))
    assert reference.load_footprint(tm, (16, 1), 128).global_starts.tolist() == [0x5000 + 64 + 16, 0x5000 + 128 + 16]


@pytest.mark.parametrize("footprint", [reference.load_footprint, reference.store_footprint])
def test_a_footprint_faults_where_its_copy_would(footprint):
    tm = TensorMap(6, 0, (128, 4), (256,), (64, 2))
    for coordinates, shared_address, stop, kind in [
        ((4, 0), 0, 1024, "illegal_instruction"),
        ((0, 0), 64, 1024, "misaligned_address"),
        ((0, 0), 896, 1024, "illegal_address"),
    ]:
        with pytest.raises(TmaFault) as caught:
            footprint(tm, coordinates, shared_address, stop)
        assert caught.value.kind == kind
    footprint(tm, (0, 0), 768, 1024)
