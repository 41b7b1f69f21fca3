"""Does it matter that a try_wait was told False? Not where the kernel only asks again: that is the same as to wait.

A kernel only asks again where its next operation is a wait for the same phase, it has touched no memory and changed no
variable in between, and it goes on at the same place of its code once the answer is True. So these are waits:

    while not try_wait(): pass            if not try_wait(): wait()
"""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.simulator.source import picture, same_picture

if TYPE_CHECKING:
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread

Look = list[
    tuple[Any, list[Any]]
]  # for each frame of the kernel, innermost first: where it is, what its variables hold


class Sites:
    """What is known of a kernel from its runs so far, first of all of the places in its source that ask a barrier.

    waits    where a thread that was told False, or would have been, only asked again
    polls    where one made something of it. There, an answer is an operation of its own
    together whether its clusters have to run at the same time; None: not known yet
    """

    def __init__(self):
        self.together: bool | None = None
        self.waits: set[Any] = set()
        self.polls: set[Any] = set()

    def waits_at(self, site: Any) -> bool:
        """Whether a thread that asks there waits until it is told True, as far as is known."""
        return site in self.waits and site not in self.polls


class Asked(NamedTuple):
    """A try_wait that was told False: on what, how the kernel looked, and how many segments its thread had."""

    barrier: Barrier
    look: Look
    segments: int | None = None

    @property
    def site(self) -> Any:
        """Where in the source it stands."""
        return tuple(place for place, _ in self.look)

    def is_asked_again(self, thread: SimThread, barrier: Barrier) -> bool:
        """Whether the thread, which asks a barrier, only asks again."""
        same = barrier is self.barrier and thread.segments == self.segments
        return same and same_picture(self.look, look_of(thread))


def look_of(thread: SimThread) -> Look:
    """How the kernel looks in which the running thread waits."""
    frames = thread.run.source.stack(sys._getframe(1))
    return [(place, values) for place, (_, values) in zip(_places(frames), picture(frames))]


def site_of(thread: SimThread) -> Any:
    """Where in the source the running thread waits."""
    return tuple(_places(thread.run.source.stack(sys._getframe(1))))


def _places(frames: list[FrameType]) -> list[Any]:
    """Where frames are, the innermost one by where it goes on once it is told True."""
    places: list[Any] = [(frame.f_code, frame.f_lasti) for frame in frames]
    if frames and (then := _then(frames[0].f_code, frames[0].f_lasti)) is not None:
        places[0] = frames[0].f_code, "then", then
    return places


@lru_cache(maxsize=256)
def _then(code: CodeType, lasti: int) -> Any:
    """Where code goes on when its call at `lasti` returns True: behind the conditional jump that the call is the
    condition of, or behind the call that stands alone. None where the answer is used otherwise."""
    instructions = {found.offset: found for found in dis.get_instructions(code)}
    following = dict(zip(instructions, [*instructions][1:]))
    at, answer = next((offset for offset in instructions if offset > lasti), None), True
    while at is not None and instructions[at].opname in ("NOP", "TO_BOOL", "UNARY_NOT"):
        answer ^= instructions[at].opname == "UNARY_NOT"
        at = following[at]
    if at is None:
        return None
    name, target = instructions[at].opname, instructions[at].argval
    if name == "POP_TOP":
        return _landing(instructions, following, following[at])
    if name.startswith("POP_JUMP") and name.endswith(("IF_TRUE", "IF_FALSE")):
        jumps = name.endswith("IF_TRUE") == answer
        return _landing(instructions, following, target if jumps else following[at])
    return None


def _landing(instructions: dict[int, dis.Instruction], following: dict[int, int], at: int) -> Any:
    """The first instruction from `at` on that does something; or what is returned there, for the compiler makes several
    ends of one."""
    passed: set[int] = set()
    while at not in passed:
        passed.add(at)
        name = instructions[at].opname
        if name == "NOP":
            at = following[at]
        elif name.startswith("JUMP_") and "IF" not in name:
            at = instructions[at].argval
    found = instructions[at]
    if found.opname == "RETURN_CONST":
        return "returns", found.argval
    if found.opname == "LOAD_CONST" and instructions[following[at]].opname == "RETURN_VALUE":
        return "returns", found.argval
    return at
