"""What bounds a kernel, in words, and what one more stage would bring.

A resource that is busy nearly all of the time bounds the kernel: only less work for it helps. Where none is, the kernel
waits for something: data that are late, or threads. One more stage lets the loads run one step further ahead, and takes
shared memory; what that would bring is tried on the model, with the whole launch, by letting each wait for an empty
stage wait for the one before, with as many CTAs on an SM as then have room.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tmalab.texts import text
from tmalab.timing.awaited import phase_of
from tmalab.timing.done import Wait
from tmalab.timing.warps import WarpProgram

if TYPE_CHECKING:
    from tmalab.timing.engine import Engine

FULL = 0.85  # of the time: a resource that is busy so much bounds the kernel
WORTH = 0.01  # of the time: what one more stage has to save to be worth a word
Programs = list[WarpProgram]


@dataclass(frozen=True)
class Advice:
    """What bounds a kernel.

    bound       the resource that is busiest: "tensor", "l2", "device", "inward", "outward", "shared" or "threads"
    share       for which share of the time it is busy while the loop runs; from 0.85 on it is the bound
    one_more    share of the launch's time that one more stage would save; negative: cost; None: that cannot be told
    room        bytes of shared memory that one more stage would take beyond what a CTA can have; 0: it fits
    """

    bound: str
    share: float
    one_more: float | None = None
    room: int = 0

    def sentences(self) -> list[str]:
        """In words."""
        kind = "bound" if self.share >= FULL else "waits"
        said = [text(f"timing.{kind}", resource=text(f"timing.resource-{self.bound}"), share=round(100 * self.share))]
        if self.one_more is not None:
            said.append(self._of_one_more())
            if self.one_more >= WORTH and self.room:
                said.append(text("timing.one-more-no-room", bytes=self.room))
        return said

    def _of_one_more(self) -> str:
        if abs(self.one_more) < WORTH:
            return text("timing.one-more-helps-not")
        share = round(100 * abs(self.one_more))
        return text("timing.one-more-helps" if self.one_more > 0 else "timing.one-more-harms", share=share)


def bound_of(short: list[Programs], long: list[Programs], make: Callable[[list[Programs]], Engine]) -> Advice:
    """What bounds the loop by which the programs of some clusters are longer in `long` than in `short`.

    `make` makes an engine for them.
    """
    one, other = make(short), make(long)
    time, before = other.run() - one.run(), _busy(one)
    if time <= 0:  # there is no loop: the whole of it
        time, before = other.end or 1.0, dict.fromkeys(before, 0.0)
    busy = {name: min(1.0, (value - before[name]) / time) for name, value in _busy(other).items()}
    bound = max(busy, key=busy.__getitem__)
    return Advice(bound, busy[bound])


def further_ahead(programs: Programs) -> Programs | None:
    """The programs of a cluster with one more stage: each wait for an empty stage waits for what the one before did.

    None where nobody who loads waits for empty stages.
    """
    filled = {phase_of(copy)[0] for copy in _loads(programs) if phase_of(copy) is not None}
    found, changed = [], False
    for program in programs:
        waits = [
            number
            for number, step in enumerate(program.steps)
            if step.kind == "wait" and not any(wait.barrier in filled for wait in step.data)
        ]
        if waits and any(step.kind == "load" for step in program.steps):
            steps = list(program.steps)
            before = tuple(Wait(wait.barrier, -1) for wait in steps[waits[0]].data)
            for number in waits:
                steps[number], before = steps[number]._replace(data=before), steps[number].data
            program, changed = program._replace(steps=steps), True
        found.append(program)
    return found if changed else None


def stage_bytes(programs: Programs) -> int:
    """Bytes of shared memory that the loads of one stage fill: those that credit the same phase in one CTA."""
    of_phases: dict[Any, int] = {}
    for copy in _loads(programs):
        key = phase_of(copy)
        of_phases[key] = of_phases.get(key, 0) + copy.bytes
    return max(of_phases.values(), default=0)


def _loads(programs: Programs) -> list[Any]:
    steps = (step for program in programs for step in program.steps if step.kind == "load")
    return [copy for step in steps for copies in step.data for copy in copies]


def _busy(engine: Engine) -> dict[str, float]:
    """For how long (ns) each resource was busy; of an SM's, that of the busiest one."""
    machine, sms = engine.machine, list(engine.machine.sms.values())
    most = {name: max((getattr(sm, name).busy for sm in sms), default=0.0) for name in ("inward", "outward", "shared")}
    tensor = max([machine.power, *(sm.tensor.busy for sm in sms)])
    threads = max((pipe.busy for sm in sms for pipe in sm.schedulers), default=0.0)
    return {
        **most,
        "tensor": tensor,
        "threads": threads,
        "l2": max(machine.l2.busy, machine.l2_in.busy),
        "device": machine.device.busy,
    }
