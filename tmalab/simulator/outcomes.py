"""What orders came to: hazards, by name, and results in memory, of which there should be one."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.tensor_map import TensorMap

if TYPE_CHECKING:
    from tmalab.buffers import GlobalLayout
    from tmalab.launch import Launch
    from tmalab.run import Run

KEPT = 8  # results whose bytes are kept,
MOST_BYTES = 1 << 26  # as long as they have no more, but for the first


@dataclass
class Found:
    """A hazard, or the kind of a fault, that was found in some orders.

    name     of the hazard or fault
    count    in how many orders
    first    the first of them: its seed, or its number
    hazard   as the shortest of them reports it; None for a fault
    """

    name: str
    count: int
    first: int
    hazard: Any = None


class Outcome:
    """A result that some orders came to.

    count    how many orders
    first    the first of them: its seed, or its number
    ok       whether those orders were without a hazard, deadlock or fault: some of them, at least
    """

    def __init__(self, first: int, ok: bool, memory: np.ndarray | None, launch: Launch, layout: GlobalLayout):
        self.count, self.first, self.ok = 0, first, ok
        self._memory, self._launch, self._layout = memory, launch, layout

    def __repr__(self) -> str:
        return f"<Outcome count={self.count} first={self.first} ok={self.ok}>"

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays after those orders, by parameter (that of a map: the array behind it); copies. Only the first 8
        results of an exploration have them, and only the first one where they are large (64 MiB together)."""
        if self._memory is None:
            return {}
        arguments = zip(inspect.signature(self._launch.kernel.function).parameters, self._launch.args)
        given = {name: value.array if isinstance(value, TensorMap) else value for name, value in arguments}
        return {name: self._copy(array) for name, array in given.items() if isinstance(array, np.ndarray)}

    def _copy(self, array: np.ndarray) -> np.ndarray:
        if not array.size:
            return array.copy()
        start = self._layout.address_of(array) - self._layout.base
        return np.ndarray(array.shape, array.dtype, self._memory, start, array.strides).copy()


class Outcomes:
    """The results of an exploration, as they come in."""

    def __init__(self, launch: Launch, layout: GlobalLayout):
        self._launch, self._layout = launch, layout
        self._by_digest: dict[bytes, Outcome] = {}

    def add(self, memory: np.ndarray, number: int, ok: bool) -> None:
        """Global memory as order `number` left it."""
        memory = memory[: self._layout.size]
        digest = hashlib.blake2b(memory.data, digest_size=16).digest()
        if digest not in self._by_digest:
            results = len(self._by_digest)
            keep = not results or (results < KEPT and (results + 1) * memory.size <= MOST_BYTES)
            kept = memory.copy() if keep else None
            self._by_digest[digest] = Outcome(number, ok, kept, self._launch, self._layout)
        self._by_digest[digest].count += 1
        self._by_digest[digest].ok |= ok

    def all(self) -> list[Outcome]:
        """Each result once, in the order in which they were found."""
        return list(self._by_digest.values())


class Hazards:
    """The hazards of an exploration, as they come in."""

    def __init__(self):
        self._by_name: dict[str, Found] = {}

    def add(self, run: Run, number: int, shortest: bool) -> None:
        """What order `number` did wrong. `shortest`: it is the shortest so far."""
        hazards = {hazard.name: hazard for hazard in reversed(run.hazards)}
        names = {**dict.fromkeys(hazard.name for hazard in run.hazards)}
        if run.fault is not None and not run.hazards:
            names[run.fault.kind] = None
        for name in names:
            found = self._by_name.setdefault(name, Found(name, 0, number))
            found.count += 1
            if found.hazard is None or shortest:
                found.hazard = hazards.get(name)

    def all(self) -> list[Found]:
        """Each name once, the most frequent first."""
        return sorted(self._by_name.values(), key=lambda found: -found.count)
