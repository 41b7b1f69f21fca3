"""im2col: which pixels one copy takes, and in which order.

A copy begins at a pixel of the bounding box and walks: along the first spatial dimension in steps of its element
stride; past the upper corner it goes back to the *lower* corner and makes a step along the next dimension, and past the
last of them a step along the batch. It ends after `pixels_per_column` pixels, whatever the strides. The offsets of a
load move every pixel that it reads, not the walk; what then lies outside the tensor is filled. Source: measured, H200
(all of 2,500 random loads and 530 random stores).

>>> from tmalab import DataType, TensorMap
>>> rows = TensorMap.im2col(DataType.FLOAT16, 0, (64, 4, 8), (128, 512), (-1,), (-2,), 64, 5)
>>> [positions.tolist() for positions in walk(rows, (0, 0, 3))]            # w and n of each pixel; the box is -1 .. 1
[[0, 1, -1, 0, 1], [3, 3, 4, 4, 4]]
>>> [positions.tolist() for positions in walk(rows, (0, 0, 3), (2,))]      # the third column of the filter
[[2, 3, 1, 2, 3], [3, 3, 4, 4, 4]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tmalab.im2col_map import Im2colMap

SPATIAL = "whd"  # names of the spatial dimensions, innermost first
OFFSET_BITS = {3: 16, 4: 8, 5: 5}  # of each offset of a load, by the map's rank (PTX ISA, im2col; measured, H200)


def spatial_dims(tm: Im2colMap) -> range:
    """The numbers of the spatial dimensions: they follow the channels; interleaved, they come first (measured, H200).

    The batch is the last dimension in either case, and with an interleave the slices of channels the one before.
    """
    first = 0 if tm.interleave else 1
    return range(first, first + tm.rank - 2)


def channels_dim(tm: Im2colMap) -> int:
    """The number of the dimension of the channels, or of their slices."""
    return tm.rank - 2 if tm.interleave else 0


def corners(tm: Im2colMap) -> list[tuple[int, int]]:
    """The first and the last position of the bounding box along each spatial dimension, in pixels.

    >>> from tmalab import DataType, TensorMap
    >>> corners(TensorMap.im2col(DataType.FLOAT16, 0, (64, 4, 8), (128, 512), (-1,), (-2,), 64, 5))
    [(-1, 1)]
    """
    boxes = zip(spatial_dims(tm), tm.pixel_box_lower_corner, tm.pixel_box_upper_corner, strict=True)
    return [(low, tm.global_dim[i] - 1 + high) for i, low, high in boxes]


def walk(tm: Im2colMap, coordinates: Sequence[int], offsets: Sequence[int] | None = None) -> list[np.ndarray]:
    """Where each pixel of a copy lies along each spatial dimension, and along the batch: int64, shape (pixels,) each.

    `coordinates` are the copy's, in the order of the map's dimensions; `offsets` None: none, as a store has.
    """
    steps, positions = np.arange(tm.pixels_per_column), []
    offsets = [0] * (tm.rank - 2) if offsets is None else offsets
    for i, (low, high), offset in zip(spatial_dims(tm), corners(tm), offsets, strict=True):
        along, steps = _wrapped(steps, coordinates[i], low, high, tm.element_strides[i])
        positions.append(along + offset)
    return [*positions, coordinates[-1] + steps * tm.element_strides[-1]]


def _wrapped(steps: np.ndarray, start: int, low: int, high: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions after so many steps from `start`, and how many times they went back to `low` on the way."""
    first, later = (high - start) // stride + 1, (high - low) // stride + 1  # pixels of the first and of later passes
    more = steps - first
    passes = np.where(more < 0, 0, more // later + 1)
    return np.where(more < 0, start + steps * stride, low + more % later * stride), passes
