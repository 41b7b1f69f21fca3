"""The collector of the second run: conflicts and misuse become hazards, one for each mistake in the source.

A conflict is found for every byte and thread; what a learner can mend is a line. So reports are kept by their name and
the lines they are about, with a count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.simulator import conflicts, misuse
from tmalab.simulator.conflict_names import WGMMA
from tmalab.simulator.hazards import COMMON, RANKS, Access, Hazard
from tmalab.simulator.loads import Load
from tmalab.simulator.reasons import (
    FENCED_BY_ANOTHER,
    NARROW_USED,
    READ_UNFENCED,
    SAME_WRITTEN,
    UNINITIALISED,
    UNORDERED,
)
from tmalab.simulator.records import RECORD
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.simulation import Simulation

STRICT = (SAME_WRITTEN, READ_UNFENCED, FENCED_BY_ANOTHER, NARROW_USED)
NO_DETAILS = (
    "key",
    "once",
    "rank",
    "report",
    "line",
    "earlier_line",
    "multiple",
)  # words of a report that its data has elsewhere
AFTER_READ_TOO_EARLY = "exit-in-flight"  # follows from a read before the wait, which already says it


class Collector:
    """The hazards of one run. `found` says whether there are any."""

    def __init__(self, run: Simulation):
        self._run = run
        self.found = False
        self._hazards: dict[tuple, Hazard] = {}
        self._ranks: dict[tuple, int] = {}  # by the same keys
        self._warnings: list[str] = []
        self._read_too_early: set[int] = set()  # copies
        self._garbage: dict[int, np.ndarray] = {}  # address in shared memory: the read of what nobody had written
        self.first_met: Callable[[Hazard], None] = lambda hazard: None  # is told of each hazard at once

    def tell(self, name: str, **facts: Any) -> None:
        """A thread does something wrong, or a barrier shows it."""
        self.found = True
        copy = facts.get("copy")
        if name == AFTER_READ_TOO_EARLY and copy is not None and copy.number in self._read_too_early:
            return
        accesses, words = misuse.FACTS[name](self._run, **facts)
        self._add(name, words.pop("variant", ""), accesses, words)

    def conflict(
        self,
        space: str,
        why: str,
        addresses: np.ndarray,
        earlier: np.ndarray,
        later: np.ndarray,
        writes: np.ndarray,
        earlier_wrote: bool,
    ) -> None:
        """Accesses do not go together: the arguments are those of `shadow.Report`."""
        self.found = True
        if why in STRICT:
            self._warn(why, space, addresses, earlier, later)
            return
        if why == UNINITIALISED:
            self._garbage.update(zip(addresses.tolist(), later))
            return
        self._explain(space, why, addresses, earlier, later, writes, earlier_wrote)

    def _explain(
        self,
        space: str,
        why: str,
        addresses: np.ndarray,
        earlier: np.ndarray,
        later: np.ndarray,
        writes: np.ndarray,
        earlier_wrote: bool,
    ) -> None:
        """One hazard for each kind and pair of lines, told by its first conflict."""
        known = space == "shared" and not earlier_wrote
        garbage = np.array([known and address in self._garbage for address in addresses.tolist()])
        for address in addresses[garbage].tolist():
            self._garbage.pop(address, None)  # who writes it later was meant: what is missing is an order
        hows = (earlier["how"], later["how"], writes, garbage, earlier["fresh"])
        pairs = np.stack([earlier["place"], later["place"], *hows])
        _, firsts, counts = np.unique(pairs, axis=1, return_index=True, return_counts=True)
        for at, count in sorted(zip(firsts.tolist(), counts.tolist())):
            facts = (int(addresses[at]), earlier[at], later[at], bool(writes[at]), earlier_wrote, bool(garbage[at]))
            conflict = conflicts.Conflict(self._run, space, why, *facts)
            for name, variant, accesses, words in conflicts.explained(conflict):
                if name == "read-before-wait":
                    self._read_too_early.add(int(earlier[at]["copy"]))
                self._add(name, variant, accesses, words, count)

    def _warn(self, why: str, space: str, addresses: np.ndarray, earlier: np.ndarray, later: np.ndarray) -> None:
        """What only the letter of PTX asks for: one sentence for each pair of lines."""
        pairs = np.stack([earlier["place"], later["place"]])
        for at in np.unique(pairs, axis=1, return_index=True)[1].tolist():
            facts = (int(addresses[at]), earlier[at], later[at], True, True, False)
            where = conflicts.Conflict(self._run, space, why, *facts)
            places = [self._run.source.places[int(record["place"])] for record in (earlier[at], later[at])]
            sentence = text(f"hazards.strict-{why}", earlier=places[0], later=places[1], array=where.array)
            if sentence not in self._warnings:
                self._warnings.append(sentence)

    def doubt(self, key: str, **words: Any) -> None:
        """A strict run warns of what only the letter of PTX asks for."""
        sentence = text(f"hazards.strict-{key}", **words)
        if sentence not in self._warnings:
            self._warnings.append(sentence)

    def cluster_ended(self) -> None:
        """A cluster's threads and copies are done: what was read as garbage was garbage."""
        self._explain_garbage_that_a_load_replaced()
        if self._garbage:
            addresses, reads = np.array(list(self._garbage)), np.array(list(self._garbage.values()), RECORD)
            nobody, writes = np.zeros(len(reads), RECORD), np.zeros(len(reads), bool)
            self._explain("shared", UNINITIALISED, addresses, nobody, reads, writes, True)
            self._garbage.clear()

    def reports(self) -> list[Hazard]:
        """All hazards: causes before what comes of them, otherwise in the order in which they were found."""
        return [self._hazards[key] for key in sorted(self._hazards, key=lambda key: self._ranks[key])]

    def _explain_garbage_that_a_load_replaced(self) -> None:
        """Shared memory read as garbage, and loaded later: ordered or not, the reader has not waited for that load."""
        shadow, copies = self._run.cluster.shadow, self._run.copies
        addresses = [address for address, read in self._garbage.items() if self._may_wait(read)]
        loads = {address: shadow.writers[address // shadow.grain] for address in addresses}
        replaced = [address for address in addresses if isinstance(copies.get(int(loads[address]["copy"])), Load)]
        if replaced:
            reads = np.array([self._garbage[address] for address in replaced], RECORD)
            written = np.array([loads[address] for address in replaced], RECORD)
            writes = np.ones(len(replaced), bool)
            self._explain("shared", UNORDERED, np.array(replaced), reads, written, writes, earlier_wrote=False)

    def _may_wait(self, read: np.ndarray) -> bool:
        """Whether a read was made by a thread, or by a wgmma, whose threads could have waited."""
        copy = self._run.copies.get(int(read["copy"]))
        return copy is None or copy.role == WGMMA

    def warnings(self) -> list[str]:
        """What is legal but doubtful."""
        return self._warnings

    def _add(self, name: str, variant: str, accesses: list[Access], words: dict[str, Any], count: int = 1) -> None:
        lines = () if "once" in words else sorted((access.file or "", access.line or 0) for access in accesses)
        key = (name, variant, *lines, words.get("key"))
        if key in self._hazards:
            self._hazards[key].count += count
            return
        sentences = [text(f"hazards.{name}"), *_table(accesses), "  " + _sentence(name, variant, "why", words)]
        fix = _sentence(name, variant, "fix", words)
        self._ranks[key] = words.get("rank", RANKS.get(name, COMMON))
        self._hazards[key] = Hazard(name, "\n".join(sentences), accesses, fix, count, _details(words))
        self.first_met(self._hazards[key])


def _sentence(name: str, variant: str, part: str, words: dict[str, Any]) -> str:
    """What is missing ("why") or to be written ("fix"), in the words for this variant of a hazard."""
    if part == "fix" and "code" in words:  # what is written names a barrier as the source does
        words = {**words, "barrier": words["code"]}
    if variant:
        return text(f"hazards.{name}-{variant}-{part}", **words)
    return text(f"hazards.{name}-{part}", **words)


def _details(words: dict[str, Any]) -> dict[str, Any]:
    """The words that are data: numbers as such."""
    plain = {name: value for name, value in words.items() if name not in NO_DETAILS}
    return {name: _number(value) if isinstance(value, str) else value for name, value in plain.items()}


def _number(value: str) -> int | str:
    """The number that stands there, as 1,024."""
    digits = value.replace(",", "")
    return int(digits) if digits.isdigit() else value


def _table(accesses: list[Access]) -> list[str]:
    """Who does what, where: in columns."""
    rows = [(f"{access.who} {access.does}", _place(access), access.note) for access in accesses]
    width = max((len(row[0]) for row in rows), default=0)
    where = max((len(row[1]) for row in rows), default=0)
    return [f"  {what:{width}}   {place:{where}}   {note}".rstrip() for what, place, note in rows]


def _place(access: Access) -> str:
    from tmalab.simulator.source import Place

    return str(Place(access.file, access.line)) if access.file and access.line is not None else ""
