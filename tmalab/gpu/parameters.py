"""Tensor maps as kernel parameters: 128 bytes by value, as `const __grid_constant__ CUtensorMap` in CUDA C++.

numba knows no such parameter. It compiles a map as a 64-bit number; here the emitted PTX is changed so that the number
is the address of 128 bytes, 64-byte aligned, in the parameter space of the kernel:

>>> from tmalab.gpu.parameters import maps_by_value
>>> print(maps_by_value('''.visible .entry k(
...     .param .u64 k_param_0
... ) {
...     ld.param.u64  %rd1, [k_param_0];
... }''', [0]))
.visible .entry k(
    .param .align 64 .b8 k_param_0[128]
) {
    mov.b64 %rd1, k_param_0;
    cvta.param.u64 %rd1, %rd1;
}
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from numba.cuda import types
from numba.cuda.datamodel import default_manager
from numba.cuda.models import cuda_data_manager

from tmalab.gpu.lowering import TensorMapType

_MODELS = cuda_data_manager.chain(default_manager)


def map_positions(signature: Iterable[types.Type]) -> list[int]:
    """Which PTX parameters of a kernel are maps: an argument that numba takes apart, such as an array, is several."""
    positions, position = [], 0
    for argument in signature:
        if isinstance(argument, TensorMapType):
            positions.append(position)
        position += _leaves(_MODELS[argument].get_argument_type())
    return positions


def _leaves(kind: object) -> int:
    return sum(map(_leaves, kind)) if isinstance(kind, (tuple, list)) else 1


def maps_by_value(ptx: str, positions: Iterable[int]) -> str:
    """The PTX with the parameters at `positions` turned from 64-bit numbers into maps that are passed by value."""
    (entry,) = re.findall(r"\.entry\s+([\w$]+)\s*\(", ptx)
    for position in positions:
        name = f"{entry}_param_{position}"
        ptx, declared = re.subn(
            rf"\.param\s+\.[bu]64\s+{re.escape(name)}(?![\w$])", f".param .align 64 .b8 {name}[128]", ptx
        )
        ptx = re.sub(
            rf"(?m)^([ \t]*)ld\.param\.[bu]64[ \t]+([%\w$]+),[ \t]*\[{re.escape(name)}\];",
            rf"\1mov.b64 \2, {name};\n\1cvta.param.u64 \2, \2;",
            ptx,
        )
        # Whatever else the compiler may have made of the parameter would read the map's bytes as its address.
        if declared != 1 or re.search(rf"\[{re.escape(name)}(?![\w$])", ptx.split("{", 1)[1]):
            raise NotImplementedError(f"parameter {name} is used in a form that cannot be turned into a tensor map")
    return ptx
