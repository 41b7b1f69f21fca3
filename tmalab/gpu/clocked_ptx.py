"""Looks at the clock, put into the PTX of a kernel whose launch is to be timed event by event, with `trace=True`.

The learner's source stays as it is. Beside each event - a load, a store, a wait and its end, an arrive, a group of
wgmmas and the wait for it - the lowest thread of the warp that gets there reads its SM's clock and leaves it in global
memory, in a row of its own, without waiting for it. That costs some ten instructions for each event. A warp of a CTA
that is not among the first few has no row, and pays for the comparison alone.

>>> from tmalab.gpu.clocked_ptx import clocked
>>> body = "mbarrier.arrive.shared::cta.b64 %rd1, [%r1];"
>>> text = ".address_size 64\\n.visible .entry k(\\n)\\n{\\n\\t.reg .b32 %r<2>;\\n\\t" + body + "\\n\\tret;\\n}\\n"
>>> clocked(text, threads=128).count("%clock64")
3
"""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from tmalab.gpu.bounded_waits import linear

SYMBOL = "tmalab_looks"
CTAS = 4  # the first ones of the grid
ROW = 1024  # looks of a thread; later ones are left out
LOOK = struct.Struct("<QII")  # clock64, or globaltimer where the event says so; event; operand

BEGIN, END, BEGIN_TIME, END_TIME = 0, 1, 2, 3  # of the thread: cycles, and nanoseconds
EVENTS = {  # what stands in the PTX, at the beginning of a statement: the event before it, the event after it
    r"\{ \.reg \.pred \w+; \w+: mbarrier\.(?:try|test)_wait\S* \w+, \[(?P<bar>[%\w$]+)\][^}]*\}": (4, 5),
    r"mbarrier\.arrive\.expect_tx\S*\s+[%\w$]+, \[(?P<bar>[%\w$]+)\][^;]*;": (6, None),
    r"mbarrier\.arrive\.(?!expect_tx)\S*\s+[%\w$]+, \[(?P<bar>[%\w$]+)\][^;]*;": (7, None),
    r"cp\.async\.bulk\.\S*mbarrier\S*\s[^;]*?\[(?P<bar>[%\w$]+)\](?:, [%\w$]+)*;": (8, None),
    r"cp\.(?:reduce\.)?async\.bulk\.\S*\.global\.shared::cta\S*\s[^;]*;": (9, None),
    r"cp\.async\.bulk\.wait_group[^;]*;": (10, 11),
    r"wgmma\.fence[^;]*;": (12, None),
    r"wgmma\.wait_group[^;]*;": (None, 13),
}
WAITS, WAITED, EXPECTS, ARRIVES, LOADS, STORES, STORE_WAITS, STORE_WAITED, MULTIPLIES, MULTIPLIED = range(4, 14)

_AT_ENTRY = """
\t.reg .b64 look_at, look_end;
\t{{ // the thread's row, for the first CTAs
\t.reg .pred few; .reg .b32 index, size; .reg .b64 row;
{cta}
\tsetp.lt.u32 few, index, {ctas};
\tcvt.u64.u32 row, index;
\tmul.lo.u64 row, row, {threads};
{thread}
\tcvt.u64.u32 look_at, index;
\tadd.u64 row, row, look_at;
\tmul.lo.u64 row, row, {bytes};
\tmov.u64 look_at, {symbol};
\tadd.u64 look_at, look_at, row;
\tselp.b64 look_at, look_at, 0, few;
\tadd.u64 look_end, look_at, {bytes};
\tselp.b64 look_end, look_end, 0, few;
\t}}
"""
_LOOK = """
\t{{ .reg .pred first; .reg .b32 lanes, lower; .reg .b64 now;
\tsetp.lt.u64 first, look_at, look_end;{which}
\tmov.u64 now, {clock};
\t@first st.global.u64 [look_at], now; @first st.global.v2.u32 [look_at+8], {{{event}, {operand}}};
\t@first add.u64 look_at, look_at, {size}; }}
"""


_LOWEST = """
\tactivemask.b32 lanes; mov.u32 lower, %lanemask_lt; and.b32 lower, lower, lanes;
\tsetp.eq.and.u32 first, lower, 0, first;"""
_ALL = ""  # threads: any of them may turn out to be the lowest of a branch


class Look(NamedTuple):
    """One look at the clock: `time` in cycles of the SM, or in ns of the GPU where the event is one of a time."""

    time: int
    event: int
    operand: int


def size_of(threads: int) -> int:
    """Bytes of the rows of the first CTAs, of so many threads each."""
    return CTAS * threads * ROW * LOOK.size


def clocked(ptx: str, threads: int) -> str:
    """The PTX that looks at the clock beside each event, for CTAs of so many threads."""
    for pattern, events in EVENTS.items():
        ptx = re.sub(rf"(?m)^(?P<head>\t(?:@!?[%\w$]+\s+)?)(?P<what>{pattern})", _beside(*events), ptx)
    begins = _look(BEGIN_TIME, clock="%globaltimer", which=_ALL) + _look(BEGIN, which=_ALL)
    ends = _look(END) + _look(END_TIME, clock="%globaltimer")
    entry = _AT_ENTRY.format(
        cta=linear("ctaid", "nctaid"),
        thread=linear("tid", "ntid"),
        ctas=CTAS,
        threads=threads,
        bytes=ROW * LOOK.size,
        symbol=SYMBOL,
    )
    ptx = re.sub(r"(?m)^\tret;", lambda found: ends + found[0], ptx)
    ptx = re.sub(r"(\.entry\s[^{]*?\)[^{]*)\{", lambda found: found[0] + entry + begins, ptx, count=1)
    declared = f".visible .global .align 16 .b8 {SYMBOL}[{size_of(threads)}];"
    return re.sub(r"(?m)^(\.address_size 64)", rf"\1\n{declared}", ptx, count=1)


def _beside(before: int | None, after: int | None):
    def put(found: re.Match) -> str:
        operand = found.groupdict().get("bar") or "0"
        looks = ["" if event is None else _look(event, operand) for event in (before, after)]
        return looks[0] + found[0] + looks[1]

    return put


def _look(event: int, operand: str = "0", clock: str = "%clock64", which: str = _LOWEST) -> str:
    return _LOOK.format(event=event, operand=operand, clock=clock, which=which, size=LOOK.size)


def read_looks(memory: bytes, threads: int) -> dict[tuple[int, int], list[Look]]:
    """The looks of each thread that took any, by CTA and thread."""
    found = {}
    of_thread = ROW * LOOK.size
    for number in range(CTAS * threads):
        row = memory[number * of_thread : (number + 1) * of_thread]
        looks = []
        for look in LOOK.iter_unpack(row):
            if not look[0]:
                break
            looks.append(Look(*look))
        if looks:
            found[divmod(number, threads)] = looks
    return found
