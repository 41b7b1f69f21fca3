"""What the driver said of thousands of random maps near every boundary: refused, or the 128 bytes that it wrote.

`verdicts.xz` is made by `tmalab verdicts --save`, and holds the provenance too.

>>> verdicts = read()
>>> verdicts.provenance["gpu"], len(verdicts.maps) == len(verdicts.encoded)
('NVIDIA H200', True)
>>> sum(encoded is not None for encoded in verdicts.encoded) > 0.4 * len(verdicts.maps)
True
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

from tmalab.tensor_map_fields import AnyFields, Fields, Im2colFields

FILE = "verdicts.xz"


class Verdicts(NamedTuple):
    """Maps, and the driver's answer to each: 128 bytes, or None where it refused the map."""

    provenance: dict[str, Any]
    seed: int  # of random_maps, when they were drawn
    maps: Sequence[AnyFields]
    encoded: Sequence[bytes | None]


@cache
def read() -> Verdicts:
    """The recording."""
    return read_file(resources.files("tmalab") / "recorded" / FILE)


def read_file(file: Traversable) -> Verdicts:
    """A recording from a file."""
    plain = json.loads(lzma.decompress(file.read_bytes()))
    maps = [_fields(row) for row in plain["maps"]]
    encoded = [None if digits is None else bytes.fromhex(digits) for digits in plain["encoded"]]
    return Verdicts(plain["provenance"], plain["seed"], maps, encoded)


def write(file: Path, verdicts: Verdicts) -> None:
    """Write a recording to a file."""
    encoded = [None if data is None else data.hex() for data in verdicts.encoded]
    plain = {**verdicts._asdict(), "encoded": encoded}
    file.write_bytes(lzma.compress(json.dumps(plain, separators=(",", ":")).encode()))


def _fields(row: list[Any]) -> AnyFields:
    """Fields or Im2colFields: they differ in how many they are."""
    kind: Any = Fields if len(row) == len(Fields._fields) else Im2colFields
    return kind(*[tuple(value) if isinstance(value, list) else value for value in row])
