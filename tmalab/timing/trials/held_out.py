"""Trials that judge the model: chosen and committed before they were recorded."""

from __future__ import annotations

from tmalab.timing.trials.rounds import Round

HELD_OUT = Round(
    deep=(2688, 2176, 1856),
    deep_alone=(1664, 2304, 3072),
    wide=((2304, 2688, 2432), 96, (1, 2, 4)),
    shapes=((1920, 3072, 1600), 4),
    lengths=(2816, 2304, 5, (448, 1024, 2176, 5632)),
    sizes=(3328, 4864),
    shared=((2816, 2560, 1472), 4),
    shared_wide=((2560, 2816, 1984), 2),
    rings=((352, 96), (14, 56)),
    threads=((160, 7), (448, 3), (896, 1), (224, 9)),
    thread_mib=(14, 352),
    columns=((12, 3, 128), (24, 5, 128), (5, 1, 256), (28, 2, 384)),
    turns=144,
    stores=((20, 120), (72, 88), (176, 64)),
).trials(fresh=True)
