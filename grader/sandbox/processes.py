"""What the operating system tells of processes: Linux's /proc. Elsewhere these say that there is nothing."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def all_processes() -> list[int]:
    """Whoever is in this process namespace."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # no /proc: not Linux
        return []


def _told(file: str) -> str:
    """A file of /proc. A process may call itself by any bytes, and none may hide it: each of them is a sign here."""
    return Path("/proc", file).read_text("latin-1")


def descendants(root: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    parents: dict[int, int] = {}
    for pid in all_processes():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[pid] = int(_told(f"{pid}/stat").rpartition(")")[2].split()[1])
    found, frontier = [], {root}
    while frontier:
        frontier = {pid for pid, parent in parents.items() if parent in frontier}
        found += sorted(frontier)
    return found


def resident(pid: int) -> int:
    """A process's memory in bytes, what it shares included."""
    try:
        return int(_told(f"{pid}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def cpu_seconds(pid: int) -> float:
    """A process's time in its code and in the system's, that of children that it has waited for included."""
    try:
        fields = _told(f"{pid}/stat").rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def waited_seconds(pid: int) -> float:
    """How long a process has wanted a processor and had none, its threads not added up but the longest taken."""
    longest = 0
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended; a kernel without these numbers
                longest = max(longest, int(_told(f"{pid}/task/{thread}/schedstat").split()[1]))
    return longest / 1e9


def proportional(pid: int) -> int:
    """A process's memory, pages that it shares counted in parts."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _told(f"{pid}/smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return resident(pid)


def threads_of_this_user() -> int:
    """What a limit on this user's processes counts already, where there is no namespace of users."""
    count = 0
    for pid in all_processes():
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{pid}/task"))
    return count
