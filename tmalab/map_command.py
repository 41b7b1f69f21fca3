"""`tmalab map`: a tensor map from a JSON file, or from the 128 bytes of an encoded one, judged by the driver's rules.

The JSON holds the constructor's argument names; enumerations go by name or number, an address may be written "0x1000".

>>> judge('{"data_type": "FLOAT16", "global_address": 4096, "global_dim": [128, 16], "global_strides": [256], '
...       '"box_dim": [64, 8], "swizzle": "B128"}').legal
True
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from tmalab import TensorMap, TensorMapError, descriptor
from tmalab.tensor_map import ENUMERATIONS
from tmalab.texts import text

REQUIRED = ("data_type", "global_address", "global_dim", "global_strides", "box_dim")
OPTIONAL = ("element_strides", "interleave", "swizzle", "l2_promotion", "oob_fill")
DERIVED = ("rank", "element_size", "row_bytes", "pitch", "transaction_bytes", "shared_bytes")


class Unreadable(Exception):
    """What was given is no description of a tensor map; the message is one sentence."""


@dataclass(frozen=True)
class Judgement:
    """What `tmalab map` says: the fields, what follows from them, the rules they break, and what is doubtful."""

    fields: dict[str, object]
    derived: dict[str, int] = field(default_factory=dict)
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
            "fields": self.fields,
            "derived": self.derived,
            "violations": broken,
            "warnings": self.warnings,
        }


def judge(source: str) -> Judgement:
    """Judge a map given as the name of a JSON file, as JSON, or as 256 hexadecimal digits.

    Raises Unreadable where it is none of these, or not a map's arguments.
    """
    content = _content(source)
    digits = re.sub(r"\s|^0x", "", content)
    arguments = _decoded(digits) if re.fullmatch(r"[0-9a-fA-F]+", digits) else _arguments(content)
    try:
        return _legal(TensorMap(**arguments))
    except TensorMapError as error:
        return Judgement(_named(arguments), violations=error.violations)
    except TypeError as error:
        raise Unreadable(str(error)) from None


def _content(source: str) -> str:
    """The text that was given, or that of the file that was named."""
    if source.lstrip().startswith("{") or re.fullmatch(r"(0x)?[0-9a-fA-F\s]{64,}", source):
        return source
    try:
        return Path(source).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError):
        raise Unreadable(text("cli.map-no-file", source=source)) from None


def _decoded(digits: str) -> dict[str, object]:
    """The constructor's arguments from the digits of an encoded map."""
    if len(digits) != 2 * descriptor.SIZE:
        raise Unreadable(text("cli.map-digits", count=len(digits)))
    try:
        return descriptor.decode(bytes.fromhex(digits))._asdict()
    except ValueError as error:
        raise Unreadable(str(error)) from None


def _arguments(content: str) -> dict[str, object]:
    """The constructor's arguments from JSON."""
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Unreadable(text("cli.map-json", reason=error)) from None
    if not isinstance(given, dict):
        raise Unreadable(text("cli.map-object", type=type(given).__name__))
    if any(name.startswith("pixel_box") for name in given):
        raise Unreadable(text("cli.map-im2col"))
    if unknown := sorted(given.keys() - {*REQUIRED, *OPTIONAL}):
        raise Unreadable(text("cli.map-unknown", names=", ".join(unknown), known=", ".join((*REQUIRED, *OPTIONAL))))
    if absent := [name for name in REQUIRED if name not in given]:
        raise Unreadable(text("cli.map-absent", names=", ".join(absent)))
    return {name: _value(name, value) for name, value in given.items()}


def _value(name: str, value: object) -> object:
    """An argument's value: names of enumerations and hexadecimal addresses become numbers."""
    if not isinstance(value, str):
        return value
    if name in ENUMERATIONS:
        return _member(name, ENUMERATIONS[name], value)
    try:
        return int(value, 0)
    except ValueError:
        raise Unreadable(text("cli.map-number", name=name, value=value)) from None


def _member(name: str, enumeration: type[IntEnum], value: str) -> IntEnum:
    """An enumeration's member by its name here or in CUDA: `B128` or `128B`."""
    ours = re.sub(r"^(\d+)B$", r"B\1", value.upper())
    if ours not in enumeration.__members__:
        raise Unreadable(text("cli.map-member", name=name, value=value, members=", ".join(enumeration.__members__)))
    return enumeration[ours]


def _legal(tensor_map: TensorMap) -> Judgement:
    fields = _named({name: getattr(tensor_map, name) for name in (*REQUIRED, *OPTIONAL)})
    return Judgement(
        fields, {name: getattr(tensor_map, name) for name in DERIVED}, warnings=list(map(str, tensor_map.warnings))
    )


def _named(arguments: dict[str, object]) -> dict[str, object]:
    """Arguments as JSON shows them: enumerations by name where they are one, tuples as lists."""
    shown = {}
    for name, value in arguments.items():
        if name in ENUMERATIONS and value in list(ENUMERATIONS[name]):
            value = ENUMERATIONS[name](value).name
        shown[name] = list(value) if isinstance(value, tuple) else value
    return shown
