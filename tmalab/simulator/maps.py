"""Tensor maps in memory: editing them, and what must come between an edit and the copies that use the map.

Copies read a map's 128 bytes through a proxy of their own. An edit reaches it by three steps: a release fence by the
thread that wrote, an order, and an acquire fence on the 128 bytes by a thread of the CTA that copies. What the host
wrote before the launch needs the acquire alone, at system scope. Before an edit, the copies that used the map must be
done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tmalab.descriptor import SIZE, DescriptorError, decode_edited
from tmalab.faults import TmaFault
from tmalab.simulator.context import current_thread
from tmalab.simulator.errors import KernelError
from tmalab.simulator.records import MAP_USE, NOTHING, record
from tmalab.swizzle import SECTOR
from tmalab.tensor_map import TensorMap
from tmalab.tensor_map_fields import Fields
from tmalab.tensor_map_rules import TensorMapError
from tmalab.tensormap_replace import replaced
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.copies import Copy
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.memory import Memory
    from tmalab.simulator.threads import SimThread

WORD64 = np.dtype(np.uint64)
WORD = np.dtype(np.uint32)  # what each lane of a warp copies of a map
PROXY = "tensormap"  # the plane of the clocks: what release fences have carried


class MapInMemory(NamedTuple):
    """A map that is no parameter of the kernel: the global address of its 128 bytes."""

    address: int


class Acquire(NamedTuple):
    """The last acquire of a map by one thread."""

    tick: int  # the thread's segment
    released: np.ndarray  # what it knew then of the ticks that release fences had carried
    scope: str


class Maps:
    """The maps in memory as the threads of one CTA edit and use them. The methods are the instructions."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._acquired: dict[tuple[int, int], Acquire] = {}  # by address and the thread's row
        self._resolved: dict[int, int] = {}  # by the thread's row: the address of the map that it used last

    def resolved(self, tensor_map: TensorMap | MapInMemory) -> tuple[TensorMap, int | None]:
        """A map, and the address of its 128 bytes unless it is a parameter. TmaFault where the bytes are no map."""
        if isinstance(tensor_map, TensorMap):
            return tensor_map, None
        _check_alignment(tensor_map.address, 64)
        self._resolved[current_thread().row] = tensor_map.address
        try:
            return _decoded(self._bytes(tensor_map.address)), tensor_map.address
        except (DescriptorError, TensorMapError) as error:
            values = {"address": hex(tensor_map.address), "reason": str(error).partition("\n")[0]}
            raise TmaFault("illegal_instruction", text("simulator.no-map", **values)) from None

    # Edits.

    def replace(self, field: str, place: int, ordinal: int | None, value: int, space: str = "global") -> None:
        """tensormap.replace: one field of the 128 bytes at an address, which PTX counts as written as a whole."""
        thread, memory = current_thread(), self._memory(space)
        _check_alignment(place, WORD64.itemsize)
        start = place - memory.base
        words = np.frombuffer(replaced(memory.bytes[start : start + SIZE].tobytes(), field, ordinal, value), np.uint64)
        whole = memory.part(place, WORD64, len(words))
        for i, word in enumerate(words):
            whole[i] = word
        thread.run.note(thread, "tensormap_replace", None, field)

    def cp_fenceproxy(self, destination: int, source: int, scope: str) -> None:
        """tensormap.cp_fenceproxy: a whole warp copies a map from shared to global memory, and releases it. It is one
        operation: whoever goes on knows that all of it is done."""
        thread = current_thread()
        for place in (destination, source):
            _check_place(place)
        thread.cta.warps.meet(thread, "tensormap_cp_fenceproxy")
        mine = WORD.itemsize * thread.lane
        copied = self._memory("shared::cta").part(source + mine, WORD, 1)[0]
        self._memory("global").part(destination + mine, WORD, 1)[0] = copied
        self.release(scope)
        thread.cta.warps.sync(thread)

    def release(self, scope: str) -> None:
        """fence.proxy.tensormap::generic.release: what the thread is ordered after may be acquired."""
        thread = current_thread()
        thread.cut()
        self._cta.clocks.fence(thread.row, (PROXY,))
        thread.release()

    # Uses.

    def acquire(self, place: int, scope: str) -> None:
        """fence.proxy.tensormap::generic.acquire: the map as it has been released so far."""
        thread, clocks = current_thread(), self._cta.clocks
        _check_place(place)
        thread.cut()
        released = clocks.carried(thread.row, PROXY).copy()
        self._acquired[place, thread.row] = Acquire(clocks.segment(thread.row), released, scope)
        thread.release()

    def used(
        self, thread: SimThread, place: int, copy: Copy | None = None, read: tuple[int, int] | None = None
    ) -> None:
        """A thread's copy uses the map at a place; its end will be known by `read`: (dimension, tick)."""
        run, world = thread.run, thread.run.log.world.shadow
        thread.cut()
        run.log.check()
        start = np.array([place - run.memory.base])
        units = world.units(start, start + SIZE)
        edits = np.unique(world.writers[units])
        edits = edits[edits["how"] != NOTHING]
        if len(edits):
            self._check_edits(thread, place, copy, edits)
        else:
            self._check_host(thread, place, copy)
        if copy is not None and read is not None:
            used = record(*read, self._cta.cluster.number, MAP_USE, copy.number, thread.number, copy.place)
            world.remember_reads(units, used)

    def look_at_fault(self, thread: SimThread) -> None:
        """A thread's copy has faulted: perhaps since its map was just being edited."""
        if thread.row in self._resolved:
            self.used(thread, self._resolved[thread.row])

    def _check_edits(self, thread: SimThread, place: int, copy: Copy | None, edits: np.ndarray) -> None:
        clocks, row = self._cta.clocks, thread.row
        unordered = thread.run.log.world.shadow.foreign(edits) | (clocks.order[row, edits["dimension"]] < edits["tick"])
        if unordered.any():
            thread.tell("map-edited", place=place, copy=copy, edit=edits[unordered][0])
            return
        known = self._known(thread, place)
        for edit in edits:
            dimension, tick = edit["dimension"], edit["tick"]
            if any(len(acquire.released) > dimension and acquire.released[dimension] >= tick for acquire in known):
                continue
            released = clocks.carried(row, PROXY)[dimension] >= tick
            variant = "acquire" if released and not known else "stale" if released else "release"
            thread.tell("map-not-acquired", place=place, copy=copy, edit=edit, variant=variant)
            return

    def _check_host(self, thread: SimThread, place: int, copy: Copy | None) -> None:
        known = self._known(thread, place)
        if not any(acquire.scope == "sys" for acquire in known):
            variant = "scope" if known else "host"
            thread.tell("map-not-acquired", place=place, copy=copy, edit=None, variant=variant)

    def _known(self, thread: SimThread, place: int) -> list[Acquire]:
        """The acquires of a map by threads of this CTA that a thread is ordered after."""
        knows = self._cta.clocks.knows
        return [
            acquire
            for (address, row), acquire in self._acquired.items()
            if address == place and knows(thread.row, row, acquire.tick)
        ]

    def _bytes(self, address: int) -> bytes:
        start = address - self._cta.run.memory.base
        return self._cta.run.memory.bytes[start : start + SIZE].tobytes()

    def _memory(self, space: str) -> Memory:
        return self._cta.run.memory if space == "global" else self._cta.memory


def _decoded(data: bytes) -> TensorMap:
    fields = decode_edited(data)
    _check_alignment(fields.global_address, SECTOR, "tensor")
    arguments: Any = fields  # integers, as is accepted for enumerations
    return TensorMap(*arguments) if isinstance(fields, Fields) else TensorMap.im2col(*arguments)


def _check_alignment(place: int, alignment: int, what: str = "map") -> None:
    """Fault as the hardware does (measured, H200): the place of a map, or of the tensor that an edited one names."""
    if place % alignment:
        values = {"address": hex(place), "alignment": alignment}
        raise TmaFault("misaligned_address", text(f"simulator.{what}-misaligned", **values))


def _check_place(place: int) -> None:
    if place % SIZE:
        raise KernelError(text("simulator.map-alignment", address=hex(place)))
