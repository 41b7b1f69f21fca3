"""The timeline of a simulated run: the run once more, recorded, and then run in time."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from tmalab.texts import text
from tmalab.timing.constants import Constants
from tmalab.timing.drawing import Drawing
from tmalab.timing.engine import Engine
from tmalab.timing.machine import Machine
from tmalab.timing.occupancy import resident
from tmalab.timing.part import cluster_of
from tmalab.timing.recording import Recording, beginning
from tmalab.timing.residence import FirstTouch
from tmalab.timing.timeline import Timeline
from tmalab.timing.warps import WarpProgram, programs

if TYPE_CHECKING:
    from tmalab.run import Run


def timeline_of(run: Run, constants: Constants | None = None) -> Timeline:
    """When things happened in a simulated run, on an H200: 0 is the start of its first CTA.

    `constants`: of the model; None: the recorded ones. All data come from device memory at first. Raises ValueError for
    a run that was not simulated, NotMeasured where a constant that the run needs was not measured.
    """
    return _timed(run, constants, Recording)[0]


def beginning_of(run: Run, most: int) -> tuple[Timeline, bool]:
    """The timeline of the first `most` things that the threads of a run do, as if that were all; and whether it is."""
    timeline, cut = _timed(run, None, beginning(most))
    if cut:
        timeline = replace(timeline, notes=(text("timing.beginning", count=f"{most:,}"),))
    return timeline, not cut


def _timed(run: Run, constants: Constants | None, recorded: type[Recording]) -> tuple[Timeline, bool]:
    """The timeline of a recording of a run, and whether the recording ends before the run did."""
    if run.replaying is None:
        raise ValueError(text("timing.simulated-only"))
    constants = constants or Constants.read()
    machine, sms = Machine(constants), int(constants["sms"])  # what was not measured is told before a second run
    recording = run.replaying(recorded)
    launch = recording.launch
    found = programs(recording.done, prod(launch.block), recording.unfinished)
    of_clusters: dict[int, list[WarpProgram]] = {}
    for program in found:
        of_clusters.setdefault(cluster_of(launch, program.cta), []).append(program)
    drawing = Drawing(found)
    engine = Engine(
        [of_clusters[number] for number in sorted(of_clusters)],
        machine,
        FirstTouch(),
        max(1, sms // prod(launch.cluster)),
        resident(prod(launch.block), recording.shared_bytes),
        drawing,
    )
    end = engine.run()
    broke_off = run.fault is not None or run.deadlock is not None
    notes = [text("timing.until-it-broke-off")] if broke_off else []
    return Timeline.of(drawing.spans(end), "model", end, notes), recording.cut
