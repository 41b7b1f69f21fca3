"""mbarrier: the barrier in shared memory that counts arrivals and bytes.

It is 64 bits, 8-byte aligned. Its phase completes when no arrival is pending and every promised byte has come; then the
next phase begins with the full count. A load credits its bytes to the barrier that it was given.

An arrive has release and a wait has acquire semantics at CTA scope. `_cluster_scope` widens the scope to the cluster,
`_relaxed` drops the ordering. Try it:

>>> from tmalab import ptx
>>> ptx.mbarrier_try_wait_parity_cluster_scope.text
'mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 $result, [$bar], $parity;'
"""

from __future__ import annotations

from typing import Any

from tmalab.ptx.instruction import Instruction, instruction
from tmalab.ptx.operands import U32, BarrierArray, Immediate, Kind, Predicate, Shared, State


@instruction(".shared .align 8 .b64 $result[$n];")
def mbarrier_array(thread, n: Immediate) -> BarrierArray:
    """n barriers in shared memory: an (n, 1) uint64 array, 8-byte aligned, so that full[s] is a place.

    Each place in the source that calls it has an array of its own. Every barrier must be initialised before its use.
    """
    return thread.mbarrier_array(n)


@instruction("mbarrier.init.shared::cta.b64 [$bar], $count;")
def mbarrier_init(thread, bar: Shared, count: U32) -> None:
    """Make a barrier that expects `count` arrivals a phase, 1 to 1,048,575.

    Orders nothing: other threads may use the barrier after a CTA barrier, other CTAs after fence_mbarrier_init and a
    cluster barrier. Source: PTX ISA, mbarrier.init.
    """
    thread.mbarriers.init(bar, count)


@instruction("mbarrier.inval.shared::cta.b64 [$bar];")
def mbarrier_inval(thread, bar: Shared) -> None:
    """End the barrier, so that its 8 bytes may be memory or be initialised again. Source: PTX ISA, mbarrier.inval."""
    thread.mbarriers.inval(bar)


@instruction("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$bar], $bytes;")
def mbarrier_expect_tx(thread, bar: Shared, bytes: U32) -> None:
    """Promise `bytes` more bytes to the current phase; no arrival. Orders nothing.

    Source: PTX ISA, mbarrier.expect_tx.
    """
    thread.mbarriers.expect_tx(bar, bytes)


@instruction("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$bar], $bytes;")
def mbarrier_complete_tx(thread, bar: Shared, bytes: U32) -> None:
    """Credit `bytes` bytes by hand, as a copy would; no arrival. Orders nothing.

    Source: PTX ISA, mbarrier.complete_tx.
    """
    thread.mbarriers.complete_tx(bar, bytes)


@instruction("mbarrier.arrive.noComplete.shared::cta.b64 $result, [$bar], $count;")
def mbarrier_arrive_no_complete(thread, bar: Shared, count: U32) -> State:
    """Arrive `count` times where that cannot complete the phase (undefined where it would); returns the state.

    Release at CTA scope. Source: PTX ISA, mbarrier.arrive.
    """
    return thread.mbarriers.arrive_no_complete(bar, count)


@instruction("mbarrier.pending_count.b64 $result, $state;", pure=True)
def mbarrier_pending_count(thread, state: State) -> U32:
    """The pending arrivals that an arrive found, from its state. Source: PTX ISA, mbarrier.pending_count."""
    return thread.mbarriers.pending_count(state)


_UNTIL_DONE = (
    "{ .reg .pred done; WAIT: mbarrier.try_wait.parity%s.shared::cta.b64 done, [$bar], $parity; @!done bra WAIT; }"
)


@instruction(_UNTIL_DONE % "")
def mbarrier_wait_parity(thread, bar: Shared, parity: U32) -> None:
    """Wait until the phase of this parity has completed: `while not mbarrier_try_wait_parity(bar, parity): pass`.

    Parity 0 is the first phase; on a fresh barrier a wait for parity 1 returns at once. Acquire at CTA scope: what the
    phase's arrivals and copies wrote is visible afterwards. Source: PTX ISA, mbarrier.try_wait.
    """
    thread.mbarriers.wait_parity(bar, parity)


