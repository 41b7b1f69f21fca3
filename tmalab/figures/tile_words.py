"""The sentences of figure 1, for a sector of a tile: what it holds, and where it lies and why.

The browser says the same of a box that is being dragged; these serve the static forms and the kernel.

>>> from tmalab import TensorMap
>>> tm = TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3)
>>> print(destination(Places.of(tm), 1, 0))
Without the swizzle it would lie at 0x0080. There address bits 9 to 7 are 001, and 000 XOR 001 = 001: it lies \
at 0x0090, line 1, sector 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tmalab.data_types import OobFill
from tmalab.figures.tile_places import Places
from tmalab.swizzle import LINE, PATTERNS, SECTOR
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

SHIFT = 3  # the swizzle XORs each bit that it changes with the bit three places above


def mode_name(swizzle: int) -> str:
    """A swizzle's name without its prefix, as in CUDA: NONE, 32B, 64B, 128B."""
    span = PATTERNS[swizzle].span
    return f"{span}B" if span else "NONE"


def hexadecimal(address: int) -> str:
    """A byte address as the figures write it."""
    return f"0x{address:04X}"


def fill_name(tensor_map: TensorMap) -> str:
    """What elements outside the tensor arrive as."""
    return text("figures.fill-nan") if tensor_map.oob_fill == OobFill.NAN else text("figures.fill-zero")


def changed_bits(swizzle: int) -> tuple[int, int] | None:
    """The (highest, lowest) address bit that a swizzle changes, or None."""
    mask = PATTERNS[swizzle].mask
    return (mask.bit_length() - 1, (mask & -mask).bit_length() - 1) if mask else None


def taken_bits(swizzle: int) -> dict[str, str]:
    """The bits that a swizzle XORs in, as words for a sentence ({bits} {are}) and for the strip of bits ({xor})."""
    changed = changed_bits(swizzle)
    if changed is None:
        return {"xor": text("figures.no-xor")}
    high, low = (bit + SHIFT for bit in changed)
    if high == low:
        bits, xor = text("figures.address-bit", high=high), text("figures.bit-xor", high=high)
        return {"bits": bits, "are": text("figures.is"), "xor": xor}
    bits, xor = text("figures.address-bits", high=high, low=low), text("figures.bits-xor", high=high, low=low)
    return {"bits": bits, "are": text("figures.are"), "xor": xor}


def position(tensor_map: TensorMap, coordinates: Sequence[int], row: int, sector: int) -> tuple[int, int]:
    """(y, x): the tensor's row, and the first element, that a sector of the tile holds."""
    x, y = coordinates
    return y + row * tensor_map.element_strides[1], x + sector * SECTOR // tensor_map.element_size


def outside(tensor_map: TensorMap, coordinates: Sequence[int], row: int, sector: int) -> Fraction:
    """How much of a sector's 16 bytes lies outside the tensor, 0 to 1."""
    y, x = position(tensor_map, coordinates, row, sector)
    columns, rows = tensor_map.global_dim
    per = SECTOR // tensor_map.element_size
    if not 0 <= y < rows or x < 0:
        return Fraction(1)
    return Fraction(min(max(x + per - columns, 0), per), per)


def source(tensor_map: TensorMap, coordinates: Sequence[int], row: int, sector: int) -> str:
    """What a sector of the tile holds."""
    y, x = position(tensor_map, coordinates, row, sector)
    share = outside(tensor_map, coordinates, row, sector)
    values = {"row": row, "sector": sector, "y": y, "first": x, "last": x + SECTOR // tensor_map.element_size - 1}
    if share == 0:
        return text("figures.sector-inside", **values)
    if share == 1:
        return text("figures.sector-outside", fill=fill_name(tensor_map), **values)
    return text("figures.sector-partly", columns=tensor_map.global_dim[0], fill=fill_name(tensor_map), **values)


def destination(places: Places, row: int, sector: int) -> str:
    """Where a sector of the tile lies, and what the XOR has to do with it."""
    logical, physical = places.logical[row][sector], places.physical[row][sector]
    line, place = divmod(physical - places.shared_address, LINE)
    values = {"physical": hexadecimal(physical), "line": line, "place": place // SECTOR}
    changed = changed_bits(places.tensor_map.swizzle)
    if changed is None:
        return text("figures.place-plain", **values)
    high, low = changed
    taken = _bits(logical, high + SHIFT, low + SHIFT)
    values |= {"logical": hexadecimal(logical), "taken": taken, **taken_bits(places.tensor_map.swizzle)}
    if "1" not in taken:
        return text("figures.place-kept", **values)
    return text("figures.place-moved", before=_bits(logical, high, low), after=_bits(physical, high, low), **values)


def notes(places: Places, most_lines: int) -> list[str]:
    """What else is to be said of a tile of which at most so many lines are drawn; a sentence each."""
    found = []
    period, base = PATTERNS[places.tensor_map.swizzle].period, places.shared_address
    if base % period:
        found.append(text("figures.shifted", base=hexadecimal(base), period=f"{period:,}"))
    if places.lines > most_lines:
        found.append(text("figures.drawn-lines", drawn_lines=most_lines, lines=places.lines))
    if places.note:
        found.append(places.note)
    return found


def places_table(heads: Sequence[str], filled: str, places: Places, cell: Callable[[int], str], most_lines: int) -> str:
    """Shared memory as text, line by line.

    `cell` names what lies at an address: in parentheses what came from outside the tensor, of which `filled` tells;
    with a dash where nothing was written.
    """
    lines = [places.addresses(line) for line in range(min(places.lines, most_lines))]
    rows = [[cell(address) for address in line] for line in lines]
    width = max(len(words) for row in rows for words in row)
    parts = [
        "  ".join((hexadecimal(line.start), *(words.rjust(width) for words in row)))
        for line, row in zip(lines, rows, strict=True)
    ]
    parts += notes(places, most_lines)
    if any("(" in words for row in rows for words in row):
        parts.append(filled)
    if any("-" in words for row in rows for words in row):
        parts.append(text("figures.table-gap"))
    return "\n".join([*heads, *parts])


def _bits(address: int, high: int, low: int) -> str:
    return f"{address >> low & (1 << high - low + 1) - 1:0{high - low + 1}b}"
