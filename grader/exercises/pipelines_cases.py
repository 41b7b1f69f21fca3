"""The inputs of lesson 7's kernels, and the sums that must come out, worked out with NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.judges.kernels import Case
from tmalab import TensorMap

ROWS, COLS = 4, 64  # of a tile of fp32
STAGES = 4
PUBLIC_TILES = 10


def tile_cases(seed: int) -> Sequence[Case]:
    """The notebook's ten tiles; fewer than stages; a drawn number that is no multiple of the stages."""
    rng = np.random.default_rng([seed, 71])
    return [tile_case(rng, tiles) for tiles in (PUBLIC_TILES, int(rng.integers(1, STAGES)), int(rng.choice((6, 7, 9))))]


def tile_case(rng: np.random.Generator, tiles: int) -> Case:
    """One input: whole numbers, so small that no sum is rounded."""
    tensor = rng.integers(1, 1000, (ROWS * tiles, COLS)).astype(np.float32)
    out = np.full(COLS, -1, np.float32)
    expected = tensor.sum(0, dtype=np.float32)
    further = np.pad(tensor, ((0, ROWS), (0, ROWS * tiles)))  # what lies past the edges: zeros
    mistakes = {
        "not-written": out,
        "swapped": sum(further[:ROWS, ROWS * k :][:, :COLS].sum(0, dtype=np.float32) for k in range(tiles)),
        "rows-for-tiles": sum(further[k : k + ROWS, :COLS].sum(0, dtype=np.float32) for k in range(tiles)),
        "one-tile": tiles * tensor[:ROWS].sum(0, dtype=np.float32),
        "last-missing": tensor[:-ROWS].sum(0, dtype=np.float32),
        "first-round": tensor[: STAGES * ROWS].sum(0, dtype=np.float32) if tiles > STAGES else out - 1,
    }
    tensor_map = TensorMap.from_array(tensor, (ROWS, COLS))
    return Case((tensor_map, tiles, out), expected, (0, 0), f"{tiles} tiles", mistakes)
