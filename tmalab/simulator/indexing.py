"""Indices and values as a kernel writes them, put into the form that memory takes, or refused in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.simulator.errors import KernelError
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.arrays import Array


def indices_of(index: Any, array: Array) -> tuple[int | slice, ...]:
    """An index as one int or slice for each leading dimension."""
    given = index if isinstance(index, tuple) else (index,)
    if any(i is Ellipsis for i in given):
        at = [i is Ellipsis for i in given].index(True)
        missing = array.ndim - (len(given) - 1)
        given = (*given[:at], *[slice(None)] * missing, *given[at + 1 :])
    if len(given) > array.ndim:
        raise KernelError(text("simulator.index-count", array=array.name, given=len(given), ndim=array.ndim))
    try:
        return tuple(i if isinstance(i, slice) else i.__index__() for i in given)
    except AttributeError:
        raise KernelError(text("simulator.index-type", array=array.name, index=shown(index))) from None


def narrowed(value: Any, dtype: np.dtype, name: str | None) -> Any:
    """A value cast to a type that cannot hold it as it is, as the compiled code does: low bits, toward zero."""
    if hasattr(value, "memory"):
        raise KernelError(text("simulator.array-as-value", given=value.name, array=name))
    try:
        if dtype.kind in "iu":
            whole = int(value) & (1 << 8 * dtype.itemsize) - 1
            signed = dtype.kind == "i" and whole >> 8 * dtype.itemsize - 1
            return whole - (1 << 8 * dtype.itemsize) if signed else whole
        return dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        raise KernelError(text("simulator.element-value", given=repr(value), array=name, dtype=dtype)) from None


def shown(index: Any) -> str:
    """An index as it was written."""
    parts = index if isinstance(index, tuple) else (index,)
    return ", ".join(_shown_part(part) for part in parts)


def _shown_part(part: Any) -> str:
    if isinstance(part, slice):
        ends = [part.start, part.stop, *([part.step] if part.step is not None else [])]
        return ":".join("" if end is None else str(end) for end in ends)
    return "..." if part is Ellipsis else str(part)
