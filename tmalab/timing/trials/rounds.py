"""Rounds of trials that judge the model: the same families each time, at settings that no other round has.

Depths of one to six stages, shapes of tiles, lengths of K, sizes, tiles of B for two CTAs; copies by the copy engine
and by threads; reads with and without a swizzle; stores that overlap with work, and that do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tmalab.timing.trials.columns import launch_columns
from tmalab.timing.trials.moves import launch_ring, launch_threads
from tmalab.timing.trials.products import launch_product
from tmalab.timing.trials.stores import launch_stores
from tmalab.timing.trials.trial import Trial, trial

Product = tuple[int, int, int]  # m, n, k
DEPTHS = range(1, 7)


@dataclass(frozen=True)
class Round:
    """The numbers of one round. Products are (m, n, k), with two consumers where nothing else is said.

    deep, deep_alone   products at every depth, of tiles 128 wide; the second with one consumer
    wide               a product with the width of its tiles and its depths
    shapes             a product with its depth, for 1 and 2 consumers and tiles of four widths
    lengths            m, n, a depth, and lengths of K, of tiles 128 wide
    sizes              of cubes
    shared, shared_wide   products with their depth, each CTA's own tile of B or one for two; of tiles 128 and 256 wide
    rings              MiB and rows of a stage, at every depth
    threads            threads of a CTA and CTAs of an SM; `thread_mib`: what they copy
    columns            passes, stages and threads, and `turns`
    stores             rows and turns, for one to three buffers
    """

    deep: Product
    deep_alone: Product
    wide: tuple[Product, int, Sequence[int]]
    shapes: tuple[Product, int]
    lengths: tuple[int, int, int, Sequence[int]]
    sizes: Sequence[int]
    shared: tuple[Product, int]
    shared_wide: tuple[Product, int]
    rings: Sequence[tuple[int, int]]
    threads: Sequence[tuple[int, int]]
    thread_mib: Sequence[int]
    columns: Sequence[tuple[int, int, int]]
    turns: int
    stores: Sequence[tuple[int, int]]

    def trials(self, fresh: bool = False) -> tuple[Trial, ...]:
        """Its trials; `fresh`: chosen last, to judge the model."""
        return tuple(dict.fromkeys(self._made(fresh)))

    def _made(self, fresh: bool) -> Iterator[Trial]:
        for product in self._products():
            yield trial(launch_product, "product", fresh, **product)
        for stages in DEPTHS:
            for mib, rows in self.rings:
                yield trial(launch_ring, "ring copy", fresh, mib=mib, rows=rows, stages=stages)
        for block, ctas in self.threads:
            for mib in self.thread_mib:
                yield trial(launch_threads, "thread copy", fresh, mib=mib, block=block, ctas=ctas)
        for passes, stages, block in self.columns:
            for swizzled in (0, 1):
                columns = {"swizzled": swizzled, "passes": passes, "turns": self.turns, "stages": stages}
                yield trial(launch_columns, "columns", fresh, **columns, block=block)
        for rows, turns in self.stores:
            for buffers in (1, 2, 3):
                yield trial(launch_stores, "stores", fresh, rows=rows, buffers=buffers, turns=turns)

    def _products(self) -> Iterator[dict[str, int]]:
        for stages in DEPTHS:
            yield _product(self.deep, 128, stages)
            yield _product(self.deep_alone, 128, stages, consumers=1)
        product, bn, depths = self.wide
        for stages in depths:
            yield _product(product, bn, stages)
        product, stages = self.shapes
        for consumers in (1, 2):
            for bn in (64, 96, 192, 256):
                yield _product(product, bn, stages, consumers)
        m, n, stages, lengths = self.lengths
        for k in lengths:
            yield _product((m, n, k), 128, stages)
        for size in self.sizes:
            yield _product((size, size, size), 256, 4)
        for shares in (0, 1):
            for bn, (product, stages) in ((128, self.shared), (256, self.shared_wide)):
                yield {**_product(product, bn, stages), "shares": shares}


def _product(product: Product, bn: int, stages: int, consumers: int = 2) -> dict[str, int]:
    m, n, k = product
    return {"m": m, "n": n, "k": k, "consumers": consumers, "bn": bn, "stages": stages}
