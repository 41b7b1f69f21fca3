"""Threads among themselves: one leader of a warp, barriers of some warps, registers handed on, clocks."""

from __future__ import annotations

from tmalab.ptx.instruction import instruction
from tmalab.ptx.operands import I64, U32, Predicate, immediate_in

RegisterCount = immediate_in(range(24, 257, 8))


@instruction("elect.sync _|$result, 0xffffffff;")
def elect_sync(thread) -> Predicate:
    """True in one thread of the warp; all 32 must execute it. The leader need not be lane 0.

    A rendezvous of the warp that orders no memory. Source: PTX ISA, elect.sync.
    """
    return thread.elect_sync()


@instruction("barrier.sync $id, $threads;")
def barrier_sync(thread, id: U32, threads: U32) -> None:
    """Wait in named barrier `id`, 0 to 15, until `threads` threads, a multiple of 32, have come; 0 is cuda.syncthreads.

    Orders memory among those threads. Source: PTX ISA, barrier.
    """
    thread.barriers.sync(id, threads)


@instruction("barrier.arrive $id, $threads;")
def barrier_arrive(thread, id: U32, threads: U32) -> None:
    """Count for named barrier `id` without waiting; what this thread wrote is then seen by those who wait in it.

    Source: PTX ISA, barrier.
    """
    thread.barriers.arrive(id, threads)


@instruction("setmaxnreg.inc.sync.aligned.u32 $n;")
def setmaxnreg_inc(thread, n: RegisterCount) -> None:
    """Have `n` registers for each thread of the warpgroup, more than now; waits until the CTA's pool has them.

    The pool is what other warpgroups gave up. All four warps execute it. Source: PTX ISA, setmaxnreg.
    """
    thread.registers.increase(n)


@instruction("setmaxnreg.dec.sync.aligned.u32 $n;")
def setmaxnreg_dec(thread, n: RegisterCount) -> None:
    """Keep `n` registers for each thread of the warpgroup, and give the others to the CTA's pool.

    All four warps execute it. Source: PTX ISA, setmaxnreg.
    """
    thread.registers.decrease(n)


@instruction("mov.u64 $result, %globaltimer;")
def globaltimer(thread) -> I64:
    """Nanoseconds on a clock that all SMs share; it may tick coarsely. Source: PTX ISA, %globaltimer."""
    return thread.globaltimer()


@instruction("mov.u64 $result, %clock64;")
def clock64(thread) -> I64:
    """Cycles of this SM. Source: PTX ISA, %clock64."""
    return thread.clock64()
