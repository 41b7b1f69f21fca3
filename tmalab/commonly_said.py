"""Commonly said, and what the H200 did: a table that is counted in the recordings, each time anew.

Only what was recorded has a row. A row says what one hears, what was seen, and in which recording.

>>> rows = commonly_said()
>>> rows[0].said
'The expectation must come before the copy.'
>>> rows[0].recorded.startswith("mbarrier")
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tmalab import recorded, reference
from tmalab.data_types import DataType, Interleave, OobFill, Swizzle
from tmalab.mbarrier import MBarrier
from tmalab.recorded import promises, verdicts, wrong_kernels
from tmalab.recorded.barrier_case import OPERATIONS, BarrierCase, defined
from tmalab.recorded.by_reference import by_reference
from tmalab.recorded.case import Case
from tmalab.swizzle import PATTERNS
from tmalab.tensor_map_fields import Fields
from tmalab.tensor_map_rules import judge
from tmalab.texts import text


class Said(NamedTuple):
    """A row: what one hears, what the hardware did, and the recording with its GPU and date."""

    said: str
    did: str
    recorded: str


def commonly_said() -> list[Said]:
    """All rows; sentences with counts made from the recordings."""
    return [Said(text(f"said.{name}"), text(f"said.{name}-did", **count()), source()) for name, count, source in ROWS]


def _pairs(name: str) -> Iterable[tuple[Any, Any]]:
    recording = recorded.read(name)
    return zip(recording.cases, recording.results, strict=True)


def _from(name: str) -> Callable[[], str]:
    def source() -> str:
        where = recorded.read(name).provenance
        return text("said.recorded", name=name, gpu=where["gpu"], date=where["date"])

    return source


# ---- barriers and maps


def bytes_before_their_promise() -> dict[str, object]:
    """Barriers whose tx-count was below zero on the way, and how many of them did as the model says to the end."""
    early = [(case, seen) for case, seen in _pairs("mbarrier") if _goes_below_zero(case)]
    same = sum(_as_model(case, seen) for case, seen in early)
    return {"count": len(early), "same": same}


def _goes_below_zero(case: BarrierCase) -> bool:
    barrier = MBarrier(1)
    for operation, amount, _ in case.steps:
        name = OPERATIONS[operation]
        if name == "init":
            barrier = MBarrier(amount)
        elif not name.startswith(("inval", "test_wait")):
            getattr(barrier, name)(amount)
        if barrier.tx_count < 0:
            return True
    return False


def _as_model(case: BarrierCase, seen: np.ndarray) -> bool:
    wanted = case.by_model()
    return np.array_equal(defined(seen.view(np.int64).reshape(wanted.shape)), wanted)


def maps_edited_in_a_kernel() -> dict[str, object]:
    """Maps that a kernel has edited, and how many then held what was asked for."""
    edits = list(_pairs("map-edits"))
    return {"count": len(edits), "same": sum(np.array_equal(seen, by_reference(case)) for case, seen in edits)}


# ---- who issues


def issued_by_several() -> dict[str, object]:
    """Tiles in parts, each part issued by a thread of its own, and how many of them came to where they belong."""
    issued = list(_pairs("issued"))
    return {
        "count": len(issued),
        "most": max(len(case.threads) for case, _ in issued),
        "same": sum(np.array_equal(seen, by_reference(case)) for case, seen in issued),
    }


# ---- loads


def swizzled_by_row() -> dict[str, object]:
    """Swizzled tiles at addresses of all kinds: how many lie as column XOR row has it, and as the address has it."""
    tiles = [
        (case, seen)
        for case, seen in _pairs("loads")
        if _plain_load(case) and PATTERNS[case.tensor_map.swizzle].span and case.shared_address
    ]
    by_row = sum(_image_at(case, 0) == _image(case, seen) for case, seen in tiles)
    by_address = sum(_image_at(case, case.shared_address) == _image(case, seen) for case, seen in tiles)
    return {"count": len(tiles), "row": by_row, "address": by_address}


def _plain_load(case: object) -> bool:
    return isinstance(case, Case) and case.operation == "load" and not case.cta_mask and not case.offsets


def _image(case: Case, seen: np.ndarray) -> bytes:
    return seen[case.shared_address :][: case.tensor_map.shared_bytes].tobytes()


def _image_at(case: Case, address: int) -> bytes:
    """What the reference leaves of this load at an address: gaps hold what was there before."""
    before = np.full(case.tensor_map.shared_bytes, case.before()[0], np.uint8)
    loaded = reference.load(case.tensor_map, case.coordinates, case.memory(), address)
    return np.where(loaded.written, loaded.data, before).astype(np.uint8).tobytes()


def partly_outside() -> dict[str, object]:
    """Loads with coordinates below zero: the wait for all bytes of the box ended for each of them."""
    loads = [(case, seen) for case, seen in _pairs("loads") if _plain_load(case) and min(case.coordinates) < 0]
    return {"count": len(loads), "same": sum(np.array_equal(seen, by_reference(case)) for case, seen in loads)}


def nan_fill() -> dict[str, object]:
    """Loads of 32-bit floats with NaN fill that hang over an edge: what lies there."""
    pattern = np.uint32(0x7FF77FF7)
    kinds = (DataType.FLOAT32, DataType.FLOAT32_FTZ)
    loads = [
        seen
        for case, seen in _pairs("loads")
        if _plain_load(case) and case.tensor_map.data_type in kinds and case.tensor_map.oob_fill == OobFill.NAN
    ]
    filled = [seen for seen in loads if (seen.view(np.uint32) == pattern).any()]
    return {"count": len(filled), "pattern": f"{pattern:#010x}", "usual": f"{np.float32(np.nan).view(np.uint32):#010x}"}


def subnormals() -> dict[str, object]:
    """Loads of a type that says it flushes subnormals: how many subnormals came through."""
    kept = lost = 0
    for case, seen in _pairs("loads"):
        if _plain_load(case) and case.tensor_map.data_type == DataType.FLOAT32_FTZ:
            plain = replace_type(case, DataType.FLOAT32)
            wanted = np.frombuffer(_image_at(plain, case.shared_address), np.uint32)
            got = np.frombuffer(_image(case, seen), np.uint32)
            tiny = ((wanted & 0x7F800000) == 0) & ((wanted & 0x007FFFFF) != 0)
            kept += int(np.count_nonzero(got[tiny] == wanted[tiny]))
            lost += int(np.count_nonzero(got[tiny] != wanted[tiny]))
    return {"kept": kept, "lost": lost}


def replace_type(case: Case, data_type: DataType) -> Case:
    """The same case with a map of another type of the same size."""
    return replace(case, tensor_map=replace(case.tensor_map, data_type=data_type))


def swizzles_of_interleaved() -> dict[str, object]:
    """Loads of maps with INTERLEAVE_32B and another swizzle than SWIZZLE_32B."""
    others = [
        (case, seen)
        for case, seen in _pairs("interleaved-loads")
        if case.tensor_map.interleave == Interleave.B32 and case.tensor_map.swizzle != Swizzle.B32
    ]
    return {"count": len(others), "same": sum(np.array_equal(seen, by_reference(case)) for case, seen in others)}


def tf32_bits() -> dict[str, object]:
    """Numbers through TFLOAT32 maps that rounding and cutting off the low bits take to different ones."""
    differ = nearest = 0
    for case, seen in _pairs("loads"):
        if _plain_load(case) and case.tensor_map.data_type == DataType.TFLOAT32:
            bits = np.frombuffer(_image_at(replace_type(case, DataType.FLOAT32), case.shared_address), np.uint32)
            bits, got = bits.astype(np.int64), np.frombuffer(_image(case, seen), np.uint32)
            rounded, cut = (bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFF, bits & ~0x1FFF
            telling = (rounded != cut) & ((bits & 0x7F800000) != 0x7F800000)
            differ += int(np.count_nonzero(telling))
            nearest += int(np.count_nonzero(got[telling] == rounded[telling]))
    return {"count": differ, "same": nearest}


# ---- maps that the driver was asked for


def _taken(wanted: Callable[[Fields], bool]) -> dict[str, object]:
    """Maps of a kind that break no rule of the library's: how many were asked for, and how many the driver took."""
    asked = verdicts.read()
    pairs = zip(asked.maps, asked.encoded, strict=True)
    answers = [encoded for fields, encoded in pairs if isinstance(fields, Fields) and wanted(fields) and _legal(fields)]
    return {"count": len(answers), "taken": sum(encoded is not None for encoded in answers)}


