"""Trials that judged the model a second time, and found what it lacked; now it knows them.

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
        yield {"m": 2304, "n": 2304, "k": 2304, "consumers": 2, "bn": 128, "stages": stages}
        yield {"m": 1792, "n": 2048, "k": 2560, "consumers": 1, "bn": 128, "stages": stages}
    for stages in (1, 2, 4):
        yield {"m": 2560, "n": 2304, "k": 3072, "consumers": 2, "bn": 96, "stages": stages}
    for consumers in (1, 2):
        for bn in (64, 96, 192, 256):
            yield {"m": 2560, "n": 2304, "k": 1792, "consumers": consumers, "bn": bn, "stages": 4}
    for k in (192, 640, 1280, 5120):
        yield {"m": 2560, "n": 2560, "k": k, "consumers": 2, "bn": 128, "stages": 3}
    for size in (2816, 5120):
        yield {"m": size, "n": size, "k": size, "consumers": 2, "bn": 256, "stages": 4}
    for shares in (0, 1):
        yield {"m": 2560, "n": 3072, "k": 1536, "consumers": 2, "bn": 128, "stages": 4, "shares": shares}
        yield {"m": 2560, "n": 3072, "k": 2560, "consumers": 2, "bn": 256, "stages": 2, "shares": shares}


def _made() -> Iterator[Trial]:
    for settings in _products():
        yield trial(launch_product, "product", False, **settings)
    for stages in range(1, 7):
        for mib, rows in ((384, 80), (20, 48)):
            yield trial(launch_ring, "ring copy", mib=mib, rows=rows, stages=stages)
    for block, ctas in ((192, 5), (384, 4), (512, 1), (128, 16)):
        for mib in (10, 320):
            yield trial(launch_threads, "thread copy", mib=mib, block=block, ctas=ctas)
    for passes, stages, block in ((6, 3, 128), (20, 4, 128), (4, 1, 256), (24, 2, 384)):
        for swizzled in (0, 1):
            settings = {"swizzled": swizzled, "passes": passes, "turns": 160, "stages": stages, "block": block}
            yield trial(launch_columns, "columns", False, **settings)
    for rows, turns in ((24, 112), (56, 96), (112, 80)):
        for buffers in (1, 2, 3):
            yield trial(launch_stores, "stores", rows=rows, buffers=buffers, turns=turns)


SECOND: tuple[Trial, ...] = tuple(dict.fromkeys(_made()))
