"""Hazards: what a kernel does wrong, by name, with the two accesses, what is missing between them, and the fix.

>>> hazard = Hazard("wait-ignored", "a wait whose result nobody uses", [], "write: while not ...: pass")
>>> hazard.name
'wait-ignored'
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

# All names that a hazard can have, a contract of the library; the simulator does not find all of them yet.
NAMES = frozenset(
    {
        "read-before-wait",
        "overwrite-in-use",
        "missing-proxy-fence",
        "proxy-fence-space",
        "store-source-reuse",
        "store-not-waited",
        "store-not-committed",
        "too-few-bytes",
        "too-many-bytes",
        "expect-after-completion",
        "over-arrival",
        "missing-arrival",
        "wrong-parity",
        "phase-alias",
        "wait-ignored",
        "barrier-reinit",
        "barrier-not-initialised",
        "barrier-as-memory",
        "init-not-visible",
        "uninitialised-read",
        "multiple-issue",
        "partial-warp",
        "barrier-mismatch",
        "scope-too-narrow",
        "layout-mismatch",
        "multicast-mask",
        "peer-not-started",
        "exit-in-flight",
        "map-edited",
        "map-not-acquired",
        "out-of-bounds",
        "misaligned",
        "clip-overwrites",
        "data-race",
        "wgmma-fence",
        "wgmma-registers",
        "register-pool",
        "deadlock",
    }
)


@dataclass(frozen=True)
class Access:
    """One of the accesses of a hazard, or the place where something was done.

    who      "thread 37", "the load of tile", ...: as the report calls it
    does     what it does, in words, with the array and indices where known
    kind     "read", "write", "load", "store", "cpasync", "copy", "arrive", "wait" or "init"
    space    "shared" or "global", or None
    array    the array's name; `index` the element's indices, `address` and `bytes` its place and size
    thread   the number in the grid of the thread, or of the one that issued the copy
    file, line   the learner's source
    """

    who: str
    does: str
    kind: str
    thread: int
    file: str | None = None
    line: int | None = None
    space: str | None = None
    array: str | None = None
    index: tuple[int, ...] | None = None
    address: int | None = None
    bytes: int = 0
    note: str = ""


@dataclass
class Hazard:
    """One mistake in a kernel: name, message, accesses, fix; `count` says how often it was met."""

    name: str
    message: str
    accesses: list[Access]
    fix: str
    count: int = field(default=1, compare=False)

    def __str__(self) -> str:
        return f"{self.message}\n  write:   {self.fix}" if self.fix else self.message

    def as_data(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return asdict(self)


class Suspicion:
    """What the first run makes of a report: something is wrong, so the run is worth a second one."""

    def __init__(self):
        self.found = False

    def tell(self, name: str, **facts: Any) -> None:
        """A thread does something wrong."""
        self.found = True

    def conflict(self, *facts: Any) -> None:
        """Two accesses do not go together."""
        self.found = True

    def cluster_ended(self) -> None:
        """A cluster's threads and copies are done."""

    def reports(self) -> list[Hazard]:
        """None: a run with something to report is run again."""
        return []

    def warnings(self) -> list[str]:
        """None."""
        return []
