"""Bulk copies without a map: contiguous bytes between global memory, this CTA's shared memory, and that of a peer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tmalab import bulk
from tmalab.faults import TmaFault
from tmalab.reference import LoadFootprint, StoreFootprint
from tmalab.simulator.context import current_thread
from tmalab.simulator.errors import KernelError
from tmalab.simulator.issue import CHUNK, Issue
from tmalab.simulator.loads import PIECE, BulkLoad, PeerCopy, PeerReduction, Target
from tmalab.simulator.memory import WINDOW
from tmalab.simulator.multicast import check_launch, targets
from tmalab.simulator.peers import cta_of_rank
from tmalab.simulator.stores import BulkReduction, BulkStore
from tmalab.texts import text


class BulkCopies(Issue):
    """cp.async.bulk in its forms. The methods are the instructions, for the thread that is running.

    A size of 0 moves nothing and credits nothing (measured, H200).
    """

    def bulk_load(self, destination: int, source: int, bytes: int, bar: int, mask: int | None = None) -> None:
        """cp.async.bulk, global to shared memory; `mask`: CTAs, of a multicast."""
        thread = current_thread()
        check_launch(thread, mask)
        _check(bulk.check_copy, source, destination, bytes, WINDOW)
        if not bytes:
            return
        footprint = _into_shared(destination, bytes, source)
        self._check_tile(thread, destination, footprint.shared)
        self._check_global(source, bytes)

        def make(target: Target) -> BulkLoad:
            return BulkLoad(thread, target, footprint, source)

        self._load(thread, make, targets(thread, destination, bar, mask), mask=mask)

    def bulk_store(self, destination: int, source: int, bytes: int) -> None:
        """cp.async.bulk, shared to global memory."""
        _check(bulk.check_copy, destination, source, bytes, WINDOW)
        self._store_bytes(BulkStore, destination, source, bytes)

    def bulk_reduce(self, op: str, type: str, destination: int, source: int, bytes: int) -> None:
        """cp.reduce.async.bulk, shared to global memory."""
        _check(bulk.check_reduce, op, type, destination, source, bytes, WINDOW)

        def make(*arguments: Any) -> BulkReduction:
            return BulkReduction(*arguments, op, type)

        self._store_bytes(make, destination, source, bytes)

    def bulk_to_peer(self, destination: int, cta_rank: int, source: int, bytes: int, bar: int) -> None:
        """cp.async.bulk, this CTA's shared memory to that of another CTA of the cluster."""
        self._to_peer(bulk.check_copy, PeerCopy, destination, cta_rank, source, bytes, bar)

    def bulk_reduce_to_peer(
        self, op: str, type: str, destination: int, cta_rank: int, source: int, bytes: int, bar: int
    ) -> None:
        """cp.reduce.async.bulk, this CTA's shared memory into that of another CTA of the cluster."""

        def make(*arguments: Any) -> PeerReduction:
            return PeerReduction(*arguments, op, type)

        self._to_peer(partial(bulk.check_reduce, op, type), make, destination, cta_rank, source, bytes, bar)

    def bulk_prefetch(self, source: int, bytes: int) -> None:
        """cp.async.bulk.prefetch changes no data, and takes addresses where nothing lies (measured, H200)."""
        _check(bulk.check_copy, source, 0, bytes)

    def _store_bytes(self, make: Any, destination: int, source: int, bytes: int) -> None:
        thread = current_thread()
        if not bytes:
            return
        chunks = np.arange(source, source + bytes, CHUNK)
        self._check_tile(thread, source, chunks)
        self._check_global(destination, bytes)
        starts = np.array([destination])
        self._store(make(thread, source, StoreFootprint(chunks, starts, starts + bytes)))

    def _to_peer(
        self,
        check: Callable[..., None],
        make: Any,
        destination: int,
        cta_rank: int,
        source: int,
        bytes: int,
        bar: int,
    ) -> None:
        thread = current_thread()
        if not self._cta.cluster.has_peers:  # told before the addresses (measured, H200)
            raise TmaFault("illegal_instruction", text("simulator.no-cluster"))
        _check(check, destination, source, bytes, WINDOW)
        peer = cta_of_rank(thread, cta_rank)
        if not bytes:
            return
        footprint = _into_shared(destination, bytes)
        self._check_tile(thread, source, np.arange(source, source + bytes, CHUNK))
        self._check_tile(thread, destination, footprint.shared)
        peer.peers.reached_by(thread)
        target = Target(peer, destination, peer.mbarriers.for_thread(thread, bar))
        copy = make(thread, target, footprint, source)
        self._cta.copies.lend(copy)
        self._load(thread, lambda _: copy, [target])

    def _check_global(self, address: int, bytes: int) -> None:
        """Bytes of global memory that leave their buffer fault; those that leave their array are told of."""
        memory = self._cta.run.memory
        end = memory.buffer_stop(address)
        if end is None or address + bytes > end:
            over = address + bytes - (end or address)
            values = {"address": hex(address), "bytes": f"{bytes:,}", "over": f"{over:,}"}
            raise TmaFault("illegal_address", text("simulator.bulk-past-buffer", **values))
        start = address - memory.base
        around = [held for held in memory.allocations if held.start <= start < held.stop]
        if around and not any(start + bytes <= held.stop for held in around):
            largest = max(around, key=lambda held: held.stop)
            current_thread().tell("out-of-bounds", global_address=address, bytes=bytes, allocation=largest)


def _into_shared(destination: int, bytes: int, source: int | None = None) -> LoadFootprint:
    """What a copy of contiguous bytes touches; `source`: its global address, if it has one."""
    starts = np.array([] if source is None else [source], np.int64)
    return LoadFootprint(np.arange(destination, destination + bytes, CHUNK), PIECE, starts, starts + bytes, bytes)


def _check(check: Callable[..., None], *arguments: Any) -> None:
    """What PTX leaves undefined is an error in the learner's line."""
    try:
        check(*arguments)
    except ValueError as error:
        raise KernelError(str(error)) from None
