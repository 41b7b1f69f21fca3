"""What an H200 and compute-sanitizer's racecheck said of wrong kernels, by hazard: `wrong-kernels.json`.

The kernels are the mutants of the project's tests that can neither hang nor fault; the file is made by
`python -m tests.mutants --summary`.

>>> told = counts("missing-proxy-fence")
>>> told["right"] <= told["kernels"]
True
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

COUNTS = ("kernels", "right", "wrong", "silent")


@cache
def read() -> dict[str, Any]:
    """The recording: `launches` of each kernel, `checked` of them under racecheck; `hazards`, each with COUNTS."""
    return json.loads(resources.files("tmalab").joinpath("recorded", "wrong-kernels.json").read_text("utf-8"))


def counts(*hazards: str) -> dict[str, int]:
    """Sums over the kernels with these hazards, over all where none is named.

    kernels   how many; `launches` and `checked` as in the recording
    right     how many of them gave the right numbers in every launch; `wrong`: in none
    silent    about how many racecheck reported nothing
    """
    told = read()
    kinds = [told["hazards"][name] for name in hazards or told["hazards"]]
    sums = {each: sum(kind[each] for kind in kinds) for each in COUNTS}
    return {**sums, "launches": told["launches"], "checked": told["checked"]}
