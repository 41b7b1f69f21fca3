"""The copy engine of a CTA: checks what a thread issues, tells the shadow memory, and puts the copy in flight."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tmalab import reference
from tmalab.copy_checks import check_reduce
from tmalab.data_types import Interleave
from tmalab.faults import TmaFault
from tmalab.im2col_map import Im2colMap
from tmalab.simulator.bulk_engine import BulkCopies
from tmalab.simulator.context import current_thread
from tmalab.simulator.copies import CpAsync
from tmalab.simulator.issue import CHUNK
from tmalab.simulator.loads import Load, PeerCopy, Target, TensorLoad
from tmalab.simulator.memory import WINDOW
from tmalab.simulator.multicast import check_launch, targets
from tmalab.simulator.stores import TensorReduction, TensorStore
from tmalab.swizzle import PATTERNS
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.maps import MapInMemory
    from tmalab.simulator.threads import SimThread
    from tmalab.tensor_map import TensorMap

UNKNOWN_LOADS = 64  # loads that nobody is known to have waited for, before it is looked through them again

AnyMap: TypeAlias = "TensorMap | MapInMemory"


class CopyEngine(BulkCopies):
    """What the threads of one CTA have copied. The methods are the instructions, for the thread that is running."""

    def __init__(self, cta: Cta):
        super().__init__(cta)
        self._loads: list[Load] = []  # into this CTA, that perhaps nobody has waited for
        self._sources: list[PeerCopy] = []  # out of it, whose end perhaps nobody here knows

    def load(
        self,
        destination: int,
        tensor_map: AnyMap,
        coordinates: tuple[int, ...],
        bar: int,
        offsets: tuple[int, ...] | None = None,
        mask: int | None = None,
    ) -> None:
        """cp.async.bulk.tensor, global to shared memory. `offsets`: of an im2col map; `mask`: CTAs, of a multicast."""
        thread = current_thread()
        tensor_map, place = self._cta.maps.resolved(tensor_map)
        check_mode(tensor_map, len(coordinates), offsets is not None)
        check_launch(thread, mask)
        footprint = reference.load_footprint(tensor_map, coordinates, destination, WINDOW, offsets)
        self._check_tile(thread, destination, footprint.shared)
        self._look_at_pattern(thread, tensor_map, destination)
        self._check_box(tensor_map, footprint.global_stops)

        def make(target: Target) -> Load:
            return TensorLoad(thread, target, footprint, tensor_map, coordinates, offsets)

        self._load(thread, make, targets(thread, destination, bar, mask), mask=mask, map_place=place)

    def store(self, tensor_map: AnyMap, coordinates: tuple[int, ...], source: int, im2col: bool = False) -> None:
        """cp.async.bulk.tensor, shared to global memory."""
        self._store_tile(tensor_map, coordinates, source, im2col, TensorStore, reference.store_footprint)

    def reduce(
        self, op: str, tensor_map: AnyMap, coordinates: tuple[int, ...], source: int, im2col: bool = False
    ) -> None:
        """cp.reduce.async.bulk.tensor"""

        def make(*arguments: Any) -> TensorReduction:
            return TensorReduction(*arguments, op)

        def footprint(tm: TensorMap, *rest: Any) -> reference.StoreFootprint:
            check_reduce(op, tm)
            return reference.store_footprint(tm, *rest)

        self._store_tile(tensor_map, coordinates, source, im2col, make, footprint)

    def prefetch(
        self, tensor_map: AnyMap, coordinates: tuple[int, ...], offsets: tuple[int, ...] | None = None
    ) -> None:
        """cp.async.bulk.prefetch.tensor changes no data; its coordinates are checked as a load's."""
        tensor_map, place = self._cta.maps.resolved(tensor_map)
        check_mode(tensor_map, len(coordinates), offsets is not None)
        reference.check_load(tensor_map, coordinates, 0, im2col_offsets=offsets)
        if place is not None:
            self._cta.maps.used(current_thread(), place)

    def prefetch_map(self, tensor_map: AnyMap) -> None:
        """prefetch.tensormap changes no data."""

    def cp_async(self, destination: int, source: int, bytes: int) -> None:
        """cp.async: the copy of one thread, through the generic proxy."""
        thread = current_thread()
        for address, space in ((destination, "shared"), (source, "global")):
            if address % bytes:
                values = {"address": hex(address), "space": space, "size": bytes}
                raise TmaFault("misaligned_address", text("simulator.cp-async-alignment", **values))
        copy = CpAsync(thread, destination, source, bytes)
        self._cta.cp_async_groups.issue(copy)
        self._issue_cp_async(copy)
        self._fly([copy])

    # What becomes of loads.

    def expect(self, copy: Load) -> None:
        """A load is on its way into this CTA."""
        self._loads.append(copy)
        self._cta.tiles.loaded(copy)
        if len(self._loads) > UNKNOWN_LOADS:
            self._forget_known_loads()

    def lend(self, copy: PeerCopy) -> None:
        """A copy reads this CTA's shared memory until its end."""
        self._sources.append(copy)
        if len(self._sources) > UNKNOWN_LOADS:
            self._forget_known_loads()

    def landed(self, copy: Load) -> None:
        """A load is complete: whoever waits for the phase of its last bytes knows of it."""
        cluster, run = self._cta.cluster, self._cta.run
        units = self._shared_units(copy.cta, copy.footprint.shared)
        cluster.shadow.landed(units, copy.number, copy.tick, wrote=True)
        if copy.read_tick is None:  # a multicast's read is known otherwise
            source = cluster.shadow if isinstance(copy, PeerCopy) else run.log.world.shadow
            source.landed(None, copy.number, copy.tick, wrote=False)

    def exited(self) -> None:
        """The CTA is gone: nothing may still be on its way into it, or out of its memory to a peer."""
        self._forget_known_loads()
        if self._loads:
            self._cta.run.log.check()  # a read before the wait is the first thing to say
        for copy in self._loads:
            copy.thread.tell("exit-in-flight", copy=copy)
        for copy in self._sources:
            if copy not in self._loads:
                copy.thread.tell("exit-in-flight", copy=copy, source=True)

    def _forget_known_loads(self) -> None:
        self._loads = [copy for copy in self._loads if not self._is_known(copy)]
        self._sources = [copy for copy in self._sources if not self._is_known(copy)]

    def _is_known(self, copy: Load) -> bool:
        """Whether a thread of this CTA knows of a copy's end."""
        return copy.tick is not None and self._cta.executed_after(copy.barrier.dimension, copy.tick)

    # Tiles.

    def _store_tile(
        self,
        tensor_map: AnyMap,
        coordinates: tuple[int, ...],
        source: int,
        im2col: bool,
        make: Callable[..., TensorStore],
        footprint_of: Callable[..., reference.StoreFootprint],
    ) -> None:
        thread = current_thread()
        tensor_map, place = self._cta.maps.resolved(tensor_map)
        check_mode(tensor_map, len(coordinates), im2col)
        footprint = footprint_of(tensor_map, coordinates, source, WINDOW)
        self._check_tile(thread, source, footprint.shared)
        self._look_at_pattern(thread, tensor_map, source)
        self._check_box(tensor_map, footprint.global_stops)
        copy = make(thread, source, footprint, tensor_map, coordinates)
        self._check_clip(copy)
        self._store(copy, place)

    def _check_box(self, tensor_map: TensorMap, stops: np.ndarray) -> None:
        """A box that leaves its buffer."""
        end = self._cta.run.memory.buffer_stop(tensor_map.global_address)
        if end is None or (len(stops) and int(stops.max()) > end + -end % CHUNK):
            raise TmaFault("illegal_address", text("simulator.past-buffer", address=hex(tensor_map.global_address)))

    def _look_at_pattern(self, thread: SimThread, tensor_map: TensorMap, address: int) -> None:
        """A tile that does not begin where the pattern of its swizzle does: legal, but its chunks lie otherwise."""
        pattern = PATTERNS[tensor_map.swizzle]
        shift = address % pattern.period
        if shift:
            swizzle = {"swizzle": tensor_map.swizzle.name, "period": pattern.period, "rows": shift // pattern.span}
            thread.run.doubt("pattern-shifted", thread.place(), address=hex(address), **swizzle)

    def _check_clip(self, copy: TensorStore) -> None:
        """The clip at 16 bytes: what lies behind the rows of the tensor is written as well."""
        tensor_map, footprint = copy.tensor_map, copy.footprint
        if not len(footprint.global_starts) or tensor_map.interleave != Interleave.NONE:
            return
        width = int(footprint.global_stops[0] - footprint.global_starts[0])
        row = tensor_map.global_dim[0] * tensor_map.element_size
        over = copy.coordinates[0] * tensor_map.element_size + width - row
        if over > 0:
            copy.thread.tell("clip-overwrites", copy=copy, row=row, over=over)


def check_mode(tensor_map: TensorMap, rank: int, im2col: bool) -> None:
    """The fault of a copy of another rank than its map's, or in another mode (measured, H200)."""
    if rank != tensor_map.rank:
        raise TmaFault("illegal_instruction", text("simulator.wrong-rank", rank=rank, of_map=tensor_map.rank))
    if im2col != isinstance(tensor_map, Im2colMap):
        raise TmaFault("illegal_instruction", text(f"simulator.wrong-mode-{'im2col' if im2col else 'tiled'}"))
