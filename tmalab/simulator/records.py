"""What is kept of an access: who made it, and by which tick of which dimension others know of it.

A thread's access is known with its segment, a load's with the phase of its barrier, a store's with its thread's groups
(see clocks). The same few numbers describe the last writer of every byte, and reads that a later write must respect.
"""

from __future__ import annotations

from mmap import mmap

import numpy as np

# How an access was made.
NOTHING = 0  # nobody wrote here: the host's data in global memory, garbage in shared memory
GENERIC = 1  # a thread's ordinary load or store
ATOMIC_ACCESS = 2  # a thread's atomic
SAME_VALUE = 3  # a thread's store of the value that was there
ASYNC = 4  # the copy engine, through the asynchronous proxy
CP_ASYNC = 5  # a thread's cp.async: late, and through the generic proxy
BARRIER = 6  # no access: a live mbarrier lies here
REDUCTION = 7  # the copy engine combining what it brings with what it finds
MAP_USE = 8  # the copy engine reading the 128 bytes of a tensor map, through a proxy of its own

RECORD = np.dtype(
    [
        ("dimension", np.int32),
        ("tick", np.int32),
        ("cluster", np.int32),  # 1 and up; 0: the host
        ("how", np.int32),
        ("copy", np.int32),  # number of the copy, 0 for a thread's own access
        ("thread", np.int32),  # number in the grid
        ("place", np.int32),  # number of the source line, where noted
        ("fresh", np.int32),  # whether a write found garbage there: the first one
    ]
)
READ_RECORD = np.dtype([("unit", np.int64), *RECORD.descr])


def record(dimension: int, tick: int, cluster: int, how: int, copy: int, thread: int, place: int) -> np.ndarray:
    """One record, as an array of no dimension."""
    return np.array((dimension, tick, cluster, how, copy, thread, place, False), RECORD)


def by_thread(how: np.ndarray) -> np.ndarray:
    """Which accesses a thread made itself, at once."""
    return (how == GENERIC) | (how == ATOMIC_ACCESS) | (how == SAME_VALUE)


def by_copy(how: np.ndarray) -> np.ndarray:
    """Which accesses the copy engine made, through the asynchronous proxy."""
    return (how == ASYNC) | (how == REDUCTION)


# NumPy moves records field by field, unless it is told that they are just bytes: 10 to 30 times faster.
_BYTES = np.dtype((np.void, RECORD.itemsize))
_WORDS, _READ_WORDS = RECORD.itemsize // 4, READ_RECORD.itemsize // 4


def blank(count: int) -> np.ndarray:
    """Records of nothing. What nobody touches takes neither time nor memory, which np.zeros does not promise."""
    return np.frombuffer(mmap(-1, count * RECORD.itemsize), RECORD)


def put(records: np.ndarray, at: np.ndarray, values: np.ndarray) -> None:
    """`records[at] = values`: records or one record. Taking them is as quick by `records.take(at)`."""
    records.view(_BYTES)[at] = values.view(_BYTES)


def with_units(units: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Records, or one record, as READ_RECORDs of these units."""
    reads = np.empty(len(units), READ_RECORD)
    reads["unit"] = units
    reads.view(np.int32).reshape(-1, _READ_WORDS)[:, -_WORDS:] = made.reshape(-1).view(np.int32).reshape(-1, _WORDS)
    return reads


def plain(reads: np.ndarray) -> np.ndarray:
    """READ_RECORDs without their units."""
    return np.ascontiguousarray(reads.view(np.int32).reshape(-1, _READ_WORDS)[:, -_WORDS:]).reshape(-1).view(RECORD)
