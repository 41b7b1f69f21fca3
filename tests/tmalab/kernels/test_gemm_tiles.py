"""Shapes of tiles: what they take of an SM, what they leave over, which product gets which; the order of the tiles."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.bench.command import recorded
from tmalab.kernels import gemm, gemm_cluster
from tmalab.kernels.gemm_tiles import SMS, TILES, Tile, choose
from tmalab.launch import Device

CUBLAS = [(1024,) * 3, (2048,) * 3, (4096,) * 3, (6144,) * 3, (8192,) * 3, (8192, 8192, 1024), (4096, 14336, 4096)]


@pytest.mark.parametrize("tile", TILES)
def test_a_tile_fits_on_an_sm_with_its_ring_and_staging(tile):
    ring = tile.stages * (tile.shape[0] + tile.shape[1]) * 64 * 2 * tile.depth
    staging = tile.shape[0] * 64 * 2 * 2  # 64 columns of every row, twice
    assert tile.shared_bytes == ring + staging + 16 * tile.stages <= 227 * 1024
    assert tile.threads == 128 * (tile.consumers + 1)


@pytest.mark.parametrize(("m", "n", "k"), CUBLAS)
def test_the_chosen_tile_has_the_lowest_estimate(m, n, k):
    chosen = choose(m, n, k)
    assert all(chosen.cycles(m, n, k) <= tile.cycles(m, n, k) for tile in TILES)


def test_the_chosen_tile_is_hardly_slower_on_an_h200_than_the_best_of_all():
    found = recorded("tiles")
    assert len(found["cases"]) == 8
    for case in found["cases"]:
        ratios = {name: made["ratio"] for name, made in case["contenders"].items() if name != case["reference"]}
        assert set(ratios) == set(map(str, TILES))
        assert ratios[str(choose(*case["case"]))] >= 0.98 * max(ratios.values()), case["case"]


def test_a_small_product_gets_small_tiles_and_a_large_one_large_ones():
    assert choose(1024, 1024, 1024).shape == (64, 128)  # 128 tiles for 132 SMs; of 128 x 256 there are 32
    assert choose(8192, 8192, 8192).shape == (128, 256)


def test_the_shape_may_be_asked_for_by_its_cluster():
    assert {choose(m, n, k, cluster=cluster).cluster for m, n, k in CUBLAS for cluster in (1,)} == {1}
    assert {choose(m, n, k, cluster=2).cluster for m, n, k in CUBLAS} == {2}


def test_a_grid_is_whole_clusters_and_no_more_than_the_tiles():
    tile = Tile(2, 256, 4, 2)
    assert tile.grid(8192, 8192) == SMS
    assert tile.grid(8192, 8192, sms=7) == 6
    assert tile.grid(128, 256) == 2  # one tile, and the other CTA of its cluster
    assert tile.ctas(3 * 128, 256) == 4


@pytest.mark.parametrize(("rows", "columns", "group"), [(8, 4, 8), (5, 7, 2), (1, 9, 4), (9, 1, 16), (6, 6, 6)])
def test_every_tile_has_its_turn_once_and_goes_down_a_group_first(rows, columns, group):
    assert isinstance(gemm.place_of, Device)
    places = [gemm.place_of(tile, rows, columns, group) for tile in range(rows * columns)]
    assert sorted(places) == [(row, column) for row in range(rows) for column in range(columns)]
    assert places[: min(rows, group)] == [(row, 0) for row in range(min(rows, group))]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("module", "tile", "sizes"),
    [
        ("gemm_persistent", Tile(1, 256, 2), (72, 264, 72)),
        ("gemm_cluster", Tile(1, 256, 2, 2), (72, 264, 72)),
    ],
)
def test_any_order_and_any_size_gives_the_product(module, tile, sizes, seed):
    """Sizes that are multiples of nothing but 8: two tiles for each of two CTAs, half of them mostly outside."""
    found = __import__(f"tmalab.kernels.{module}", fromlist=["launch_of"])
    m, n, k = sizes
    a, b, c = gemm.small_integers(m, k, 1), gemm.small_integers(n, k, 2), np.full((m, n), 0x7FC0, np.uint16)
    how = found.launch_of(a, b, c, tile, sms=2)
    run = how.pop("kernel").run(seed=seed, **how)
    assert not run.hazards
    assert np.array_equal(c, gemm.bf16(gemm.float32(a) @ gemm.float32(b).T))


def test_the_second_of_two_clusters_is_judged_as_the_first():
    """Reads in a peer, handed back by arrives of CTA scope, are in order before the next load in every cluster."""
    a, b, c = gemm.small_integers(128, 128, 1), gemm.small_integers(512, 128, 2), np.zeros((128, 512), np.uint16)
    how = gemm_cluster.launch_of(a, b, c, Tile(1, 128, 2, 2), sms=4)
    assert how["grid"] == 4
    run = how.pop("kernel").run(**how)
    assert not run.hazards
    assert np.array_equal(c, gemm.bf16(gemm.float32(a) @ gemm.float32(b).T))
