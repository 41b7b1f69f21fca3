"""The inputs of lesson 9's kernels, and the products that must come out, worked out with NumPy alone.

Numbers are whole and small: bf16 has them exactly, and every sum of their products is exact in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grader.judges.kernels import Case
from tmalab import DataType, Swizzle, TensorMap

BM, BN, BK = 64, 64, 64  # rows of A, rows of B, columns of both: a tile
STAGES = 3
CTAS = 2
PUBLIC_K = 256  # four steps
UNWRITTEN = -1.5  # no sum of whole numbers


def whole_numbers(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """A matrix of whole numbers from -8 to 8, as float32."""
    return rng.integers(-8, 9, (rows, columns)).astype(np.float32)


def mapped(matrix: np.ndarray) -> TensorMap:
    """The map of a matrix as bf16, the upper halves of its float32 numbers: tiles of 64 x 64, 128B swizzle."""
    bits = (matrix.view(np.uint32) >> 16).astype(np.uint16)
    return TensorMap.from_array(bits, (64, BK), Swizzle.B128, DataType.BFLOAT16)


def padded(matrix: np.ndarray) -> np.ndarray:
    """The first tile of a matrix, as a load brings it: zeros where the matrix ends."""
    tile = np.zeros((64, BK), np.float32)
    rows, columns = matrix[:64, :BK].shape
    tile[:rows, :columns] = matrix[:64, :BK]
    return tile


def multiply_cases(seed: int) -> Sequence[Case]:
    """multiply: whole tiles, other ones, and tiles that hang over the edges of A, B and K."""
    rng = np.random.default_rng([seed, 91])
    rows, columns = (8 * int(rng.integers(1, 8)) for _ in "mn")
    return [_one_tile(rng, 64, 64, 64), _one_tile(rng, 64, 64, 64), _one_tile(rng, rows, columns, 40)]


def _one_tile(rng: np.random.Generator, m: int, n: int, k: int) -> Case:
    a, b = whole_numbers(rng, m, k), whole_numbers(rng, n, k)
    c, expected = np.full((m, n), UNWRITTEN, np.float32), a @ b.T
    mistakes = {
        "not-written": c,
        "one-wgmma": a[:, :16] @ b[:, :16].T,
        "last-wgmma": a[:, 48:] @ b[:, 48:].T,
        "same-columns": min(4, -(-k // 16)) * (a[:, :16] @ b[:, :16].T),
        "exchanged": b @ a.T if m == n else c,
        "a-twice": (padded(a) @ padded(a).T)[:m, :n],
        "b-twice": (padded(b) @ padded(b).T)[:m, :n],
    }
    return Case((mapped(a), mapped(b), c), expected, (0, 0), f"m = {m}, n = {n}, k = {k}", mistakes)


def wide_cases(seed: int) -> Sequence[Case]:
    """gemm_one_stage, for two CTAs: two steps, a single one, and edges everywhere."""
    rng = np.random.default_rng([seed, 92])
    rows = 8 * int(rng.integers(2, 8))
    n, k = (8 * int(rng.integers(9, 16)) for _ in "nk") if seed else (120, 72)
    return [_wide(rng, 64, 128, 128), _wide(rng, 64, 128, 64), _wide(rng, rows, n, k)]


def deep_cases(seed: int) -> Sequence[Case]:
    """gemm_ahead and gemm_roles, for one CTA: four steps; fewer than stages; three or four with edges."""
    rng = np.random.default_rng([seed, 93])
    few, many = 64 * int(rng.integers(1, STAGES)), 64 * int(rng.integers(2, 4)) + 8
    m, n = (8 * int(rng.integers(2, 8)) for _ in "mn") if seed else (56, 40)
    return [_product(rng, 64, 64, PUBLIC_K), _product(rng, 64, 64, few), _product(rng, m, n, many)]


def _product(rng: np.random.Generator, m: int, n: int, k: int) -> Case:
    """One input: C, of 64 rows at most, along all of K."""
    a, b = whole_numbers(rng, m, k), whole_numbers(rng, n, k)
    c, last, whole = np.full((m, n), UNWRITTEN, np.float32), (k - 1) // BK * BK, k // BK * BK
    mistakes = {
        "not-written": c,
        "first-step": a[:, :BK] @ b[:, :BK].T,
        "last-step": a[:, last:] @ b[:, last:].T,
        "last-missing": a[:, :last] @ b[:, :last].T,
        "whole-steps": a[:, :whole] @ b[:, :whole].T,
    }
    return Case((mapped(a), mapped(b), k, c), a @ b.T, (0, 0), f"m = {m}, n = {n}, k = {k}", mistakes)


def _wide(rng: np.random.Generator, m: int, n: int, k: int) -> Case:
    """One input whose C is more than one tile wide."""
    case = _product(rng, m, n, k)
    alone = case.mistakes["not-written"].copy()
    alone[:, :BN] = case.expected[:, :BN]
    same = np.tile(case.expected[:, :BN], 2)[:, :n]
    return replace(case, mistakes={**case.mistakes, "one-tile": alone, "same-tile": same})


def tile_cases(seed: int) -> Sequence[Case]:
    """gemm_persistent, for two CTAs: two tiles each, of one step; a single one, with edges; three for CTA 0, of two.

    In the last input a producer that had to meet the others at the end of a tile could not: its ring is full. It is
    the last since it takes longest: no other input is begun late.
    """
    rng = np.random.default_rng([seed, 94])
    columns = 8 * int(rng.integers(1, 8))
    m, k = (8 * int(rng.integers(2, 8)) for _ in "mk") if seed else (40, 40)
    return [_tiles(rng, 128, 128, 64), _tiles(rng, m, columns, k), _tiles(rng, 64, 320, 128)]


def _tiles(rng: np.random.Generator, m: int, n: int, k: int) -> Case:
    """One input: C behind a map, in tiles of 64 x 64."""
    a, b = whole_numbers(rng, m, k), whole_numbers(rng, n, k)
    c, expected = np.full((m, n), UNWRITTEN, np.float32), a @ b.T
    columns, rows = -(-n // BN), -(-m // BM)
    mistakes = {"not-written": c, "one-each": c.copy(), "summed-up": expected.copy(), "turned": c.copy()}
    sums: dict[int, np.ndarray] = {}
    for tile in range(columns * rows):
        at = tuple(slice(64 * place, 64 * place + 64) for place in divmod(tile, columns))
        there = mistakes["turned"][at[::-1]]
        there[...] = _part(expected[at], there.shape)
        cta = tile % CTAS
        if cta in sums:
            mistakes["summed-up"][at] += sums[cta]
        else:
            mistakes["one-each"][at] = expected[at]
        sums[cta] = mistakes["summed-up"][at]
    arguments = mapped(a), mapped(b), columns, columns * rows, k, TensorMap.from_array(c, (BM, BN))
    return Case(arguments, expected, (0, 0), f"m = {m}, n = {n}, k = {k}", mistakes)


def _part(tile: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What a store of this tile leaves in a place of another shape: the tile has zeros where C ends."""
    whole = np.zeros((64, 64), np.float32)
    whole[: tile.shape[0], : tile.shape[1]] = tile
    return whole[: shape[0], : shape[1]]
