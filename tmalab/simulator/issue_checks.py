"""A copy at its issue, held against the shadow memory: the last writers, the reads and the reductions before it.

What is asked is whether the copy's issuer is ordered after them, and whether what threads wrote was carried to the
asynchronous proxy on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tmalab.simulator.reasons import (
    FENCED_BY_ANOTHER,
    NARROW_USED,
    ON_BARRIER,
    READ_UNFENCED,
    TOO_NARROW,
    UNFENCED,
    UNINITIALISED,
    UNORDERED,
)
from tmalab.simulator.records import BARRIER, CP_ASYNC, NOTHING, REDUCTION, by_copy, by_thread, plain, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from tmalab.simulator.clocks import Issuer
    from tmalab.simulator.outstanding_reductions import Reductions
    from tmalab.simulator.standing_reads import StandingReads


class Needs(NamedTuple):
    """What a copy that reads some units has to know: ticks by dimension, and those that a fence must have carried."""

    order: dict[int, int]
    carried: dict[int, int]

    def are_known(self, issuer: Issuer) -> bool:
        """Whether an issuer knows all of it, so that no more need be looked at."""
        return (
            issuer.own is None
            and all(issuer.order[dimension] >= tick for dimension, tick in self.order.items())
            and all(issuer.carried[dimension] >= tick for dimension, tick in self.carried.items())
        )


class IssueChecks:
    """The part of a Shadow that copies are checked by when they are issued: what that has, and this uses."""

    space: str
    writers: np.ndarray
    twins: np.ndarray
    reads: Any  # array of records
    standing: StandingReads
    reductions: Reductions
    cluster: int
    strict: bool
    tell: Callable[..., None]
    foreign: Callable[..., Any]
    remember_reads: Callable[..., None]
    take_reads: Callable[..., Any]
    check_foreign_reads: Callable[..., None]
    forget_twins: Callable[..., None]

    def issue_read(self, units: np.ndarray, made: np.ndarray, issuer: Issuer) -> None:
        """A copy that reads `units`."""
        self._check_issue(units, made, issuer, writes=False)
        self.remember_reads(units, made)

    def issue_ordered_read(self, units: np.ndarray, made: np.ndarray, issuer: Issuer) -> None:
        """A copy that reads `units`, after all that its dimension counts before it."""
        self._check_issue(units, made, issuer, writes=False)
        self.standing.add(units, made)

    def needs(self, units: np.ndarray) -> Needs:
        """What a copy that reads `units` has to know."""
        earlier = self.writers.take(units)
        by_hand = by_thread(earlier["how"]) | (earlier["how"] == CP_ASYNC)
        return Needs(_last_ticks(earlier), _last_ticks(earlier[by_hand]))

    def check_read(self, units: np.ndarray, made: np.ndarray, issuer: Issuer) -> None:
        """A copy that reads `units` has another issuer as well."""
        self._check_issue(units, made, issuer, writes=False)

    def issue_write(self, units: np.ndarray, made: np.ndarray, issuer: Issuer) -> None:
        """A copy that writes `units`."""
        self._check_issue(units, made, issuer, writes=True)
        reads, _ = self.take_reads(units, np.zeros(len(units), np.int32))
        self._check_reads(reads, made, issuer)
        self.check_foreign_reads(units, np.broadcast_to(made, units.shape))
        put(self.writers, units, made)
        self.reductions.overwritten(units)

    def issue_reduction(self, units: np.ndarray, made: np.ndarray, issuer: Issuer) -> None:
        """A copy that combines what it brings with what it finds in `units`."""
        self._check_issue(units, made, issuer, writes=True)
        if self.space == "shared":
            earlier, later = self.writers.take(units), np.broadcast_to(made, units.shape)
            self.tell(UNINITIALISED, earlier["how"] == NOTHING, units, earlier, later, np.zeros(len(units), bool))
        self._check_reads(self.reads.compress(np.isin(self.reads["unit"], units)), made, issuer)
        self._check_reads(self.standing.at(units)[0], made, issuer)
        self.check_foreign_reads(units, np.broadcast_to(made, units.shape))
        self.reductions.add(units, made)

    def _check_reads(self, reads: np.ndarray, made: np.ndarray, issuer: Issuer) -> None:
        """A copy that writes against the reads before it."""
        if not len(reads):
            return
        dimension, tick = reads["dimension"], reads["tick"]
        unknown = issuer.order[dimension] < tick
        later, writes = np.broadcast_to(made, reads.shape), np.ones(len(reads), bool)
        plain_reads, asynchronous = plain(reads), bool(by_copy(made["how"]))
        facts = (reads["unit"], plain_reads, later, writes, False)
        unordered = self._by_scope(unknown, np.full(len(reads), asynchronous), issuer, *facts)
        self.tell(UNORDERED, unordered, *facts)
        if issuer.own is not None and asynchronous:
            unfenced = by_thread(reads["how"]) & ~unknown & (issuer.carried[dimension] < tick)
            self.tell(READ_UNFENCED, unfenced, *facts)

    def _check_issue(self, units: np.ndarray, made: np.ndarray, issuer: Issuer, writes: bool) -> None:
        """A copy against the last writers."""
        earlier = self.writers.take(units)
        later, writing = np.broadcast_to(made, units.shape), np.full(len(units), writes)
        foreign = self.foreign(earlier)
        how, dimension, tick = earlier["how"], earlier["dimension"], earlier["tick"]
        unknown = foreign | (issuer.order[dimension] < tick)
        credited = by_copy(how) & by_copy(made["how"]) & (self.space == "shared")
        unordered = self._by_scope(unknown & (how != BARRIER), credited, issuer, units, earlier, later, writing)
        self.tell(UNORDERED, unordered, units, earlier, later, writing)
        self.tell(ON_BARRIER, how == BARRIER, units, earlier, later, writing)
        if by_copy(made["how"]):
            generic = by_thread(how) | (how == CP_ASYNC)
            fenced = issuer.carried[dimension] >= tick
            self.tell(UNFENCED, generic & ~unknown & ~fenced, units, earlier, later, writing)
            if issuer.own is not None:
                by_another = generic & ~unknown & fenced & (issuer.own[dimension] < tick)
                self.tell(FENCED_BY_ANOTHER, by_another, units, earlier, later, writing)
        if len(self.twins):
            self._check_twins(units, made, issuer, writes)
        if self.space == "shared" and not writes:
            self.tell(UNINITIALISED, how == NOTHING, units, earlier, later, writing)
        if len(self.reductions) and made["how"] != REDUCTION:
            self._check_reductions_at_issue(units, made, issuer, writes)

    def _check_twins(self, units: np.ndarray, made: np.ndarray, issuer: Issuer, writes: bool) -> None:
        """A copy against writers of the same value as the last ones, unordered with these."""
        twins = self.twins.compress(np.isin(self.twins["unit"], units))
        earlier, unknown = plain(twins), issuer.order[twins["dimension"]] < twins["tick"]
        unfenced = ~unknown & (issuer.carried[twins["dimension"]] < twins["tick"]) & by_copy(made["how"])
        later, writing = np.broadcast_to(made, twins.shape), np.full(len(twins), writes)
        self.tell(UNORDERED, unknown, twins["unit"], earlier, later, writing)
        self.tell(UNFENCED, unfenced, twins["unit"], earlier, later, writing)
        if writes:
            self.forget_twins(units)

    def _check_reductions_at_issue(self, units: np.ndarray, made: np.ndarray, issuer: Issuer, writes: bool) -> None:
        """A copy that is no reduction against the reductions before it."""
        positions, numbers = self.reductions.meeting(units)
        earlier = plain(self.reductions.records.take(numbers))
        unknown = self.foreign(earlier) | (issuer.order[earlier["dimension"]] < earlier["tick"])
        later, writing = np.broadcast_to(made, unknown.shape), np.full(len(unknown), writes)
        credited = np.full(len(unknown), self.space == "shared" and bool(by_copy(made["how"])))
        facts = (units[positions], earlier, later, writing)
        self.tell(UNORDERED, self._by_scope(unknown, credited, issuer, *facts), *facts)

    def check_reductions(self, units: np.ndarray, made: np.ndarray, clocks: np.ndarray, writes: np.ndarray) -> None:
        """Accesses of threads, each with its clock, against the reductions before them."""
        positions, numbers = self.reductions.meeting(units)
        if not len(positions):
            return
        earlier = plain(self.reductions.records.take(numbers))
        unknown = self.foreign(earlier) | (clocks[positions, earlier["dimension"]] < earlier["tick"])
        self.tell(UNORDERED, unknown, units[positions], earlier, made[positions], writes[positions])
        self.reductions.overwritten(units[writes])

    def _by_scope(
        self,
        unknown: np.ndarray,
        excused: np.ndarray,
        issuer: Issuer,
        units: np.ndarray,
        earlier: np.ndarray,
        later: np.ndarray,
        writes: np.ndarray,
        earlier_wrote: bool = True,
    ) -> np.ndarray:
        """Of what a copy is not ordered after, that which nothing orders. What only the scope is too narrow for is
        told, or where that is `excused` strict runs warn of it."""
        if issuer.narrow is None or not unknown.any():
            return unknown
        narrowly = unknown & self.knows_narrowly(issuer.narrow[earlier["dimension"]], earlier)
        self.tell(TOO_NARROW, narrowly & ~excused, units, earlier, later, writes, earlier_wrote)
        if self.strict:
            self.tell(NARROW_USED, narrowly & excused, units, earlier, later, writes, earlier_wrote)
        return unknown & ~narrowly

    def knows_narrowly(self, ticks: np.ndarray, earlier: np.ndarray) -> np.ndarray:
        """Whether narrow clocks, which say `ticks` of the dimensions of earlier accesses, know of these."""
        return (ticks >= earlier["tick"]) & (earlier["cluster"] == self.cluster)


def _last_ticks(records: np.ndarray) -> dict[int, int]:
    """The last tick of each dimension among some records."""
    dimensions = np.flatnonzero(np.bincount(records["dimension"])).tolist()
    return {dimension: int(records["tick"][records["dimension"] == dimension].max()) for dimension in dimensions}
