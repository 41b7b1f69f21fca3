"""How many CTAs an SM has room for, by shared memory, threads and registers.

>>> resident(threads=128, shared_bytes=100 * 1024)
2
"""

from __future__ import annotations

from tmalab.simulator.threads import WARP

# Of an SM of compute capability 9.0: CUDA C++ Programming Guide, technical specifications.
THREADS, CTAS, SHARED_BYTES, REGISTERS = 2048, 32, 228 * 1024, 64 * 1024
RESERVED = 1024  # bytes of shared memory that the system takes for each CTA
REGISTER_UNIT = 256  # registers are given to a warp in such units


def resident(threads: int, shared_bytes: int, registers: int | None = None) -> int:
    """CTAs of `threads` threads with `shared_bytes` of shared memory that share an SM; `registers` of a thread, where
    known."""
    warps = -(-threads // WARP)
    limits = [CTAS, THREADS // (warps * WARP), SHARED_BYTES // (shared_bytes + RESERVED)]
    if registers:
        of_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
        limits.append(REGISTERS // (of_warp * warps))
    return max(1, min(limits))
