"""Trials that judged the model a third time, and found what it lacked; now it knows them.

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
        yield {"m": 2048, "n": 2560, "k": 3200, "consumers": 2, "bn": 128, "stages": stages}
        yield {"m": 1920, "n": 1792, "k": 2304, "consumers": 1, "bn": 128, "stages": stages}
    for stages in (1, 3, 5):
        yield {"m": 2048, "n": 2688, "k": 2816, "consumers": 2, "bn": 192, "stages": stages}
    for consumers in (1, 2):
        for bn in (64, 96, 192, 256):
            yield {"m": 3328, "n": 1536, "k": 2304, "consumers": consumers, "bn": bn, "stages": 3}
    for k in (320, 896, 1536, 4608):
        yield {"m": 2304, "n": 2816, "k": k, "consumers": 2, "bn": 128, "stages": 4}
    for size in (3584, 4608):
        yield {"m": size, "n": size, "k": size, "consumers": 2, "bn": 256, "stages": 4}
    for shares in (0, 1):
        yield {"m": 3072, "n": 2304, "k": 1792, "consumers": 2, "bn": 128, "stages": 3, "shares": shares}
        yield {"m": 3072, "n": 2560, "k": 2304, "consumers": 2, "bn": 256, "stages": 3, "shares": shares}


def _made() -> Iterator[Trial]:
    for settings in _products():
        yield trial(launch_product, "product", False, **settings)
    for stages in range(1, 7):
        for mib, rows in ((288, 112), (18, 40)):
            yield trial(launch_ring, "ring copy", mib=mib, rows=rows, stages=stages)
    for block, ctas in ((96, 8), (320, 6), (640, 1), (768, 2)):
        for mib in (12, 288):
            yield trial(launch_threads, "thread copy", mib=mib, block=block, ctas=ctas)
    for passes, stages, block in ((10, 3, 128), (28, 4, 128), (6, 1, 256), (20, 2, 384)):
        for swizzled in (0, 1):
            settings = {"swizzled": swizzled, "passes": passes, "turns": 176, "stages": stages, "block": block}
            yield trial(launch_columns, "columns", False, **settings)
    for rows, turns in ((40, 112), (80, 96), (144, 72)):
        for buffers in (1, 2, 3):
            yield trial(launch_stores, "stores", rows=rows, buffers=buffers, turns=turns)


THIRD: tuple[Trial, ...] = tuple(dict.fromkeys(_made()))