@instruction(_UNTIL_DONE % ".acquire.cluster")
def mbarrier_wait_parity_cluster_scope(thread, bar: Shared, parity: U32) -> None:
    """mbarrier_wait_parity with acquire at cluster scope: what threads of other CTAs wrote is visible as well.

    They arrive with `mbarrier_arrive_cluster_cluster_scope`. Source: PTX ISA, mbarrier.try_wait.
    """
    thread.mbarriers.wait_parity(bar, parity, scope="cluster")


# The forms of an operation that orders memory: suffix of the name, PTX qualifier, does it order, scope, what to tell.
FORMS = (
    ("", "", True, "cta", "{Order} at CTA scope."),
    ("_relaxed", ".relaxed.cta", False, "cta", "Relaxed: it orders nothing."),
    ("_cluster_scope", ".{order}.cluster", True, "cluster", "{Order} at cluster scope."),
    ("_relaxed_cluster_scope", ".relaxed.cluster", False, "cluster", "Relaxed, for barriers that a cluster shares."),
)

# Operations that arrive: name, PTX line, operands, what it does. All return the state and release.
_ARRIVES = (
    (
        "mbarrier_arrive",
        "mbarrier.arrive{form}.shared::cta.b64 $result, [$bar], $count;",
        {"bar": Shared, "count": U32},
        "Arrive `count` times: as many arrivals fewer are pending. Returns the state, for a wait.",
    ),
    (
        "mbarrier_arrive_expect_tx",
        "mbarrier.arrive.expect_tx{form}.shared::cta.b64 $result, [$bar], $bytes;",
        {"bar": Shared, "bytes": U32},
        "Promise `bytes` more bytes to the current phase, then arrive once. Returns the state, for a wait.",
    ),
    (
        "mbarrier_arrive_drop",
        "mbarrier.arrive_drop{form}.shared::cta.b64 $result, [$bar], $count;",
        {"bar": Shared, "count": U32},
        "Arrive `count` times, and expect as many arrivals fewer in all later phases. Returns the state.",
    ),
)


def _waits(kind: str, promptness: str) -> tuple:
    """Operations that look whether a phase has completed. All return a boolean, and acquire if it is true."""
    return (
        (
            f"mbarrier_{kind}_wait",
            f"mbarrier.{kind}_wait{{form}}.shared::cta.b64 $result, [$bar], $state;",
            {"bar": Shared, "state": State},
            f"Has the phase completed in which the arrive returned `state`?\n\n{promptness}",
        ),
        (
            f"mbarrier_{kind}_wait_parity",
            f"mbarrier.{kind}_wait.parity{{form}}.shared::cta.b64 $result, [$bar], $parity;",
            {"bar": Shared, "parity": U32},
            f"Has the phase of this parity completed? The current one has not, the one before it has.\n\n{promptness}",
        ),
    )


_WAITS = (
    *_waits("test", "Answers at once."),
    *_waits("try", "May suspend the thread up to a time limit of the hardware: loop until it is true."),
)


def _in_form(
    form: tuple, order: str, returns: Kind, name: str, line: str, operands: dict[str, Kind], doc: str
) -> Instruction:
    """One operation in one form; `order` is what it has where it orders: "release" or "acquire"."""
    suffix, qualifier, ordered, scope, note = form
    method = name.removeprefix("mbarrier_")

    def body(thread: Any, *values: int) -> Any:
        return getattr(thread.mbarriers, method)(*values, **{order: ordered}, scope=scope)

    return Instruction(
        name + suffix,
        line.replace("{form}", qualifier.format(order=order)),
        operands,
        body,
        f"{doc}\n\n{note.format(Order=order.capitalize())} Source: PTX ISA, {line.split('{form}')[0]}.",
        returns,
        {"count": 1} if "count" in operands else None,
    )


for _form in FORMS:
    for _row in _ARRIVES:
        globals()[_row[0] + _form[0]] = _in_form(_form, "release", State, *_row)
    for _row in _WAITS:
        globals()[_row[0] + _form[0]] = _in_form(_form, "acquire", Predicate, *_row)
