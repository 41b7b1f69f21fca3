"""Trials that judged the model a second time, and found what it lacked; now it knows them."""

from __future__ import annotations

from tmalab.timing.trials.rounds import Round

SECOND = Round(
    deep=(2304, 2304, 2304),
    deep_alone=(1792, 2048, 2560),
    wide=((2560, 2304, 3072), 96, (1, 2, 4)),
    shapes=((2560, 2304, 1792), 4),
    lengths=(2560, 2560, 3, (192, 640, 1280, 5120)),
    sizes=(2816, 5120),
    shared=((2560, 3072, 1536), 4),
    shared_wide=((2560, 3072, 2560), 2),
    rings=((384, 80), (20, 48)),
    threads=((192, 5), (384, 4), (512, 1), (128, 16)),
    thread_mib=(10, 320),
    columns=((6, 3, 128), (20, 4, 128), (4, 1, 256), (24, 2, 384)),
    turns=160,
    stores=((24, 112), (56, 96), (112, 80)),
).trials()
