"""The tensor core of one CTA: its warpgroups, and the wgmma instructions for the thread that is running.

What is checked when a warp issues an operation: that its registers may be used (fence), that what it reads in shared
memory is ordered before it, for the warp's 16 rows of A and for all of B, and how the operands lie (wgmma_checks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tmalab.simulator.accumulators import Accumulator, Numbers, Words
from tmalab.simulator.context import current_thread
from tmalab.simulator.errors import KernelError
from tmalab.simulator.records import ASYNC, record
from tmalab.simulator.together import Lanes
from tmalab.simulator.warpgroup import WARPS, Warp, Warpgroup, WgmmaWait
from tmalab.simulator.wgmma_checks import look_at_operands, look_at_place
from tmalab.simulator.wgmma_operation import Operands, Wgmma
from tmalab.swizzle import SECTOR
from tmalab.texts import text
from tmalab.wgmma_descriptor import WgmmaDescriptor
from tmalab.wgmma_fragments import ROWS
from tmalab.wgmma_layout import operand_chunks

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

ROWS_OF_WARP = ROWS // WARPS


class TensorCore:
    """The warpgroups of one CTA. The methods are the instructions."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._groups: dict[int, Warpgroup] = {}

    # The instructions.

    def zero(self, registers: int) -> Accumulator:
        """wgmma_zero: registers of the thread."""
        thread = current_thread()
        warp = self._warp(thread)
        return Accumulator(Numbers(np.zeros(registers)), registers, warp, thread.index, warp.fences)

    def descriptor(self, tile: int, swizzle: int, stride_bytes: int, leading_bytes: int) -> int:
        """The 64 bits of a matrix descriptor."""
        thread = current_thread()
        made = WgmmaDescriptor(tile, swizzle, stride_bytes, leading_bytes)
        look_at_place(thread, made)
        return made.encode()

    def multiply(
        self,
        name: str,
        n: int,
        type: str,
        acc: Accumulator | tuple,
        a: int | tuple,
        desc_b: int,
        scale_d: int,
        options: tuple[int, int, int, int],
    ) -> Accumulator:
        """wgmma.mma_async: returns the new accumulator. `a`: a descriptor, or words in registers."""
        thread = current_thread()
        in_registers = isinstance(a, tuple)
        scale_a, scale_b, trans_a, trans_b = options
        desc_a = None if in_registers else a
        signs = scale_a * scale_b, bool(trans_a), bool(trans_b)
        operands = Operands(name, n, type, desc_a, desc_b, bool(scale_d), *signs)
        brought = operands, self._accumulator(thread, acc), a if in_registers else None
        operation = self._cta.together.meet(thread, name, self._issue, brought)
        return Accumulator(operation, n // 2, self._warp(thread), thread.index)

    def fence(self) -> None:
        """wgmma.fence"""
        thread = current_thread()
        self._cta.together.meet(thread, "wgmma_fence", self._fence)

    def commit(self) -> None:
        """wgmma.commit_group"""
        self._cta.together.meet(current_thread(), "wgmma_commit_group", self._commit)

    def wait(self, n: int) -> None:
        """wgmma.wait_group"""
        self._cta.together.meet(current_thread(), "wgmma_wait_group", lambda lanes: self._wait(lanes, n))

    # What becomes of operations.

    def done(self, operation: Wgmma) -> None:
        """The tensor core is done with an operation: warps that waited for it go on."""
        scheduler = self._cta.run.scheduler
        scheduler.progress += 1
        for warp in operation.group.finished(operation):
            lanes = warp.group.lanes(warp)
            self._learn(warp, lanes)
            scheduler.wake(lanes)

    def fences(self, thread: SimThread) -> int:
        """How many wgmma.fence the warp of a thread has executed."""
        return self._warp(thread).fences

    def exited(self, thread: SimThread) -> None:
        """A thread is gone: its warp should have waited for what it issued, its warpgroup have issued all alike."""
        group = self._groups.get(thread.warp // WARPS)
        if group is None:
            return
        warp = group.warps[thread.warp % WARPS]
        if any(not lane.exited for lane in group.lanes(warp)):
            return
        if warp.issued > warp.known:
            thread.tell("exit-in-flight", copy=warp.last)
        if all(lane.exited for warp in group.warps for lane in group.lanes(warp)):
            self._give_up(group)

    # Meetings of a warp.

    def _fence(self, lanes: Lanes) -> None:
        self._warp_of(lanes).fences += 1

    def _commit(self, lanes: Lanes) -> None:
        warp = self._warp_of(lanes)
        warp.commit()
        thread = next(iter(lanes))
        thread.run.note(thread, "wgmma_commit", None, warp.groups)

    def _wait(self, lanes: Lanes, n: int) -> WgmmaWait | None:
        warp = self._warp_of(lanes)
        warp.covered = warp.cover(n)
        until = warp.covered[-1][1] if warp.covered else 0
        if until > warp.group.done:
            warp.until = until
            return WgmmaWait(warp.group, until)
        self._learn(warp, list(lanes))
        return None

    def _issue(self, lanes: Lanes) -> Wgmma:
        """A warp issues an operation."""
        warp, (thread, (operands, _, _)) = self._warp_of(lanes), next(iter(lanes.items()))
        warp.issued += 1
        operation = self._operation(warp, thread, operands)
        if any(given[0] != operation.operands for given in lanes.values()):
            thread.tell("partial-warp", operation=operands.name, place=thread.place(), differs=True)
        self._look_at_registers(warp, lanes, operation)
        for lane, (_, accumulator, words) in lanes.items():
            operation.give(lane.index, accumulator, words)
        operation.warps.add(warp.place)
        warp.last, warp.fences_at_issue = operation, warp.fences
        self._order(warp, list(lanes), operation)
        if operation.is_issued:
            self._cta.run.scheduler.progress += 1
            if self._cta.run.policy.scripted or self._cta.run.policy.landing == "earliest":
                self._cta.run.land(operation)
        return operation

    def _operation(self, warp: Warp, thread: SimThread, operands: Operands) -> Wgmma:
        """The operation that a warp issues: a new one for the first warp that does."""
        operations = warp.group.operations
        if warp.issued not in operations:
            operations[warp.issued] = made = Wgmma(thread, warp.group, warp.issued, operands, warp.groups)
            self._cta.cluster.in_flight.append(made)
            thread.run.note(thread, "wgmma", None, warp.issued, copy=made)
            look_at_operands(thread, made)
        return operations[warp.issued]

    def _look_at_registers(self, warp: Warp, lanes: Lanes, operation: Wgmma) -> None:
        """Registers that were touched since the last fence."""
        for lane, (_, accumulator, words) in lanes.items():
            loaded = isinstance(words, Words) and warp.fences <= words.fences
            if accumulator.owes_fence or loaded:
                lane.tell("wgmma-fence", copy=operation, loaded=loaded, place=lane.place(), first=not warp.fences)
                return

    # Order.

    def _order(self, warp: Warp, lanes: list[SimThread], operation: Wgmma) -> None:
        """What the warp has done so far is before the operation, and known to those who wait for it."""
        clocks, group, rows = self._cta.clocks, warp.group, [lane.row for lane in lanes]
        if self._cta.run.log.tracking:
            clocks.gather_common(group.scratch, rows)
            self._tell_shadow(warp, lanes[0], operation)
        clocks.gather(group.scratch, rows)
        clocks.join(group.row_of(warp.groups), group.scratch)
        clocks.tick_all(rows)

    def _tell_shadow(self, warp: Warp, thread: SimThread, operation: Wgmma) -> None:
        """The warp reads its rows of A, and all of B."""
        cluster, run = self._cta.cluster, self._cta.run
        run.log.check()
        shadow, issuer = cluster.shadow, self._cta.clocks.issuing(warp.group.scratch, self._cta.space)
        place, number = thread.run.place_number(), thread.number
        made = record(warp.group.dimension, operation.order, cluster.number, ASYNC, operation.number, number, place)
        if operation.a is not None:
            shadow.issue_ordered_read(self._units(self._rows_of_a(warp, operation)), made, issuer)
        operands = operation.operands
        units = self._units(operand_chunks(operation.b, operands.n, not operands.trans_b))
        if len(operation.warps) == 1:
            shadow.issue_ordered_read(units, made, issuer)
            operation.needs = shadow.needs(units)
        elif not operation.needs.are_known(issuer):
            shadow.check_read(units, made, issuer)

    def _rows_of_a(self, warp: Warp, operation: Wgmma) -> np.ndarray:
        """The 16-byte chunks of the 16 rows of A that a warp reads."""
        whole = operand_chunks(operation.a, ROWS, not operation.operands.trans_a)
        if operation.operands.trans_a:
            return whole[:, warp.place * 2 : warp.place * 2 + 2]
        return whole[warp.place * ROWS_OF_WARP : (warp.place + 1) * ROWS_OF_WARP]

    def _units(self, chunks: np.ndarray) -> np.ndarray:
        """The units of 16-byte chunks in the shadow memory."""
        grain = self._cta.cluster.shadow.grain
        first = (chunks.reshape(-1) + self._cta.note_offset) // grain
        return first if grain == SECTOR else (first[:, None] + np.arange(SECTOR // grain)).reshape(-1)

    def _learn(self, warp: Warp, lanes: list[SimThread]) -> None:
        warp.group.learn(lanes, warp.covered)
        warp.known = warp.covered[-1][1] if warp.covered else warp.known
        warp.until, warp.covered = 0, []
        lanes[0].run.note(lanes[0], "wgmma_wait", None, warp.group.done)

    def _give_up(self, group: Warpgroup) -> None:
        """Nobody is left who could issue what some warps have not."""
        for operation in group.operations.values():
            if not operation.is_issued:
                self._cta.cluster.finished(operation)
                missing = WARPS - len(operation.warps)
                operation.thread.tell("partial-warp", operation=operation.operands.name, copy=operation, warps=missing)

    def _accumulator(self, thread: SimThread, given: Accumulator | tuple) -> Accumulator:
        if isinstance(given, Accumulator):
            if given.passed_on:
                raise KernelError(text("simulator.accumulator-passed-on"))
            given.passed_on = True
            return given
        warp = self._warp(thread)
        return Accumulator(Numbers(given), len(given), warp, thread.index, warp.fences_at_issue)

    def _warp(self, thread: SimThread) -> Warp:
        number, place = divmod(thread.warp, WARPS)
        if number not in self._groups:
            self._groups[number] = Warpgroup(self._cta, number)
        return self._groups[number].warps[place]

    def _warp_of(self, lanes: Lanes) -> Warp:
        return self._warp(next(iter(lanes)))
