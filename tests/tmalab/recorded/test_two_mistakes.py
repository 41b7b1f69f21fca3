"""Copies with two mistakes: which one the H200 tells. Measured, each in a process of its own (NVIDIA H200)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tmalab.recorded.bulk_case import BulkCase
from tmalab.recorded.by_reference import by_reference
from tmalab.recorded.perform import perform

SOUND = BulkCase("two mistakes", "to peer", 64, 512, 256, "counting", 1)
OFF = (  # the line of 16 bytes
    {"shared_address": 264},
    {"global_offset": 520},
    {"shared_address": 264, "global_offset": 520},
)


@pytest.mark.parametrize("off", OFF)
@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ({"operation": "to peer", "peer": 0}, "illegal_instruction"),
        ({"operation": "xor b32", "peer": 0}, "illegal_instruction"),
        ({"operation": "load", "cta_mask": 0b10}, "illegal_instruction"),
        ({"operation": "to peer", "peer": 1, "ctas": 2}, "misaligned_address"),
        ({"operation": "load", "cta_mask": 0b1000, "ctas": 2}, "misaligned_address"),
    ],
)
def test_without_clusters_what_needs_one_is_told_before_addresses_that_are_off(mistake, off, told):
    case = replace(SOUND, **mistake, **off)
    run, _ = perform(case, on="simulator")
    assert (by_reference(case), run.fault.kind) == (told, told)
