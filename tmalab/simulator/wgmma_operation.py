"""One wgmma in flight: D = A * B + D for a warpgroup, done all at once when the scheduler says so.

The operands are read from shared memory at that moment, so that an operand overwritten too early really gives wrong
numbers. Products of 16-bit numbers are exact in float32; the order of the sum is NumPy's, not the hardware's, so that
results agree to a few units in the last place of the largest partial sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tmalab.simulator.accumulators import Accumulator, Numbers
from tmalab.simulator.copies import Copy
from tmalab.wgmma_descriptor import WgmmaDescriptor
from tmalab.wgmma_fragments import ROWS, THREADS, a_of, matrix_of, registers_of
from tmalab.wgmma_layout import DEPTH, operand

if TYPE_CHECKING:
    from tmalab.simulator.issue_checks import Needs
    from tmalab.simulator.threads import SimThread
    from tmalab.simulator.warpgroup import Warpgroup


class Operands(NamedTuple):
    """What all threads of a warpgroup give a wgmma alike: the instruction, N, the type, and where A and B are."""

    name: str
    n: int
    type: str
    desc_a: int | None  # None: A is in registers
    desc_b: int
    adds: bool  # to the accumulator, not overwriting it
    sign: int
    trans_a: bool
    trans_b: bool


class Wgmma(Copy):
    """A wgmma of one warpgroup. Its end is known by `order` in `dimension`.

    warps      the places of the warps that have issued it
    a, b       the descriptors of the operands; a is None where A is in registers
    address, bytes    of the first operand in shared memory
    needs      what an issuer has to know for B
    of_group   the number of the group that it will belong to
    """

    role = "wgmma"

    def __init__(self, thread: SimThread, group: Warpgroup, order: int, operands: Operands, of_group: int):
        super().__init__(thread)
        self.of_group = of_group
        self.group, self.order, self.dimension, self.operands = group, order, group.dimension, operands
        self.warps: set[int] = set()
        self.needs: Needs | None = None
        self.a = None if operands.desc_a is None else WgmmaDescriptor.decode(operands.desc_a)
        self.b = WgmmaDescriptor.decode(operands.desc_b)
        self.address, self.bytes = (self.a or self.b).address, (ROWS if self.a else operands.n) * DEPTH * 2
        self._words = np.zeros((THREADS, 4), np.uint32)  # A in registers
        self._before: list[Any] = [None] * THREADS  # the Accumulator of each thread, once it is given
        self._result: np.ndarray | None = None  # (64, N)
        self._registers: np.ndarray | None = None  # (128, N / 2)

    def give(self, index: int, accumulator: Accumulator, words: tuple[int, ...] | None) -> None:
        """What a thread brings in registers: its part of D, and of A."""
        self._before[index % THREADS] = accumulator
        if words is not None:
            self._words[index % THREADS] = [word & 0xFFFFFFFF for word in words]

    @property
    def is_issued(self) -> bool:
        """Whether all four warps have issued it."""
        return len(self.warps) == len(self.group.warps)

    @property
    def can_move(self) -> bool:
        return self.is_issued and self.group.done == self.order - 1

    @property
    def awaited(self) -> bool:
        return any(warp.until >= self.order for warp in self.group.warps)

    def move(self) -> bool:
        """Read the operands, and multiply."""
        with np.errstate(all="ignore"):
            product = self._a() @ self._b().T
            product = product if self.operands.sign > 0 else -product
            self._result = self._d() + product if self.operands.adds else product
        self._before = []
        self.cta.run.note(self.thread, "wgmma_done", None, self.order, copy=self)
        self.cta.wgmma.done(self)
        return True

    @property
    def end(self) -> tuple[int, int]:
        return self.dimension, self.order

    def is_known(self, thread: SimThread) -> bool:
        """Whether a thread has waited for it."""
        return self.cta.clocks.knows(thread.row, self.dimension, self.order)

    def row(self, index: int) -> np.ndarray:
        """The accumulator's registers of a thread of the warpgroup; those before it while it is not done."""
        if self._result is None:
            return self._before[index].row()
        if self._registers is None:
            self._registers = registers_of(self._result)
        return self._registers[index]

    def _a(self) -> np.ndarray:
        if self.a is None:
            return _float32(a_of(self._words), self.operands.type)
        found = operand(self.cta.memory.bytes, self.a, ROWS, not self.operands.trans_a)
        return _float32(found, self.operands.type)

    def _b(self) -> np.ndarray:
        found = operand(self.cta.memory.bytes, self.b, self.operands.n, not self.operands.trans_b)
        return _float32(found, self.operands.type)

    def _d(self) -> np.ndarray:
        """The matrix in the accumulators."""
        origin = self._before[0].origin
        if not isinstance(origin, Numbers) and all(given.origin is origin for given in self._before):
            return origin._result
        return matrix_of(np.stack([given.row() for given in self._before]))


def _float32(words: np.ndarray, type: str) -> np.ndarray:
    """16-bit numbers as float32, exactly."""
    if type == "f16":
        return np.ascontiguousarray(words).view(np.float16).astype(np.float32)
    return (words.astype(np.uint32) << 16).view(np.float32)
