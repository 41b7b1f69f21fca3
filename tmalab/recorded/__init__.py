"""Recordings: what an H200 did with many copies, and where and how that was seen.

They are the truth that the tests hold, and the evidence that a check shows where no Hopper GPU is. `NAME.json` says on
what machine, with which software and by which command; `NAME.npz` holds the cases and the bytes.

>>> from tmalab import recorded
>>> recording = recorded.read("lesson-1")
>>> recording.provenance["gpu"]
'NVIDIA H200'
>>> recording.results[0].nbytes
1280
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from tmalab.recorded.case import Case
from tmalab.tensor_map import TensorMap


@dataclass(frozen=True)
class Recording:
    """Cases, what the hardware left of each, and the provenance.

    The result of a load is shared memory from the start of the buffer, of a store global memory from the map's address,
    of a map alone the 128 bytes that the driver wrote: uint8. That of a case that faults is the kind of the fault: str.
    """

    provenance: dict[str, Any]
    cases: tuple[Case, ...]
    results: tuple[np.ndarray | str, ...]

    def find(self, operation: str, tm: TensorMap, coordinates: tuple[int, ...]) -> int | None:
        """The index of the case that is this copy, or None."""
        found = (i for i, case in enumerate(self.cases) if case.same_copy(operation, tm, coordinates))
        return next(found, None)


def names() -> list[str]:
    """The recordings that there are."""
    return sorted(file.name.removesuffix(".npz") for file in _folder().iterdir() if file.name.endswith(".npz"))


@lru_cache(maxsize=8)
def read(name: str) -> Recording:
    """A recording by its name; KeyError where there is none."""
    if name not in names():
        raise KeyError(f"no recording is called {name!r}; there are {', '.join(names())}")
    provenance = json.loads((_folder() / f"{name}.json").read_text("utf-8"))
    with np.load(io.BytesIO((_folder() / f"{name}.npz").read_bytes()), allow_pickle=False) as stored:
        cases = tuple(Case.from_json(plain) for plain in json.loads(stored["cases"].tobytes()))
        pieces = np.split(stored["bytes"], stored["ends"][:-1])
        faults = json.loads(stored["faults"].tobytes())
    return Recording(provenance, cases, tuple(fault or piece for fault, piece in zip(faults, pieces, strict=True)))


def write(folder: Path, name: str, recording: Recording) -> None:
    """Write `NAME.json` and `NAME.npz` into a folder."""
    faults = [result if isinstance(result, str) else None for result in recording.results]
    pieces = [np.empty(0, np.uint8) if isinstance(result, str) else result for result in recording.results]
    np.savez_compressed(
        folder / f"{name}.npz",
        cases=_text([case.to_json() for case in recording.cases]),
        faults=_text(faults),
        bytes=np.concatenate(pieces),
        ends=np.cumsum([piece.size for piece in pieces]),
    )
    (folder / f"{name}.json").write_text(json.dumps(recording.provenance, indent=2) + "\n", "utf-8")


def _folder() -> Any:
    return resources.files("tmalab") / "recorded"


def _text(plain: Any) -> np.ndarray:
    return np.frombuffer(json.dumps(plain, separators=(",", ":")).encode(), np.uint8)
