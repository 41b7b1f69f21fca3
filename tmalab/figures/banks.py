"""Figure 3: banks. Which sectors of a tile, read together, wait for each other, and which don't.

On the left a tile of 16 rows of 256 bytes, a cell for each 16-byte sector, numbered by the eighth of a line (S0 to S7,
four banks each) in which it lies; eight lanes read one column of eight rows at once. On the right shared memory, who
reads what there, and how often each of S0 to S7 is asked.

>>> figure = BanksFigure()
>>> str(figure.access)
'8 lanes of 16 bytes: 8-way conflict (turns: 8)'
>>> figure.swizzle = "B128"
>>> figure.access.ways, figure.access.by_bank[::4]
(1, (1, 1, 1, 1, 1, 1, 1, 1))
>>> figure.grouped = False                       # rows of 256 bytes, as no box can have them
>>> figure.access.ways
2

Any other access of a warp draws itself: `conflicts(addresses, size).show()`.
"""

from __future__ import annotations

import traitlets

from tmalab.banks import Conflicts, conflicts
from tmalab.data_types import DataType, Swizzle
from tmalab.figures.banks_places import COLUMNS, READ, ROWS, access_data, layouts
from tmalab.figures.banks_svg import access_svg, access_table, column_svg
from tmalab.figures.base import Figure, script, style, templates
from tmalab.swizzle import SECTOR
from tmalab.texts import text

TYPES = (DataType.UINT8, DataType.FLOAT16, DataType.FLOAT32, DataType.FLOAT64)
SWIZZLES = (Swizzle.NONE, Swizzle.B128)


class BanksFigure(Figure):
    """A column of a 16x256-byte tile, read by eight lanes, or any `access` of a warp (tmalab.banks.conflicts).

    Traits of the first, in both directions: `column` (0 to 15) and `row` (0 to 8), where the eight lanes begin;
    `grouped`, whether the tile lies as two groups of 128-byte rows or as 256-byte rows; `swizzle` (NONE or B128);
    `data_type`, which changes no place. Of the second: `phase`, which of its phases is drawn.
    """

    _esm = script("banks")
    _css = style("banks")

    data = traitlets.Dict().tag(sync=True)
    column = traitlets.Int(0, min=0, max=COLUMNS - 1).tag(sync=True)
    row = traitlets.Int(0, min=0, max=ROWS - READ).tag(sync=True)
    grouped = traitlets.Bool(True).tag(sync=True)
    swizzle = traitlets.UseEnum(Swizzle).tag(sync=True)
    data_type = traitlets.UseEnum(DataType, default_value=DataType.FLOAT16).tag(sync=True)
    phase = traitlets.Int(0).tag(sync=True)

    def __init__(self, access: Conflicts | None = None):
        self._given = access
        self._layouts = {} if access else layouts(SWIZZLES)
        super().__init__(data=self._data(), words=templates(*(ACCESS if access else COLUMN)))

    @property
    def access(self) -> Conflicts:
        """The access that is drawn."""
        if self._given is not None:
            return self._given
        places = self._layouts[self.grouped, self.swizzle]
        return conflicts([places[row][self.column] for row in range(self.row, self.row + READ)], SECTOR)

    def svg(self) -> str:
        if self._given is not None:
            return access_svg(self._given, self.phase)
        places = self._layouts[self.grouped, self.swizzle]
        return column_svg(places, self.access, self.column, self.row, self.grouped, self.swizzle, self.data_type)

    def table(self) -> str:
        return access_table(self.access)

    @traitlets.validate("swizzle", "data_type")
    def _drawn(self, proposal: dict) -> int:
        value, drawn = proposal["value"], SWIZZLES if proposal["trait"].name == "swizzle" else TYPES
        if value not in drawn:
            raise ValueError(
                text("bank-figure.not-drawn", value=value.name, drawn=", ".join(each.name for each in drawn))
            )
        return value

    @traitlets.validate("phase")
    def _has_phase(self, proposal: dict) -> int:
        last = len(self.access.phases) - 1
        if not 0 <= proposal["value"] <= last:
            raise ValueError(text("bank-figure.no-phase", phase=proposal["value"], last=last))
        return proposal["value"]

    def _data(self) -> dict[str, object]:
        """All that the browser needs; it works out no address itself."""
        if self._given is not None:
            return access_data(self._given)
        ways = {
            key: [
                [
                    conflicts([places[row + lane][column] for lane in range(READ)], SECTOR).ways
                    for column in range(COLUMNS)
                ]
                for row in range(ROWS - READ + 1)
            ]
            for key, places in self._layouts.items()
        }
        return {
            "rows": ROWS,
            "columns": COLUMNS,
            "read": READ,
            "types": [{"value": int(type), "name": type.name, "per": SECTOR // type.size} for type in TYPES],
            "layouts": [
                {"grouped": grouped, "swizzle": int(swizzle), "physical": places, "ways": ways[grouped, swizzle]}
                for (grouped, swizzle), places in self._layouts.items()
            ],
        }


ACCESS = (
    "bank-figure.figure",
    "bank-figure.access-hint",
    "bank-figure.access-grid",
    "bank-figure.access-cell",
    "bank-figure.phase",
    "bank-figure.phase-label",
    "bank-figure.counts",
    "bank-figure.lanes-drawn",
    "bank-figure.legend-asked",
    "bank-figure.legend-worst",
)
COLUMN = (
    "bank-figure.figure",
    "bank-figure.hint",
    "bank-figure.tile-title",
    "bank-figure.tile-caption",
    "bank-figure.tile-grid",
    "bank-figure.tile-cell",
    "bank-figure.tile-corner",
    "bank-figure.shared-title",
    "bank-figure.grouped",
    "bank-figure.plain",
    "bank-figure.layout",
    "bank-figure.plain-note",
    "bank-figure.grouped-note",
    "bank-figure.type",
    "bank-figure.type-note",
    "bank-figure.swizzle",
    "bank-figure.access-grid",
    "bank-figure.access-cell",
    "bank-figure.counts",
    "bank-figure.lanes-drawn",
    "bank-figure.sector",
    "bank-figure.read",
    "bank-figure.asked",
    "bank-figure.asked-once",
    "bank-figure.verdict-none",
    "bank-figure.verdict",
    "bank-figure.legend-read",
    "bank-figure.legend-number",
    "bank-figure.legend-worst",
)
