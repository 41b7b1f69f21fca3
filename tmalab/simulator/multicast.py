"""Multicast: one load into several CTAs of the cluster, at the same place in each.

Bit i of the mask is the CTA of rank i. The bytes land at the same offset of each CTA's shared memory, and are credited
to the barrier at the same offset there, which its own CTA must have promised them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.faults import TmaFault
from tmalab.simulator.loads import Target
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread


def check_launch(thread: SimThread, mask: int | None) -> None:
    """Without clusters a multicast to others is no instruction: that comes before its addresses (measured, H200)."""
    if mask is not None and not thread.cta.cluster.has_peers:
        _check_mask(thread, mask)


def targets(thread: SimThread, destination: int, bar: int, mask: int | None) -> list[Target]:
    """Where a load lands: in its own CTA, or in those of the mask. What may not be reached is told."""
    ctas = _ctas(thread, mask)
    for cta in ctas:
        cta.peers.reached_by(thread)
    return [Target(cta, destination, cta.mbarriers.for_thread(thread, bar)) for cta in ctas]


def _ctas(thread: SimThread, mask: int | None) -> list[Cta]:
    if mask is None:
        return [thread.cta]
    ctas = thread.cta.cluster.ctas
    if mask == 0:
        thread.tell("multicast-mask", mask=mask)
    _check_mask(thread, mask)
    return [cta for cta in ctas if mask >> cta.rank & 1]


def _check_mask(thread: SimThread, mask: int) -> None:
    count = len(thread.cta.cluster.ctas)
    if mask >> count:
        thread.tell("multicast-mask", mask=mask)
        kind = "launch_failed" if count > 1 else "illegal_instruction"  # (measured, H200)
        raise TmaFault(kind, text("simulator.mask-beyond-cluster", mask=f"{mask:#b}", last=count - 1))
