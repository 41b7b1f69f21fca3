"""Trials that were chosen when the model stood, to judge it: they did, and found what it lacked; now it knows them.

The same families as before at settings that none of the first trials has: depths of one to six stages, shapes of tiles,
lengths of K, sizes, tiles of B for two CTAs; copies by the copy engine and by threads; reads with and without a
swizzle; stores that overlap with work, and that do not.
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
        yield {"m": 2048, "n": 2048, "k": 4096, "consumers": 2, "bn": 64, "stages": stages}
        yield {"m": 1536, "n": 1536, "k": 1024, "consumers": 2, "bn": 128, "stages": stages}
    for stages in range(1, 6):
        yield {"m": 2048, "n": 3072, "k": 2048, "consumers": 2, "bn": 192, "stages": stages}
    for consumers in (1, 2):
        for bn in (64, 96, 128, 192, 256):
            yield {"m": 3072, "n": 3072, "k": 1536, "consumers": consumers, "bn": bn, "stages": 3}
    for k in (128, 384, 768, 3072, 6144, 12288):
        yield {"m": 3072, "n": 3072, "k": k, "consumers": 2, "bn": 256, "stages": 4}
    for size in (1536, 3072, 6144):
        yield {"m": size, "n": size, "k": size, "consumers": 2, "bn": 128, "stages": 5}
    for shares in (0, 1):
        yield {"m": 2048, "n": 4096, "k": 2048, "consumers": 2, "bn": 128, "stages": 3, "shares": shares}
        yield {"m": 2048, "n": 4096, "k": 2048, "consumers": 2, "bn": 256, "stages": 3, "shares": shares}
        yield {"m": 2048, "n": 2048, "k": 3072, "consumers": 1, "bn": 128, "stages": 4, "shares": shares}


def _made() -> Iterator[Trial]:
    for settings in _products():
        yield trial(launch_product, "product", False, **settings)
    for stages in range(1, 7):
        for mib, rows in ((256, 96), (12, 32)):
            yield trial(launch_ring, "ring copy", mib=mib, rows=rows, stages=stages)
    for rows in (24, 48, 160):
        yield trial(launch_ring, "ring copy", mib=256, rows=rows, stages=3)
    for block, ctas in ((64, 16), (128, 8), (256, 2), (512, 2), (512, 4), (1024, 1)):
        for mib in (8, 256):
            yield trial(launch_threads, "thread copy", mib=mib, block=block, ctas=ctas)
    for passes, stages, block in ((2, 6, 128), (8, 3, 128), (8, 1, 256), (24, 3, 256), (16, 2, 512), (48, 4, 64)):
        for swizzled in (0, 1):
            settings = {"swizzled": swizzled, "passes": passes, "turns": 192, "stages": stages, "block": block}
            yield trial(launch_columns, "columns", False, **settings)
    for rows, turns in ((16, 128), (48, 96), (96, 256), (192, 64)):
        for buffers in (1, 2, 3):
            yield trial(launch_stores, "stores", rows=rows, buffers=buffers, turns=turns)


LATER: tuple[Trial, ...] = tuple(dict.fromkeys(_made()))
