"""The fixed example of figure 7: four CTAs, one load, and a barrier in each.

Worked out for each CTA by itself, with an MBarrier: all that it depends on is whether the mask names the CTA and
whether the CTA has promised the bytes.

>>> [state.tx for state in history(masked=True, promised=True)]
[0, 1024, 1024, 768, 512, 256, 0, 0]
>>> print(example_frames(mask=0b0011, promises=0b0001)[-1].says)
CTA 0: every promised byte has landed, its phase is complete. CTA 1: the bytes came though nobody promised them: tx is \
-1,024, an arrival is pending, and its phase never ends.
"""

from __future__ import annotations

from tmalab.figures.multicast_frames import CtaState, Frame, bits, named
from tmalab.mbarrier import MBarrier
from tmalab.texts import text

CTAS, BYTES, PIECES = 4, 1024, 4  # 8 rows of 64 fp16, which land in quarters
STEPS = ("init", "promise", "issue", *["lands"] * PIECES, "end")
ALL = (1 << CTAS) - 1


def history(masked: bool, promised: bool) -> list[CtaState]:
    """One CTA, step by step."""
    barrier, landed, states = MBarrier(1), 0, []
    for step in STEPS:
        if step == "promise" and promised:
            barrier.arrive_expect_tx(BYTES)
        if step == "lands" and masked:
            barrier.complete_tx(BYTES // PIECES)
            landed += BYTES // PIECES
        states.append(CtaState(barrier.phase, barrier.pending_count, barrier.tx_count, landed))
    return states


def example_frames(mask: int, promises: int) -> list[Frame]:
    """All of it, CTA 0 issuing: bit i of `mask` and of `promises` is CTA i."""
    every = [history(bool(mask >> rank & 1), bool(promises >> rank & 1)) for rank in range(CTAS)]
    frames = []
    for number, step in enumerate(STEPS):
        states = tuple(states[number] for states in every)
        values = values_at(number, mask)
        who = {"init": named(ALL), "promise": named(promises), "issue": named(1)}.get(step, text("multicast.load"))
        if step == "end":
            who = text("multicast.nothing-more")
        did = text(f"multicast.did-{step}", **values)
        frames.append(Frame(who, did, None, states, says(step, values, mask, promises)))
    return frames


def values_at(number: int, mask: int) -> dict[str, object]:
    """What a step's sentences are filled with."""
    landed = BYTES // PIECES * (number - STEPS.index("lands") + 1)
    return {"mask": bits(mask), "bytes": f"{BYTES:,}", "piece": f"{BYTES // PIECES:,}", "landed": f"{landed:,}"}


def says(step: str, values: dict[str, object], mask: int, promises: int) -> str:
    """The sentence of a step."""
    if step == "end":
        groups = {"complete": mask & promises, "hungry": promises & ~mask, "unpromised": mask & ~promises}
        said = (text(f"multicast.end-{name}", ctas=named(group), **values) for name, group in groups.items() if group)
        return " ".join(said) or text("multicast.end-nothing")
    concerned = {"init": ALL, "promise": promises}.get(step, mask)
    return text(f"multicast.{step}" if concerned else f"multicast.{step}-none", ctas=named(concerned), **values)
