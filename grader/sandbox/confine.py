"""What a task gives up before it runs anything of a learner's: namespaces, capabilities, system calls. Linux only.

Inside bubblewrap each task makes namespaces of its own: it is process 1 there, so that its end is the end of all that
it started; it sees no other process; the folder it may write to is its own and goes with it. Then it drops all
capabilities and refuses system calls that no answer needs (seccomp). Needs no privilege where the kernel lets ordinary
users make namespaces.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

from grader.sandbox.libc import done, libc, no_new_privileges

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x08000000, 0x10000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER = 36

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH, column of the table
REFUSED = {  # numbers on x86_64 and aarch64
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "memfd_create": (319, 279),  # memory that no process seems to hold
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "fsopen": (430, 430),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "setpriority": (141, 140),  # a task that waits on purpose would take ten times its time
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "clone3": (435, 435),  # its flags can't be seen here; the C library then takes clone
}
OUTSIDE_A_PID_NAMESPACE = {  # what reaches other processes of the same account, such as the one that watches
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "prlimit64": (302, 261),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "truncate": (76, 45),  # of Landlock's since its third version only
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
}
PRETENDED = {  # where no namespace has its own files: nothing happens, and nobody is told
    "chmod": (90, 53),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
}
SOCKET, CLONE, TGKILL, FCNTL = (41, 198), (56, 220), (234, 131), (72, 25)
SETRLIMIT, PRLIMIT = (160, 164), (302, 261)
AF_UNIX, RLIMIT_CPU, SIGKILL = 1, 0, 9
SENDS_SIGNALS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX: a descriptor that sends any signal to any process

BPF_LOAD, BPF_EQUAL, BPF_ANY_BIT, BPF_RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, KILL, ANSWER = 0x7FFF0000, 0x80000000, 0x00050000  # with the number of an error
REFUSE = ANSWER | errno.EPERM
ARGUMENTS = (16, 24, 32)  # offsets in seccomp_data; the lower halves, as both machines are little-endian


def closed_to_others(closed: bool) -> None:
    """Whether no process of this user may look into this one or trace it; a fork inherits it."""
    done(libc().prctl(PR_SET_DUMPABLE, int(not closed), 0, 0, 0))


def adopt_orphans() -> None:
    """Processes whose parents end become children of this one, so that none gets away."""
    done(libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def own_namespaces() -> None:
    """Leave for new user, process, mount and IPC namespaces; the next child is process 1 there. Raises OSError."""
    user, group = os.getuid(), os.getgid()
    closed_to_others(False)  # else its files in /proc, which it must write, are not its own
    done(libc().unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC))
    for file, content in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{file}", "w", encoding="ascii") as handle:
            handle.write(content)


def own_scratch(folder: str, size: int) -> None:
    """An empty folder of `size` bytes for this mount namespace, and nothing in /proc."""
    flags = MS_NOSUID | MS_NODEV
    done(libc().mount(b"scratch", folder.encode(), b"tmpfs", flags, f"size={size},mode=700".encode()))
    done(libc().mount(b"nothing", b"/proc", b"tmpfs", flags | MS_RDONLY | MS_NOEXEC, b"size=4k"))


def no_privileges() -> None:
    """Drop every capability for good, and let no program give any back."""
    no_new_privileges()
    for capability in range(64):
        if libc().prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # the last one that this kernel knows, or none may be dropped
    header, nothing = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    done(libc().capset(header, nothing))


def fewer_calls(namespaced: bool) -> bool:
    """Refuse system calls from now on; False where this machine's numbers are not known."""
    if not sys.platform.startswith("linux") or platform.machine() not in MACHINES:
        return False
    program = _filter(*MACHINES[platform.machine()], namespaced, os.getpid())
    code = ctypes.create_string_buffer(program)
    pointer = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(code)))
    no_new_privileges()
    done(libc().prctl(PR_SET_SECCOMP, 2, ctypes.byref(pointer), 0, 0))
    return True


def _filter(architecture: int, column: int, namespaced: bool, process: int) -> bytes:
    """The filter as the kernel reads it: instructions of 8 bytes.

    `process` may signal its own threads, but not end itself by SIGKILL, nor bring its limit of time forward: that a
    task died of this signal then says that the system ended it.
    """
    lines = [(BPF_LOAD, 0, 0, 4), (BPF_EQUAL, 1, 0, architecture), (BPF_RETURN, 0, 0, KILL), (BPF_LOAD, 0, 0, 0)]
    if column == 0:
        lines += [(0x35, 0, 1, 0x40000000), (BPF_RETURN, 0, 0, KILL)]  # x32's second set of numbers
    answers = {"clone3": ANSWER | errno.ENOSYS} | dict.fromkeys(PRETENDED, ANSWER)
    for name, numbers in (REFUSED if namespaced else REFUSED | OUTSIDE_A_PID_NAMESPACE | PRETENDED).items():
        lines += [(BPF_EQUAL, 0, 1, numbers[column]), (BPF_RETURN, 0, 0, answers.get(name, REFUSE))]
    new_namespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC
    lines += _one_call(SOCKET[column], (0, BPF_EQUAL, AF_UNIX, True))  # only to processes of this computer
    lines += _one_call(CLONE[column], (0, BPF_ANY_BIT, new_namespaces, False))
    lines += _one_call(FCNTL[column], *((1, BPF_EQUAL, command, False) for command in SENDS_SIGNALS))
    lines += _one_call(SETRLIMIT[column], (0, BPF_EQUAL, RLIMIT_CPU, False))
    if namespaced:
        lines += _one_call(PRLIMIT[column], (1, BPF_EQUAL, RLIMIT_CPU, False))
    else:
        lines += _one_call(TGKILL[column], (2, BPF_EQUAL, SIGKILL, False), (0, BPF_EQUAL, process, True))
    return b"".join(struct.pack("=HBBI", *line) for line in [*lines, (BPF_RETURN, 0, 0, ALLOW)])


def _one_call(number: int, *tests: tuple[int, int, int, bool]) -> list[tuple[int, int, int, int]]:
    """A call whose arguments decide, by tests: its place, how it is compared, with what, whether it must be so."""
    lines = []
    for place, compare, value, wanted in tests:
        skip = (1, 0) if wanted else (0, 1)
        lines += [(BPF_LOAD, 0, 0, ARGUMENTS[place]), (compare, *skip, value), (BPF_RETURN, 0, 0, REFUSE)]
    return [(BPF_EQUAL, 0, len(lines) + 1, number), *lines, (BPF_RETURN, 0, 0, ALLOW)]
