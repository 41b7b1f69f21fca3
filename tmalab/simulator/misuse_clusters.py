"""Misuse between the CTAs of a cluster, put into words: peers that are not there, barriers that nobody armed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tmalab.simulator.conflicts import copy_name
from tmalab.simulator.hazards import Access
from tmalab.simulator.naming import part_name
from tmalab.simulator.told import Told, access_at, access_by, barrier_words
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.peers import Signal
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.threads import SimThread


CLUSTER_BARRIER = {"arrive": "twice", "wait": "unarrived", "missing": "apart"}  # what is wrong: the sentences for it


def peer_not_started(run: Simulation, thread: SimThread, peer: Cta) -> Told:
    """A thread touches a CTA that it does not know to have started."""
    return [access_by(thread, "copy", text("hazards.does-reaches", cta=peer.name))], {"peer": peer.name}


def init_not_visible(run: Simulation, thread: SimThread, barrier: Barrier) -> Told:
    """A thread uses the barrier of another CTA, whose init was not released to the cluster, or is not known."""
    does = text("hazards.does-uses", barrier=barrier.title)
    use = access_by(thread, "arrive", does, space="shared", array=barrier.name, address=barrier.address)
    maker = run.thread_in_row(barrier.made_by)
    does = text("hazards.does-init", barrier=barrier.title)
    init = access_by(maker, "init", does, run.source.places[barrier.made_at])
    ordered = barrier.cta.clocks.knows(thread.row, barrier.made_by, barrier.made_in)
    words = {**barrier_words(barrier), "maker": str(maker), "variant": "fence" if ordered else "order"}
    return [use, init], words


def mask(run: Simulation, thread: SimThread, mask: int) -> Told:
    """A multicast to nobody, or to CTAs that the cluster has not."""
    last = len(thread.cta.cluster.ctas) - 1
    words = {
        "mask": f"0b{mask:b}",
        "last": last,
        "all": f"0b{(2 << last) - 1:b}",
        "variant": "beyond" if mask else "zero",
    }
    return [access_by(thread, "copy", text("hazards.does-multicasts", mask=words["mask"]))], words


def no_such_rank(run: Simulation, thread: SimThread, rank: int) -> Told:
    """An operation on a CTA that the cluster has not."""
    words = {"rank": rank, "last": len(thread.cta.cluster.ctas) - 1, "variant": "rank"}
    return [access_by(thread, "copy", text("hazards.does-reaches", cta=text("hazards.rank", rank=rank)))], words


def not_armed(run: Simulation, barrier: Barrier) -> Told:
    """A multicast of another CTA reaches a barrier that its own CTA has promised no bytes."""
    copies = [*barrier.credited, *(copy for copy in barrier.loads if copy not in barrier.credited)]
    copy = next(copy for copy in copies if copy.thread.cta is not barrier.cta)
    does = text("hazards.does-credits-to", bytes=f"{copy.bytes:,}", barrier=barrier.title)
    words = {**barrier_words(barrier), "cta": barrier.cta.name, "bytes": f"{sum(copy.bytes for copy in copies)}"}
    return [copy_access(run, copy, does)], {**words, "variant": "unarmed"}


def left_out(run: Simulation, barrier: Barrier, copy: Any) -> Told:
    """A CTA waits for bytes of a multicast whose mask does not name it."""
    does = text("hazards.does-multicasts", mask=f"0b{copy.mask:b}")
    words = {**barrier_words(barrier), "cta": barrier.cta.name, "rank": barrier.cta.rank, "mask": f"0b{copy.mask:b}"}
    return [copy_access(run, copy, does)], {**words, "variant": "omitted"}


def reaches_exited(run: Simulation, thread: SimThread, peer: Cta) -> Told:
    """A thread touches a CTA that has exited."""
    access = access_by(thread, "copy", text("hazards.does-reaches", cta=peer.name))
    return [access], {"peer": peer.name, "variant": "gone"}


def signal_at_exit(run: Simulation, signal: Signal) -> Told:
    """A CTA exits, and nothing shows it that a peer's last operation on its barrier has been done."""
    barrier, thread = signal.barrier, signal.thread
    does = text("hazards.does-arrive", barrier=barrier.title, phase=signal.phase)
    access = access_by(thread, "arrive", does, run.source.places[signal.place], space="shared", array=barrier.name)
    words = {"barrier": barrier.title, "code": barrier.name, "cta": barrier.cta.name, "peer": thread.cta.name}
    return [access], {**words, "variant": "signal"}


def source_at_exit(run: Simulation, copy: Any) -> Told:
    """A CTA exits, and nothing shows it that a copy from its memory to a peer has been done."""
    words = {"cta": copy.thread.cta.name, "peer": copy.cta.name, "variant": "source"}
    words["barrier"] = copy.barrier.title if copy.barrier is not None else text("hazards.its-barrier")
    return [copy_access(run, copy, text("hazards.does-reads-at-exit", cta=copy.thread.cta.name))], words


def cluster_barrier(run: Simulation, thread: SimThread, cluster: str, missing: int = 0, **rank: int) -> Told:
    """The cluster barrier: a second arrive ("arrive"), a wait without one ("wait"), threads that never come."""
    does = text("hazards.does-cluster-arrive" if cluster == "arrive" else "hazards.does-cluster-wait")
    return [access_by(thread, "wait", does)], {**rank, "missing": missing, "variant": CLUSTER_BARRIER[cluster]}


def copy_access(run: Simulation, copy: Any, does: str) -> Access:
    """What a copy does, with the line that issued it."""
    file, line = access_at(run, copy.place)
    tile = part_name(copy.cta.memory, copy.address)
    place = "shared", tile, None, copy.address, copy.bytes
    return Access(copy_name(copy), does, copy.role, copy.thread.number, file, line, *place, copy=copy.number)
