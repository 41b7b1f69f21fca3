"""Tiles of C: which shape suits which product, and what a persistent kernel of that shape takes of an SM.

A large tile reads less for each multiplication, a small one spreads a small product over all SMs. What a product takes
with a shape is estimated here in cycles of the slowest SM, and the cheapest shape is taken:

>>> choose(8192, 8192, 8192).shape, choose(8192, 8192, 1024).shape, choose(1024, 1024, 1024).shape
((128, 256), (128, 128), (64, 128))

The constants are those with which the estimate picks, of each of eight products, a shape that is within two hundredths
of the fastest that was measured: `tmalab bench tiles`, recorded on an H200.
"""

from __future__ import annotations

from typing import NamedTuple

from tmalab.simulator.memory import SHARED_LIMIT

BK = 64  # columns of A and B that are loaded at once: 128 bytes of bf16, the swizzle's span
SMS = 132  # of an H100 or H200 as it is sold for servers

# Of one SM, a cycle: multiplications of bf16 pairs, of 2,048 that it could do at most, and bytes that come from L2.
MULTIPLICATIONS, L2_BYTES = 1640, 50
STEP, LEAST = 30, 400  # cycles by which a step is longer than its multiplications; that the shortest step takes
# Cycles that a tile takes beside its steps, by its columns. The more parts of C, the longer each waits for its staging.
AFTER = {128: 600, 256: 2200}
# What a cluster costs: until its CTAs have met, and in each step, for which both must be ready.
MEETING, TOGETHER = 2500, 40


class Tile(NamedTuple):
    """The shape of a persistent kernel.

    consumers   warpgroups that multiply, of 64 rows each: 1 or 2
    bn          columns of C, 128 or 256: an even number of the parts that are staged by turns
    stages      of the ring that A and B are loaded into
    cluster     CTAs, one below the other, that share what they load of B: 1 or 2
    group       rows of tiles that are walked down before the next column
    depth       blocks of 64 columns in a stage: the more, the less often the consumers wait
    """

    consumers: int
    bn: int
    stages: int
    cluster: int = 1
    group: int = 8
    depth: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of C."""
        return 64 * self.consumers, self.bn

    @property
    def threads(self) -> int:
        """Of a CTA: the consumers' and the producer's warpgroup."""
        return 128 * (self.consumers + 1)

    @property
    def stage_bytes(self) -> int:
        """What A and B take of a stage."""
        return sum(self.shape) * BK * 2 * self.depth

    @property
    def shared_bytes(self) -> int:
        """All shared memory: the ring, the staging of C, two barriers for each stage."""
        return self.stages * (self.stage_bytes + 16) + self.consumers * 4 * 2 * 16 * 64 * 2

    def ctas(self, m: int, n: int) -> int:
        """How many tiles a product has, those that fill up the last cluster included."""
        rows, columns = -(-m // self.shape[0]), -(-n // self.bn)
        return (rows + -rows % self.cluster) * columns

    def grid(self, m: int, n: int, sms: int = SMS) -> int:
        """CTAs to launch: one for each SM, and no more than there are tiles."""
        return min(self.ctas(m, n), sms - sms % self.cluster)

    def cycles(self, m: int, n: int, k: int, sms: int = SMS) -> float:
        """An estimate of what the product takes of the slowest SM, the launch left out."""
        steps = -(-k // (BK * self.depth))
        multiplied = self.shape[0] * self.bn * BK * self.depth / MULTIPLICATIONS
        loaded = (self.shape[0] + self.bn / self.cluster) * BK * 2 * self.depth / L2_BYTES
        waves = -(-self.ctas(m, n) // (sms - sms % self.cluster))
        apart = waves * (steps * max(multiplied + STEP, loaded, LEAST) + AFTER[self.bn])
        return apart if self.cluster == 1 else apart + MEETING + waves * steps * TOGETHER

    def __str__(self) -> str:
        """As a table has it."""
        rows, columns = self.shape
        pair = f", cluster of {self.cluster}" if self.cluster > 1 else ""
        return f"{rows} x {columns}, {self.stages} stages of {BK * self.depth}{pair}, groups of {self.group}"


TILES = (
    Tile(2, 256, 4),
    Tile(2, 128, 6),
    Tile(1, 128, 4, depth=2),
    Tile(2, 256, 4, 2),
    Tile(2, 128, 6, 2),
    Tile(1, 128, 4, 2, depth=2),
)


def choose(m: int, n: int, k: int, cluster: int | None = None, sms: int = SMS) -> Tile:
    """The shape with the lowest estimate, of the first among equals; of `cluster` CTAs where that is asked for."""
    tiles = [tile for tile in TILES if cluster in (None, tile.cluster) and tile.shared_bytes <= SHARED_LIMIT]
    return min(tiles, key=lambda tile: tile.cycles(m, n, k, sms))
