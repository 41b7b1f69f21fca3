"""mbarriers of peers: the operations that a CTA may do on a barrier of another CTA of its cluster.

`bar` is the place of a barrier in this CTA; the operation works on the barrier at the same place of the CTA of rank
`cta_rank`. Only the owner waits, so a remote arrive returns no state. Arrives release at CTA scope unless the name says
otherwise: for a peer to see what was written before them, `_cluster_scope` is meant.

>>> from tmalab import ptx
>>> ptx.mbarrier_arrive_cluster
<instruction mbarrier_arrive_cluster(bar: Shared, cta_rank: U32, count: U32 = 1) -> None>
"""

from __future__ import annotations

from typing import Any

from tmalab.ptx.instruction import Instruction, instruction
from tmalab.ptx.mbarrier import FORMS
from tmalab.ptx.operands import U32, Kind, Shared

_PEER = "{ .reg .b32 peer; mapa.shared::cluster.u32 peer, $bar, $cta_rank; "

# Operations that arrive: name, PTX mnemonic, the operand beside the barrier, what it does. None returns a state.
_ARRIVES = (
    (
        "mbarrier_arrive",
        "mbarrier.arrive",
        "count",
        "Arrive `count` times on the barrier of the CTA of rank `cta_rank`.",
    ),
    (
        "mbarrier_arrive_expect_tx",
        "mbarrier.arrive.expect_tx",
        "bytes",
        "Promise `bytes` more bytes to the barrier of the CTA of rank `cta_rank`, then arrive there once.",
    ),
    (
        "mbarrier_arrive_drop",
        "mbarrier.arrive_drop",
        "count",
        "Arrive `count` times on the barrier of the CTA of rank `cta_rank`, which then expects as many fewer.",
    ),
)


@instruction(f"{_PEER}mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [peer], $bytes; }}")
def mbarrier_expect_tx_cluster(thread, bar: Shared, cta_rank: U32, bytes: U32) -> None:
    """Promise `bytes` more bytes to the barrier of the CTA of rank `cta_rank`; no arrival. Orders nothing.

    Source: PTX ISA, mbarrier.expect_tx.
    """
    thread.mbarriers.expect_tx_remote(bar, cta_rank, bytes)


@instruction(f"{_PEER}mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [peer], $bytes; }}")
def mbarrier_complete_tx_cluster(thread, bar: Shared, cta_rank: U32, bytes: U32) -> None:
    """Credit `bytes` bytes by hand to the barrier of the CTA of rank `cta_rank`; no arrival. Orders nothing.

    Source: PTX ISA, mbarrier.complete_tx.
    """
    thread.mbarriers.complete_tx_remote(bar, cta_rank, bytes)


def _in_form(form: tuple, name: str, mnemonic: str, operand: str, doc: str) -> Instruction:
    """One operation in one form."""
    suffix, qualifier, ordered, scope, note = form
    method = f"{name.removeprefix('mbarrier_')}_remote"

    def body(thread: Any, *values: int) -> None:
        getattr(thread.mbarriers, method)(*values, release=ordered, scope=scope)

    operands: dict[str, Kind] = {"bar": Shared, "cta_rank": U32, operand: U32}
    return Instruction(
        f"{name}_cluster{suffix}",
        f"{_PEER}{mnemonic}{qualifier.format(order='release')}.shared::cluster.b64 _, [peer], ${operand}; }}",
        operands,
        body,
        f"{doc}\n\n{note.format(Order='Release')} Source: PTX ISA, {mnemonic}.",
        defaults={"count": 1} if operand == "count" else None,
    )


for _form in FORMS:
    for _row in _ARRIVES:
        globals()[f"{_row[0]}_cluster{_form[0]}"] = _in_form(_form, *_row)
