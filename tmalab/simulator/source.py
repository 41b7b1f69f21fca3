"""The learner's source: which frame of the Python stack is theirs, and what stands there.

Between a kernel's line and the simulator lie frames of this library. A `Source` knows the code objects of one kernel
and its helpers, and finds the place, the name that an array is given, and whether a result is thrown away.
"""

from __future__ import annotations

import dis
import os
import sys
from functools import lru_cache
from itertools import zip_longest
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A line of the learner's source."""

    file: str
    line: int

    def __str__(self) -> str:
        name = os.path.basename(self.file)
        in_notebook = name.startswith("<") or "ipykernel_" in self.file
        return f"{'cell' if in_notebook else name}:{self.line}"


class Source:
    """The code of one kernel and of the helpers that it has called so far."""

    def __init__(self):
        self.codes: dict[int, CodeType] = {}  # by id: a code's hash is computed anew each time, from all that it holds
        self.places: list[Place | None] = [None]  # by number; 0 is "not noted"
        self._numbers: dict[tuple[int, int], int] = {}
        self._kernel: CodeType | None = None

    def add(self, code: CodeType) -> None:
        """The code of the kernel, which comes first, or of a helper."""
        self._kernel = self._kernel or code
        self.codes[id(code)] = code

    def frame(self, frame: FrameType | None = None) -> FrameType | None:
        """The innermost frame of the learner's, from `frame` (the caller) outwards."""
        frame = frame or sys._getframe(1)
        codes = self.codes
        while frame is not None and id(frame.f_code) not in codes:
            frame = frame.f_back
        return frame

    def stack(self, frame: FrameType | None = None) -> list[FrameType]:
        """All of the learner's frames, innermost first."""
        frames, found = [], self.frame(frame or sys._getframe(1))
        while found is not None:
            frames.append(found)
            found = self.frame(found.f_back) if found.f_back else None
        return frames

    def place(self, frame: FrameType | None = None) -> Place | None:
        """The learner's line that is being executed."""
        found = self.frame(frame or sys._getframe(1))
        return Place(found.f_code.co_filename, found.f_lineno) if found else None

    def number(self, frame: FrameType) -> int:
        """A small number for the learner's line being executed: an index of `places`."""
        found = self.frame(frame)
        if found is None:
            return 0
        key = id(found.f_code), found.f_lineno
        if key not in self._numbers:
            self._numbers[key] = len(self.places)
            self.places.append(Place(found.f_code.co_filename, found.f_lineno))
        return self._numbers[key]

    def place_of_error(self, traceback: TracebackType | None) -> Place | None:
        """The innermost of the learner's lines in a traceback."""
        place = None
        while traceback is not None:
            if id(traceback.tb_frame.f_code) in self.codes:
                place = Place(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
            traceback = traceback.tb_next
        return place

    def site(self) -> tuple[int, ...]:
        """What tells one call in the source from another: the chain of the learner's frames and where each one is."""
        frame = self.frame(sys._getframe(1))
        if frame is not None and frame.f_code is self._kernel:  # the common case: the outermost of them
            return id(self._kernel), frame.f_lasti
        return tuple(part for frame in self.stack(frame) for part in (id(frame.f_code), frame.f_lasti))

    def assigned_name(self) -> str | None:
        """The variable that takes the result of the learner's call being executed: `full` in `full = f()`."""
        frame = self.frame(sys._getframe(1))
        return _assigned_name(frame.f_code, frame.f_lasti) if frame else None

    def result_is_dropped(self, code: CodeType, lasti: int) -> bool:
        """Whether the call at this place stands as a statement of its own, its result used by nothing."""
        following = _instructions_after(code, lasti)
        while following and following[0].opname in ("UNARY_NOT", "TO_BOOL"):
            following = following[1:]
        return bool(following) and following[0].opname == "POP_TOP"


@lru_cache(maxsize=256)
def _instructions_after(code: CodeType, lasti: int) -> list[dis.Instruction]:
    return [found for found in dis.get_instructions(code) if found.offset > lasti][:3]


def _assigned_name(code: CodeType, lasti: int) -> str | None:
    following = _instructions_after(code, lasti)
    if not following or not following[0].opname.startswith("STORE_"):
        return None
    name = following[0].argval  # Python 3.13 stores and loads in one instruction, and names both
    return name[0] if isinstance(name, tuple) else name


def picture(frames: list[FrameType]) -> list[tuple[int, list[Any]]]:
    """Where the frames are and what the learner's variables hold."""
    return [(frame.f_lasti, [value for name, value in frame.f_locals.items() if name[0] != "."]) for frame in frames]


def same_picture(before: list[tuple[int, list[Any]]] | None, after: list[tuple[int, list[Any]]]) -> bool:
    """Whether nothing has moved on between two pictures: the same code will do the same again."""
    if before is None or [lasti for lasti, _ in before] != [lasti for lasti, _ in after]:
        return False
    values = [(a, b) for (_, old), (_, new) in zip(before, after) for a, b in zip_longest(old, new)]
    return all(a is b or (type(a) is type(b) and isinstance(a, (int, float)) and a == b) for a, b in values)
