"""Hazards: what a kernel does wrong, by name, with the two accesses, what is missing between them, and the fix.

>>> hazard = Hazard("wait-ignored", "a wait whose result nobody uses", [], "write: while not ...: pass")
>>> hazard.name
'wait-ignored'
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from tmalab.texts import text

# All names that a hazard can have, a contract of the library; the simulator does not find all of them yet.
CATALOGUE = (
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
)
NAMES = frozenset(CATALOGUE)


# The order in which hazards are told: inits that the cluster need not see, what makes waits return too early or others
# do too much, what comes of it, who may have missed a phase, who is stuck, and what is certain to be a consequence.
UNSEEN, MISPLACED, MISCOUNTED, COMMON, PASSED, STUCK, CONSEQUENCE, END = range(8)
RANKS = {
    "init-not-visible": UNSEEN,  # what makes it visible orders it for the CTA's own threads too
    **dict.fromkeys(("barrier-not-initialised", "barrier-reinit", "peer-not-started"), MISPLACED),
    **dict.fromkeys(("multiple-issue", "wait-ignored", "wrong-parity", "store-not-committed"), MISPLACED),
    **dict.fromkeys(("over-arrival", "expect-after-completion", "too-few-bytes"), MISCOUNTED),
    "phase-alias": PASSED,  # whoever refills a stage too early also completes its barrier too early
    "deadlock": END,
}


class Entry(NamedTuple):
    """One entry of the catalogue: the name, what reports call it, what it means, how it is mended."""

    name: str
    title: str
    meaning: str
    remedy: str


def catalogue() -> list[Entry]:
    """Every hazard there is, in words."""
    return [
        Entry(name, text(f"hazards.{name}"), text(f"catalogue.{name}"), text(f"catalogue.{name}-remedy"))
        for name in CATALOGUE
    ]


@dataclass(frozen=True)
class Access:
    """One of the accesses of a hazard, or the place where something was done.

    who      "thread 37", "the load of tile", ...: as the report calls it
    does     what it does, in words, with the array and indices where known
    kind     "read", "write", "load", "store", "reduction", "peer" (a copy between CTAs), "cpasync", "copy", "arrive",
             "wait" or "init"
    space    "shared" or "global", or None
    array    the array's name; `index` the element's indices, `address` and `bytes` its place and size
    thread   the number in the grid of the thread, or of the one that issued the copy
    file, line   the learner's source
    copy     number of the copy in its run, or 0; `segment`: of a thread's own access, the segment of the thread
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
    copy: int = 0
    segment: int = 0


@dataclass
class Hazard:
    """One mistake in a kernel: name, message, accesses, fix; `count` says how often it was met.

    `details` has the numbers of the message: a barrier's phase and parity, bytes promised and delivered, an index and
    its limit. What they are called is in the message's own words.
    """

    name: str
    message: str
    accesses: list[Access]
    fix: str
    count: int = field(default=1, compare=False)
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def meaning(self) -> str:
        """What a hazard of this name is, in one sentence."""
        return text(f"catalogue.{self.name}")

    def __str__(self) -> str:
        return f"{self.message}\n  write:   {self.fix}" if self.fix else self.message

    replaying = None  # what runs the launch again in which it was found (tmalab.simulator.again)

    def show(self) -> Any:
        """The hazard as a figure to step through: its accesses, the missing edge, the bytes in memory.

        Of a deadlock, who waits on which mbarrier. Runs the kernel again. ValueError for a hazard of no simulated run.
        """
        from tmalab.figures.of_run import figure_of_hazard

        return figure_of_hazard(self)

    def as_data(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return {**asdict(self), "meaning": self.meaning}


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

    def doubt(self, key: str, **words: Any) -> None:
        """Strict runs have no first run."""

    def cluster_ended(self) -> None:
        """A cluster's threads and copies are done."""

    def reports(self) -> list[Hazard]:
        """None: a run with something to report is run again."""
        return []

    def warnings(self) -> list[str]:
        """None."""
        return []
