"""What each instruction is to the time model, beside its cost: what it waits for, and what waits for it.

A meaning is a generator: it runs to its first `yield` before the instruction acts, is sent the result and the copies
that were issued, and then yields a kind with its data, or None where time has nothing to do with it.

    plain                       only its cost counts
    shared, global              an Access of the thread
    load, store                 copies of the copy engine
    commit, wait group          bulk groups
    cp.async, cp.async commit, cp.async wait
    arrive, late arrive, wait   mbarriers; late: when the thread's cp.async have landed
    meet, met                   barriers of threads; met: those who have arrived before
    wgmma, wgmma commit, wgmma wait
    clock                       a look at the clock
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from tmalab.mbarrier_word import phase_of
from tmalab.timing.awaited import barrier_key
from tmalab.timing.done import Access, Arrival, GroupWait, Meeting, Wait

if TYPE_CHECKING:
    from tmalab.timing.recording import Recording

Meaning = Generator[Any, tuple, None]
ROWS, ROW_BYTES = 8, 16  # of a matrix of ldmatrix and stmatrix


def plain(recording: Recording, thread: Any, *operands: Any) -> Meaning:
    yield
    yield "plain", None


def nothing(recording: Recording, thread: Any, *operands: Any) -> Meaning:
    yield
    yield None


# mbarriers.


def arrive(recording: Recording, thread: Any, bar: int, count: int = 1, *more: Any) -> Meaning:
    return _arrive(thread.cta, bar, count, "arrive")


def arrive_expect(recording: Recording, thread: Any, bar: int, *more: Any) -> Meaning:
    return arrive(recording, thread, bar)


def arrive_at_peer(recording: Recording, thread: Any, bar: int, rank: int, count: int = 1, *more: Any) -> Meaning:
    ctas = thread.cta.cluster.ctas
    cta = ctas[rank] if rank < len(ctas) else thread.cta
    return _arrive(cta, bar, count, "arrive", cta is not thread.cta)


def expect_at_peer(recording: Recording, thread: Any, bar: int, rank: int, *more: Any) -> Meaning:
    return arrive_at_peer(recording, thread, bar, rank)


def late_arrive(recording: Recording, thread: Any, bar: int) -> Meaning:
    return _arrive(thread.cta, bar, 1, "late arrive")


def wait(recording: Recording, thread: Any, bar: int, parity: int) -> Meaning:
    """For the phase before the current one, which has this parity. One that says False is a poll, and is left out."""
    result, _ = yield
    barrier = thread.cta.mbarriers.objects.get(bar)
    if result is False or barrier is None:
        yield None
    else:
        yield "wait", Wait(barrier_key(barrier), barrier.machine.phase - 1)


def wait_by_state(recording: Recording, thread: Any, bar: int, state: int) -> Meaning:
    """For the phase in which an arrive returned the state."""
    result, _ = yield
    barrier = thread.cta.mbarriers.objects.get(bar)
    yield (
        ("wait", Wait(barrier_key(barrier), phase_of(barrier.unstamped(state))))
        if result and barrier is not None
        else None
    )


def _arrive(cta: Any, bar: int, count: int, kind: str, remote: bool = False) -> Meaning:
    """An arrival counts for the phase in which the barrier is when it comes; where there is no barrier it is none."""
    barrier = cta.mbarriers.objects.get(bar)
    phase = barrier.machine.phase if barrier is not None else 0
    yield
    yield (kind, Arrival(barrier_key(barrier), phase, count, remote)) if barrier is not None else ("plain", None)


# Copies.


def load(recording: Recording, thread: Any, *operands: Any) -> Meaning:
    _, copies = yield
    yield "load", tuple(copies)


def store(recording: Recording, thread: Any, *operands: Any) -> Meaning:
    _, copies = yield
    yield "store", tuple(copies)


def commit(recording: Recording, thread: Any) -> Meaning:
    yield
    yield "commit", None


def wait_group(recording: Recording, thread: Any, n: int) -> Meaning:
    yield
    yield "wait group", GroupWait(n)


def wait_group_read(recording: Recording, thread: Any, n: int) -> Meaning:
    yield
    yield "wait group", GroupWait(n, reads=True)


def cp_async(recording: Recording, thread: Any, dst: int, src: int, bytes: int) -> Meaning:
    yield
    yield "cp.async", Access(src, bytes, True)


def cp_commit(recording: Recording, thread: Any) -> Meaning:
    yield
    yield "cp.async commit", None


def cp_wait(recording: Recording, thread: Any, n: int) -> Meaning:
    yield
    yield "cp.async wait", GroupWait(n)


# Threads that meet.


def sync(recording: Recording, thread: Any) -> Meaning:
    """syncthreads: all that live take part, so each thread's n-th is everybody's n-th."""
    number = recording.count("syncthreads", thread.number)
    yield
    yield "meet", Meeting(("cta", thread.cta.number, 0, number), True)


def named(recording: Recording, thread: Any, id: int, threads: int) -> Meaning:
    """bar.sync: a use is over when so many have come, and then the next one begins."""
    number = recording.count("named", thread.cta.number, id) // threads
    yield
    yield "meet", Meeting(("cta", thread.cta.number, f"named {id}", number), True)


def named_arrive(recording: Recording, thread: Any, id: int, threads: int) -> Meaning:
    number = recording.count("named", thread.cta.number, id) // threads
    yield
    yield "meet", Meeting(("cta", thread.cta.number, f"named {id}", number), False)


def cluster_arrive(recording: Recording, thread: Any) -> Meaning:
    number = recording.count("cluster arrive", thread.number)
    yield
    yield "meet", Meeting(("cluster", thread.cta.cluster.number, 0, number), False)


def cluster_wait(recording: Recording, thread: Any) -> Meaning:
    number = recording.count("cluster wait", thread.number)
    yield
    yield "met", Meeting(("cluster", thread.cta.cluster.number, 0, number), True)


def clock(recording: Recording, thread: Any) -> Meaning:
    yield
    yield "clock", None


# Matrices.


def wgmma(recording: Recording, thread: Any, *operands: Any) -> Meaning:
    result, _ = yield
    yield "wgmma", result.origin


def wgmma_commit(recording: Recording, thread: Any) -> Meaning:
    yield
    yield "wgmma commit", None


def wgmma_wait(recording: Recording, thread: Any, n: int) -> Meaning:
    yield
    yield "wgmma wait", GroupWait(n)


def matrices(reads: bool, count: int) -> Callable[..., Meaning]:
    """ldmatrix, stmatrix: each of the first 8, 16 or 32 lanes names a row of 16 bytes."""

    def meaning(recording: Recording, thread: Any, place: int, *values: Any) -> Meaning:
        yield
        yield ("shared", Access(place, ROW_BYTES, reads)) if thread.lane < ROWS * count else None

    return meaning


_FORMS = r"(_relaxed)?(_cluster_scope)?"
_MEANINGS: tuple[tuple[str, Callable[..., Meaning]], ...] = (  # the first pattern that a name matches counts
    (rf"mbarrier_arrive_expect_tx{_FORMS}|mbarrier_complete_tx", arrive_expect),
    (rf"mbarrier_arrive(_drop|_no_complete)?{_FORMS}", arrive),
    (rf"mbarrier_arrive_expect_tx_cluster{_FORMS}|mbarrier_complete_tx_cluster", expect_at_peer),
    (rf"mbarrier_arrive(_drop)?_cluster{_FORMS}", arrive_at_peer),
    (r"mbarrier_((test|try)_)?wait_parity.*", wait),
    (r"mbarrier_(test|try)_wait.*", wait_by_state),
    (r"mbarrier_(array|pending_count)", nothing),
    (r"cp_async_mbarrier_arrive.*", late_arrive),
    (r"cp_async_bulk_commit_group", commit),
    (r"cp_async_bulk_wait_group", wait_group),
    (r"cp_async_bulk_wait_group_read", wait_group_read),
    (r"cp_async", cp_async),
    (r"cp_async_commit_group", cp_commit),
    (r"cp_async_wait_group", cp_wait),
    (r"cp_async_bulk_prefetch.*", plain),
    (r"cp_reduce_async_bulk_cluster.*", load),
    (r"cp_reduce_async_bulk.*|cp_async_bulk.*_store.*", store),
    (r"cp_async_bulk.*", load),
    (r"barrier_sync", named),
    (r"barrier_arrive", named_arrive),
    (r"barrier_cluster_arrive.*", cluster_arrive),
    (r"barrier_cluster_wait", cluster_wait),
    (r"wgmma_commit_group", wgmma_commit),
    (r"wgmma_wait_group", wgmma_wait),
    (r"wgmma_m64.*", wgmma),
    (r"wgmma_(zero.*|descriptor)|cvt_.*|createpolicy.*|cluster_.*", nothing),
    (r"clock64|globaltimer", clock),
)


def meaning_of(name: str) -> Callable[..., Meaning]:
    """The meaning of an instruction, by its name."""
    if found := re.fullmatch(r"(ld|st)matrix_x(\d).*", name):
        return matrices(found[1] == "ld", int(found[2]))
    return next((meaning for pattern, meaning in _MEANINGS if re.fullmatch(pattern, name)), plain)
