"""Shadow memory: for every byte of a space its last writer, and the reads that a later write must respect.

Accesses are checked against it in the order of the run, but what is asked is never "who came first": it is whether the
later one is ordered after the earlier one. So a hazard shows whatever this run's order was.

The unit is not the byte but the *grain*: the largest power of two that divides every address and size in use, so that
kernels on float32 pay a quarter. Three questions are put to each access:

    the last writer of its unit     must be known to it, and so must the reductions since then
    the reads since then            must be known to it, if it writes
    the writer, across proxies      must have been carried to the asynchronous proxy, if a copy comes after a thread
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tmalab.simulator.arrays import ADDRESS_SHIFT, SIZE_SHIFT
from tmalab.simulator.issue_checks import IssueChecks
from tmalab.simulator.outstanding_reductions import Reductions
from tmalab.simulator.reasons import UNORDERED
from tmalab.simulator.records import NOTHING, READ_RECORD, blank, plain, put, with_units
from tmalab.simulator.standing_reads import StandingReads

SEVERAL = -1  # clusters that have read a unit
COMPACT_FROM = 4096  # outstanding reads from which it pays to keep only the last of each thread
# Hears of conflicts: space, why, addresses, the earlier and the later accesses, which of the later ones write, and
# whether the earlier ones wrote.
Report = Callable[[str, str, np.ndarray, np.ndarray, np.ndarray, np.ndarray, bool], None]


class Shadow(IssueChecks):
    """The shadow of `size` bytes of one space. `report` hears of conflicts: space, why, addresses, the
    earlier and the later accesses, which of the later ones write, and whether the earlier ones wrote."""

    def __init__(
        self, space: str, size: int, grain: int, report: Report, many_clusters: bool = False, strict: bool = False
    ):
        self.space, self.size, self.grain, self._report = space, size, grain, report
        self.writers = blank(size // grain + 1)
        self._reads: list[np.ndarray] = []  # joined when they are looked at: many copies may read, and nobody write
        self._count = 0
        self.standing = StandingReads(len(self.writers))
        self.reductions = Reductions()
        self._compacted = 0
        self.cluster = 1
        self.many_clusters, self.strict = many_clusters, strict
        self.crossed = False  # whether a conflict was between two clusters
        self._foreign_reads: Any = blank(len(self.writers)) if many_clusters else None
        self.scratch = np.zeros(len(self.writers), np.int32)  # for checks, which leave zeros
        self.twins = np.empty(0, READ_RECORD)  # writers of the value that another thread has written since, unordered

    @property
    def reads(self) -> np.ndarray:
        """The reads that the next write must respect."""
        if len(self._reads) != 1:
            self._reads = [np.concatenate([np.empty(0, READ_RECORD), *self._reads])]
        return self._reads[0]

    @reads.setter
    def reads(self, reads: np.ndarray) -> None:
        self._reads, self._count = [reads], len(reads)

    def refine(self, grain: int) -> None:
        """Look closer from now on: an array of smaller elements has come."""
        ratio = self.grain // grain
        if ratio <= 1:
            return
        used = np.flatnonzero(self.writers["how"])  # the rest stays untouched memory, which costs nothing
        before, self.writers = self.writers.take(used), blank(len(self.writers) * ratio)
        put(self.writers, (used[:, None] * ratio + np.arange(ratio)).reshape(-1), before.repeat(ratio))
        self.reads, self.twins = (_finer(reads, ratio) for reads in (self.reads, self.twins))
        self.grain = grain
        self.standing.refine(ratio, len(self.writers))
        self.reductions.refine(ratio)
        self.scratch = np.zeros(len(self.writers), np.int32)  # for checks, which leave zeros

    # The copy engine, beside one copy at its issue (see issue_checks).

    def landed(self, units: np.ndarray, copy: int, tick: int, wrote: bool) -> None:
        """A load has landed in the phase that `tick` completes: whoever waits for that phase knows of it."""
        if wrote:
            self.reductions.landed(copy, tick)
            still = units[self.writers["copy"][units] == copy]
            self.writers["tick"][still] = tick
        else:
            self.reads["tick"][self.reads["copy"] == copy] = tick

    # Other clusters.

    def foreign(self, earlier: np.ndarray) -> np.ndarray | bool:
        """Which were made by other clusters, whose clocks mean nothing here: known to nobody."""
        if self._foreign_reads is None:
            return False
        foreign = (earlier["cluster"] != self.cluster) & (earlier["how"] != NOTHING)
        earlier["dimension"][foreign] = 0
        return foreign

    def others_were_at(self, units: np.ndarray, written: np.ndarray) -> bool:
        """Whether another cluster has written any of these, or read one that is written now."""
        return bool(self._by_others(self.writers, units).any() or self._by_others(self._foreign_reads, written).any())

    def keep_for_other_clusters(self, units: np.ndarray, reads: np.ndarray) -> None:
        """Reads of this cluster, which a write by another one must not meet."""
        several = self._by_others(self._foreign_reads, units)
        put(self._foreign_reads, units, reads)
        self._foreign_reads["cluster"][units[several]] = SEVERAL

    def check_foreign_reads(self, units: np.ndarray, later: np.ndarray) -> None:
        """Writes against reads by threads of other clusters, which nothing orders."""
        if self._foreign_reads is not None:
            foreign = self._by_others(self._foreign_reads, units)
            self.tell(
                UNORDERED, foreign, units, self._foreign_reads.take(units), later, np.ones(len(units), bool), False
            )

    def _by_others(self, records: np.ndarray, units: np.ndarray) -> np.ndarray:
        return (records["how"][units] != NOTHING) & (records["cluster"][units] != self.cluster)

    # Housekeeping.

    def prune(self, known: np.ndarray) -> None:
        """Drop reads that every thread knows of: no later access can conflict with them, except in other clusters.
        Strict runs keep them, since an order is not all that they ask for."""
        if self._count and not self.strict:
            kept = self.reads["tick"] > known[self.reads["dimension"]]
            self._keep(self.reads.compress(~kept))
            self.reads = self.reads.compress(kept)
        if len(self.reductions) and not self.many_clusters:
            self.reductions.prune(known)

    def next_cluster(self) -> None:
        """The cluster's threads are gone; what they did stays, ordered before the host only."""
        self._keep(self.reads)
        self.reads = self.reads[:0]
        self.twins = self.twins[:0]
        self.standing.next_cluster()
        self.reductions.next_cluster()
        self.cluster += 1

    def _keep(self, reads: np.ndarray) -> None:
        if self.many_clusters and len(reads):
            self.keep_for_other_clusters(reads["unit"], plain(reads))

    def _compact(self) -> None:
        """Keep the last read of each unit in each dimension: it is known only where the others are known too."""
        order = np.lexsort((self.reads["tick"], self.reads["dimension"], self.reads["unit"]))
        reads = self.reads.take(order)
        last = np.ones(len(reads), bool)
        last[:-1] = (reads["unit"][1:] != reads["unit"][:-1]) | (reads["dimension"][1:] != reads["dimension"][:-1])
        self.reads = reads.compress(last)
        self._compacted = len(self.reads)

    def remember_reads(self, units: np.ndarray, made: np.ndarray) -> None:
        """Reads that the next write must respect."""
        self._reads.append(with_units(units, made))
        self._count += len(units)
        if self._count > max(COMPACT_FROM, 2 * self._compacted):
            self._compact()

    def take_reads(self, units: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take out the reads of units that are about to be written, and for each the position of its unit."""
        if self.standing:
            standing, where = self.standing.at(units)
            self.standing.overwritten(units)
            reads, position = self._take_single_reads(units, positions)
            return np.concatenate([reads, standing]), np.concatenate([position, positions[where]])
        return self._take_single_reads(units, positions)

    def _take_single_reads(self, units: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self._count:
            return self.reads, positions[:0]
        self.scratch[units] = positions + 1
        position = self.scratch[self.reads["unit"]] - 1
        self.scratch[units] = 0
        taken = position >= 0
        reads, self.reads = self.reads.compress(taken), self.reads.compress(~taken)
        return reads, position[taken]

    def remember_twins(self, units: np.ndarray, made: np.ndarray) -> None:
        """Writes that are followed by others of the same value, unordered: who reads them later has to know both."""
        self.twins = np.concatenate([self.twins, with_units(units, made)])

    def forget_twins(self, units: np.ndarray) -> None:
        """Units are written anew."""
        self.twins = self.twins.compress(~np.isin(self.twins["unit"], units))

    def tell(self, why, found, units, earlier, later, writes, earlier_wrote=True) -> None:
        """Report the conflicts among these accesses: where `found` is true."""
        if found.any():
            at = np.flatnonzero(found)
            self.crossed |= self.many_clusters and bool((earlier["cluster"][at] != self.cluster).any())
            self._report(self.space, why, units[at] * self.grain, earlier[at], later[at], writes[at], earlier_wrote)

    # Units.

    def units(self, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """The units of byte ranges, without repeats."""
        first = np.asarray(starts) // self.grain
        return np.unique(_ranges(first, -(-np.asarray(stops) // self.grain) - first)[0])

    def units_of_entries(self, entries: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The units of logged accesses, and for each the number of its entry; None: each access has one unit."""
        grain = self.grain.bit_length() - 1
        first = entries >> (ADDRESS_SHIFT + grain)
        sizes = entries.astype(np.uint8) >> SIZE_SHIFT & 0b111
        if sizes.max() <= grain:
            return first, None
        return _ranges(first, 1 << np.maximum(sizes.astype(np.int64) - grain, 0))


def _finer(records: np.ndarray, ratio: int) -> np.ndarray:
    """Records of units of which each becomes so many."""
    parts = np.repeat(records, ratio)
    parts["unit"] = (records["unit"][:, None] * ratio + np.arange(ratio)).reshape(-1)
    return parts


def _ranges(first: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """first[i] .. first[i] + count[i] - 1 for every i, in one array; and the i of each."""
    index = np.arange(len(first))
    if not len(first) or (count == 1).all():
        return first, index
    parent = np.repeat(index, count)
    within = np.arange(len(parent)) - np.repeat(np.cumsum(count) - count, count)
    return first[parent] + within, parent
