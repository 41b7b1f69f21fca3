"""Bulk groups: how the thread that issued stores learns that they are done.

A group belongs to its thread. commit closes the thread's uncommitted stores into a group, possibly an empty one, and
wait returns when at most n of the newest groups are pending. A store that is not committed is waited for by nobody.
"""

from __future__ import annotations

from tmalab.ptx.instruction import instruction
from tmalab.ptx.operands import Immediate


@instruction("cp.async.bulk.commit_group;")
def cp_async_bulk_commit_group(thread) -> None:
    """Close this thread's uncommitted stores and reductions into a group.

    Source: PTX ISA, cp.async.bulk.commit_group.
    """
    thread.bulk_groups.commit()


@instruction("cp.async.bulk.wait_group $n;")
def cp_async_bulk_wait_group(thread, n: Immediate) -> None:
    """Wait until at most the `n` newest groups of this thread are pending.

    The covered stores have then read their sources and written global memory.
    Source: PTX ISA, cp.async.bulk.wait_group.
    """
    thread.bulk_groups.wait(n)


@instruction("cp.async.bulk.wait_group.read $n;")
def cp_async_bulk_wait_group_read(thread, n: Immediate) -> None:
    """Wait until all but the `n` newest groups of this thread have read their sources, which may then be overwritten.

    What they write to global memory may still be on its way. Source: PTX ISA, cp.async.bulk.wait_group.
    """
    thread.bulk_groups.wait_read(n)
