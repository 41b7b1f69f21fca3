"""Tensor maps in global memory: rows of 128 bytes, for maps that are no parameters of the kernel.

A kernel that works on many tensors takes an array of maps and picks a row. Before a copy uses a map that was written
into memory, the kernel acquires its 128 bytes; a parameter needs no fence.

>>> import numpy as np
>>> from tmalab import TensorMap, map_rows
>>> a, b = np.zeros((16, 64), np.float16), np.ones((16, 64), np.float16)
>>> rows = map_rows(TensorMap.from_array(tensor, (8, 64)) for tensor in (a, b))
>>> rows.shape, rows.dtype
((2, 128), dtype('uint8'))

In the kernel: `ptx.fence_proxy_tensormap_acquire_sys(rows[1])`,
because the host wrote it, then `ptx.cp_async_bulk_tensor_2d(tile, rows[1], x, y, bar)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tmalab.buffers import GlobalLayout
from tmalab.descriptor import SIZE
from tmalab.tensor_map import TensorMap
from tmalab.texts import text


class MapRows(np.ndarray):
    """A uint8 (n, 128) array that knows its maps, so that a launch can give them their real addresses."""

    maps: tuple[TensorMap, ...] = ()

    def copy(self, order="C"):
        """Rows of their own of the same maps, which a launch knows as these."""
        return map_rows(self.maps) if self.maps else super().copy(order)

    def __reduce__(self):
        return (map_rows, (self.maps,)) if self.maps else super().__reduce__()


def map_rows(maps: Iterable[TensorMap]) -> MapRows:
    """The maps as rows of 128 bytes each. TypeError, in one sentence, where one has no array."""
    maps = tuple(maps)
    for i, tm in enumerate(maps):
        if not isinstance(tm, TensorMap) or tm.array is None:
            raise TypeError(text("map.row-without-array", i=i, given=type(tm).__name__))
    rows = np.empty((len(maps), SIZE), np.uint8).view(MapRows)
    rows.maps = maps
    rows[:] = _encoded(maps)
    return rows


def arrays_of_rows(arguments: Sequence[Any]) -> list[np.ndarray]:
    """The arrays behind the maps in the rows among a launch's arguments."""
    return [tm.array for rows in _rows(arguments) for tm in rows.maps if not tm.on_device]


@contextmanager
def placed(arguments: Sequence[Any], layout: GlobalLayout) -> Iterator[None]:
    """While a launch runs, the rows hold the addresses that the layout gives their arrays; afterwards the old ones."""
    kept = [(rows, rows.copy()) for rows in _rows(arguments)]
    for rows, _ in kept:
        rows[:] = _encoded(_placed(tm, layout) for tm in rows.maps)
    try:
        yield
    finally:
        for rows, before in kept:
            rows[:] = before


def _placed(tm: TensorMap, layout: GlobalLayout) -> TensorMap:
    return tm if tm.on_device else tm.with_address(layout.address_of(tm.array))


def _rows(arguments: Sequence[Any]) -> list[MapRows]:
    return [argument for argument in arguments if isinstance(argument, MapRows) and argument.maps]


def _encoded(maps: Iterable[TensorMap]) -> np.ndarray:
    return np.frombuffer(b"".join(tm.encode() for tm in maps), np.uint8).reshape(-1, SIZE)
