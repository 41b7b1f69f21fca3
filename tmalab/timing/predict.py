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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from tmalab.launch import Launch
from tmalab.tensor_map import TensorMap
from tmalab.texts import text
from tmalab.timing.advice import Advice, advise
from tmalab.timing.constants import Constants
from tmalab.timing.drawing import Drawing
from tmalab.timing.engine import Engine
from tmalab.timing.machine import Machine
from tmalab.timing.occupancy import resident
from tmalab.timing.part import Part, simulate_part
from tmalab.timing.residence import Shares
from tmalab.timing.reuse import first_askers, loads_of, neighbours
from tmalab.timing.timeline import Timeline, nanoseconds
from tmalab.timing.warps import WarpProgram

SHORTEST = 32  # the part of the loop that is simulated first: 1/32 of it
FEWEST = 4  # loads in the part that is simulated first
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

    def predict(self, constants: Constants) -> Prediction:
        """What the launch takes on an H200 with these constants."""
        self._constants, self._notes = constants, []
        part, whole = self._long_enough()
        short = self._simulated(part)
        program = short.programs()[0]
        self._resident = resident(prod(self._launch.block), short.shared_bytes, self._registers)
        self._places = max(1, int(constants["sms"]) // prod(self._launch.cluster))
        same = self._look_at_others(part, program)
        program, longer, turns = self._steady(program, part, whole)
        times = zip(*(self._times(found) for found in (program, longer)), strict=True)
        duration = sum(a + (b - a) * turns for a, b in times) + constants["launch"]
        return Prediction(
            duration if same else None,
            self._timeline(longer),
            -(-self._clusters // (self._places * self._resident)),
            self._resident,
            advise(self._together(program), self._together(longer), self._full_engine, short.shared_bytes),
            tuple(self._notes),
        )

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

    def _long_enough(self) -> tuple[int | None, int | None]:
        """How much of the loop is simulated first: a few loads at least, where there are any; and the whole of it."""
        if self._along is None:
            return None, None
        whole = self._launch.args[self._along]
        part = max(1, whole // SHORTEST)
        while part < whole:
            some, more = (self._simulated(length).programs()[0] for length in (part, 2 * part))
            loads = len(loads_of(some))
            if loads >= FEWEST or (not loads_of(more) and _way(more) != _way(some)):
                break
            part *= 2 if loads else 4
        return min(part, whole), whole

    def _steady(self, program: Programs, part: int | None, whole: int | None) -> tuple[Programs, Programs, float]:
        """The programs of a loop and of one twice as long, and how often their difference goes into the rest."""
        while part is not None and 2 * part <= whole:
            longer = self._simulated(2 * part).programs()[0]
            if self._is_even(program, longer):
                return program, longer, (whole - part) / part
            part, program = 2 * part, longer
        program = self._simulated(whole).programs()[0]
        return program, program, 0.0

    def _is_even(self, program: Programs, longer: Programs) -> bool:
        """Whether a loop takes as long for each turn that it is longer as for those at its end."""
        engines = [self._full_engine(self._together(found)) for found in (program, longer)]
        ends = [engine.run() for engine in engines]
        landed = sorted(engines[1].landed)
        more = len(landed) - len(engines[0].landed)
        if not landed:
            return True
        late = landed[len(landed) // 2 :]
        steady = (late[-1] - late[0]) / (len(late) - 1) * more
        return abs(ends[1] - ends[0] - steady) <= UNEVEN * max(steady, ends[1] - ends[0])

    def _times(self, program: Programs) -> tuple[float, float, float]:
        """What the first wave takes, all further full ones, and the one that fills the SMs in part (ns)."""
        at_once = self._places * self._resident
        full, rest = divmod(self._clusters, at_once)
        first = further = last = 0.0
        if full:
            first = self._engine([program] * self._resident, self._places).run()
        if full > 1:
            two = self._engine([program] * 2 * self._resident, self._places).run()
            further = (full - 1) * (two - first)
        if rest:
            active = min(rest, self._places)
            last = self._engine([program] * -(-rest // self._places), active).run()
            last += self._constants["cta_start"] if full else 0.0
        return first, further, last

    def _engine(self, programs: list[Programs], active: int) -> Engine:
        """One place of the GPU, which stands for so many active ones."""
        machine = Machine(self._constants, weight=active)
        return Engine(programs, machine, self._residence, 1, self._resident)

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
        other = self._simulated(part, (0, *near.values()), other_data=True)
        again, *beside = other.programs()
        self._residence = self._shares(program, dict(zip(near, beside, strict=True)))
        if _way(again) != _way(program):
            self._notes.append(text("timing.depends-on-data"))
            return False
        if any(len(_way(found)) != len(_way(program)) for found in beside):
            self._notes.append(text("timing.uneven-ctas"))
        return True

    def _shares(self, program: Programs, beside: dict[int, Programs]) -> Shares:
        arrays = [value.array if isinstance(value, TensorMap) else value for value in self._launch.args]
        size = sum({id(array): array.nbytes for array in arrays if isinstance(array, np.ndarray)}.values())
        if self._warm and size <= self._constants["l2_size"]:
            return Shares({}, 0.0, 0.0)
        found = first_askers(program, beside, self._shape, self._places * self._resident)
        if found is None:
            self._notes.append(text("timing.uneven-loads"))
        return Shares(found or {}, 1.0, 1.0)

    def _place_of(self, along: str | None) -> int | None:
        names = list(inspect.signature(self._launch.kernel.function).parameters)
        if along is None:
            return None
        if along not in names or not isinstance(self._launch.args[names.index(along)], (int, np.integer)):
            raise ValueError(text("timing.along", given=along, names=", ".join(names)))
        return names.index(along)


def _way(programs: Programs) -> list[tuple]:
    """Where the warps of a cluster went."""
    return [(step.pc, step.kind, len(step.data)) for program in programs for step in program.steps]
