"""Answers that are the arguments of a tensor map: a dict of them, or the TensorMap itself.

Each field earns its share, so that one slip costs one field; then the map is used for a copy, which must bring the
right bytes. A map that the driver would refuse is told which rule it breaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.exercise import Finding, right, wrong
from grader.judges.numbers import as_integer, shown
from grader.recorded import compared
from grader.texts import text
from tmalab import DataType, Swizzle, TensorMap, TensorMapError, TmaFault, reference
from tmalab.data_types import NOMINAL_ADDRESS

ENUMS = {"data_type": DataType, "swizzle": Swizzle}
LONGEST = 16  # more numbers than any map has dimensions: what is longer is not gone through
MOST = 40  # unknown names that are repeated, and characters of each
Value = int | tuple[int, ...] | None


@dataclass(frozen=True)
class MapTask:
    """What is to be described and how it is tried."""

    fields: Mapping[str, int | tuple[int, ...]]  # the right arguments
    field_points: float  # for each field
    copy_points: float  # for the bytes of a copy
    coordinates: tuple[int, ...]
    memory: np.ndarray  # uint8: the tensor's bytes
    image: bytes  # what the copy must leave in shared memory, found without TensorMap


def judge_map(answer: object, task: MapTask) -> list[Finding]:
    """The parts `fields`, `bytes` and the evidence from the recorded hardware."""
    points = task.field_points * len(task.fields)
    given = _arguments(answer, task)
    if isinstance(given, str):
        not_tried = wrong("bytes", task.copy_points, text("report.not-looked-at"), "form")
        return [wrong("fields", points, given, "form"), not_tried]
    return [_judge_fields(given, task, points), *_judge_copy(given, task)]


def _arguments(answer: object, task: MapTask) -> dict[str, object] | str:
    """The constructor's arguments out of an answer, or the sentence that says why there are none."""
    if isinstance(answer, TensorMap):
        return {name: getattr(answer, name) for name in task.fields}
    if not isinstance(answer, Mapping):
        return text("map.wrong-type", type=type(answer).__name__)
    unknown = [name[:MOST] if isinstance(name, str) else shown(name) for name in answer if name not in task.fields]
    if unknown:
        told = ", ".join([*unknown[:MOST], *["..."] * (len(unknown) > MOST)])
        return text("map.unknown-field", unknown=told, fields=", ".join(task.fields))
    return {name: answer.get(name) for name in task.fields}


def _judge_fields(given: Mapping[str, object], task: MapTask, points: float) -> Finding:
    misses = {
        name: _miss(name, given[name], wanted) for name, wanted in task.fields.items() if _value(given[name]) != wanted
    }
    hits = len(task.fields) - len(misses)
    if not misses:
        return right("fields", points, text("map.fields-right", count=hits))
    lines = [text("map.fields-wrong", right=hits, count=len(task.fields))]
    lines += [f"  {name}: {sentence}" for name, (sentence, _) in misses.items()]
    cause = next(cause for _, cause in misses.values())
    return wrong("fields", points, "\n".join(lines), cause, points=task.field_points * hits)


def _value(given: object) -> Value:
    """A field's value as the driver sees it: a whole number or a tuple of them; None for anything else."""
    if isinstance(given, (str, bytes)) or given is None:
        return None
    if isinstance(given, Sequence) or (isinstance(given, np.ndarray) and given.ndim):
        if len(given) > LONGEST:
            return None
        numbers = [as_integer(each) for each in given]
        return None if None in numbers else tuple(numbers)  # type: ignore[arg-type]
    return as_integer(given)


def _miss(name: str, given: object, wanted: int | tuple[int, ...]) -> tuple[str, str]:
    """What is wrong with one field, in a sentence and as a cause."""
    value = _value(given)
    if given is None:
        return text("map.open"), "open"
    nameless = isinstance(value, int) and value not in set(ENUMS[name]) if name in ENUMS else False
    if value is None or nameless or isinstance(value, tuple) != isinstance(wanted, tuple):
        if isinstance(wanted, tuple):
            return text("map.wants-integers", given=shown(given), count=len(wanted)), "form"
        return text("map.wants-name", given=shown(given), kind=ENUMS[name].__name__), "form"
    if isinstance(value, int):
        return text("map.wrong-enum", given=_enum_name(name, value), field=name), name
    return _miss_of_tuple(name, value, wanted if isinstance(wanted, tuple) else ())


def _miss_of_tuple(name: str, value: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[str, str]:
    given = shown(value)
    if len(value) != len(wanted):
        key = "map.strides-count" if name == "global_strides" else "map.rank"
        return text(key, given=given, count=len(wanted), rank=len(wanted) + (name == "global_strides")), "rank"
    if sorted(value) == sorted(wanted):
        return text("map.outermost-first", given=given), "order"
    if name == "global_strides":
        return text("map.wrong-strides", given=given), "strides"
    return text("map.wrong-extent", given=given, field=name), "extent"


def _enum_name(name: str, value: int) -> str:
    known = {int(member): f"{ENUMS[name].__name__}.{member.name}" for member in ENUMS[name]}
    return known.get(value, shown(value))


def _judge_copy(given: Mapping[str, object], task: MapTask) -> list[Finding]:
    """Use the map for one copy; compare the bytes with those that must come, and these with the recorded ones."""
    try:
        tensor_map = TensorMap(global_address=NOMINAL_ADDRESS, **given)  # type: ignore[arg-type]
        image = reference.load(tensor_map, task.coordinates, task.memory)
    except TensorMapError as error:
        rules = "\n".join(f"  {message}" for _, message in error.violations)
        return [wrong("bytes", task.copy_points, text("map.refused", rules=rules), "refused")]
    except (TmaFault, TypeError, ValueError, IndexError) as error:
        return [wrong("bytes", task.copy_points, text("map.no-copy", reason=str(error).splitlines()[0]), "refused")]
    length = len(task.image)
    seen = np.where(image.written, image.data, 0)[:length].tobytes().ljust(length, b"\0")
    same = sum(a == b for a, b in zip(seen, task.image, strict=True))
    at = ", ".join(map(str, task.coordinates))
    if same < length or image.transaction_bytes != length:
        message = text("map.copy-wrong", same=same, count=length, at=at, delivered=image.transaction_bytes)
        return [wrong("bytes", task.copy_points, message, "copy")]
    moved = right("bytes", task.copy_points, text("map.copy-right", count=length, at=at))
    return [moved, _judge_hardware(tensor_map, task)]


def _judge_hardware(tensor_map: TensorMap, task: MapTask) -> Finding:
    """The same copy of the recording's tensor with the learner's map, against what an H200 did."""
    asked_for = TensorMap(global_address=NOMINAL_ADDRESS, **task.fields)  # type: ignore[arg-type]
    return compared(
        asked_for, task.coordinates, lambda load: reference.load(tensor_map, task.coordinates, load.tensor).data
    )
