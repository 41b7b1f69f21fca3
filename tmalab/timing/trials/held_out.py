"""Trials that judge the model: chosen and committed before they were recorded.

The families of the others at settings that none of those has: depths of one to six stages, shapes of tiles, lengths of
K, sizes, tiles of B for two CTAs; copies by the copy engine and by threads; reads with and without a swizzle; stores
that overlap with work, and that do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.timing.trials.columns import launch_columns
from tmalab.timing.trials.moves import launch_ring, launch_threads
from tmalab.timing.trials.products import launch_product
from tmalab.timing.trials.stores import launch_stores
from tmalab.timing.trials.trial import Trial, trial


def _products() -> Iterator[dict[str, int]]:
    for stages in range(1, 7):
        yield {"m": 2688, "n": 2176, "k": 1856, "consumers": 2, "bn": 128, "stages": stages}
        yield {"m": 1664, "n": 2304, "k": 3072, "consumers": 1, "bn": 128, "stages": stages}
    for stages in (1, 2, 4):
        yield {"m": 2304, "n": 2688, "k": 2432, "consumers": 2, "bn": 96, "stages": stages}
    for consumers in (1, 2):
        for bn in (64, 96, 192, 256):
            yield {"m": 1920, "n": 3072, "k": 1600, "consumers": consumers, "bn": bn, "stages": 4}
    for k in (448, 1024, 2176, 5632):
        yield {"m": 2816, "n": 2304, "k": k, "consumers": 2, "bn": 128, "stages": 5}
    for size in (3328, 4864):
        yield {"m": size, "n": size, "k": size, "consumers": 2, "bn": 256, "stages": 4}
    for shares in (0, 1):
        yield {"m": 2816, "n": 2560, "k": 1472, "consumers": 2, "bn": 128, "stages": 4, "shares": shares}
        yield {"m": 2560, "n": 2816, "k": 1984, "consumers": 2, "bn": 256, "stages": 2, "shares": shares}


def _made() -> Iterator[Trial]:
    for settings in _products():
        yield trial(launch_product, "product", fresh=True, **settings)
    for stages in range(1, 7):
        for mib, rows in ((352, 96), (14, 56)):
            yield trial(launch_ring, "ring copy", fresh=True, mib=mib, rows=rows, stages=stages)
    for block, ctas in ((160, 7), (448, 3), (896, 1), (224, 9)):
        for mib in (14, 352):
            yield trial(launch_threads, "thread copy", fresh=True, mib=mib, block=block, ctas=ctas)
    for passes, stages, block in ((12, 3, 128), (24, 5, 128), (5, 1, 256), (28, 2, 384)):
        for swizzled in (0, 1):
            settings = {"swizzled": swizzled, "passes": passes, "turns": 144, "stages": stages, "block": block}
            yield trial(launch_columns, "columns", fresh=True, **settings)
    for rows, turns in ((20, 120), (72, 88), (176, 64)):
        for buffers in (1, 2, 3):
            yield trial(launch_stores, "stores", fresh=True, rows=rows, buffers=buffers, turns=turns)


HELD_OUT: tuple[Trial, ...] = tuple(dict.fromkeys(_made()))
