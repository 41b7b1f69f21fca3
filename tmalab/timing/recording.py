"""A recording of a run: what every thread did, one thing after the other, with what ties it to other threads.

A wait names the phase of the barrier that it saw complete, an arrive the phase that it counts for, a load the phase
that its last byte completed. So the order of the run is kept where the kernel asks for one, and all else is free to
happen at another time than it did in the simulator.

`Recording` is mixed into a simulation (tmalab.simulator.again). It gives the kernel instructions of the same meaning
that tell what they do, so that a run of which nobody makes a recording pays for nothing.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from tmalab import ptx
from tmalab.ptx.instruction import Instruction
from tmalab.simulator.arguments import bound_arguments
from tmalab.simulator.arrays import ADDRESS_SHIFT, KIND_BITS, READ, SIZE_SHIFT
from tmalab.simulator.context import now
from tmalab.simulator.memory import WINDOW
from tmalab.timing import meanings
from tmalab.timing.done import Access, Done

if TYPE_CHECKING:
    from tmalab.simulator.copies import Copy
    from tmalab.simulator.threads import SimThread

SIZE_BITS = 0b111
COLUMNS = 1 << 12  # of a line of source, more than there are
LATER = ("_lands", "_read", "_written")  # what a copy does after its issue: how events of the trace end


class Recording:
    """Mixed into a simulation.

    done           what each thread did, by its number in the grid
    shared_bytes   of shared memory that a CTA uses
    cut            whether it ends before the run did; `unfinished`: the threads that would have done more
    """

    cut = False
    unfinished: Collection[int] = frozenset()

    def __init__(self, *arguments: Any, **named: Any):
        self.done: dict[int, list[Done]] = defaultdict(list)
        self._issued: dict[SimThread, list[Copy]] = {}  # by the instruction that a thread is executing
        self._counts: Counter[tuple] = Counter()
        self._watched: dict[str, Instruction] = {}
        super().__init__(*arguments, **named)
        self._kernel = self.launch.kernel.function.__code__
        self.log.shared.note = self._seeing(self.log.shared.note, "shared")
        note = self._seeing(self.log.world.note_for(self.memory), "global")
        self.arguments = bound_arguments(self.launch, self.memory, note)
        cuda = self.world.cuda
        self._enter, self._syncs = self.world.enter, {}  # the world binds syncthreads to each CTA that it enters
        self.world.enter = self._entering
        cuda.syncwarp = self._telling("syncwarp", meanings.plain, cuda.syncwarp)

    def _entering(self, cta: Any) -> None:
        self._enter(cta)
        if cta not in self._syncs:
            self._syncs[cta] = self._telling("syncthreads", meanings.sync, cta.barriers.sync_all)
        self.world.names["syncthreads"] = self._syncs[cta]

    def bound(self, function: Callable[..., Any]) -> Callable[..., Any]:
        is_new = function not in self._functions
        made = super().bound(function)
        if is_new:
            self._watch_names(made)
        return made

    def note(self, thread: SimThread, what: str, barrier: Any, operand: Any = None, copy: Any = None) -> None:
        super().note(thread, what, barrier, operand, copy)
        if copy is not None and thread in self._issued and not what.endswith(LATER):
            self._issued[thread].append(copy)

    def count(self, *key: Any) -> int:
        """How often this was asked before."""
        self._counts[key] += 1
        return self._counts[key] - 1

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a CTA of the last cluster has."""
        return self.cluster.layout.top

    # Names of the kernel.

    def _watch_names(self, made: FunctionType) -> None:
        """Let a bound function find telling instructions where it had found the others."""
        scope = made.__globals__
        for name in set(made.__code__.co_names) & scope.keys():
            scope[name] = self.stand_in(scope[name])
        for cell in made.__closure__ or ():
            try:
                cell.cell_contents = self.stand_in(cell.cell_contents)
            except ValueError:  # not yet assigned
                continue

    def stand_in(self, value: Any) -> Any:
        """What a name means in a kernel that is recorded."""
        if isinstance(value, Instruction):
            return self._instruction(value.__name__)
        if isinstance(value, ModuleType) and value.__name__ in ("tmalab", "tmalab.ptx"):
            return _Module(self, value)
        return value

    def _instruction(self, name: str) -> Instruction:
        if name not in self._watched:
            self._watched[name] = watched = copy.copy(getattr(ptx, name))
            meaning = meanings.meaning_of(name)
            if meaning is not meanings.nothing:
                watched._body = self._telling(name, meaning, watched._body)
        return self._watched[name]

    # What happens.

    def _telling(self, name: str, meaning: Callable[..., Any], does: Callable[..., Any]) -> Callable[..., Any]:
        """`does`, which then tells what it did."""

        def telling(*operands: Any) -> Any:
            thread = now.thread
            pc, line = self._where(sys._getframe(1))
            told = meaning(self, thread, *(operands[1:] if operands and operands[0] is thread else operands))
            next(told)
            self._issued[thread] = []
            try:
                result = does(*operands)
            finally:
                issued = self._issued.pop(thread)
            found = told.send((result, issued))
            if found is not None:
                self._tell(thread, Done(pc, found[0], name, found[1], line))
            return result

        return telling

    def _seeing(self, log: Callable[[int], None], space: str) -> Callable[[int], None]:
        """What is told of each access before it is logged; those of an instruction are the instruction's."""
        issued, where, tell = self._issued, self._where, self._tell
        window = WINDOW if space == "shared" else sys.maxsize

        def see(entry: int) -> None:
            thread = now.thread
            if thread not in issued:
                reads = entry & KIND_BITS == READ
                access = Access((entry >> ADDRESS_SHIFT) % window, 1 << (entry >> SIZE_SHIFT & SIZE_BITS), reads)
                pc, line = where(sys._getframe(1))
                tell(thread, Done(pc, space, "read" if reads else "write", access, line))
            log(entry)

        return see

    def _tell(self, thread: SimThread, done: Done) -> None:
        self.done[thread.number].append(done)

    def _where(self, frame: Any) -> tuple[tuple[int, ...], int]:
        """The place in the learner's code, and its line."""
        codes, kernel, offsets, line = self.source.codes, self._kernel, (), 0
        while frame is not None:
            code = frame.f_code
            if id(code) in codes:
                place, of_place = _places(code)[frame.f_lasti // 2]
                if code is kernel:  # the outermost
                    return (place + offsets if offsets else place), line or of_place
                line = line or of_place
                offsets = place + offsets
            frame = frame.f_back
        return offsets, line


def beginning(most: int) -> type[Recording]:
    """A recording that ends the run when its threads have done `most` things."""
    return type("Recording", (RecordingTheBeginning,), {"most": most})


class RecordingTheBeginning(Recording):
    """See `beginning`."""

    most = 0

    def __init__(self, *arguments: Any, **named: Any):
        self._recorded, self.cut = 0, False
        super().__init__(*arguments, **named)

    def _tell(self, thread: SimThread, done: Done) -> None:
        if self._recorded == self.most:
            if not self.cut:
                self.unfinished = {each.number for each in self.cluster.threads if not each.exited}
            self.cut = self.scheduler.stopping = True
            return
        self._recorded += 1
        super()._tell(thread, done)


_known: dict[int, tuple[CodeType, list[tuple[tuple[int], int]]]] = {}  # by id: a code's hash takes longer than the rest


def _places(code: CodeType) -> list[tuple[tuple[int], int]]:
    """For each word of a code, where it stands in the source, as one number that grows with the line and the column;
    and the line.

    The offset in the code would not do: Python has the condition of a `while` twice, and a call that it has specialized
    stands at another word of its instruction than before.
    """
    found = _known.get(id(code))
    if found is None or found[0] is not code:
        places = [(((line or 0) * COLUMNS + (column or 0),), line or 0) for line, _, column, _ in code.co_positions()]
        found = _known[id(code)] = code, places
    return found[1]


class _Module:
    """A module in which instructions tell what they do: tmalab.ptx, or tmalab itself, which has it."""

    def __init__(self, recording: Recording, module: ModuleType):
        self._recording, self._module = recording, module

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = self._recording.stand_in(getattr(self._module, name))
        return value
