"""Bounded waits: on the GPU a wait that lasts too long gives up, so that a hang costs neither the GPU nor the process.

A kernel that waits for ever can't be stopped from outside: the driver kills the whole context, or nothing does. So the
text that is launched differs from the learner's in one thing. After each mbarrier wait that fails, the thread looks at
the clock; once the limit is over since the first wait of the launch that failed, it notes who waited for what in global
memory and executes `exit`. The host finds the notes and reports a deadlock. The context survives (measured, H200).

>>> from tmalab.gpu.bounded_waits import bound_waits
>>> line = "mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;"
>>> bound_waits(".address_size 64\\n" + line).count("exit;")
2
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

LIMIT_NS = 2_000_000_000  # a launch whose waits fail for so long is a deadlock
SYMBOL = "tmalab_waits"
KEPT = 256  # notes; the count goes on

# In global memory: the limit in ns, the time of the first failed wait, the number of threads that gave up; then notes.
_HEADER = struct.Struct("<QQQ")
_NOTE = struct.Struct("<IIIIQ")  # barrier, is a state, thread, CTA, parity or state
SIZE = _HEADER.size + KEPT * _NOTE.size

_DECLARATION = f".visible .global .align 8 .b8 {SYMBOL}[{SIZE}];"
_WAIT = re.compile(r"mbarrier\.(?:try|test)_wait(\.parity)?\S*\s+([%\w$]+),\s*\[([%\w$]+)\],\s*([%\w$]+);")
_GIVE_UP = """
\t{{ // past the limit: note barrier, thread and CTA, then exit
\t.reg .pred over; .reg .b32 index, size; .reg .b64 now, began, at;
\t@{done} bra GO_ON;
\tmov.u64 now, %globaltimer;
\tld.relaxed.gpu.global.u64 began, [{symbol}+8];
\tsetp.ne.u64 over, began, 0;
\t@!over atom.relaxed.gpu.global.cas.b64 began, [{symbol}+8], 0, now;
\tsetp.ne.u64 over, began, 0;
\tselp.b64 began, began, now, over;
\tsub.s64 now, now, began;
\tld.global.u64 at, [{symbol}];
\tsetp.lt.s64 over, now, at;
\t@over bra GO_ON;
\tatom.relaxed.gpu.global.add.u64 at, [{symbol}+16], 1;
\tsetp.ge.u64 over, at, {kept};
\t@over exit;
\tmov.b64 now, {symbol};
\tmad.lo.u64 at, at, {note}, now;
\tst.global.u32 [at+{header}], {bar};
\tmov.u32 index, {is_state};
\tst.global.u32 [at+{header}+4], index;
{thread}
\tst.global.u32 [at+{header}+8], index;
{cta}
\tst.global.u32 [at+{header}+12], index;
\t{widen} now, {which};
\tst.global.u64 [at+{header}+16], now;
\texit;
GO_ON:
\t}}
"""


@dataclass(frozen=True)
class GivenUp:
    """One thread that gave up: the barrier's shared-memory address, what it waited for, its index and its CTA's."""

    barrier: int
    is_state: bool
    thread: int
    cta: int
    waited_for: int  # a parity, or a state


@dataclass(frozen=True)
class Notes:
    """What a launch left behind: how many threads gave up, and the first of them."""

    count: int
    given_up: tuple[GivenUp, ...]


def bound_waits(ptx: str) -> str:
    """The PTX in which every mbarrier wait gives up past the limit, and the place for the notes is declared."""
    ptx = _WAIT.sub(_bounded, ptx)
    return re.sub(r"(?m)^(\.address_size 64)", rf"\1\n{_DECLARATION}", ptx, count=1)


def _bounded(wait: re.Match) -> str:
    by_parity, done, bar, which = wait.groups()
    give_up = _GIVE_UP.format(
        done=done,
        bar=bar,
        which=which,
        symbol=SYMBOL,
        kept=KEPT,
        note=_NOTE.size,
        header=_HEADER.size,
        is_state=0 if by_parity else 1,
        widen="cvt.u64.u32" if by_parity else "mov.b64",
        thread=linear("tid", "ntid"),
        cta=linear("ctaid", "nctaid"),
    )
    return wait[0] + give_up


def linear(index: str, size: str) -> str:
    """PTX for the linear index of this thread in its CTA, or of this CTA in its grid, into `index`."""
    lines = [f"mov.u32 index, %{index}.z;"]
    for axis in "yx":
        lines += [f"mov.u32 size, %{size}.{axis};", "mul.lo.u32 index, index, size;"]
        lines += [f"mov.u32 size, %{index}.{axis};", "add.u32 index, index, size;"]
    return "\n".join(f"\t{line}" for line in lines)


def fresh_notes(limit_ns: int = LIMIT_NS) -> bytes:
    """What the host writes to the symbol before a launch."""
    return _HEADER.pack(limit_ns, 0, 0)


def read_notes(memory: bytes) -> Notes:
    """What the host finds in the symbol after a launch."""
    _, _, count = _HEADER.unpack_from(memory)
    notes = []
    for number in range(min(count, KEPT)):
        barrier, is_state, thread, cta, waited_for = _NOTE.unpack_from(memory, _HEADER.size + number * _NOTE.size)
        notes.append(GivenUp(barrier, bool(is_state), thread, cta, waited_for))
    return Notes(count, tuple(notes))
