"""Which hazard two accesses are: a table of who came first, and what each of them did.

The roles are a thread, a load, a store, a cp.async, and a copy between CTAs. A load writes shared memory and reads
global memory, a store the reverse; a reduction is a store. A copy between CTAs writes as a load does, and reads its
source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tmalab.simulator.records import ATOMIC_ACCESS, MAP_USE, REDUCTION

if TYPE_CHECKING:
    from tmalab.simulator.conflicts import Conflict

THREAD, LOAD, STORE, CP_ASYNC, PEER, WGMMA = "thread", "load", "store", "cpasync", "peer", "wgmma"
READS, WRITES = "reads", "writes"

# Nothing orders the two: (space, earlier role and access, later role and access): the hazard.
UNORDERED_NAMES = {
    ("shared", LOAD, WRITES, THREAD, READS): "read-before-wait",
    ("shared", LOAD, WRITES, STORE, READS): "read-before-wait",
    ("shared", LOAD, WRITES, PEER, READS): "read-before-wait",
    ("shared", CP_ASYNC, WRITES, THREAD, READS): "read-before-wait",
    ("shared", CP_ASYNC, WRITES, STORE, READS): "read-before-wait",
    ("shared", CP_ASYNC, WRITES, PEER, READS): "read-before-wait",
    ("shared", LOAD, WRITES, WGMMA, READS): "read-before-wait",
    ("shared", CP_ASYNC, WRITES, WGMMA, READS): "read-before-wait",
    ("shared", LOAD, WRITES, THREAD, WRITES): "overwrite-in-use",
    ("shared", LOAD, WRITES, LOAD, WRITES): "overwrite-in-use",
    ("shared", LOAD, WRITES, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", CP_ASYNC, WRITES, THREAD, WRITES): "overwrite-in-use",
    ("shared", CP_ASYNC, WRITES, LOAD, WRITES): "overwrite-in-use",
    ("shared", CP_ASYNC, WRITES, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", THREAD, READS, LOAD, WRITES): "overwrite-in-use",
    ("shared", THREAD, WRITES, LOAD, WRITES): "overwrite-in-use",
    ("shared", THREAD, READS, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", THREAD, WRITES, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", STORE, READS, LOAD, WRITES): "overwrite-in-use",
    ("shared", STORE, READS, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", PEER, READS, LOAD, WRITES): "overwrite-in-use",
    ("shared", PEER, READS, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", WGMMA, READS, LOAD, WRITES): "overwrite-in-use",
    ("shared", WGMMA, READS, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", WGMMA, READS, THREAD, WRITES): "overwrite-in-use",
    ("shared", STORE, READS, THREAD, WRITES): "store-source-reuse",
    ("shared", PEER, READS, THREAD, WRITES): "store-source-reuse",
    ("global", STORE, WRITES, THREAD, READS): "store-not-waited",
    ("global", STORE, WRITES, THREAD, WRITES): "store-not-waited",
    ("global", STORE, WRITES, LOAD, READS): "store-not-waited",
    ("global", STORE, WRITES, CP_ASYNC, READS): "store-not-waited",
    ("global", STORE, WRITES, STORE, WRITES): "store-not-waited",
    ("global", LOAD, READS, THREAD, WRITES): "overwrite-in-use",
    ("global", LOAD, READS, STORE, WRITES): "overwrite-in-use",
    ("global", CP_ASYNC, READS, THREAD, WRITES): "overwrite-in-use",
    ("global", CP_ASYNC, READS, STORE, WRITES): "overwrite-in-use",
}  # all others are data races
# Some pairs have another name where what was read, or overwritten, was garbage: the order in which they happen is luck.
BEFORE_THE_LOAD = {("shared", role, READS, LOAD, WRITES) for role in (THREAD, STORE, PEER, WGMMA)}
WRITTEN_LATE = {("shared", role, READS, THREAD, WRITES) for role in (STORE, PEER, WGMMA)}
WRITTEN_EARLY = {("shared", THREAD, WRITES, role, READS) for role in (STORE, PEER)}


REMOTE = {THREAD: "remote", LOAD: "remoteload"}  # who is overwritten by a copy that another CTA issued


def part_of(role: str, writes: bool) -> str:
    """The role of an access in the table."""
    if role == "reduction":
        return STORE
    return LOAD if role == PEER and writes else role


def unordered_name(conflict: Conflict, earlier: str, later: str, waited_in_vain: bool) -> str:
    """The hazard that two accesses are which nothing orders. `waited_in_vain`: the reader waited for another phase."""
    does = (WRITES if conflict.earlier_wrote else READS), (WRITES if conflict.later_writes else READS)
    key = (conflict.space, earlier, does[0], later, does[1])
    hows = {int(conflict.earlier["how"]), int(conflict.later["how"])}
    if MAP_USE in hows:
        return "map-edited"
    if hows == {ATOMIC_ACCESS, REDUCTION}:
        return "data-race"
    if conflict.one_copy_by_two:
        return "multiple-issue"
    name = UNORDERED_NAMES.get(key, "data-race")
    if conflict.space == "global" and conflict.between_clusters:
        told = name == "store-not-waited" and conflict.store_was_told_of
        return _of_store(conflict, later) if told else "data-race"
    if name == "store-not-waited":
        return _of_store(conflict, later)
    if name == "read-before-wait" and conflict.load_ran_ahead:
        return "overwrite-in-use"
    if key in BEFORE_THE_LOAD and (conflict.was_garbage or waited_in_vain):
        return "read-before-wait"
    if key in WRITTEN_LATE and conflict.was_garbage:
        return "data-race"
    if key in WRITTEN_EARLY and not conflict.earlier["fresh"]:
        return "store-source-reuse"
    return name


def unfenced_name(conflict: Conflict) -> str:
    """Whether a proxy fence was there, but for another space."""
    cluster, copy = conflict.run.cluster, conflict.run.copies[int(conflict.later["copy"])]
    spaces = {cta.space for cta in cluster.ctas} | {"global"}
    dimension, tick = conflict.earlier["dimension"], conflict.earlier["tick"]
    others = spaces - {conflict.fenced_space}
    elsewhere = any(cluster.clocks.carried(copy.thread.row, space)[dimension] >= tick for space in others)
    return "proxy-fence-space" if elsewhere else "missing-proxy-fence"


def variant_of(conflict: Conflict, name: str, earlier: str) -> str:
    """Which of a hazard's sentences fit."""
    if name == "overwrite-in-use":
        return _kind_of_overwriting(conflict, earlier)
    if name == "read-before-wait":
        return earlier
    if name == "store-source-reuse" and earlier == PEER:
        return PEER
    if name in ("store-source-reuse", "store-not-waited"):
        late = name == "store-not-waited" and conflict.too_late_a_wait is not None
        return "weak" if conflict.too_weak_a_wait is not None else "late" if late else ""
    if name == "data-race":
        return _kind_of_race(conflict)
    if name == "multiple-issue":
        return "cluster" if conflict.between_ctas and not conflict.between_clusters else ""
    return ""


