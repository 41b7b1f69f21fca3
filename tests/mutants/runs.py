"""Running the kernels: what is found in how many orders, and what becomes of every mechanical edit."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from tests.mutants.case import Case
from tests.mutants.edits import Edited, every
from tests.mutants.mutant import mutated, source_of
from tests.mutants.right import CASES
from tests.mutants.wrong import MUTANTS
from tmalab.simulator.watchdog import patience

PATIENCE = (2.0, 6.0)  # seconds for a run: some edits never end
REFUSED = "python_error"
FATES = ("refused", "caught", "wrong", "sometimes", "lucky", "survivors")  # of an edit: see Edits
EDITED = (  # the kernels of which every mechanical edit is made
    *("copy_tile", "loads_before_the_expectation", "each_promises_its_own", "each_warp_its_own", "work_while_it_comes"),
    *("barrier_ends_and_begins", "copy_column, 5 tiles", "producer_and_consumers, 5 tiles", "ping_pong, 8 tiles"),
    *("every_consumer_arrives, 4 tiles", "persistent", "store_ring, 5 tiles", "load_change_store", "read_back"),
    *("store_what_was_loaded", "written_then_loaded", "named_barriers", "in_step_by_mbarrier", "relaxed_with_fences"),
    *("reduction_by_warps", "the_same_flag", "cp_async_pipeline, 4 tiles", "cp_async_then_store", "map_is_copied"),
    *("each_loads_its_slice", "promised_by_a_peer", "reduced_twice_then_read", "small_stages"),
)


class Outcome(NamedTuple):
    """What one run came to: hazards by name, the fault's kind or None, whether the result is right."""

    names: frozenset[str]
    fault: str | None
    right: bool

    @property
    def clean(self) -> bool:
        """Nothing was reported."""
        return not self.names and self.fault is None


def outcome(case: Case, seed: int) -> Outcome:
    """Run a case once."""
    with patience(*PATIENCE):
        run = case.run(seed)
    return Outcome(
        frozenset(hazard.name for hazard in run.hazards), run.fault and run.fault.kind, bool(case.is_right())
    )


@dataclass
class Right:
    """A right kernel over many orders: in which ones it was flagged, and in which ones its result was wrong."""

    name: str
    style: str
    seeds: int
    flagged: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Never flagged, always right."""
        return not self.flagged and not self.wrong

    def add(self, other: Right) -> None:
        """The same kernel over more orders."""
        self.seeds += other.seeds
        self.flagged += other.flagged
        self.wrong += other.wrong


def check_right(name: str, seeds: int, first: int = 0) -> Right:
    """Run a right kernel in so many orders, from `first` on."""
    style = " ".join((CASES[name]().kernel.function.__doc__ or "").split())
    made = Right(name, style, seeds)
    for seed in range(first, first + seeds):
        found = outcome(CASES[name](), seed)
        if not found.clean:
            made.flagged.append(seed)
        if not found.right:
            made.wrong.append(seed)
    return made


@dataclass
class Wrong:
    """A mutant over many orders: in which ones it was caught under a right name, and how often each name came up."""

    name: str
    case: str
    edit: str
    mechanical: bool
    names: tuple[str, ...]
    seeds: int
    needed: int  # it must be caught in every order (1), or in one of so many
    caught: list[int] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)
    right_results: int = 0
    may_stop: bool = False  # it deadlocked or faulted in one of the orders

    @property
    def holds(self) -> bool:
        """Caught as often as it must be."""
        return bool(self.caught) if self.needed > 1 else len(self.caught) == self.seeds

    def add(self, other: Wrong) -> None:
        """The same mutant over more orders."""
        self.seeds += other.seeds
        self.caught += other.caught
        self.found = dict((Counter(self.found) + Counter(other.found)).most_common())
        self.right_results += other.right_results
        self.may_stop |= other.may_stop


def check_wrong(name: str, seeds: int, first: int = 0) -> Wrong:
    """Run a mutant in so many orders, from `first` on."""
    mutant = MUTANTS[name]
    made = Wrong(name, mutant.case, str(mutant.edited), mutant.is_mechanical, mutant.names, seeds, mutant.seeds)
    count: Counter[str] = Counter()
    for seed in range(first, first + seeds):
        found = outcome(mutant.fresh(), seed)
        count.update(found.names)
        made.right_results += found.right
        made.may_stop = made.may_stop or found.fault is not None or "deadlock" in found.names
        if found.names & set(mutant.names):
            made.caught.append(seed)
    made.found = dict(count.most_common())
    return made


@dataclass
class Edits:
    """Every mechanical edit of one right kernel, by what became of it.

    refused     it is no kernel any more: Python or the kernel language says no
    caught      hazards or faults in every order
    wrong       nothing is reported, and the result is wrong in every order: what it computes has changed, not an order
    sometimes   reported in some orders only
    lucky       not reported, and the result is wrong in some orders only: a hazard that was missed
    survivors   nothing is reported, and the result is right
    """

    case: str
    seeds: int
    refused: list[str] = field(default_factory=list)
    caught: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    sometimes: list[str] = field(default_factory=list)
    lucky: list[str] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(len(getattr(self, fate)) for fate in FATES)

    def add(self, other: Edits) -> None:
        """More edits of the same kernel."""
        for fate in FATES:
            getattr(self, fate).extend(getattr(other, fate))


def edits_of(name: str) -> list[Edited]:
    """Every mechanical edit of a right kernel."""
    return every(source_of(CASES[name]().kernel))


def check_edits(name: str, seeds: int, chosen: slice = slice(None)) -> Edits:
    """Run the mechanical edits of a right kernel, or some of them, in orders 0 to seeds - 1."""
    made = Edits(name, seeds)
    for edited in edits_of(name)[chosen]:
        getattr(made, fate(name, edited, seeds)).append(str(edited))
    return made


def fate(name: str, edited: Edited, seeds: int) -> str:
    """What becomes of an edit: a field of Edits."""
    found = []
    for seed in range(seeds):
        found.append(outcome(mutated(CASES[name](), edited.source), seed))
        if found[0].fault == REFUSED:
            return "refused"
    clean, right = [run.clean for run in found], [run.right for run in found]
    if not any(clean):
        return "caught"
    if not all(clean):
        return "sometimes"
    return "survivors" if all(right) else "lucky" if any(right) else "wrong"


def in_parallel(check: Callable[..., Any], names: Iterable[str], seeds: int) -> list[Any]:
    """One check for each name, on all processors."""
    names = list(names)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(check, names, [seeds] * len(names)))


def kernels() -> list[str]:
    """One case for each right kernel: that with the most to do, which stands last."""
    last = {CASES[name]().kernel.__name__: name for name in CASES}
    return list(last.values())


def as_data(checked: Any) -> dict[str, Any]:
    """A check as plain data."""
    return {**asdict(checked), **({"holds": checked.holds} if hasattr(checked, "holds") else {})}
