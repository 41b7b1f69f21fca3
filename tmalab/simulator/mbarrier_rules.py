"""Rules for an mbarrier that hold in every order of the threads, held against clocks instead of this run's order.

a promise by expect_tx      some arrival of the same phase comes after it, or the phase may complete without it;
                            likewise an arrive of cp.async that raises the count
an arrive.noComplete        something that the same phase waits for comes after it: it must not complete the phase
a copy                      whoever issues it, and does not arrive, knows that the phase before its own is over
the last arrival            all bytes of the copies issued so far are promised by then, or they may come too late
an arrive for later         (cp.async.mbarrier.arrive) whoever asks for it knows in which phase it will count
the end of a barrier        all uses by other threads come before it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tmalab.simulator.loads import Load
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread


class Use(NamedTuple):
    """A thread did something with a barrier: in which of its segments, at which line's number."""

    thread: SimThread
    segment: int
    place: int
    of_copies: bool = False  # it raised the count for an arrive of cp.async


def use_by(thread: SimThread) -> Use:
    """What a thread does now."""
    run, row = thread.run, thread.row
    return Use(thread, thread.cta.clocks.order[row, row], run.place_number() if run.noting else 0)


def promised(barrier: Barrier, thread: SimThread, of_copies: bool = False) -> None:
    """A thread promises bytes, or an arrival when its cp.async are done, and does not arrive."""
    if not barrier.cta.clocks.executed_after(thread.row, barrier.dimension, barrier.machine.phase):
        thread.tell("expect-after-completion", barrier=barrier, late=True, of_copies=of_copies)
    else:
        barrier.promises.append(use_by(thread)._replace(of_copies=of_copies))


def look_at_promises(barrier: Barrier) -> None:
    """A phase is complete: whether it had to wait for each promise."""
    executed_after = barrier.cta.clocks.executed_after
    rows = [rows.collecting for rows in (barrier, barrier.from_peers) if rows is not None]
    for thread, segment, place, of_copies in barrier.promises:
        if not any(executed_after(row, thread.row, segment) for row in rows):
            thread.tell("expect-after-completion", barrier=barrier, place=place, of_copies=of_copies)
    barrier.promises.clear()


def must_not_be_last(barrier: Barrier, thread: SimThread) -> None:
    """A thread has arrived in the form that must not complete the phase."""
    barrier.no_completes.append(use_by(thread))


def look_at_no_completes(barrier: Barrier) -> None:
    """A phase is complete: whether it had to wait for something after each arrive that must not complete it."""
    clocks = barrier.cta.clocks
    rows = [rows.collecting for rows in (barrier, barrier.from_peers) if rows is not None]
    credits = [copy.issued_after for copy in barrier.credited if copy.issued_after is not None]
    for thread, segment, place, _ in barrier.no_completes:
        arrivals = any(clocks.executed_after(row, thread.row, segment) for row in rows)
        if not arrivals and not any(clock[thread.row] >= segment for clock in (*credits, *barrier.credited_after)):
            thread.tell("over-arrival", barrier=barrier, place=place, no_complete=True)
    barrier.no_completes.clear()


def lacks_promises(barrier: Barrier, arrivals: int) -> bool:
    """Whether these arrivals are the last ones of the phase, and copies have been issued that are not promised."""
    if barrier.machine.pending_count > arrivals:
        return False
    credited = [copy for copy in barrier.credited if copy not in barrier.loads]
    return barrier.promised < sum(copy.bytes for copy in (*barrier.loads, *credited))


def look_at_issue(copy: Load) -> None:
    """A copy is issued: it might have belonged to the last phase, which was over without it, if nothing told its issuer
    so. Who arrives as well is told of that arrival; and what is filled again too early, of that."""
    barrier, thread = copy.barrier, copy.thread
    if barrier is None or thread in barrier.came_by or copy.address in barrier.loaded_at:
        return
    if not barrier.cta.clocks.executed_after(thread.row, barrier.dimension, barrier.machine.phase):
        barrier.cta.mbarriers.came_late(copy)


def used(barrier: Barrier, thread: SimThread) -> None:
    """A thread uses a barrier."""
    barrier.users[thread.row] = use_by(thread)


def look_at_end(barrier: Barrier, thread: SimThread) -> None:
    """A thread ends a barrier."""
    for row, use in barrier.users.items():
        if not barrier.cta.clocks.executed_after(thread.row, row, use.segment):
            thread.tell("barrier-not-initialised", barrier=barrier, use=use)
            return
