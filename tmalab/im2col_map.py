"""Im2colMap: the tensor map of a convolution, which one copy reads as the rows of a matrix, pixel by pixel.

A convolution is a matrix product if each output pixel's inputs are laid out as a row. TMA does that on the way: the box
of a tiled map is replaced by a column of pixels, which runs through the image row by row, and from one image into the
next. The bounding box between two corners says which pixels a filter's first tap may touch; the other taps are the same
column moved by the copy's offsets.

Dimensions are innermost first: channels, then 1 to 3 spatial ones, then the batch; with an interleave the spatial ones,
then the slices of channels, then the batch. Corners and offsets have one entry
for each spatial dimension, in the same order (measured, H200).

>>> from tmalab import DataType, TensorMap
>>> image = TensorMap.im2col(DataType.FLOAT16, 0x1000, (64, 5, 8), (128, 640), pixel_box_lower_corner=(0,),
...                          pixel_box_upper_corner=(-2,), channels_per_pixel=64, pixels_per_column=32, swizzle=3)
>>> image.bounding_box, image.transaction_bytes          # a filter of 3 in an image 5 wide without padding
((3,), 4096)
>>> TensorMap.decode(image.encode()) == image
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

from tmalab import im2col_rules
from tmalab.data_types import DataType, Interleave, L2Promotion, OobFill, Swizzle
from tmalab.tensor_map import TensorMap
from tmalab.tensor_map_doubts import IM2COL_DOUBTS, doubts
from tmalab.tensor_map_fields import Im2colFields


@dataclass(frozen=True, repr=False, init=False)
class Im2colMap(TensorMap):
    """An im2col tensor map, made by `TensorMap.im2col`. It never changes; `with_address` and `bind` give another.

    Raises TensorMapError for values that cuTensorMapEncodeIm2col refuses, TypeError for what is no integer or sequence
    of integers.
    """

    _kind: ClassVar[Any] = Im2colFields
    _rules: ClassVar[tuple[im2col_rules.Rule, ...]] = im2col_rules.RULES
    _name: ClassVar[str] = "TensorMap.im2col"
    # A tiled map has a box; here pixels and channels stand in its place.
    box_dim: ClassVar[None]  # type: ignore[misc]

    # No order is wrong where __init__ is written out.
    pixel_box_lower_corner: Sequence[int]  # type: ignore[misc]  # elements, one for each spatial dimension
    pixel_box_upper_corner: Sequence[int]  # type: ignore[misc]  # elements
    channels_per_pixel: int  # type: ignore[misc]  # elements
    pixels_per_column: int  # type: ignore[misc]

    def __init__(
        self,
        data_type: DataType,
        global_address: int,
        global_dim: Sequence[int],
        global_strides: Sequence[int],
        pixel_box_lower_corner: Sequence[int],
        pixel_box_upper_corner: Sequence[int],
        channels_per_pixel: int,
        pixels_per_column: int,
        element_strides: Sequence[int] | None = None,
        interleave: Interleave = Interleave.NONE,
        swizzle: Swizzle = Swizzle.NONE,
        l2_promotion: L2Promotion = L2Promotion.NONE,
        oob_fill: OobFill = OobFill.NONE,
        *,
        array: Any = None,
    ):
        arguments = {name: value for name, value in locals().items() if name != "self"}
        self.__dict__.update(arguments)
        self.__post_init__()

    @cached_property
    def delivered_dim(self) -> tuple[int, ...]:
        """Elements that one copy delivers: channels, and pixels, whatever the element strides.

        With an interleave one slice of channels a pixel, whatever `channels_per_pixel` says (measured, H200).
        """
        return 1 if self.interleave else self.channels_per_pixel, self.pixels_per_column

    @cached_property
    def bounding_box(self) -> tuple[int, ...]:
        """Pixels of the bounding box along each spatial dimension: dimension + upper corner - lower corner."""
        return tuple(im2col_rules.pixels(cast(Im2colFields, self)))

    @cached_property
    def warnings(self) -> list[str]:
        """What is legal but doubtful, a sentence each."""
        return doubts(self, IM2COL_DOUBTS)
