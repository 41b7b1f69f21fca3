"""Record what this machine's Hopper GPU makes of wrong promises: `tmalab record promises`.

>>> from tmalab.gpu.promise_recorder import TRIES, tried_in
>>> tried_in(512, 0, on="simulator", tries=1, looks=1)[0]
Tried(bytes=512, promise=0, tries=1, ended=1, short=1, next_ended=0, next_short=0, tx=())
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tmalab.data_types import DataType
from tmalab.gpu.recorder import RecordingError, describe
from tmalab.mbarrier_word import unpack
from tmalab.progress_bar import watched
from tmalab.recorded import promises
from tmalab.recorded.promise_kernel import promised
from tmalab.recorded.promises import Promises, Tried
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

TRIES = 64  # CTAs of a launch
THREADS = 128
LOOKS = 5000  # at a phase, by every thread


def record_promises(folder: Path, command: str = "tmalab record promises") -> int:
    """Try all promises, write the recording; how many there were. RecordingError where a launch does not end well."""
    provenance, tried, waited = describe(command), [], []
    for size, promise in watched(promises.promises()):
        counts, ns = tried_in(size, promise, on="gpu")
        tried.append(counts)
        waited.append(ns)
    folder.mkdir(parents=True, exist_ok=True)
    least = min(ns for ns, counts in zip(waited, tried, strict=True) if not counts.ended)
    promises.write(folder, Promises(provenance, least / 1000, tuple(tried)))
    return len(tried)


def tried_in(size: int, promise: int, on: str, tries: int = TRIES, looks: int = LOOKS) -> tuple[Tried, int]:
    """What became of one promise for loads of `size` bytes, and for how many ns a phase was looked at, at least."""
    row, rows = promises.BOXES[size]
    words = np.arange(size // 8, dtype=np.int64)
    tm = TensorMap.from_array(words.view(np.uint8).reshape(rows, row), (rows, row), data_type=DataType.UINT8)
    ended, missing, waited = (np.zeros((tries, 2, THREADS), np.int64) for _ in range(3))
    word = np.zeros(tries, np.int64)
    args = (tm, np.array([promise, size]), ended, missing, waited, word, size // 8, looks, int(on == "gpu"))
    run = promised.run(grid=tries, block=THREADS, args=args, on=on)
    if run.fault is not None or run.compile_error is not None or run.deadlock is not None:
        raise RecordingError(text("gpu.record-failed", case=f"{promise} of {size}", run=str(run)))
    (first, second), (short, next_short) = (np.count_nonzero(seen.any(2), axis=0).tolist() for seen in (ended, missing))
    tx = tuple(sorted({unpack(int(each))["tx_count"] for each in word})) if on == "gpu" else ()
    return Tried(size, promise, tries, first, short, second, next_short, tx), int(waited[:, 0].min())
