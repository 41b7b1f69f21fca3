"""Random maps near every boundary of what the driver accepts: about half of them legal, most others by one value not.

A map is drawn field by field, so that each stays within what those before it allow, often just so. Then, in half of the
maps, one rule is picked and its limit passed, by one step or by far. Nothing here asks the library's own judge: a map
that the driver accepts and the judge refuses would never be drawn.

>>> maps = random_maps(seed=1, count=2)
>>> [type(fields).__name__ for fields in maps]
['Im2colFields', 'Im2colFields']
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tmalab.im2col_rules import CORNERS
from tmalab.tensor_map_fields import ADDRESS_STOP, SIZES, AnyFields, Fields, Im2colFields
from tmalab.tensor_map_rules import BOX_BYTES

IM2COL_SHARE = 0.5
BEYOND_SHARE = 0.54  # of the maps have one limit passed
FAR = 0.1  # of these pass it by far
SHARED = (
    *("data-type", "rank high", "rank low", "address-range", "address-multiple", "dim low", "dim high"),
    *("stride-range", "stride-multiple", "swizzle-span", "bytes", "element-stride low", "element-stride high"),
    *("interleave", "swizzle", "l2-promotion", "oob-fill", "nan-fill"),
)
TILED_ONLY = ("side low", "side high", "row-multiple", "bytes")
IM2COL_ONLY = (
    *("lower low", "lower high", "upper low", "upper high", "pixel-box", "pixel-box wraps"),
    *("channels low", "channels high", "row-multiple", "pixels low", "pixels high"),
)
# Drawn the more often the fewer maps have them, so that each limit is passed by more than 1 % of all.
TILED = (*SHARED * 2, *TILED_ONLY * 3)
IM2COL = (*SHARED * 2, *IM2COL_ONLY * 6, *("bytes", "channels low") * 4)
DIVISORS = [side for side in range(1, 257) if BOX_BYTES % side == 0]  # sides with which a box can be exactly full


def random_maps(seed: int, count: int) -> Iterator[AnyFields]:
    """`count` maps, always the same for one seed."""
    draw = Random(seed)
    for _ in range(count):
        yield _Drawing(draw).fields()


class _Drawing:
    """One map in the making. `beyond` names the limit that it is to pass, or is None."""

    def __init__(self, draw: Random):
        self.draw = draw
        self.im2col = draw.random() < IM2COL_SHARE
        self.beyond = draw.choice(IM2COL if self.im2col else TILED) if draw.random() < BEYOND_SHARE else None
        self.far = draw.random() < FAR
        self.data_type = self.one_of(13, "data-type", (13, 14, 15, -1, 16, 255))
        if self.beyond == "nan-fill":
            self.data_type = draw.randrange(6)
        self.size = SIZES.get(self.data_type, 1)
        self.interleave = self.one_of(1, "interleave", (3, 3, 4, -1, 2**31 - 1))
        if self.beyond not in ("interleave", "swizzle-span") and draw.random() < 0.4:
            self.interleave = draw.choice((1, 2))
        self.swizzle = self.one_of(4, "swizzle", (4, 4, 5, 6, 7, -1, 2**31 - 1))
        if self.beyond == "swizzle-span":
            self.swizzle = draw.randint(1, 3)
        if self.beyond in ("bytes", "channels high") and self.im2col and not self.interleave:
            self.swizzle = 0  # a span allows neither so many channels nor so long a column
        self.rank = self._rank()
        self.unit = 32 if self.interleave == 2 else 16

    def one_of(self, count: int, limit: str, others: tuple[int, ...]) -> int:
        """An enumeration's number: one of the first `count`, or where that limit is passed one of the others."""
        if self.beyond == limit:
            return self.draw.choice(others) if self.far else others[0]
        return self.draw.randrange(count)

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def log(self, high: int) -> int:
        """1 to `high`, every magnitude alike."""
        return max(1, min(high, int(high ** self.draw.random())))

    def _rank(self) -> int:
        lowest = 3 if self.im2col or self.interleave else 1
        if self.beyond == "rank high":
            return self.draw.choice((6, 7)) if self.far else 6
        if self.beyond == "rank low":
            return self.draw.randrange(lowest) if self.far else lowest - 1
        if self.beyond == "bytes" and not self.im2col:
            lowest = 3  # fewer dimensions cannot hold so much
        return self.draw.randint(lowest, 5)

    def fields(self) -> AnyFields:
        """The map."""
        draw, steps = self.draw, self._steps()
        address, strides = self._address(), tuple(self._stride() for _ in range(self.rank - 1))
        if self.beyond in ("stride-range", "stride-multiple") and strides:
            strides = self._put(strides, self._stride_beyond())
        options = (
            *(self.interleave, self.swizzle, self.one_of(4, "l2-promotion", (4, 4, 5, 7, -1, 2**31 - 1))),
            self._fill(),
        )
        if not self.im2col:
            sides, steps = self._box(steps)
            dims = self._dims([draw.random() < 0.5 for _ in range(self.rank)])
            return Fields(self.data_type, address, dims, strides, sides, steps, *options)
        lower, upper = self._corners()
        dims = self._spatial(list(self._dims([True] * self.rank)), lower, upper)
        channels, pixels = self._column()
        corners = (tuple(lower), tuple(upper))
        return Im2colFields(self.data_type, address, dims, strides, *corners, channels, pixels, steps, *options)

    def _put(self, values: tuple[int, ...], value: int) -> tuple[int, ...]:
        """The values with one of them, any, replaced."""
        i = self.draw.randrange(len(values))
        return (*values[:i], value, *values[i + 1 :])

    # Memory.

    def _address(self) -> int:
        unit, draw = self.unit, self.draw
        if self.beyond == "address-range":
            near = ADDRESS_STOP + unit * draw.randrange(2)
            return draw.choice((2**58, 2**60 + unit, 2**63, 2**64 - unit)) if self.far else near
        if self.chance(0.1):
            address = draw.choice((0, unit, ADDRESS_STOP - unit, ADDRESS_STOP - unit))
        else:
            address = unit * draw.getrandbits(draw.choice((12, 28, 43, 52)))
        odd = draw.choice((1, 2, 4, 8, 24) if unit == 16 else (1, 8, 16, 16, 16))
        return address + odd if self.beyond == "address-multiple" else address

    def _stride(self) -> int:
        if self.chance(0.1):
            return self.draw.choice((0, self.unit, 2**40 - self.unit, 2**40 - self.unit))
        return self.unit * (self.log(2**35) - 1)

    def _stride_beyond(self) -> int:
        unit, draw = self.unit, self.draw
        if self.beyond == "stride-multiple":
            return min(self._stride(), 2**40 - 64) + draw.choice((1, 2, 4, 8, 24) if unit == 16 else (1, 8, 16, 16))
        return draw.choice((2**41, 2**63, 2**64 - unit)) if self.far else 2**40

    def _dims(self, ordinary: list[bool]) -> tuple[int, ...]:
        dims = tuple(self.log(300 if small else 2**32) for small in ordinary)
        for i in range(len(dims)):
            if self.chance(0.08):
                dims = (*dims[:i], self.draw.choice((1, 2**32)), *dims[i + 1 :])
        if self.beyond in ("dim low", "dim high") and dims:
            dims = self._put(dims, self._dim_beyond())
        return dims

    def _dim_beyond(self) -> int:
        if self.beyond == "dim low":
            return 0
        return self.draw.choice((2**32 + 64, 2**33, 2**63, 2**64 - 1)) if self.far else 2**32 + 1

    def _steps(self) -> tuple[int, ...]:
        steps = (1,) * self.rank
        if self.chance(0.45):
            steps = tuple(self.draw.randint(1, 8) for _ in steps)
        if self.beyond == "element-stride low" and steps:
            return self._put(steps, 0)
        if self.beyond == "element-stride high" and steps:
            return self._put(steps, self.draw.choice((10, 16, 17, 2**31, 2**32 - 1)) if self.far else 9)
        return steps

    def _fill(self) -> int:
        if self.beyond == "oob-fill":
            return self.draw.choice((2, 3, -1, 2**31 - 1)) if self.far else 2
        return 1 if self.beyond == "nan-fill" or (self.data_type >= 6 and self.chance(0.4)) else 0

    # Tiles and columns.

    def _row(self) -> int:
        """Elements of the innermost row of a box, or channels of a pixel."""
        span = 16 << self.swizzle if self.interleave == 0 and self.swizzle in (1, 2, 3) else 0
        chunks = min(span, 256 * self.size) // 16 if span else 16 * self.size
        if self.beyond == "swizzle-span":
            return (span + 16) // self.size
        if self.beyond in ("side high", "channels high") and not span and (self.im2col or self.chance(0.3)):
            return 256 + 16 // self.size
        row = self.draw.choice((1, chunks, chunks, self.draw.randint(1, chunks))) * 16 // self.size
        if self.beyond == "row-multiple":
            return max(1, row - self.draw.randrange(1, 16 // self.size))
        return row

    def _box(self, steps: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The box, and the element strides, which a full box can do with smaller ones only."""
        if not steps:
            return (), ()
        row, outer = self._row(), [self.draw.choice((1, 256, self.log(256), self.log(32))) for _ in steps[1:]]
        if (self.beyond == "bytes" or self.chance(0.12)) and len(outer) > 1:
            outer, steps = self._full(row, len(outer), steps)
        else:
            self._shrink(row, outer, steps)
        box = (row, *outer)
        if self.beyond == "side low":
            return self._put(box, 0), steps
        if self.beyond == "side high" and max(box) <= 256 and outer:
            return (row, *self._put(tuple(outer), self._side_beyond())), steps
        return box, steps

    def _side_beyond(self) -> int:
        return self.draw.choice((264, 512, 2**16, 2**32 - 1)) if self.far else 257

    def _shrink(self, row: int, outer: list[int], steps: tuple[int, ...]) -> None:
        """Cut sides until the box holds no more than it may."""
        total = self.size * max(1, row // max(1, steps[0]))
        for i, step in enumerate(steps[1:]):
            step = max(1, step)
            room = BOX_BYTES // total * step
            outer[i] = max(1, min(outer[i], room))
            total *= max(1, outer[i] // step)

    def _full(self, row: int, count: int, steps: tuple[int, ...]) -> tuple[list[int], tuple[int, ...]]:
        """Sides with which a box is as full as it may be, or, beyond, one step fuller."""
        draw = self.draw
        highest = 1 if self.beyond == "bytes" else draw.choice((1, 2))
        steps = tuple(min(step, highest) for step in steps)
        counts, inner = [0] * count, self.size * max(1, row // max(1, steps[0]))
        *others, before, last = draw.sample(range(count), count)
        for i in others:
            counts[i] = draw.randint(1, max(1, min(256 // highest, BOX_BYTES // inner // 128)))
            inner *= counts[i]
        least, most = (max(1, BOX_BYTES // inner // side) for side in (256 // highest - 1, 64))
        near = [side for side in DIVISORS if least <= side <= most] or [least]
        counts[before] = min(256 // highest, draw.choice((draw.choice(near), draw.randint(least, most))))
        counts[last] = BOX_BYTES // (inner * counts[before]) + (1 if self.beyond == "bytes" else 0)
        counts[last] = max(1, min(counts[last], 256 // highest))
        return [self._side(counts[i], steps[1 + i]) for i in range(count)], steps

    def _side(self, count: int, step: int) -> int:
        """A side that the driver counts as `count`."""
        return min(256, count * max(1, step) + self.draw.randrange(max(1, step)))

    def _column(self) -> tuple[int, int]:
        """Channels of a pixel and pixels of a column."""
        draw, row = self.draw, self._row()
        if self.beyond == "channels low":
            return draw.randrange(2), self.log(1024)  # 1 is no multiple of 16 bytes, whatever the type
        if self.beyond in ("pixels low", "pixels high"):
            high = draw.choice((2048, 2**16, 2**32 - 1)) if self.far else 1025
            least = 16 // self.size  # channels: few, so that their number alone is to blame
            return (row, 0) if self.beyond == "pixels low" else (least, high)
        if (self.beyond == "bytes" or self.chance(0.15)) and self._widest() * 1024 > BOX_BYTES:
            full = draw.choice(
                (256 // self.size, 512 // self.size, 256, draw.randint(15, 16 * self.size) * 16 // self.size)
            )
            row = min(256, max(full, -(-240 // self.size)))
            row -= row % (16 // self.size)
            return row, BOX_BYTES // (row * self.size) + (1 if self.beyond == "bytes" else 0)
        pixels = min(
            draw.choice((1, 1024, self.log(1024), draw.randint(1, 1024))), max(1, BOX_BYTES // (row * self.size))
        )
        return row, pixels

    def _widest(self) -> int:
        """Bytes of the longest row of channels that is legal."""
        swizzled = self.interleave == 0 and self.swizzle in (1, 2, 3)
        return 16 << self.swizzle if swizzled else 256 * self.size

    # Corners of im2col.

    def _corners(self) -> tuple[list[int], list[int]]:
        limit = CORNERS.get(self.rank, CORNERS[5])
        lower, upper = ([self._corner(limit.low, limit.high) for _ in range(self.rank - 2)] for _ in "lu")
        for name, corners in (("lower", lower), ("upper", upper)):
            i = self.draw.randrange(len(corners)) if corners else None
            if i is not None and self.beyond == f"{name} low":
                corners[i] = self.draw.choice((2 * limit.low, -(2**31))) if self.far else limit.low - 1
            if i is not None and self.beyond == f"{name} high":
                corners[i] = self.draw.choice((2 * limit.high, 2**31 - 1)) if self.far else limit.high + 1
        return lower, upper

    def _corner(self, low: int, high: int) -> int:
        small = self.draw.randint(-3, 3)
        return self.draw.choice((0, -1, small, small, small, low, high, self.draw.randint(low, high)))

    def _spatial(self, dims: list[int], lower: list[int], upper: list[int]) -> tuple[int, ...]:
        """The dimensions, the spatial ones large enough for the corners, or, beyond, one of them not."""
        first = 0 if self.interleave else 1
        for i, (low, up) in enumerate(zip(lower, upper)):
            if not 1 <= dims[first + i] <= 2**32:
                continue  # beyond already
            least = max(1, low - up + 1)
            most = 2**31 - 1 - up
            dim = self.draw.choice((least, least, dims[first + i], least + self.log(300), most))
            if dim < least or (dim > most and not (dim == 2**32 and up > low)):
                dim = least
            dims[first + i] = dim
        if self.beyond in ("pixel-box", "pixel-box wraps") and lower:
            self._too_small(dims, first, lower, upper)
        return tuple(dims)

    def _too_small(self, dims: list[int], first: int, lower: list[int], upper: list[int]) -> None:
        i = self.draw.randrange(len(lower))
        if self.beyond == "pixel-box wraps":
            high = 2**32 - max(0, upper[i] - lower[i])
            dims[first + i] = self.draw.randint(2**31 - upper[i], high) if self.far else 2**31 - upper[i]
            return
        lower[i], upper[i] = max(lower[i], upper[i], 1), min(lower[i], upper[i], 0)
        dims[first + i] = max(1, lower[i] - upper[i] - (self.log(300) - 1 if self.far else 0))
