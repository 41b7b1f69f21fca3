"""Footprints are exact to the byte: what a copy that leaves traces is seen to touch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_copy import SIZES, elements, maps, memory_of, places, slow_load, slow_store

from tmalab import TensorMap, TmaFault, reference
from tmalab.footprint import chunk_order


def covered(starts: np.ndarray, stops: np.ndarray) -> set[int]:
    return {byte for start, stop in zip(starts.tolist(), stops.tolist(), strict=True) for byte in range(start, stop)}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_load_reads_the_in_bounds_bytes_and_writes_the_delivered_ones(data):
    tm = data.draw(maps())
    coordinates, shared_address = data.draw(places(tm))
    footprint = reference.load_footprint(tm, coordinates, shared_address)
    delivered = slow_load(tm, coordinates, memory_of(tm), shared_address)
    assert covered(footprint.shared, footprint.shared + 16) == set(delivered)
    assert footprint.transaction_bytes == len(delivered)
    inside = [offset for inside, offset, _ in elements(tm, coordinates, shared_address) if inside]
    size = SIZES[tm.data_type]
    read = {tm.global_address + offset + b for offset in inside for b in range(size)}
    assert covered(footprint.global_starts, footprint.global_stops) == read


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_store_reads_and_writes_only_chunks_that_hold_an_element_inside(data):
    tm = data.draw(maps(overlapping=False))
    coordinates, shared_address = data.draw(places(tm, lowest=0))
    footprint = reference.store_footprint(tm, coordinates, shared_address)
    stored = slow_store(tm, coordinates, bytes(shared_address + tm.shared_bytes), shared_address)
    expected = {tm.global_address + offset for offset in stored}
    assert covered(footprint.global_starts, footprint.global_stops) == expected
    read = {
        address // 16 * 16
        for inside, _, addresses in elements(tm, coordinates, shared_address)
        if inside
        for address in addresses
    }
    assert set(footprint.shared.tolist()) == read


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_footprints_chunks_are_the_pieces_in_delivery_order(data):
    tm = data.draw(maps())
    coordinates, shared_address = data.draw(places(tm))
    footprint = reference.load_footprint(tm, coordinates, shared_address)
    pieces = reference.load_pieces(tm, coordinates, np.frombuffer(memory_of(tm), np.uint8), shared_address)
    assert (
        pieces.addresses.shape
        == pieces.data.shape
        == (tm.transaction_bytes // footprint.piece_bytes, footprint.piece_bytes)
    )
    assert pieces.addresses.reshape(-1, 16)[:, 0].tolist() == footprint.shared.tolist()


@pytest.mark.parametrize(("row", "piece"), [(16, 16), (32, 32), (48, 16), (64, 32), (128, 32)])
def test_pieces_are_32_bytes_or_16_where_rows_are_no_multiples_of_32(row, piece):
    tm = TensorMap(0, 0, (128, 4), (128,), (row, 4))
    assert reference.load_footprint(tm, (0, 0), 0).piece_bytes == piece


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


def test_a_cached_order_of_chunks_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        chunk_order(8, 3, 128)[0] = 5
