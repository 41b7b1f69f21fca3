"""What this library's reference and models say of a case, to be compared with what the hardware did.

>>> from tmalab import DataType, TensorMap
>>> from tmalab.recorded.case import Case
>>> tm = TensorMap(DataType.UINT8, 0x10000000, (32, 4), (32,), (16, 2))
>>> by_reference(Case("a load", "load", tm, (16, 3), 128, "counting", 0))[128:132].tolist()
[56, 0, 57, 0]
>>> by_reference(Case("a fault", "load", tm, (1, 0), 128, "counting", 0))
'illegal_instruction'
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from tmalab import bulk, reference
from tmalab.faults import TmaFault
from tmalab.recorded.barrier_case import BarrierCase
from tmalab.recorded.bulk_case import BulkCase
from tmalab.recorded.case import BUFFER_BYTES, Case
from tmalab.recorded.issued_case import IssuedCase
from tmalab.recorded.map_case import EditCase, MapCase
from tmalab.tensormap_replace import replaced
from tmalab.texts import text


def by_reference(case: Any) -> np.ndarray | str:
    """The result of a case, as tmalab.recorded.Recording describes it: uint8, or the kind of a fault."""
    try:
        return _result(case)
    except TmaFault as fault:
        return fault.kind


def same(one: np.ndarray | str, other: np.ndarray | str) -> bool:
    """Whether two results are the same."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return bool(np.array_equal(one, other))


@singledispatch
def _result(case: Any) -> np.ndarray:
    raise TypeError(f"{type(case).__name__} is no case")


@_result.register
def _(case: Case) -> np.ndarray:
    if case.operation == "load":
        return _load(case)
    tm, shared, memory = case.tensor_map, case.shared(), case.memory()
    reference.check_store(tm, case.coordinates, case.shared_address, BUFFER_BYTES)
    copy = (tm, case.coordinates, shared, memory, case.shared_address)
    if case.operation == "store":
        reference.store(*copy)
    else:
        reference.reduce(case.operation, *copy)
    return memory


def _load(case: Case) -> np.ndarray:
    """The buffers of all CTAs after a load."""
    tm, offsets, images = case.tensor_map, case.offsets or None, np.tile(case.shared(), (case.ctas, 1))
    if case.ctas == 1:
        check_mask(case.cta_mask, case.ctas)
    reference.check_load(tm, case.coordinates, case.shared_address, BUFFER_BYTES, offsets)
    check_mask(case.cta_mask, case.ctas)
    image = reference.load(tm, case.coordinates, case.memory(), case.shared_address, offsets)
    for rank in reached(case.cta_mask, case.ctas):
        tile = images[rank, case.shared_address : case.shared_address + image.data.size]
        tile[image.written] = image.data[image.written]
    return images.reshape(-1)


@_result.register
def _(case: IssuedCase) -> np.ndarray:
    """One copy after the other: whoever issues it."""
    tm, shared, memory = case.tensor_map, case.shared(), case.memory()
    for place, address in zip(case.coordinates, case.addresses, strict=True):
        if case.operation == "store":
            reference.store(tm, place, shared, memory, address)
        else:
            image = reference.load(tm, place, memory, address)
            shared[address : address + image.data.size][image.written] = image.data[image.written]
    return memory if case.operation == "store" else shared


@_result.register
def _(case: BulkCase) -> np.ndarray:
    memory, images, size = case.memory(), case.shared(), case.bytes
    there, here = (slice(start, start + size) for start in (case.global_offset, case.shared_address))
    if case.alone:
        raise TmaFault("illegal_instruction", text("simulator.no-cluster"))
    if case.ctas == 1:  # told before the addresses, else after them (measured, H200)
        check_mask(case.cta_mask, case.ctas)
    bulk.check_copy(case.global_offset, case.shared_address, size)
    check_mask(case.cta_mask, case.ctas)
    if case.operation == "load":
        images[reached(case.cta_mask, case.ctas), here] = memory[there]
        return images.reshape(-1)
    target = images[case.peer] if case.peer >= 0 else memory
    source = images[case.issuer, here].copy()
    operation, _, element = case.operation.partition(" ")
    reduces = case.operation not in ("store", "to peer")
    target[there] = bulk.combined(operation, element, target[there], source) if reduces else source
    return target if case.peer < 0 else images.reshape(-1)


@_result.register
def _(case: BarrierCase) -> np.ndarray:
    return case.by_model().reshape(-1).view(np.uint8)


@_result.register
def _(case: MapCase) -> np.ndarray:
    tm = case.tensor_map if case.moved is None else case.tensor_map.with_address(case.moved)
    return np.frombuffer(tm.encode(), np.uint8)


@_result.register
def _(case: EditCase) -> np.ndarray:
    data = case.tensor_map.encode()
    for field, ordinal, value in case.edits:
        data = replaced(data, field, ordinal if ordinal >= 0 else None, value)
    return np.frombuffer(data, np.uint8)


def reached(mask: int, ctas: int) -> list[int]:
    """The CTAs that a load's bytes reach; without a multicast the only one."""
    return [rank for rank in range(ctas) if (mask or 1) >> rank & 1]


def check_mask(mask: int, ctas: int) -> None:
    """A multicast to a CTA that there is not faults, without a cluster otherwise than in one (measured, H200)."""
    if mask >> ctas:
        kind = "launch_failed" if ctas > 1 else "illegal_instruction"
        raise TmaFault(kind, text("simulator.mask-beyond-cluster", mask=f"{mask:#b}", last=ctas - 1))
