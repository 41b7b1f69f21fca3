"""tensormap.replace: a kernel edits one field of a tensor map, so that its copies reach another tensor.

The map is a 128-byte row of a uint8 array, in global memory or (`_shared_cta`) a copy of it in shared memory, which
tensormap_cp_fenceproxy then writes to global memory, where copies use it. The hardware checks no value. After an edit
in global memory come fence_proxy_tensormap_release, by the writer, and fence_proxy_tensormap_acquire, by the user.

>>> from tmalab import ptx
>>> ptx.tensormap_replace_global_dim.text
'tensormap.replace.tile.global_dim.global.b1024.b32 [$tensor_map], $ord, $value;'
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tmalab.ptx.instruction import Instruction, instruction
from tmalab.ptx.operands import I64, U32, EditedMap, GlobalAddress, Kind, Shared, immediate

Ordinal = immediate(*range(5))  # a dimension, innermost first


class Field(NamedTuple):
    """A field of a map as tensormap.replace names it."""

    bits: int  # of the value
    value: Kind
    each: bool  # one for each dimension
    words: str


FIELDS = {
    "global_address": Field(64, GlobalAddress, False, "The tensor begins at `value`, a multiple of 16."),
    "rank": Field(32, U32, False, "The tensor has `value` + 1 dimensions."),
    "box_dim": Field(32, U32, True, "The box has `value` elements along dimension `ord`."),
    "global_dim": Field(32, U32, True, "The tensor has `value` elements along dimension `ord`."),
    "global_stride": Field(64, I64, True, "Along dimension `ord` + 1 elements are `value` bytes apart."),
    "element_stride": Field(32, U32, True, "Along dimension `ord` the box takes every `value`-th element."),
    "elemtype": Field(32, immediate(*range(13)), False, "Elements have the type of number `value`, counted by PTX."),
    "interleave_layout": Field(32, immediate(0, 1, 2), False, "Interleave: 0 none, 1 16 bytes, 2 32 bytes."),
    "swizzle_mode": Field(32, immediate(0, 1, 2, 3), False, "Swizzle: 0 none, 1 32, 2 64, 3 128 bytes."),
    "fill_mode": Field(32, immediate(0, 1), False, "Out of bounds: 0 zeros, 1 NaN."),
}

_SPACES = {"": ("global", EditedMap, "in global memory"), "_shared_cta": ("shared::cta", Shared, "in shared memory")}


def _replace(field: str, suffix: str) -> Instruction:
    """The instruction that replaces one field of a map in one state space."""
    bits, value, each, words = FIELDS[field]
    space, place, where = _SPACES[suffix]

    def body(thread: Any, tensor_map: int, *values: int) -> None:
        ordinal, new = values if each else (None, *values)
        thread.maps.replace(field, tensor_map, ordinal, new, space)

    return Instruction(
        f"tensormap_replace_{field}{suffix}",
        f"tensormap.replace.tile.{field}.{space}.b1024.b{bits} [$tensor_map], {'$ord, ' if each else ''}$value;",
        {"tensor_map": place, **({"ord": Ordinal} if each else {}), "value": value},
        body,
        f"{words}\n\nEdits the 128 bytes of a map {where}. Orders nothing. Source: PTX ISA, tensormap.replace.",
    )


for _field in FIELDS:
    for _suffix in _SPACES:
        globals()[f"tensormap_replace_{_field}{_suffix}"] = _replace(_field, _suffix)


_FENCEPROXY = (
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}.sync.aligned [$dst], [$src], 128;"
)


@instruction(_FENCEPROXY.replace("{scope}", "gpu"))
def tensormap_cp_fenceproxy(thread, dst: EditedMap, src: Shared) -> None:
    """Copy the 128 bytes of a map from shared to global memory and release them to this GPU's copies.

    Executed by a whole warp. The users of the map acquire it: fence_proxy_tensormap_acquire.
    Source: PTX ISA, tensormap.cp_fenceproxy.
    """
    thread.maps.cp_fenceproxy(dst, src, scope="gpu")


@instruction(_FENCEPROXY.replace("{scope}", "sys"))
def tensormap_cp_fenceproxy_sys(thread, dst: EditedMap, src: Shared) -> None:
    """tensormap_cp_fenceproxy towards other GPUs and the host. Source: PTX ISA, tensormap.cp_fenceproxy."""
    thread.maps.cp_fenceproxy(dst, src, scope="sys")
