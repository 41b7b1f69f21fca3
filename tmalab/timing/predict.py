"""Predicting the time of a launch of any size: one cluster simulated, the loop and the grid extrapolated.

    prediction = predict(gemm, grid, block, (a_map, b_map, c, k), along="k")
    print(prediction.summary())

The cluster is simulated for small values of `along`, the argument that says how long its loop is: where two of them
show the loop running steadily, every further turn takes as long as the last. All SMs run the same at the same time and
share L2, device memory and power; CTAs that don't fit at once follow in waves. What the kernel does must not depend on
the numbers in its arrays: this is tried with their elements turned round, and said where it is not so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from tmalab.launch import Launch
from tmalab.simulator.memory import SHARED_LIMIT
from tmalab.texts import text
from tmalab.timing.advice import Advice, bound_of, further_ahead, stage_bytes
from tmalab.timing.constants import Constants
from tmalab.timing.drawing import Drawing
from tmalab.timing.engine import Engine
from tmalab.timing.machine import Machine
from tmalab.timing.machine_code import Price, ask_for_prices
from tmalab.timing.occupancy import resident
from tmalab.timing.part import Part, simulate_part
from tmalab.timing.residence import Shares
from tmalab.timing.reuse import bytes_in_l2, first_askers, loads_of, neighbours
from tmalab.timing.timeline import Timeline, nanoseconds
from tmalab.timing.warps import WarpProgram

SHORTEST = 128  # the part of a loop that is simulated first: the power of two next below 1/128 of it
TURNS = 16  # at least, of a loop without loads: its first turns fall into the start of the CTAs
FEWEST = 8  # loads of the part that is taken for steady
ROUND = 8  # how much longer a loop is taken that has not filled its stages anew
UNEVEN = 0.1  # by how much a turn of the loop may differ from the last ones before more of them are simulated
Programs = list[WarpProgram]


@dataclass(frozen=True)
class Prediction:
    """What a launch is predicted to take.

    duration   ns from launch to launch, of one after the other; None where it cannot be known
    timeline   of the part that was simulated
    waves      how often all SMs are filled, the last time perhaps in part; `resident`: CTAs that share an SM
    advice     what bounds it, and what one more stage would bring
    notes      what has to be said beside it
    """

    duration: float | None
    timeline: Timeline
    waves: int
    resident: int
    advice: Advice
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """In words."""
        known = self.duration is not None
        took = text("timing.predicted", duration=nanoseconds(self.duration)) if known else text("timing.unpredicted")
        waves = text("timing.waves", waves=self.waves, resident=self.resident)
        return "\n".join([took, waves, *self.advice.sentences(), *self.notes])


def predict(
    kernel: Any,
    grid: Any,
    block: Any,
    args: Sequence[Any],
    cluster: Any = 1,
    along: str | None = None,
    constants: Constants | None = None,
    warm: bool = True,
    registers: int | None = None,
) -> Prediction:
    """Predict the time of a launch; grid, block, args and cluster are those of `Kernel.run`.

    along      the name of the argument, an int, with which the kernel's loop grows; None: the loop is simulated whole
    constants  of the model; None: the recorded ones
    warm       whether the launch before has left its data in the L2 cache, as far as they fit
    registers  of a thread, where they limit how many CTAs share an SM

    Raises NotMeasured where a constant that is needed was not measured, ValueError for an `along` that is no argument.
    """
    predictor = Predictor(Launch.of(kernel, grid, block, args, cluster, 0, False), along, warm, registers)
    return predictor.predict(constants or Constants.read())


class Predictor:
    """Predicts one launch, with one set of constants after the other: it is simulated only once."""

    def __init__(self, launch: Launch, along: str | None = None, warm: bool = True, registers: int | None = None):
        self._launch, self._warm, self._registers = launch, warm, registers
        self._shape = tuple(of_grid // of_cluster for of_grid, of_cluster in zip(launch.grid, launch.cluster))
        self._clusters = prod(self._shape)
        self._along = self._place_of(along)
        self._parts: dict[tuple, Part] = {}
        self._asked: Callable[[], dict[int, Price]] | None = None
        self._loop: tuple[Programs, Programs, float] | None = None  # and how often their difference goes into the rest

    def predict(self, constants: Constants) -> Prediction:
        """What the launch takes on an H200 with these constants."""
        self._loop = None
        duration = self.duration(constants)
        program, longer, _ = self._loop
        return Prediction(
            duration,
            self._timeline(longer),
            -(-self._clusters // (self._places * self._resident)),
            self._resident,
            self._advice(program, longer, duration),
            tuple(self._notes),
        )

    def duration(self, constants: Constants) -> float | None:
        """The duration alone (ns). How much of a loop is simulated is decided once, with the first constants."""
        self._constants = constants
        if self._loop is None:
            self._notes = []
            if self._asked is None:
                self._asked = ask_for_prices(self._launch)  # other programs print machine code meanwhile
            some, part, whole = self._long_enough()
            short = self._simulated(some)
            self._shared_bytes = short.shared_bytes
            self._resident = resident(prod(self._launch.block), short.shared_bytes, self._registers)
            self._places = max(1, int(constants["sms"]) // prod(self._launch.cluster))
            self._same = self._look_at_others(some, short.programs()[0])
            self._loop = self._steady(part, whole)
        return self._taken(*self._loop) if self._same else None

    def _taken(self, program: Programs, longer: Programs, turns: float) -> float:
        """What the launch takes (ns) of which one cluster runs such a loop."""
        pairs = zip(*(self._times(found) for found in (program, longer)), strict=True)
        taken, of_power = (a + (b - a) * turns for a, b in pairs)
        return float(max(taken, of_power)) + self._constants["launch"]

    def _advice(self, program: Programs, longer: Programs, duration: float | None) -> Advice:
        """What bounds the loop, and what the launch would take with one more stage."""
        found = bound_of(self._together(program), self._together(longer), self._full_engine)
        ahead = [further_ahead(programs) for programs in (program, longer)]
        if duration is None or None in ahead:
            return found
        bytes, before = self._shared_bytes + stage_bytes(longer), self._resident
        self._resident = resident(prod(self._launch.block), bytes, self._registers)
        try:
            saved = 1 - self._taken(*ahead, self._loop[2]) / duration
        finally:
            self._resident = before
        return replace(found, one_more=saved, room=max(0, bytes - SHARED_LIMIT))

    def _timeline(self, program: Programs) -> Timeline:
        """Of one cluster, while all others run too."""
        drawing, engine = Drawing(program, first_only=True), self._full_engine(self._together(program))
        engine.drawing = drawing
        engine.run()
        end = engine.ends[0]
        return Timeline.of(drawing.spans(end), "model", notes=self._notes)

    def _together(self, program: Programs) -> list[Programs]:
        """As many clusters of one program as share their SMs."""
        return [program] * min(self._resident, -(-self._clusters // self._places))

    def _full_engine(self, programs: list[Programs]) -> Engine:
        """One place of the GPU, while all others are as full."""
        return self._engine(programs, min(self._places, self._clusters))

    def _long_enough(self) -> tuple[int | None, int | None, int | None]:
        """How long a loop is simulated to see what it does; to see it run steadily; and the whole of it.

        It runs steadily when its stages have been filled anew, where there are any.
        """
        if self._along is None:
            return None, None, None
        whole = self._launch.args[self._along]
        some = 1 << max(1, whole // SHORTEST).bit_length() - 1  # so that a loop over tiles has whole ones
        while some < whole and not loads_of(programs := self._simulated(some).programs()[0]):
            more = self._simulated(2 * some).programs()[0]
            if not loads_of(more) and _way(more) != _way(programs):  # a loop without loads
                return some, min(whole, TURNS * some), whole
            some *= 4
        some = part = min(some, whole)
        while part < whole and not _goes_round(self._simulated(part).programs()[0]):
            far = ROUND if part == some and 2 * ROUND * part <= whole else 2
            part = min(whole, part * far)
        return some, part, whole

    def _steady(self, part: int | None, whole: int | None) -> tuple[Programs, Programs, float]:
        """The programs of a loop and of a longer one, and how often their difference goes into the rest."""
        program = self._simulated(part).programs()[0]
        while part is not None and (more := part + max(1, part // 2)) <= whole:
            longer = self._simulated(more).programs()[0]
            if self._is_even(program, longer):
                return program, longer, (whole - part) / (more - part)
            part *= 2
            if part > whole:
                break
            program = self._simulated(part).programs()[0]
        program = self._simulated(whole).programs()[0]
        return program, program, 0.0

    def _is_even(self, program: Programs, longer: Programs) -> bool:
        """Whether a loop takes as long for each turn that it is longer as for those at its end."""
        engines = [self._full_engine(self._together(found)) for found in (program, longer)]
        ends = [engine.run() for engine in engines]
        moved = [engine.landed or engine.moved for engine in engines]
        landed = sorted(moved[1])
        more = len(landed) - len(moved[0])
        if not landed:
            return True
        late = landed[len(landed) // 2 :]
        steady = (late[-1] - late[0]) / (len(late) - 1) * more
        return abs(ends[1] - ends[0] - steady) <= UNEVEN * max(steady, ends[1] - ends[0])

    def _times(self, program: Programs) -> np.ndarray:
        """What all waves take (ns): as their SMs would, and as the power of their tensor cores allows."""
        at_once = self._places * self._resident
        full, rest = divmod(self._clusters, at_once)
        times = np.zeros(2)
        if full:
            times += self._wave([program] * self._resident, self._places)
        if full > 1:
            two = self._wave([program] * 2 * self._resident, self._places)
            times += (full - 1) * (two - times)
        if rest:
            of_sm = -(
                -rest // self._places
            )  # of some SMs; all together ask L2 for no more than the rest of the grid does
            times += self._wave([program] * of_sm, rest / of_sm)
            times[0] += self._constants["cta_start"] if full else 0.0
        return times

    def _wave(self, programs: list[Programs], active: float) -> np.ndarray:
        engine = self._engine(programs, active)
        return np.array([engine.run(), engine.machine.power])

    def _engine(self, programs: list[Programs], active: float) -> Engine:
        """One place of the GPU, which stands for so many active ones."""
        sharing = min(self._resident, len(programs))
        machine = Machine(self._constants, active, sharing)
        return Engine(programs, machine, self._residence, 1, self._resident, prices=self._prices)

    @cached_property
    def _prices(self) -> dict[int, Price]:
        return self._asked(self._constants["register_hold"])

    # What is simulated.

    def _simulated(self, length: int | None, chosen: Sequence[int] = (0,), other_data: bool = False) -> Part:
        key = length, tuple(chosen), other_data
        if key not in self._parts:
            args = list(self._launch.args)
            if length is not None:
                args[self._along] = length
            self._parts[key] = simulate_part(replace(self._launch, args=tuple(args)), chosen, other_data)
        part = self._parts[key]
        if part.fault is not None or part.deadlock is not None:
            self._notes.append(text("timing.broke-off", reason=part.fault or part.deadlock.message))
        return part

    def _look_at_others(self, part: int | None, program: Programs) -> bool:
        """Look at the neighbours: which loads are the first, and whether all go the same way. Returns that."""
        near = neighbours(self._shape)
        beside = self._simulated(part, tuple(near.values()), other_data=True).programs() if near else []
        self._residence = self._shares(program, dict(zip(near, beside, strict=True)))
        mine = _way(program)
        if any(_way(found) != mine for found in beside) or not beside:  # they are others, or it is their data
            again = self._simulated(part, other_data=True).programs()[0]
            if _way(again) != mine:
                self._notes.append(text("timing.depends-on-data"))
                return False
        if any(len(_way(found)) != len(mine) for found in beside):
            self._notes.append(text("timing.uneven-ctas"))
        return True

    def _shares(self, program: Programs, beside: dict[int, Programs]) -> Shares:
        found = first_askers(program, beside, self._shape, self._places * self._resident)
        cold = not self._warm or bytes_in_l2(program, self._launch.args, found or {}) > self._constants["l2_size"]
        if found is None and cold:
            self._notes.append(text("timing.uneven-loads"))
        return Shares(found or {}, cold)

    def _place_of(self, along: str | None) -> int | None:
        names = list(inspect.signature(self._launch.kernel.function).parameters)
        if along is None:
            return None
        if along not in names or not isinstance(self._launch.args[names.index(along)], (int, np.integer)):
            raise ValueError(text("timing.along", given=along, names=", ".join(names)))
        return names.index(along)


def _goes_round(programs: Programs) -> bool:
    """Whether a stage is filled for the second time, and not in the first turns of a short ring."""
    loads = loads_of(programs)
    return len(loads) >= FEWEST and any((copy.tick or 0) > 1 for copy in loads)


def _way(programs: Programs) -> list[tuple]:
    """Where the warps of a cluster went."""
    return [(step.pc, step.kind, len(step.data)) for program in programs for step in program.steps]
