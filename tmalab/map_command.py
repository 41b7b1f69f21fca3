"""`tmalab map`: a tensor map from a JSON file, or from the 128 bytes of an encoded one, judged by the driver's rules.

The JSON holds the constructor's argument names, of TensorMap or of TensorMap.im2col; enumerations go by name (CUDA's
too) or number, numbers may be written "0x1000". The 128 bytes may be a file of them, hexadecimal digits, a C
initialiser, or what a debugger prints.

>>> judge('{"data_type": "FLOAT16", "global_address": 4096, "global_dim": [128, 16], "global_strides": [256], '
...       '"box_dim": [64, 8], "swizzle": "B128"}').legal
True
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from tmalab import TensorMap, TensorMapError, descriptor, descriptor_sources
from tmalab.im2col_map import Im2colMap
from tmalab.tensor_map_doubts import object_address_doubts
from tmalab.tensor_map_fields import ENUMERATIONS, Fields, Im2colFields
from tmalab.texts import text

CUDAS_PREFIX = re.compile(r"CU_TENSOR_MAP_(DATA_TYPE|INTERLEAVE|SWIZZLE|L2_PROMOTION|FLOAT_OOB_FILL)_")
CUDAS_NAMES = {  # without the prefix, where it is not ours: the number; Hopper knows the fill alone
    "NAN_REQUEST_ZERO_FMA": 1,
    "128B_ATOM_32B": 4,
    "128B_ATOM_32B_FLIP_8B": 5,
    "128B_ATOM_64B": 6,
    "16U4_ALIGN8B": 13,
    "16U4_ALIGN16B": 14,
    "16U6_ALIGN16B": 15,
}
_JSON = re.compile(r"""\s*(\{\s*["}]|\[\s*["{\]]|"|//|/\*)""")  # how JSON begins, or what is meant to be JSON
_DUMP = re.compile(r"[0-9a-fA-FxX\s,:-]{64,}")
OPTIONAL = ("element_strides", "interleave", "swizzle", "l2_promotion", "oob_fill")
REQUIRED = {kind: tuple(name for name in kind._fields if name not in OPTIONAL) for kind in (Fields, Im2colFields)}
DERIVED = ("rank", "element_size", "row_bytes", "pitch", "transaction_bytes", "shared_bytes")


class Unreadable(Exception):
    """What was given is no description of a tensor map; the message is one sentence.

    `fields`: what 128 bytes hold all the same, as (bits, field, value).
    """

    def __init__(self, sentence: str, fields: list[tuple[str, str, int]] | None = None):
        super().__init__(sentence)
        self.fields = fields or []


@dataclass(frozen=True)
class Judgement:
    """What `tmalab map` says: the fields, what follows from them, the rules they break, and what is doubtful."""

    kind: str  # "tiled" or "im2col"
    fields: dict[str, object]
    derived: dict[str, object] = field(default_factory=dict)
    violations: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def legal(self) -> bool:
        """Whether the driver would encode this map."""
        return not self.violations

    def as_json(self) -> dict[str, object]:
        """What `--json` prints."""
        broken = [{"rule": rule, "message": message} for rule, message in self.violations]
        return {
            "legal": self.legal,
            "kind": self.kind,
            "fields": self.fields,
            "derived": self.derived,
            "violations": broken,
            "warnings": self.warnings,
        }


def judge(source: str) -> Judgement:
    """Judge a map given as the name of a file, as JSON, or as the 128 bytes in text.

    Raises Unreadable where it is none of these, or not a map's arguments.
    """
    content = _content(source)
    if isinstance(content, str) and _JSON.match(content):
        return _judge_arguments(_arguments(content), [])
    return _judge_arguments(*_decoded(content))


def _judge_arguments(arguments: dict[str, Any], doubts: list[str]) -> Judgement:
    kind = "tiled" if "box_dim" in arguments else "im2col"
    try:
        tm = TensorMap(**arguments) if kind == "tiled" else TensorMap.im2col(**arguments)
    except TensorMapError as error:
        return Judgement(kind, _named(arguments), violations=error.violations, warnings=doubts)
    except TypeError as error:
        raise Unreadable(str(error)) from None
    derived = {name: getattr(tm, name) for name in DERIVED}
    if isinstance(tm, Im2colMap):
        derived["bounding_box"] = list(tm.bounding_box)
    return Judgement(kind, _named(tm.arguments), derived, warnings=[*doubts, *tm.warnings])


def _content(source: str) -> str | bytes:
    """What was given, or what is in the file that was named."""
    if source.lstrip()[:1] in ("{", "[") or "\n" in source or _DUMP.fullmatch(source):
        return source
    try:
        content = Path(source).read_bytes()
    except (OSError, ValueError):
        raise Unreadable(text("cli.map-no-file", source=_short(source))) from None
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in content and not marked:
        return content
    try:
        return content.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        return content


def _short(value: str) -> str:
    """Text that fits into a sentence."""
    return value if len(value) <= 80 else f"{value[:77]}..."


def _decoded(content: str | bytes) -> tuple[dict[str, object], list[str]]:
    """The constructor's arguments from the 128 bytes of an encoded map, and what a kernel's edits left behind."""
    try:
        data = descriptor_sources.bytes_of(content)
    except descriptor.DescriptorError as error:
        raise Unreadable(str(error)) from None
    address = descriptor_sources.address_in(content) if isinstance(content, str) else None
    doubts = object_address_doubts(address or 0)
    try:
        fields = descriptor.decode_edited(data)
        return fields._asdict(), [*doubts, *descriptor.stale(data, fields)]
    except descriptor.DescriptorError as error:
        found = [(f"{place.start} to {place.stop - 1}", place.name, value) for place, value in descriptor.read(data)]
        raise Unreadable(str(error), found) from None


def _arguments(content: str) -> dict[str, object]:
    """The constructor's arguments from JSON."""
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Unreadable(text("cli.map-json", reason=error)) from None
    if not isinstance(given, dict):
        raise Unreadable(text("cli.map-object", type=type(given).__name__))
    of_columns = {"pixel_box_lower_corner", "pixel_box_upper_corner", "channels_per_pixel", "pixels_per_column"}
    kind = Im2colFields if of_columns & given.keys() else Fields
    if unknown := sorted(given.keys() - set(kind._fields)):
        raise Unreadable(text("cli.map-unknown", names=", ".join(unknown), known=", ".join(kind._fields)))
    if absent := [name for name in REQUIRED[kind] if name not in given]:
        raise Unreadable(text("cli.map-absent", names=", ".join(absent)))
    return {name: _value(name, value) for name, value in given.items()}


def _value(name: str, value: object) -> object:
    """An argument's value: names of enumerations become members, numbers in text ("0x1000") numbers."""
    if isinstance(value, list):
        return [_value(name, part) if isinstance(part, str) else part for part in value]
    if not isinstance(value, str):
        return value
    try:
        return int(value, 0)
    except ValueError:
        if name in ENUMERATIONS:
            return _member(name, ENUMERATIONS[name], value)
        raise Unreadable(text("cli.map-number", name=name, value=_short(value))) from None


def _member(name: str, enumeration: type[IntEnum], value: str) -> int:
    """An enumeration's member by its name here or in CUDA: `B128`, `128B` or `CU_TENSOR_MAP_SWIZZLE_128B`."""
    cudas = CUDAS_PREFIX.sub("", value.upper())
    ours = re.sub(r"^(?:L2_)?(\d+)B$", r"B\1", cudas)
    if ours in enumeration.__members__:
        return enumeration[ours]
    if cudas in CUDAS_NAMES:
        return CUDAS_NAMES[cudas]
    members = ", ".join(enumeration.__members__)
    raise Unreadable(text("cli.map-member", name=name, value=_short(value), members=members))


def _named(arguments: dict[str, Any]) -> dict[str, object]:
    """Arguments as JSON shows them: enumerations by name where they are one, tuples as lists."""
    shown = {}
    for name, value in arguments.items():
        if name in ENUMERATIONS and value in list(ENUMERATIONS[name]):
            value = ENUMERATIONS[name](value).name
        shown[name] = list(value) if isinstance(value, tuple) else value
    return shown
