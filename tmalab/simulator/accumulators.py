"""Accumulators and operands in the registers of a simulated thread, and whether they may be touched.

An accumulator is passed whole from one wgmma to the next, and read register by register. What it holds is where it came
from: zeros, the numbers of a tuple, or a wgmma, whose result is there once it is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tmalab.ptx.operands import OperandError
from tmalab.simulator.context import current_thread
from tmalab.simulator.errors import KernelError
from tmalab.texts import text
from tmalab.wgmma_fragments import THREADS

if TYPE_CHECKING:
    from tmalab.simulator.warpgroup import Warp
    from tmalab.simulator.wgmma_operation import Wgmma


class Numbers:
    """Registers that a thread has filled itself."""

    def __init__(self, numbers: Sequence[float]):
        self._row = np.array(numbers, np.float32)

    def row(self, index: int) -> np.ndarray:
        """The registers."""
        return self._row


class Accumulator:
    """The accumulator of one thread: `registers` of them.

    origin     what filled them: the thread, or a wgmma
    warp       its warp
    touched    how many wgmma.fence the warp had executed when the thread last touched them; None: a wgmma did since
    passed_on  whether a wgmma took it: its registers then hold what that returned
    """

    __slots__ = ("_index", "_row", "origin", "passed_on", "registers", "touched", "warp")

    def __init__(self, origin: Numbers | Wgmma, registers: int, warp: Warp, index: int, touched: int | None = None):
        self.origin, self.registers, self.warp, self.touched = origin, registers, warp, touched
        self._index, self.passed_on = index % THREADS, False
        self._row: np.ndarray | None = None  # once it is known that they may be read

    def __getitem__(self, number: int) -> np.float32:
        try:
            index = number.__index__()
        except AttributeError:
            raise OperandError(text("ptx.register-index")) from None
        if not 0 <= index < self.registers:
            raise OperandError(text("ptx.register-number", index=index, last=self.registers - 1))
        if self.passed_on:
            raise KernelError(text("simulator.accumulator-passed-on"))
        self.touched = self.warp.fences
        row = self._row
        return (self._settled() if row is None else row)[index]

    __iter__ = None  # in compiled code it is none

    def row(self) -> np.ndarray:
        """The registers, whatever may be known of them."""
        return self.origin.row(self._index)

    @property
    def owes_fence(self) -> bool:
        """Whether a wgmma.fence has to come before a wgmma may use them."""
        return self.touched is not None and self.warp.fences <= self.touched

    def _settled(self) -> np.ndarray:
        """The registers; told where a wgmma may still be filling them."""
        row = self.row()
        if isinstance(self.origin, Numbers):
            self._row = row
            return row
        thread = current_thread()
        if self.origin.is_known(thread):
            self._row = row
        else:
            thread.tell("wgmma-registers", copy=self.origin, committed=self.warp.has_committed(self.origin))
        return row

    def __repr__(self) -> str:
        return f"<accumulator of {self.registers} registers>"


class Words(tuple):
    """Words that a warp has loaded into registers together; `fences`: how many wgmma.fence it had executed then."""

    fences: int

    @classmethod
    def loaded(cls, values: Sequence[int], fences: int) -> Words:
        """Words that were loaded just now."""
        words = cls(values)
        words.fences = fences
        return words
