"""What a multicast does to the CTAs of a cluster, as frames: after each event the barrier and the bytes of every CTA.

>>> CtaState(pending=1).landed, bits(0b1011), named(0b1011)
(0, '0b1011', 'CTA 0, 1, 3')
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tmalab.simulator.story import Moment, Story
from tmalab.texts import text

WAITS = ("waits_mbarrier", "mbarrier_wait")
TOLD = (  # of what happens to a barrier
    "mbarrier_init",
    "mbarrier_arrive",
    "mbarrier_arrive_expect_tx",
    "mbarrier_expect_tx",
    "load",
    "load_lands",
    *WAITS,
)


class CtaState(NamedTuple):
    """One CTA: its barrier, how many bytes of this load have landed there, and how many threads wait for them."""

    phase: int = 0
    pending: int = 0
    tx: int = 0
    landed: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class Frame:
    """Who did what, where; the state of every CTA that it left, by rank; the sentence."""

    who: str
    did: str
    line: int | None
    ctas: tuple[CtaState, ...]
    says: str


class Multicast(NamedTuple):
    """A load into several CTAs: its name, bytes and mask, the rank that issued it, and what happened."""

    name: str
    bytes: int
    mask: int
    issuer: int
    frames: list[Frame]

    def first(self, most: int) -> list[Frame]:
        """So many of the frames."""
        return self.frames[:most]


def multicasts_of(story: Story, most: int) -> tuple[list[Multicast], int]:
    """So many multicast loads of a run, in the order of their issue, and how many there are.

    The first ones where the run is told from its beginning, else the last ones: it may have ended because of them.
    """
    issues: dict[tuple[int, int, int], list[Moment]] = {}
    for moment in story.moments:
        if moment.what == "load" and moment.barrier and story.copies[moment.copy].mask is not None:
            key = moment.step, moment.thread, story.copies[moment.copy].address
            issues.setdefault(key, []).append(moment)
    kept = list(enumerate(issues.values(), 1))
    kept = kept[:most] if story.cut else kept[-most:]
    return [_multicast(story, issued, number) for number, issued in kept], len(issues)


def bits(mask: int, width: int = 4) -> str:
    """A mask as Python writes it, with a bit for every CTA."""
    return f"0b{mask:0{width}b}"


def ranks(mask: int) -> list[int]:
    """The bits of a mask that are set."""
    return [rank for rank in range(mask.bit_length()) if mask >> rank & 1]


def named(mask: int) -> str:
    """The CTAs of a mask, in words."""
    listed = ", ".join(map(str, ranks(mask)))
    return text("multicast.ctas", ranks=listed) if listed else text("multicast.nobody")


def _multicast(story: Story, issued: Sequence[Moment], number: int) -> Multicast:
    copy = story.copies[issued[0].copy]
    mask = copy.mask or 0
    cluster, copies = copy.cluster, {moment.copy for moment in issued}
    states = dict.fromkeys(cluster, CtaState())
    waiting: dict[int, set[int]] = {cta: set() for cta in cluster}
    frames: list[Frame] = []
    for moment, told in _of_these(story, issued, cluster):
        cta = moment.place[0]
        before, waits = states[cta], waiting[cta]
        if moment.what in WAITS or moment.state.phase > before.phase:  # a complete phase lets all go on
            waits.clear() if moment.what != "waits_mbarrier" else waits.add(moment.thread)
        landed = moment.operand if moment.copy in copies and moment.what == "load_lands" else before.landed
        after = CtaState(moment.state.phase, moment.state.pending, moment.state.tx, landed, len(waits))
        states[cta] = after
        if not told or moment.what in WAITS or (moment.what == "load" and moment is not issued[-1]):
            continue
        who, did = _said(story, moment, cluster, landed - before.landed)
        outcome = _outcome(cluster.index(cta), before, after) if moment.what != "load" else ""
        frames.append(_frame(who, did, moment.line, states, outcome))
    phases = {moment.place[0]: moment.state.phase for moment in issued}
    phase = min(phases.values())
    hungry = [cta for cta in cluster if waiting[cta] and states[cta].phase == phases.get(cta, phase)]
    if hungry and not story.cut:
        ended = [text("multicast.run-waits", count=len(waiting[cta]), rank=cluster.index(cta)) for cta in hungry]
        frames.append(_frame(text("multicast.nothing-more"), text("multicast.did-end"), None, states, " ".join(ended)))
    values = {"number": number, "name": copy.name, "mask": bits(mask, len(cluster))}
    issuer = cluster.index(issued[0].cta)
    return Multicast(text("multicast.name", **values), copy.bytes, mask, issuer, frames)


def _frame(who: str, did: str, line: int | None, states: dict[int, CtaState], outcome: str) -> Frame:
    says = f"{who[:1].upper()}{who[1:]} {did}. {outcome}".strip()
    return Frame(who, did, line, tuple(states.values()), says)


def _of_these(story: Story, issued: Sequence[Moment], cluster: Sequence[int]) -> Iterator[tuple[Moment, bool]]:
    """What happens to the barriers of a load in every CTA of the cluster, and whether in the phase that it ends."""
    ends = {moment.barrier: moment.state.phase for moment in issued}
    address, copies = issued[0].place[1], {moment.copy for moment in issued}
    phases: dict[tuple[int, int], int] = {}
    for moment in story.moments:
        if moment.what not in TOLD or not moment.barrier or moment.barrier[1] != address:
            continue
        if moment.place[0] not in cluster:
            continue
        before, phases[moment.barrier] = phases.get(moment.barrier, 0), moment.state.phase
        end = ends.get(moment.barrier, min(ends.values()))
        other = moment.what in ("load", "load_lands") and moment.copy not in copies
        yield moment, before == end and not other


def _said(story: Story, moment: Moment, cluster: Sequence[int], bytes: int) -> tuple[str, str]:
    """Who, and what they did."""
    rank = cluster.index(moment.place[0])
    if moment.what == "load_lands":
        return text("multicast.load"), text("multicast.run-lands", bytes=f"{bytes:,}", rank=rank)
    values = {"rank": rank, "count": f"{moment.operand or 0:,}"}
    if moment.what == "load":
        copy = story.copies[moment.copy]
        values = {"mask": bits(copy.mask or 0, len(cluster)), "bytes": f"{copy.bytes:,}", "name": copy.name}
    return story.names[moment.thread], text(f"multicast.run-{moment.what.replace('_', '-')}", **values)


def _outcome(rank: int, before: CtaState, after: CtaState) -> str:
    """What came of it in that CTA."""
    if after.phase > before.phase:
        return text("multicast.run-complete", rank=rank, phase=before.phase)
    return text("multicast.run-state", rank=rank, pending=after.pending, tx=f"{after.tx:,}")
