"""Landlock: a process of Linux that gives up files, needing no privilege and no namespace.

What a ruleset names can be read, or written, as it says; what it does not name can be neither, by the process that
enters it and all that it starts. The level `limits` has no walls but these. Kernels before 5.13 know nothing of it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.sandbox.libc import done, libc, no_new_privileges

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, on x86_64 and aarch64 alike
VERSION, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
FIRST, REFER = (1 << 13) - 1, 1 << 13  # what the first version knows; since the second: files that change folders
FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE  # what can be said of a file that is no folder


def version() -> int:
    """The version of Landlock that this kernel has; 0 for none."""
    try:
        return max(libc().syscall(CREATE_RULESET, None, 0, VERSION), 0)
    except (OSError, AttributeError):  # no such C library: not Linux
        return 0


def ruleset(readable: Iterable[Path], listed: Iterable[Path], writable: Iterable[Path]) -> int:
    """A file descriptor of a ruleset: what may be read with all that is in it, folders whose names may be, and what may
    be read and written. Raises OSError."""
    known = FIRST | (REFER if version() > 1 else 0) | (TRUNCATE if version() > 2 else 0)
    made = done(libc().syscall(CREATE_RULESET, struct.pack("=Q", known), 8, 0))
    for paths, rights in (
        (readable, EXECUTE | READ_FILE | READ_DIR),
        (listed, READ_DIR),
        (writable, known),
    ):
        for path in paths:
            _allow(made, path, rights & known)
    return made


def enter(made: int) -> None:
    """Hold this process, and all that it starts, to a ruleset for good. Raises OSError."""
    no_new_privileges()
    done(libc().syscall(RESTRICT_SELF, made, 0))


def without(folder: Path, hidden: set[Path]) -> Iterator[Path]:
    """What is in a folder but for what is hidden, in as few paths as that takes, and no links: a rule for a link would
    be one for all that it leads to."""
    if not any(path.is_relative_to(folder) for path in hidden):
        yield folder
    elif folder not in hidden:
        for child in sorted(path for path in folder.iterdir() if not path.is_symlink()):
            yield from without(child, hidden)


def _allow(made: int, path: Path, rights: int) -> None:
    number = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights if path.is_dir() else rights & FILES, number)
        done(libc().syscall(ADD_RULE, made, PATH_BENEATH, rule, 0))
    finally:
        os.close(number)
