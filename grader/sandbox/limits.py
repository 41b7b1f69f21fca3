"""What a process in a sandbox may use, and how the kernel and the watching parent hold it to that."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

MIB = 1 << 20
SPARE = 2  # seconds of the processor between the kernel's signal that time is up and its last one


@dataclass(frozen=True)
class Limits:
    """The limits of one task. Seconds and bytes; `memory` is what all its processes hold together."""

    wall: float = 90.0  # by the clock, without the time for which it wanted a processor and had none
    cpu: int = 20  # of the processor, all processes together
    memory: int = 1024 * MIB
    address_space: int = 4096 * MIB  # of each process: numba and NumPy reserve more than they use
    processes: int = 32  # and threads
    files: int = 64  # open at a time
    file_size: int = 16 * MIB
    record: int = 16 * MIB  # what comes back
    scratch: int = 64 * MIB  # in the task's own folder

    @property
    def longest(self) -> float:
        """Seconds by the clock after which a task is ended in any case, however busy the computer is."""
        return 10 * self.wall

    def applied(self, but: Sequence[str] = ()) -> None:
        """Set what the operating system enforces, `but` some, for this process and those that it starts. POSIX only."""
        import resource

        wanted = {
            "RLIMIT_NPROC": 0 if "processes" in but else self.processes,
            "RLIMIT_AS": self.address_space,
            "RLIMIT_NOFILE": self.files,
            "RLIMIT_FSIZE": self.file_size,
            "RLIMIT_CORE": 0,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_MEMLOCK": 0,
        }
        pairs = {name: (value, value) for name, value in wanted.items() if value or name != "RLIMIT_NPROC"}
        pairs["RLIMIT_CPU"] = self.cpu, self.cpu + SPARE  # first SIGXCPU, which says why; SIGKILL would not
        for name, pair in pairs.items():
            kind = getattr(resource, name, None)
            if kind is None:
                continue
            hard = resource.getrlimit(kind)[1]
            with contextlib.suppress(ValueError, OSError):  # macOS has no limit of address space
                resource.setrlimit(
                    kind, pair if hard == resource.RLIM_INFINITY else (min(pair[0], hard), min(pair[1], hard))
                )
