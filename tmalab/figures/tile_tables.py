"""What the browser is told of a tile in each swizzle mode, so that it works out no address itself.

>>> from tmalab import TensorMap
>>> from tmalab.figures.tile_places import modes_of
>>> tm = TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3)
>>> mode_data(modes_of(tm)[3])["given"]["physical"][8:10]           # row 1, sectors 0 and 1
[144, 128]
"""

from __future__ import annotations

from math import prod

from tmalab.figures.tile_places import Mode, Places
from tmalab.figures.tile_words import SHIFT, changed_bits, mode_name, notes, taken_bits
from tmalab.swizzle import LINE

MOST_LINES = 256  # of shared memory are drawn


def mode_data(mode: Mode) -> dict[str, object]:
    """One position of the switch, in plain data."""
    high, low = changed_bits(mode.swizzle) or (0, 0)
    return {
        "swizzle": int(mode.swizzle),
        "name": mode_name(mode.swizzle),
        "reason": mode.reason,
        "high": high,
        "low": low,
        "shift": SHIFT,
        **taken_bits(mode.swizzle),
        "given": mode.given and _tables(mode.given),
        "narrowed": mode.narrowed and _tables(mode.narrowed),
    }


def _tables(places: Places) -> dict[str, object]:
    """A tile's facts and, for the rows of it that are drawn, each sector's address without and with the XOR."""
    tm = places.tensor_map
    columns, *outer = tm.delivered_dim
    drawn = min(prod(outer), MOST_LINES * LINE // tm.pitch)
    return {
        "rows": prod(outer),
        "columns": columns,
        "outer": outer,  # delivered rows, then groups of them
        "sectors": places.sectors,
        "height": (outer[0] - 1) * tm.element_strides[1] + 1,  # rows of the tensor that the box spans
        "count": drawn * places.sectors,
        "bytes": f"{tm.transaction_bytes:,}",
        "shared_bytes": tm.shared_bytes,
        "pitch": tm.pitch,
        "gaps": places.lines * LINE > tm.transaction_bytes,
        "base": places.shared_address,
        "lines": places.lines,
        "drawn_lines": min(places.lines, MOST_LINES),
        "notes": notes(places, MOST_LINES),
        "logical": [address for row in places.logical[:drawn] for address in row],
        "physical": [address for row in places.physical[:drawn] for address in row],
    }
