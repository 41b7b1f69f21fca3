"""The inputs of lesson 6's kernels, and what must come out, worked out with NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.exercises.drawn import shape
from grader.judges.kernels import Case
from tmalab import TensorMap, map_rows
from tmalab.recorded.lesson_cases import PATCH, PHOTOS_SHAPE

CHANNELS = PHOTOS_SHAPE[-1]
PUBLIC = (1, 3, 6)  # image, row, column of the notebook's patch
OTHER_SHAPE = 3, 8, 16, CHANNELS
STEPS = 3  # images of the notebook's stack


def numbered(shape: tuple[int, ...], first: int = 0) -> np.ndarray:
    """Images of which no two elements are the same."""
    return np.arange(first, first + np.prod(shape), dtype=np.float32).reshape(shape)


def patch(images: np.ndarray, n: int, h: int, w: int, step: int = 1) -> np.ndarray:
    """Rows, columns, channels of a patch of every `step`-th pixel; zeros where it lies outside."""
    result = np.zeros((PATCH, PATCH, images.shape[-1]), images.dtype)
    for row in range(PATCH):
        for column in range(PATCH):
            place = n, h + step * row, w + step * column
            if all(0 <= at < size for at, size in zip(place, images.shape, strict=False)):
                result[row, column] = images[place]
    return result


def patch_map(images: np.ndarray) -> TensorMap:
    """The map of images (of rank 4) or of one image (of rank 3), whose box is a patch."""
    return TensorMap.from_array(images, (1,) * (images.ndim - 3) + (PATCH, PATCH, CHANNELS))


def places(seed: int, number: int) -> list[tuple[int, int, int]]:
    """Image, row and column: over the first row and column, over the last ones."""
    rng = np.random.default_rng([seed, number])
    before = 0, -int(rng.integers(1, 3)), -int(rng.integers(2, 4))
    _, rows, columns, _ = images_shape(seed)
    return [before, (1, rows - int(rng.integers(1, 4)), columns - int(rng.integers(1, 4)))]


def images_shape(seed: int) -> tuple[int, int, int, int]:
    """Of images that the notebook does not show."""
    images, rows, columns, channels = PHOTOS_SHAPE
    return (images, *shape(seed, "images", (rows, columns), 1), channels)


def known_mistakes(images: np.ndarray, n: int, h: int, w: int) -> dict[str, np.ndarray]:
    """What likely mistakes write instead."""
    return {
        "not-written": np.full((PATCH, PATCH, CHANNELS), -1, np.float32),
        "swapped": patch(images, n, w, h),
        "first-image": patch(images, 0, h, w),
        "at-origin": patch(images, 0, 0, 0),
        "at-the-example": patch(images, *PUBLIC),
    }


def patch_cases(seed: int) -> Sequence[Case]:
    """copy_patch: the notebook's place; over the first edges, over the last, in images of other numbers."""
    public = [(numbered(PHOTOS_SHAPE), PUBLIC)]
    others = [(numbered(images_shape(seed), 5000 * i), place) for i, place in enumerate(places(seed, 61), 1)]
    return [patch_case(*each) for each in public + others]


def patch_case(images: np.ndarray, place: tuple[int, int, int]) -> Case:
    """One input of copy_patch."""
    n, h, w = place
    out = np.full((PATCH, PATCH, CHANNELS), -1, np.float32)
    arguments = patch_map(images), n, h, w, out
    return Case(arguments, patch(images, *place), (0, w, h, n), named(place), known_mistakes(images, *place))


def named(place: tuple[int, int, int]) -> str:
    """A place as the learner reads it."""
    return "n = {}, h = {}, w = {}".format(*place)


def row_cases(seed: int) -> Sequence[Case]:
    """copy_from: the notebook's second map; then either of them, over edges."""
    others = (row_case(i, place, images_shape(seed)) for i, place in enumerate(places(seed, 62)))
    return [row_case(1, PUBLIC, PHOTOS_SHAPE), *others]


def row_case(which: int, place: tuple[int, int, int], size: tuple[int, int, int, int]) -> Case:
    """One input of copy_from: rows of the maps of two tensors of unlike shape."""
    tensors = numbered(OTHER_SHAPE, 10_000), numbered(size)
    n, h, w = place
    out = np.full((PATCH, PATCH, CHANNELS), -1, np.float32)
    arguments = map_rows(map(patch_map, tensors)), which, n, h, w, out
    mistakes = known_mistakes(tensors[which], *place) | {"first-map": patch(tensors[0], *place)}
    name = f"which = {which}, {named(place)}"
    return Case(arguments, patch(tensors[which], *place), (0, w, h, n), name, mistakes, row=1)


def each_cases(seed: int) -> Sequence[Case]:
    """copy_each: the notebook's stack of images; one image alone, several over edges."""
    (_, *before), (_, *after) = places(seed, 63)
    size, many = images_shape(seed)[1:], STEPS + (2 if not seed else 1 + seed % 3)
    return [
        each_case(STEPS, *PUBLIC[1:], PHOTOS_SHAPE[1:]),
        each_case(1, before[0], before[1], size),
        each_case(many, after[0], after[1], size),
    ]


def each_case(steps: int, h: int, w: int, size: tuple[int, int, int]) -> Case:
    """One input of copy_each: a map of the first image, room for a map, the images."""
    images = numbered((steps, *size))
    out = np.full((steps, PATCH, PATCH, CHANNELS), -1, np.float32)
    maps, own = map_rows([patch_map(images[0])]), np.zeros((1, 128), np.uint8)
    expected = np.stack([patch(images, n, h, w) for n in range(steps)])
    mistakes = {
        "not-written": out,
        "swapped": np.stack([patch(images, n, w, h) for n in range(steps)]),
        "first-image": np.stack([expected[0]] * steps),
    }
    return Case((maps, own, images, steps, h, w, out), expected, (0, w, h), f"{steps} images", mistakes)
