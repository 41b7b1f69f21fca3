"""Shared memory of all SMs full of poison, so that what a kernel reads too early is not what the launch before left.

A CTA that takes all the shared memory of an SM has that SM for itself. As many CTAs as there are SMs, each of which
waits until all have begun, are therefore on all SMs; each fills its memory and counts what of it holds the poison.
The byte is the one that the simulator's shared memory is full of at first.

    with Poison() as poison:
        poison()                # before each launch, on the same stream
    poison.left_by("poison")    # of the bytes that the next kernel finds, which share is poison
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tmalab import kernel
from tmalab.simulator.memory import POISON

BYTES = 227 * 1024  # the most that a CTA can have (CUDA C++ Programming Guide, compute capability 9.0)
WORDS = BYTES // 4
WORD = int(np.full(4, POISON, np.uint8).view(np.int32)[0])
THREADS = 1024
LOOKS = 1_000_000  # at the counter, by a CTA that waits for others: about a second
LOOKED_AT = 2048  # words: as much as the tiles of most kernels take


@kernel
def fill(begun, met, held, ctas):
    """Poison everywhere: `met` and `held` count, for each CTA, the launches in which all were there at once, and the
    words that held the poison."""
    memory = cuda.shared.array(WORDS, np.int32, alignment=1024)
    tid, cta = cuda.threadIdx.x, cuda.blockIdx.x
    for i in range(tid, WORDS, THREADS):
        memory[i] = WORD
    cuda.syncthreads()
    count = 0
    for i in range((tid + 32) % THREADS, WORDS, THREADS):  # what another warp wrote
        if memory[i] == WORD:
            count += 1
    cuda.atomic.add(held, cta, count)
    if tid == 0:
        ticket = cuda.atomic.add(begun, 0, 1)
        all_of_them = (ticket // ctas + 1) * ctas
        looks = 0
        while cuda.atomic.add(begun, 0, 0) < all_of_them and looks < LOOKS:
            looks += 1
        if looks < LOOKS:
            met[cta] += 1
    cuda.syncthreads()


@kernel
def look(out, write):
    """What a kernel finds in its shared memory: it writes none (`write` is 0, which the compiler does not know)."""
    memory = cuda.shared.array(LOOKED_AT, np.int32, alignment=1024)
    tid, cta = cuda.threadIdx.x, cuda.blockIdx.x
    if write:
        for i in range(tid, LOOKED_AT, THREADS):
            memory[i] = cta
    cuda.syncthreads()
    for i in range(tid, LOOKED_AT, THREADS):
        out[cta, i] = memory[i]


class Poison:
    """The filling kernel, ready to be launched again and again on this process's GPU."""

    def __init__(self):
        self.ctas, self.launches = _sms(), 0
        self.begun, self.met = np.zeros(1, np.int32), np.zeros(self.ctas, np.int32)
        self.held = np.zeros(self.ctas, np.int32)
        self._fill = fill.prepare(self.ctas, THREADS, (self.begun, self.met, self.held, self.ctas))

    def __enter__(self) -> Poison:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._fill.close()

    def __call__(self) -> None:
        """Fill all shared memory, on the default stream; returns at once."""
        self._fill()
        self.launches += 1

    def was_whole(self) -> bool:
        """Whether every launch so far was on all SMs at once, and filled all of each; waits for them."""
        self._fill.fetch()
        return bool((self.met == self.launches).all() and (self.held == np.int32(self.launches * WORDS)).all())

    def found(self) -> float:
        """The share of the words that a kernel finds poisoned, in CTAs on all SMs, after this one."""
        self()
        return float((self._looked_at() == WORD).mean())

    def found_of_another(self) -> float:
        """The share of the words that a kernel finds as another has left them, with no poison between the two."""
        self._looked_at(write=1)
        mine = self._looked_at()
        return float(((mine >= 0) & (mine < self.ctas)).mean())

    def _looked_at(self, write: int = 0) -> np.ndarray:
        out = np.zeros((self.ctas, LOOKED_AT), np.int32)
        run = look.run(self.ctas, THREADS, (out, write), on="gpu")
        assert run.ok, run
        return out


def _sms() -> int:
    """How many SMs the GPU has."""
    from cuda.bindings.driver import CUdevice_attribute as attribute

    from tmalab.gpu.device import call, hopper

    hopper().use()
    return int(call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, call("cuCtxGetDevice")))