def _legal(fields: Fields) -> bool:
    return not judge(fields)


def boxes_beyond_the_tensor() -> dict[str, object]:
    """Boxes that are longer than the tensor along a dimension."""
    return _taken(lambda fields: any(box > size for box, size in zip(fields.box_dim, fields.global_dim, strict=False)))


def strides_that_do_not_grow() -> dict[str, object]:
    """Maps with a stride that is no larger than the one before it."""
    return _taken(lambda fields: any(after <= before for before, after in pairwise(fields.global_strides)))


# ---- stores


def clipped_stores() -> dict[str, object]:
    """Stores across the end of rows that are no multiple of 16 bytes: in how many what follows the row has changed."""
    crossing = changed = beyond = 0
    for case, seen in _pairs("stores"):
        if not case.name.endswith("columns"):
            continue
        tm = case.tensor_map
        end = tm.global_dim[0] * tm.data_type.size
        if end % 16 == 0:
            continue
        pitch = tm.global_strides[0]
        rows = np.flatnonzero(seen != case.memory()) % pitch
        crossing += 1
        changed += bool((rows >= end).any())
        beyond += bool((rows >= end + -end % 16).any())
    return {"count": crossing, "changed": changed, "beyond": beyond}


# ---- faults


def _faults(words: Callable[[str], bool], kind: str) -> dict[str, object]:
    found = [(case, seen) for case, seen in _pairs("faults") if words(case.name)]
    return {"count": len(found), "faults": sum(seen == kind for _, seen in found), "kind": kind}


