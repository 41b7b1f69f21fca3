"""What each warp asked of memory in a run: the accesses of its lanes, put together as a GPU would execute them.

The lanes of a warp execute a line together, so what they do at one place of the source for the n-th time is one access
of the warp. That is how a GPU runs a loop whose lanes stay together; where they part company, it may take more accesses
than are seen here. The run is repeated with somebody watching, so a run at which nobody looks pays for nothing. What
the copy engine does, and instructions for barriers, are no accesses of threads and are not among them.

>>> import numpy as np
>>> from numba import cuda
>>> from tmalab import kernel
>>> @kernel
... def turn(out):
...     words = cuda.shared.array(1024, np.int32)
...     words[cuda.threadIdx.x] = 1
...     out[8 * cuda.threadIdx.x] = words[32 * cuda.threadIdx.x]
>>> run = turn.run(block=32, args=(np.zeros(256, np.int32),))
>>> [(access.space, access.kind, len(access.addresses)) for access in run.warp_accesses]
[('shared', 'write', 32), ('shared', 'read', 32), ('global', 'write', 32)]
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.simulator.arguments import bound_arguments
from tmalab.simulator.arrays import ADDRESS_SHIFT, ATOMIC, KIND_BITS, READ, SAME, SIZE_SHIFT, WRITE
from tmalab.simulator.context import now
from tmalab.simulator.memory import WINDOW
from tmalab.simulator.source import Place
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Launch
    from tmalab.run import Run
    from tmalab.simulator.access_log import AccessLog
    from tmalab.simulator.memory import GlobalMemory
    from tmalab.simulator.source import Source

KINDS = {READ: "read", WRITE: "write", SAME: "write", ATOMIC: "atomic"}
SIZE_BITS = 0b111


class WarpAccess(NamedTuple):
    """One access of a warp.

    `space` is "shared" or "global"; `kind` is "read", "write" or "atomic"; `place` is the line. `cta` is the CTA's
    number in the grid, `warp` the warp's in its CTA. `addresses` are those of the lanes that took part, in bytes, each
    for `size` bytes: in the CTA's window of shared memory, or in flat global memory, where every buffer begins at a
    multiple of 256.
    """

    space: str
    kind: str
    place: Place | None
    cta: int
    warp: int
    addresses: tuple[int, ...]
    size: int


def warp_accesses(run: Run) -> tuple[WarpAccess, ...]:
    """The accesses of a simulated run, in the order in which its warps first came to them. ValueError for any other."""
    if run.replaying is None:
        raise ValueError(text("accesses.simulated"))
    return tuple(run.replaying(Watching).warp_accesses())


def by_line(accesses: Iterable[WarpAccess]) -> dict[tuple[str, str], list[WarpAccess]]:
    """The accesses by line ("cell:12") and kind."""
    lines: dict[tuple[str, str], list[WarpAccess]] = defaultdict(list)
    for access in accesses:
        lines[str(access.place), access.kind].append(access)
    return lines


class Watching:
    """Mixed into a simulation: notes who touches memory, where in the source, and for the how-many-th time."""

    log: AccessLog
    launch: Launch
    memory: GlobalMemory
    source: Source

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self._lanes: dict[tuple, dict[int, int]] = {}  # by access: lane: byte address
        self._places: dict[tuple, Place | None] = {}  # by place in the source
        self._rounds: Counter[tuple] = Counter()  # how often a thread has come to a place
        self.log.shared.note = self._seeing("shared", self.log.shared.note)
        seeing = self._seeing("global", self.log.world.note_for(self.memory))
        self.arguments = bound_arguments(self.launch, self.memory, seeing)  # anew: nobody was watching the first ones

    def _seeing(self, space: str, log: Callable[[int], None]) -> Callable[[int], None]:
        def see(entry: int) -> None:
            thread, site, kind = now.thread, self.source.site(), KINDS[entry & KIND_BITS]
            assert thread is not None  # nobody else makes accesses
            self._rounds[thread.number, site, kind] += 1
            self._places.setdefault(site, self.source.place())
            access = space, kind, site, thread.cta.number, thread.warp, self._rounds[thread.number, site, kind]
            size = 1 << (entry >> SIZE_SHIFT & SIZE_BITS)
            self._lanes.setdefault((*access, size), {})[thread.lane] = entry >> ADDRESS_SHIFT
            log(entry)

        return see

    def warp_accesses(self) -> list[WarpAccess]:
        """What was seen."""
        seen = []
        for (space, kind, site, cta, warp, _, size), lanes in self._lanes.items():
            addresses = tuple(lanes[lane] % WINDOW if space == "shared" else lanes[lane] for lane in sorted(lanes))
            seen.append(WarpAccess(space, kind, self._places[site], cta, warp, addresses, size))
        return seen
