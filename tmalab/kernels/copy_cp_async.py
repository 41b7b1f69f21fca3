"""copy_cp_async: a tensor through shared memory by the per-thread copies of the A100.

Shows      what TMA took off the threads: every one of them computes addresses, issues a copy of 16 bytes for each
           chunk, counts its own groups, and looks after the edge.
Differs    from copy_tensor: no map, no barrier, no engine; as many instructions as there are chunks.
Run        python -m tmalab.kernels.copy_cp_async            (simulator)
           python -m tmalab.kernels.copy_cp_async --on gpu   (Hopper)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tmalab import kernel, ptx
from tmalab.kernels.command import Shown, main
from tmalab.kernels.gemm_tiles import SMS

THREADS = 256
STAGES = 4  # groups in flight
AHEAD = STAGES - 1
WORDS = 2  # int64, of a chunk of 16 bytes
CTAS = 4  # of an SM


@kernel
def copy_cp_async(source, out):
    """Copy `source` to `out`, both int64 of (n, 2): chunks of 16 bytes. Any number of CTAs of 256 threads."""
    ring = cuda.shared.array((STAGES, THREADS, WORDS), np.int64, alignment=16)
    tid = cuda.threadIdx.x
    first = cuda.blockIdx.x * THREADS + tid
    step = cuda.gridDim.x * THREADS
    for stage in range(AHEAD):
        if first + stage * step < source.shape[0]:
            ptx.cp_async(ring[stage, tid], source[first + stage * step], 16)
        ptx.cp_async_commit_group()  # an empty one counts as well
    stage = 0
    for chunk in range(first, source.shape[0], step):
        following = chunk + AHEAD * step
        if following < source.shape[0]:
            ptx.cp_async(ring[(stage + AHEAD) % STAGES, tid], source[following], 16)
        ptx.cp_async_commit_group()
        ptx.cp_async_wait_group(AHEAD)  # my oldest has come; nobody else reads it
        for word in range(WORDS):
            out[chunk, word] = ring[stage, tid, word]
        stage = (stage + 1) % STAGES


def launch_of(source: Any, target: Any, sms: int = SMS) -> dict[str, Any]:
    """How to launch it for two int64 arrays of (n, 2): the kernel, and the arguments of `run` or `prepare`."""
    return {"kernel": copy_cp_async, "grid": CTAS * sms, "block": THREADS, "args": (source, target)}


def demonstrate(on: str) -> list[Shown]:
    """Several rounds for each of two CTAs, the last of them not for all threads; and less than one round."""
    shown = []
    for chunks in (2999, 77):
        source = np.arange(chunks * WORDS).reshape(chunks, WORDS)
        out = np.zeros_like(source)
        run = copy_cp_async.run(2, THREADS, (source, out), on=on)
        shown.append((f"copy_cp_async, {chunks} chunks", run, out, source))
    return shown


if __name__ == "__main__":
    main(demonstrate)
