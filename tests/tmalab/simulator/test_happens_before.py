"""The vectorised checks against the definition: two accesses to a unit, one a write, that nothing orders.

The oracle knows no clocks: it keeps, for each thread, the set of accesses that it has heard of.
"""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest

from tmalab.simulator.access_log import AccessLog
from tmalab.simulator.arrays import ADDRESS_SHIFT, READ, SIZE_SHIFT, WRITE
from tmalab.simulator.clocks import Clocks
from tmalab.simulator.reasons import UNORDERED
from tmalab.simulator.shadow import Shadow

THREADS, UNITS, GRAIN, EVENTS = 4, 12, 4, 120


class Oracle:
    """Who has heard of which accesses; and the units at which two of them are not ordered."""

    def __init__(self):
        self.accesses = []  # thread, unit, writes
        self.known = defaultdict(set)
        self.racy = set()

    def access(self, thread, unit, writes):
        for number, (other, place, wrote) in enumerate(self.accesses):
            if place == unit and (wrote or writes) and other != thread and number not in self.known[thread]:
                self.racy.add(unit)
        self.known[thread].add(len(self.accesses))
        self.accesses.append((thread, unit, writes))

    def meet(self, threads):
        together = set().union(*(self.known[thread] for thread in threads))
        for thread in threads:
            self.known[thread] = set(together)

    def tell(self, giver, taker):
        self.known[taker] |= self.known[giver]


class Simulated:
    """The same by clocks, log and shadow memory."""

    def __init__(self):
        self.racy = set()
        self.clocks = Clocks(THREADS)
        self.threads = [SimpleNamespace(row=1 + i, number=i, segments=0) for i in range(THREADS)]
        self.log = AccessLog(None)
        self.log.begin(self.clocks, 1, lambda: [1 + i for i in range(THREADS)], np.arange(-1, THREADS))
        for track in (self.log.shared, self.log.world):
            track.shadow = Shadow("global", UNITS * GRAIN, GRAIN, self.report)
        self.row = self.clocks.new_row()

    def report(self, space, why, addresses, earlier, later, writes, earlier_wrote):
        assert why == UNORDERED
        self.racy |= set((addresses // GRAIN).tolist())

    def access(self, thread, unit, writes):
        self.note(unit, writes)
        self.log.cut(self.threads[thread])

    def note(self, unit, writes):
        self.log.world.note(unit * GRAIN << ADDRESS_SHIFT | 2 << SIZE_SHIFT | (WRITE if writes else READ))

    def meet(self, threads):
        rows = [1 + thread for thread in threads]
        if len(threads) == THREADS:
            self.log.all_meet(copies=False)
        self.clocks.meet(rows)
        self.clocks.tick_all(rows)
        if len(threads) == THREADS:
            self.log.all_met(copies=False)

    def tell(self, giver, taker):
        self.clocks.clear(self.row)
        self.clocks.join(self.row, 1 + giver)
        self.clocks.tick(1 + giver)
        self.clocks.join(1 + taker, self.row)


def play(seed, sharing):
    """A random program, run by both. `sharing`: how often threads touch each other's units."""
    rng = np.random.default_rng(seed)
    oracle, simulated = Oracle(), Simulated()
    for _ in range(EVENTS):
        kind = rng.choice(["access", "meet all", "meet", "tell", "check"], p=[0.75, 0.06, 0.06, 0.11, 0.02])
        if kind == "access":
            thread = int(rng.integers(THREADS))
            own = range(thread * UNITS // THREADS, (thread + 1) * UNITS // THREADS)
            unit = int(rng.integers(UNITS)) if rng.random() < sharing else int(rng.choice(own))
            call = ("access", thread, unit, bool(rng.random() < 0.4))
        elif kind == "tell":
            giver, taker = rng.choice(THREADS, 2, replace=False).tolist()
            call = ("tell", giver, taker)
        elif kind == "check":
            simulated.log.check()
            continue
        else:
            size = THREADS if kind == "meet all" else int(rng.integers(2, THREADS))
            call = ("meet", rng.choice(THREADS, size, replace=False).tolist())
        for world in (oracle, simulated):
            getattr(world, call[0])(*call[1:])
    simulated.log.check()
    return oracle.racy, simulated.racy


@pytest.mark.parametrize("sharing", [0.02, 0.1, 0.5])
def test_a_unit_is_reported_exactly_when_two_of_its_accesses_are_not_ordered(sharing):
    racy = 0
    for seed in range(120):
        expected, found = play(seed, sharing)
        assert found == expected, f"seed {seed}"
        racy += bool(expected)
    assert racy > 0  # the programs are not all harmless


def test_a_quick_check_between_two_meetings_sees_what_the_exact_one_sees():
    """Between meetings of all threads only units that one thread writes and another touches are races."""
    racy = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        oracle, simulated = Oracle(), Simulated()
        for _ in range(4):
            for thread in range(THREADS):
                for _ in range(3):
                    unit = thread * 3 + int(rng.integers(3)) if rng.random() < 0.9 else int(rng.integers(UNITS))
                    writes = bool(rng.random() < 0.5)
                    oracle.access(thread, unit, writes)
                    simulated.note(unit, writes)
                simulated.log.cut(simulated.threads[thread])  # one segment between two meetings
            for world in (oracle, simulated):
                world.meet(list(range(THREADS)))
        simulated.log.check()
        assert simulated.racy == oracle.racy, f"seed {seed}"
        racy += bool(oracle.racy)
    assert 0 < racy < 60


def test_reads_are_forgotten_once_all_threads_know_of_them():
    simulated = Simulated()
    for _ in range(50):
        for thread in range(THREADS):
            simulated.access(thread, 0, False)
        simulated.meet(list(range(THREADS)))
    simulated.log.check()
    assert len(simulated.log.world.shadow.reads) == 0


def test_reads_that_nobody_orders_are_kept_once_for_each_thread():
    simulated = Simulated()
    for _ in range(3000):
        for thread in range(THREADS):
            simulated.access(thread, 0, False)
            simulated.clocks.tick(1 + thread)
    simulated.log.check()
    for _ in range(3000):
        simulated.access(0, 0, False)
    simulated.log.check()
    assert len(simulated.log.world.shadow.reads) <= 3000 + THREADS
