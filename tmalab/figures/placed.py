"""What figures 1 and 2 have in common: a map's tile at coordinates that move, under a swizzle that can be switched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from tmalab import reference
from tmalab.data_types import Swizzle
from tmalab.figures.base import Figure, templates
from tmalab.figures.tile_places import Places, modes_of
from tmalab.tensor_map import TensorMap


class PlacedFigure(Figure):
    """A subclass has the traits `coordinates` and `selected`, of its rank, and says what `_data` the browser needs.

    `_has(*place)` tells whether the tile has that sector, `_check_sector(*place)` raises ValueError where it has not.
    """

    data = traitlets.Dict().tag(sync=True)
    selected: Any
    swizzle = traitlets.UseEnum(Swizzle).tag(sync=True)
    narrowed = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        tensor_map: TensorMap,
        coordinates: Sequence[int],
        shared_address: int,
        words: Sequence[str],
        note: str = "",
    ):
        self.tensor_map, self.shared_address = tensor_map, shared_address
        coordinates = reference.check_load(tensor_map, coordinates, shared_address)
        self.modes = modes_of(tensor_map, shared_address, note)
        data = self._data()
        super().__init__(data=data, words=templates(*words), coordinates=coordinates, swizzle=tensor_map.swizzle)

    @property
    def places(self) -> Places | None:
        """The tile as the switch stands: its map and every sector's address. None where the map's rules refuse it."""
        mode = self.modes[self.swizzle]
        return mode.given or (mode.narrowed if self.narrowed else None)

    @property
    def unswizzled(self) -> Places:
        """The tile without a swizzle, which no rule refuses."""
        given = self.modes[Swizzle.NONE].given
        assert given is not None
        return given

    @traitlets.validate("coordinates")
    def _legal_coordinates(self, proposal: dict) -> tuple[int, ...]:
        return reference.check_load(self.tensor_map, proposal["value"], self.shared_address)

    @traitlets.validate("selected")
    def _legal_selection(self, proposal: dict) -> tuple[int, ...] | None:
        if proposal["value"] is not None:
            self._check_sector(*proposal["value"])
        return proposal["value"]

    @traitlets.observe("swizzle", "narrowed")
    def _drop_lost_selection(self, _change: object) -> None:
        if self.selected is not None and not self._has(*self.selected):
            self.selected = None

    def _data(self) -> dict[str, object]:
        raise NotImplementedError

    def _has(self, *place: int) -> bool:
        raise NotImplementedError

    def _check_sector(self, *place: int) -> None:
        raise NotImplementedError
