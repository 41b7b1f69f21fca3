"""Promises that are not what a load brings, and what a barrier made of them: `promises.json`.

The file is made by `tmalab record promises` on a Hopper GPU: loads of a few sizes, each with every promise of a list,
each of these tried by many CTAs. What happens differs from try to try, so tries are counted. After the first load a
second one follows on the same barrier, with the right promise.

>>> exact = [tried for tried in read().tried if tried.promise == tried.bytes]
>>> all(tried.ended == tried.tries and not tried.short for tried in exact)
True
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from math import gcd
from pathlib import Path
from typing import Any, NamedTuple

FILE = "promises.json"
BOXES = {512: (32, 16), 2048: (64, 32), 8192: (128, 64)}  # bytes of a load: bytes of a row, rows
STEP = {512: 16, 2048: 16, 8192: 128}  # from one promise to the next


class Tried(NamedTuple):
    """One promise for loads of so many bytes, tried `tries` times.

    ended         tries in which the phase ended while it was looked at; `short`: those of them in which a thread then
                  found bytes that had not come
    next_ended    of the tries whose first phase ended: those in which that of a second load, rightly promised, did too;
                  `next_short`: those of them with bytes that had not come
    tx            the tx-counts that the barrier had in the end: one, if all tries agree
    """

    bytes: int
    promise: int
    tries: int
    ended: int
    short: int
    next_ended: int
    next_short: int
    tx: tuple[int, ...]


class Promises(NamedTuple):
    """The recording. `waited_us`: for how long a phase that did not end was looked at, at least, in microseconds."""

    provenance: dict[str, Any]
    waited_us: float
    tried: tuple[Tried, ...]


def promises() -> list[tuple[int, int]]:
    """Bytes of a load and its promise: all multiples of a step, some numbers that are none, none and too many."""
    return [
        (size, promise)
        for size in BOXES
        for promise in (*range(0, size + 1, STEP[size]), 1, size // 2 + 8, size - 1, size + 1, size + 16, 2 * size)
    ]


@cache
def read() -> Promises:
    """The recording."""
    plain = json.loads(resources.files("tmalab").joinpath("recorded", FILE).read_text("utf-8"))
    tried = tuple(Tried._make([*row[:-1], tuple(row[-1])]) for row in plain["tried"])
    return Promises(plain["provenance"], plain["waited_us"], tried)


def write(folder: Path, recording: Promises) -> None:
    """Write `promises.json` into a folder, a line for each promise."""
    rows = ",\n".join(f"    {json.dumps(row)}" for row in recording.tried)
    head = json.dumps({"provenance": recording.provenance, "waited_us": recording.waited_us}, indent=2)
    (folder / FILE).write_text(f'{head[:-2]},\n  "tried": [\n{rows}\n  ]\n}}\n', "utf-8")


def counts() -> dict[str, int]:
    """What became of promises that are not what the load brings, the promise of nothing left out: it is kept at once.

    count, more         promises of less, and of more; each tried `tries` times
    early, never        of those of less: that ended the wait in some tries, and in none; `step` divides the former
    ended, next         tries that ended so, and after how many of them the wait for a load rightly promised ended too
    more_never          of those of more: that never ended the wait
    """
    tried = [each for each in read().tried if each.promise and each.promise != each.bytes]
    less, more = ([each for each in tried if (each.promise > each.bytes) == too_many] for too_many in (False, True))
    early = [each for each in less if each.ended]
    return {
        "count": len(less),
        "tries": tried[0].tries,
        "early": len(early),
        "never": len(less) - len(early),
        "step": gcd(*(each.promise for each in early)),
        "ended": sum(each.ended for each in early),
        "next": sum(each.next_ended for each in early),
        "more": len(more),
        "more_never": sum(not each.ended for each in more),
    }