def _kind_of_overwriting(conflict: Conflict, earlier: str) -> str:
    """Who is overwritten, and whether by a copy that another CTA issued."""
    ahead = conflict.load_ran_ahead
    if conflict.space == "shared" and (earlier in (THREAD, LOAD) or ahead):
        copy = conflict.earlier if ahead else conflict.later
        if conflict.number_of_cta(copy) != conflict.cta.number:
            return "remoteahead" if ahead else REMOTE[earlier]
    return "ahead" if ahead else earlier


def _kind_of_race(conflict: Conflict) -> str:
    if {int(conflict.earlier["how"]), int(conflict.later["how"])} == {ATOMIC_ACCESS, REDUCTION}:
        return "atomic"
    if conflict.between_clusters:
        return "handed" if conflict.run.together else "grid"
    return "cluster" if conflict.between_ctas else ""


def _of_store(conflict: Conflict, later: str) -> str:
    """A store whose write is not known: never committed, not waited for in time, or waited for by one that nothing
    orders."""
    copy: Any = conflict.run.copies[int(conflict.earlier["copy"])]
    groups = copy.cta.bulk_groups
    if later != STORE and groups.is_open(copy):
        return "store-not-committed"
    return "data-race" if groups.is_known(copy) and conflict.too_late_a_wait is None else "store-not-waited"
