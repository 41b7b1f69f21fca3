"""The life of a barrier: initialised not at all, twice, too late, ended too early, taken for memory."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

COPY, AGAIN = "copy_tile", "barrier_ends_and_begins"
WAIT = "while not ptx.mbarrier_try_wait_parity(bar, 0):\n        pass"

MUTANTS: dict[str, Mutant] = {
    "no init": drop(COPY, "ptx.mbarrier_init(bar, 1)", "barrier-not-initialised"),
    "no barrier after the init": drop(COPY, "cuda.syncthreads()", "barrier-not-initialised"),
    "init of one stage missing": hand(
        "every_consumer_arrives, 4 tiles",
        "        for s in range(STAGES):\n            ptx.mbarrier_init(full[s], 1)\n",
        "        ptx.mbarrier_init(full[0], 1)\n        for s in range(STAGES):\n",
        "barrier-not-initialised",
    ),
    "one stage more than there are barriers": turn(
        "more", "ping_pong, 8 tiles", "for s in range(4):", "for s in range(5):", "out-of-bounds", "barrier-reinit"
    ),
    "init after the barrier of the CTA": swap(COPY, "if tid == 0:", "cuda.syncthreads()", "barrier-not-initialised"),
    "init by a warp for itself alone": turn(
        "instead", "loads_before_the_expectation", "cuda.syncthreads()", "cuda.syncwarp()", "barrier-not-initialised"
    ),
    "every thread initialises": turn("all", COPY, "if tid == 0:", "if True:", "barrier-reinit"),
    "initialised again for the second tile": hand(
        "load_change_store",
        "        if tid == 0:\n            ptx.mbarrier_arrive",
        "        if tid == 0:\n            ptx.mbarrier_init(bar, 1)\n            ptx.mbarrier_arrive",
        "barrier-reinit",
    ),
    "not ended before the next init": drop(AGAIN, "ptx.mbarrier_inval(bar)", "barrier-reinit", "barrier-as-memory"),
    "ended while others wait": drop(AGAIN, "cuda.syncthreads()", "barrier-not-initialised", nth=1),
    "number written before the end": swap(AGAIN, "ptx.mbarrier_inval(bar)", "bar[0, 0] = 7 + k", "barrier-as-memory"),
    "barrier used as memory": hand(COPY, WAIT, WAIT + "\n    bar[0, 0] = 1", "barrier-as-memory"),
    "barrier read as memory": hand(COPY, WAIT, WAIT + "\n    out[0, 0] = bar[0, 0]", "barrier-as-memory"),
    "barrier within another's 8 bytes": hand(
        "handed_over_by_mbarrier", "ptx.mbarrier_init(bar, 32)", "ptx.mbarrier_init(1036, 32)", "misaligned"
    ),
}
