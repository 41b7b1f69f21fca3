"""A case of a copy without a map: contiguous bytes, into shared memory, out of it, or to a peer in the cluster.

>>> case = BulkCase("a load", "load", 32, 16, 128, "counting", 0)
>>> case.memory().nbytes, case.image_bytes
(304, 416)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tmalab.recorded.case import BUFFER_BYTES, MARGIN, POISON
from tmalab.recorded.inputs import memory


@dataclass(frozen=True)
class BulkCase:
    """One bulk copy of `bytes` bytes, or a bulk reduction of them. Addresses in bytes.

    operation       "load", "store", "to peer", or "add u32" and so on: a reduction and its element type
    global_offset   of the copied bytes in global memory; for a copy to a peer, of the bytes in the peer's buffer
    shared_address  of the copied bytes in the issuer's buffer, which is 1024-byte aligned and BUFFER_BYTES long
    cta_mask        of a multicast, else 0: the load of CTA `issuer` of a cluster of `ctas`
    peer            the CTA that a copy to a peer goes to, else -1

    For a load, memory holds `pattern` and shared memory POISON; otherwise memory holds `pattern` and the shared memory
    of the CTA of rank r the same pattern of seed + 1 + r.
    """

    name: str
    operation: str
    bytes: int
    global_offset: int
    shared_address: int
    pattern: str
    seed: int
    form: str = ""
    ctas: int = 1
    issuer: int = 0
    cta_mask: int = 0
    peer: int = -1

    @property
    def mode(self) -> str:
        """What the docs count it as."""
        if self.cta_mask:
            return "bulk multicast"
        what = self.operation if self.operation in ("load", "store", "to peer") else "reduction"
        return f"bulk {what}" + (" to peer" if self.peer >= 0 and what == "reduction" else "")

    @property
    def alone(self) -> bool:
        """Whether it goes to a peer where there is no cluster, which faults (measured, H200)."""
        return self.peer >= 0 and self.ctas == 1

    @property
    def to_shared(self) -> bool:
        """Whether its result is shared memory."""
        return self.operation == "load" or self.peer >= 0

    def memory(self) -> np.ndarray:
        """The bytes of global memory before the copy: uint8, some more than the copy touches."""
        return memory(self.pattern, self.seed, self.global_offset + self.bytes + MARGIN)

    def shared(self) -> np.ndarray:
        """The buffers of all CTAs before the copy: uint8, (ctas, image_bytes)."""
        if self.operation == "load":
            return np.full((self.ctas, self.image_bytes), POISON, np.uint8)
        seeds = range(self.seed + 1, self.seed + 1 + self.ctas)
        return np.stack([memory(self.pattern, seed, self.image_bytes) for seed in seeds])

    def before(self) -> np.ndarray:
        """What the result would be if the copy did nothing: uint8."""
        return self.shared().reshape(-1) if self.to_shared else self.memory()

    @property
    def image_bytes(self) -> int:
        """How much of shared memory the case looks at, a multiple of 8."""
        stop = max(self.shared_address, self.global_offset if self.peer >= 0 else 0) + self.bytes + MARGIN
        return min(stop + -stop % 8, BUFFER_BYTES)
