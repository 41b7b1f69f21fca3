"""Trials that judged the model a third time, and found what it lacked; now it knows them."""

from __future__ import annotations

from tmalab.timing.trials.rounds import Round

THIRD = Round(
    deep=(2048, 2560, 3200),
    deep_alone=(1920, 1792, 2304),
    wide=((2048, 2688, 2816), 192, (1, 3, 5)),
    shapes=((3328, 1536, 2304), 3),
    lengths=(2304, 2816, 4, (320, 896, 1536, 4608)),
    sizes=(3584, 4608),
    shared=((3072, 2304, 1792), 3),
    shared_wide=((3072, 2560, 2304), 3),
    rings=((288, 112), (18, 40)),
    threads=((96, 8), (320, 6), (640, 1), (768, 2)),
    thread_mib=(12, 288),
    columns=((10, 3, 128), (28, 4, 128), (6, 1, 256), (20, 2, 384)),
    turns=176,
    stores=((40, 112), (80, 96), (144, 72)),
).trials()
