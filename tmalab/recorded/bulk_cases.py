"""Random copies without a map, and bulk reductions of every operation and type.

>>> from random import Random
>>> case = random_bulk_copy(Random(1), 0)
>>> case.bytes % 16, case.global_offset % 16, case.shared_address % 16
(0, 0, 0)
"""

from __future__ import annotations

from random import Random

from tmalab.recorded.bulk_case import BulkCase
from tmalab.recorded.bulk_kernels import TO_MEMORY, TO_PEERS

LARGEST = 2048  # bytes
ROOM = 1024  # bytes before the copied ones, at most
MOST_CTAS = 4
SIZES = {"16": 2, "32": 4, "64": 8}  # bytes of an element, by the end of its type's name
REDUCTIONS = [(name, False) for name in TO_MEMORY if name[:5] != "store"]
REDUCTIONS += [(name, True) for name in TO_PEERS if name != "to peer"]  # operation and type, whether to a peer


def random_bulk_copy(draw: Random, number: int) -> BulkCase:
    """A load, multicast, store or copy to a peer."""
    operation = draw.choice(("load", "load", "multicast", "store", "store", "to peer"))
    name, where = f"bulk {operation} {number}", _where(draw)
    if operation == "multicast":
        ctas = draw.randint(1, MOST_CTAS)
        mask = draw.randint(1, (1 << ctas) - 1)
        return BulkCase(name, "load", *where, "random", number, "", ctas, draw.randrange(ctas), mask)
    if operation == "to peer":
        return BulkCase(name, operation, *_apart(draw, where), "random", number, "", *_peers(draw))
    form = draw.choice(("cache hint", "prefetch")) if draw.random() < 0.2 and operation == "load" else ""
    return BulkCase(name, operation, *where, "random", number, form)


def random_bulk_reduction(draw: Random, number: int) -> BulkCase:
    """A reduction of any operation and type, to global memory or to a peer."""
    return bulk_reduction(draw, number, *draw.choice(REDUCTIONS))


def bulk_reduction(draw: Random, number: int, operation: str, to_peer: bool) -> BulkCase:
    """A reduction, with special elements more often than not. `operation` names the type too."""
    _, element = operation.split()
    patterns = [f"special {SIZES[element[-2:]]}", f"special {SIZES[element[-2:]]}", "random"]
    if element in ("f16", "bf16", "f32", "f64"):
        patterns += [f"close {element}"] * 2
    name, pattern, where = f"bulk {operation} {number}", draw.choice(patterns), _where(draw)
    if to_peer:
        return BulkCase(f"{name} to peer", operation, *_apart(draw, where), pattern, number, "", *_peers(draw))
    return BulkCase(name, operation, *where, pattern, number)


def _where(draw: Random) -> tuple[int, int, int]:
    """Bytes, offset in global memory, address in shared memory."""
    size = 16 * draw.choice((1, draw.randint(1, 8), draw.randint(1, LARGEST // 16)))
    return size, 16 * draw.randrange(ROOM // 16), 16 * draw.randrange(ROOM // 16)


def _apart(draw: Random, where: tuple[int, int, int]) -> tuple[int, int, int]:
    """The same with a place in the peer's buffer that the source does not reach: the peer may be the issuer itself."""
    size, _, address = where
    return size, address + size + 16 * draw.randrange(ROOM // 16), address


def _peers(draw: Random) -> tuple[int, int, int, int]:
    """CTAs, issuer, no multicast mask, and a peer, which may be the issuer itself."""
    ctas = draw.randint(1, MOST_CTAS)
    return ctas, draw.randrange(ctas), 0, draw.randrange(ctas)
