"""Recordings: what an H200 did with many copies, barriers and maps, and where and how that was seen.

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
from tmalab.recorded.plain import AnyCase, from_plain, to_plain
from tmalab.tensor_map import TensorMap


@dataclass(frozen=True)
class Recording:
    """Cases, what the hardware left of each, and the provenance.

    The result is uint8: of a load shared memory from the start of the buffer (of all CTAs, in their order), of a store
    or reduction global memory from the map's address, of a map its 128 bytes, of a barrier what was noted of it. That
    of a case that faults is the kind of the fault: str.
    """

    provenance: dict[str, Any]
    cases: tuple[AnyCase, ...]
    results: tuple[np.ndarray | str, ...]

    def find(self, operation: str, tm: TensorMap, coordinates: tuple[int, ...]) -> int | None:
        """The index of the case that is this copy, or None."""
        copies = ((i, case) for i, case in enumerate(self.cases) if isinstance(case, Case))
        found = (i for i, case in copies if case.same_copy(operation, tm, coordinates))
        return next(found, None)


def names() -> list[str]:
    """The recordings that there are."""
    return sorted(file.name.removesuffix(".npz") for file in _folder().iterdir() if file.name.endswith(".npz"))


@lru_cache(maxsize=32)
def read(name: str) -> Recording:
    """A recording by its name; KeyError where there is none."""
    if name not in names():
        raise KeyError(f"no recording is called {name!r}; there are {', '.join(names())}")
    provenance = json.loads((_folder() / f"{name}.json").read_text("utf-8"))
    with np.load(io.BytesIO((_folder() / f"{name}.npz").read_bytes()), allow_pickle=False) as stored:
        cases = tuple(from_plain(plain) for plain in json.loads(stored["cases"].tobytes()))
        pieces = np.split(stored["changes"], stored["ends"][:-1])
        faults = json.loads(stored["faults"].tobytes())
    results = (fault or piece ^ case.before() for fault, piece, case in zip(faults, pieces, cases, strict=True))
    return Recording(provenance, cases, tuple(results))


def write(folder: Path, name: str, recording: Recording) -> None:
    """Write `NAME.json` and `NAME.npz` into a folder.

    Of a result it is kept which bits the copy changed: what stayed as it was compresses to nothing.
    """
    faults = [result if isinstance(result, str) else None for result in recording.results]
    pieces = [np.empty(0, np.uint8) if isinstance(result, str) else result for result in recording.results]
    changes = [piece ^ case.before() if piece.size else piece for piece, case in zip(pieces, recording.cases)]
    np.savez_compressed(
        folder / f"{name}.npz",
        cases=_text([to_plain(case) for case in recording.cases]),
        faults=_text(faults),
        changes=np.concatenate(changes),
        ends=np.cumsum([piece.size for piece in changes]),
    )
    (folder / f"{name}.json").write_text(json.dumps(recording.provenance, indent=2) + "\n", "utf-8")


def _folder() -> Any:
    return resources.files("tmalab") / "recorded"


def _text(plain: Any) -> np.ndarray:
    return np.frombuffer(json.dumps(plain, separators=(",", ":")).encode(), np.uint8)
