"""The discrete-event simulation: CTAs that share an SM."""

from __future__ import annotations

import timed_kernels as kernels
from known_constants import KNOWN

from tmalab.launch import Launch
from tmalab.timing.engine import Engine
from tmalab.timing.machine import Machine
from tmalab.timing.machine_code import ONCE, Price
from tmalab.timing.part import simulate_part
from tmalab.timing.residence import Shares

LATER = 50_000  # ns until the second CTA of an SM starts


def ends(launching, ctas, resident):
    programs = simulate_part(launching).programs() * ctas
    machine = Machine(KNOWN.changed(cta_launch=LATER))
    engine = Engine(programs, machine, Shares({}, False), 1, resident, prices={ONCE: Price(40, 40)})
    engine.run()
    return engine.ends


def test_a_cta_that_starts_later_holds_nobody_up_before():
    launching = Launch.of(kernels.one_load, 1, 64, (kernels.tensor_map(),), 1, 0, False)
    (alone,) = ends(launching, 1, 1)
    assert ends(launching, 2, 2) == [alone, LATER + alone]
    assert alone < LATER


def test_a_cta_for_which_there_is_no_room_starts_when_another_has_ended():
    launching = Launch.of(kernels.one_load, 1, 64, (kernels.tensor_map(),), 1, 0, False)
    (alone,) = ends(launching, 1, 1)
    assert ends(launching, 2, 1) == [alone, alone + KNOWN["cta_start"] + alone]


def test_warps_of_small_ctas_take_all_schedulers_of_an_sm():
    """Two CTAs of two warps compute at the same time; two more have to wait for the schedulers."""
    launching = Launch.of(kernels.nothing, 1, 64, (), 1, 0, False)
    programs = simulate_part(launching).programs()

    def end(ctas):
        machine = Machine(KNOWN.changed(cta_launch=0))
        engine = Engine(programs * ctas, machine, Shares({}, False), 1, ctas, prices={ONCE: Price(400, 400)})
        return engine.run()

    assert end(2) == end(1)
    assert end(4) == 2 * end(1)
