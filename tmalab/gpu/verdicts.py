"""`tmalab verdicts`: ask this machine's driver about random maps near every boundary, and compare with the judge.

A *false accept* is a map that the judge takes and the driver refuses, a *false refusal* the reverse. Of every map that
both take, the 128 bytes are compared too, and what `decode` makes of them.

>>> from tmalab.recorded.random_maps import random_maps
>>> def agrees(fields):                                  # a driver that says what the judge says
...     return descriptor.encode(fields) if not verdict(fields) else None
>>> report = compare(random_maps(seed=1, count=200), agrees)
>>> report["ok"], report["maps"], report["false_accepts"], report["false_refusals"]
(True, 200, 0, 0)
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tmalab import descriptor, tensor_map_rules
from tmalab.gpu import maps
from tmalab.gpu.device import DriverError, hopper
from tmalab.gpu.recorder import describe
from tmalab.progress_bar import watched
from tmalab.recorded.map_boundaries import Place, every_place, places, rules_of
from tmalab.recorded.random_maps import random_maps
from tmalab.recorded.verdicts import Verdicts, write
from tmalab.tensor_map_fields import AnyFields

COUNT = 20_000  # maps of a set
SHOWN = 10  # disagreements that a report spells out
_INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE: the only answer to a map that breaks a rule

Driver = Callable[[AnyFields], "bytes | None"]  # the 128 bytes, or None where it refuses the map


def new_seed() -> int:
    """A seed that nobody chose."""
    return secrets.randbits(32)


def on_this_machine(seed: int, count: int = COUNT, sets: int = 1) -> dict[str, Any]:
    """Compare the judge with the driver on sets of maps, from `seed` and the numbers after it.

    What `tmalab verdicts --json` prints. GpuUnavailable without a Hopper GPU.
    """
    hopper().use()
    reports = [{"seed": seed + i, **compare(watched(random_maps(seed + i, count), count), ask)} for i in range(sets)]
    totals = {name: sum(report[name] for report in reports) for name in ("maps", "accepted", *WRONG)}
    return {"ok": all(report["ok"] for report in reports), "seed": seed, **totals, "sets": reports}


def ask(fields: AnyFields) -> bytes | None:
    """What this machine's driver says of a map. DriverError where it fails for another reason than the map."""
    status, encoded = maps.ask(fields, len(fields.global_dim))
    if status not in (0, _INVALID_VALUE):
        raise DriverError("cuTensorMapEncode", status, "error")
    return encoded if status == 0 else None


def verdict(fields: AnyFields) -> list[str]:
    """The rules that the judge finds broken."""
    return [rule for rule, _ in tensor_map_rules.judge(fields, rules=rules_of(fields))]


def compare(asked: Iterable[AnyFields], driver: Driver) -> dict[str, Any]:
    """How judge and driver differ: in all, for each kind of map, and at each boundary. `ok` where they do not."""
    total = Counter[str]()
    kinds: dict[str, Counter[str]] = {}
    boundaries = {place: Counter[str]() for place in every_place()}
    shown: list[Any] = []
    for fields in asked:
        found = _compare(fields, driver(fields))
        total.update(found)
        kinds.setdefault(_kind(fields), Counter()).update(found)
        for place in places(fields):
            boundaries[place].update(found)
        if not found.keys() <= {"maps", "accepted"} and len(shown) < SHOWN:
            shown.append({"wrong": sorted(found - Counter(("maps", "accepted"))), **fields._asdict()})
    wrong = sum(total[name] for name in WRONG)
    return {
        "ok": wrong == 0,
        **_counts(total),
        "accepted_share": round(total["accepted"] / max(1, total["maps"]), 4),
        "kinds": {kind: _counts(kinds[kind]) for kind in sorted(kinds)},
        "boundaries": [_boundary(place, boundaries[place], total["maps"]) for place in sorted(boundaries)],
        "disagreements": shown,
    }


WRONG = ("false_accepts", "false_refusals", "encoded_otherwise", "decoded_otherwise")


def _compare(fields: AnyFields, encoded: bytes | None) -> Counter[str]:
    """One map: what it counts as."""
    broken = verdict(fields)
    found = Counter(maps=1, accepted=int(encoded is not None))
    if encoded is None:
        found["false_accepts"] += not broken
    elif broken:
        found["false_refusals"] += 1
    else:
        found["encoded_otherwise"] += descriptor.encode(fields) != encoded
        found["decoded_otherwise"] += _decoded(encoded) != fields
    return +found


def _decoded(encoded: bytes) -> AnyFields | None:
    try:
        return descriptor.decode(encoded)
    except descriptor.DescriptorError:
        return None


def _kind(fields: AnyFields) -> str:
    kind = "tiled" if hasattr(fields, "box_dim") else "im2col"
    return f"{kind}, interleaved" if fields.interleave else kind


def _counts(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in ("maps", "accepted", *WRONG)}


def _boundary(place: Place, counts: Counter[str], maps_in_all: int) -> dict[str, Any]:
    share = round(counts["maps"] / max(1, maps_in_all), 4)
    return {**place._asdict(), "share": share, **_counts(counts)}


def save(file: Path, seed: int, count: int, command: str) -> None:
    """Record the driver's answers to a set of maps, so that tests can compare where no GPU is."""
    hopper().use()
    asked = list(random_maps(seed, count))
    write(file, Verdicts(describe(command), seed, asked, [ask(fields) for fields in asked]))
