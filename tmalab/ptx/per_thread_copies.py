"""cp.async: the per-thread copy of the A100, to compare with.

Every thread copies 4, 8 or 16 bytes of its own from global to shared memory. Each computes both addresses, and nothing
is filled in at the tensor's edge. What it writes belongs to the generic proxy, as an ordinary store does.
"""

from __future__ import annotations

from tmalab.ptx.instruction import instruction
from tmalab.ptx.operands import Global, Immediate, Shared, immediate

CopyBytes = immediate(4, 8, 16)


@instruction("cp.async.ca.shared.global [$dst], [$src], $bytes;")
def cp_async(thread, dst: Shared, src: Global, bytes: CopyBytes) -> None:
    """Copy `bytes` bytes, 4, 8 or 16, from `src` to `dst`; both addresses are multiples of `bytes`.

    Visible to this thread after cp_async_wait_group. Source: PTX ISA, cp.async.
    """
    thread.copies.cp_async(dst, src, bytes)


@instruction("cp.async.commit_group;")
def cp_async_commit_group(thread) -> None:
    """Close this thread's uncommitted cp_async into a group. Source: PTX ISA, cp.async.commit_group."""
    thread.cp_async_groups.commit()


@instruction("cp.async.wait_group $n;")
def cp_async_wait_group(thread, n: Immediate) -> None:
    """Wait until at most the `n` newest groups of this thread are pending. Source: PTX ISA, cp.async.wait_group."""
    thread.cp_async_groups.wait(n)


@instruction("cp.async.mbarrier.arrive.shared::cta.b64 [$bar];")
def cp_async_mbarrier_arrive(thread, bar: Shared) -> None:
    """Arrive on `bar` once all earlier cp_async of this thread are done; the count first rises by one for it.

    The phase's own count is left as it was. Source: PTX ISA, cp.async.mbarrier.arrive.
    """
    thread.cp_async_groups.mbarrier_arrive(bar, noinc=False)


@instruction("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$bar];")
def cp_async_mbarrier_arrive_noinc(thread, bar: Shared) -> None:
    """Arrive on `bar` once all earlier cp_async of this thread are done, as one of the arrivals that it counts.

    Source: PTX ISA, cp.async.mbarrier.arrive.
    """
    thread.cp_async_groups.mbarrier_arrive(bar, noinc=True)