def negative_stores() -> dict[str, object]:
    """Stores and reductions with a coordinate below zero."""
    return _faults(lambda name: "negative" in name or "= -" in name, "illegal_instruction")


def tiles_at_16() -> dict[str, object]:
    """Tiles at multiples of 16 that are none of 128."""
    return _faults(lambda name: "address + " in name or "destination at" in name, "misaligned_address")


# ---- time


def sharing() -> dict[str, object]:
    """One matrix product with tiles of B shared by two CTAs, and not: the factors in time."""
    times = _measured().times()
    pairs = [(times[name.replace("shares=1", "shares=0")], ns) for name, ns in times.items() if "shares=1" in name]
    factors = sorted(alone / shared for alone, shared in pairs)
    return {"count": len(factors), "low": f"{factors[0]:.2f}", "high": f"{factors[-1]:.2f}"}


def _measured() -> Any:
    from tmalab.timing.measured import Measured

    return Measured.read()


def _made(name: str, provenance: Callable[[], dict[str, Any]]) -> Callable[[], str]:
    return lambda: text("said.recorded", name=name, gpu=provenance()["gpu"], date=provenance()["date"])


_from_trials = _made("timing", lambda: _measured().provenance)
_from_promises = _made("promises", lambda: promises.read().provenance)
_from_verdicts = _made("verdicts", lambda: verdicts.read().provenance)
_from_wrong_kernels = _made("wrong-kernels", lambda: wrong_kernels.read()["provenance"])


ROWS = (
    ("expectation", bytes_before_their_promise, _from("mbarrier")),
    ("few", promises.counts, _from_promises),
    ("issuers", issued_by_several, _from("issued")),
    ("host-only", maps_edited_in_a_kernel, _from("map-edits")),
    ("row-xor", swizzled_by_row, _from("loads")),
    ("inside", partly_outside, _from("loads")),
    ("nan", nan_fill, _from("loads")),
    ("flush", subnormals, _from("loads")),
    ("tf32", tf32_bits, _from("loads")),
    ("interleave", swizzles_of_interleaved, _from("interleaved-loads")),
    ("box", boxes_beyond_the_tensor, _from_verdicts),
    ("strides", strides_that_do_not_grow, _from_verdicts),
    ("clip", clipped_stores, _from("stores")),
    ("negative", negative_stores, _from("faults")),
    ("aligned", tiles_at_16, _from("faults")),
    ("multicast", sharing, _from_trials),
    ("early", partial(wrong_kernels.counts, "read-before-wait", "wait-ignored"), _from_wrong_kernels),
    ("fence", partial(wrong_kernels.counts, "missing-proxy-fence", "proxy-fence-space"), _from_wrong_kernels),
    ("reuse", partial(wrong_kernels.counts, "store-source-reuse"), _from_wrong_kernels),
    ("racecheck", wrong_kernels.counts, _from_wrong_kernels),
)
