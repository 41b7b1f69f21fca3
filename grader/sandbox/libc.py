"""Calls of the C library that Python has no function for, and their errors."""

from __future__ import annotations

import ctypes
import os
from functools import cache

PR_SET_NO_NEW_PRIVS = 38


@cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def done(result: int) -> int:
    """What a call has returned. Raises OSError where it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def no_new_privileges() -> None:
    """From now on no program that this process starts has more rights than it. Raises OSError."""
    done(libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
