"""TMA Lab: write a Hopper TMA kernel once; simulate it anywhere, run it on an H100 or H200, and check it against both.

>>> import tmalab
>>> tmalab.Swizzle.B128.value
3

Names are imported when they are first used, so that `import tmalab` costs next to nothing and needs no GPU.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {  # public name: the module that defines it, or that is meant
    "DataType": "tmalab.data_types",
    "Im2colMap": "tmalab.im2col_map",
    "Interleave": "tmalab.data_types",
    "L2Promotion": "tmalab.data_types",
    "OobFill": "tmalab.data_types",
    "Swizzle": "tmalab.data_types",
    "TensorMap": "tmalab.tensor_map",
    "TensorMapError": "tmalab.tensor_map",
    "MBarrier": "tmalab.mbarrier",
    "MBarrierError": "tmalab.mbarrier",
    "TmaFault": "tmalab.faults",
    "Run": "tmalab.run",
    "device": "tmalab.launch",
    "explore": "tmalab.simulator.exploration",
    "kernel": "tmalab.launch",
    "map_rows": "tmalab.maps_in_memory",
    "ptx": "tmalab.ptx",
    "reference": "tmalab.reference",
}
__all__ = [*_HOME, "__version__"]

if TYPE_CHECKING:
    from tmalab import ptx, reference
    from tmalab.data_types import DataType, Interleave, L2Promotion, OobFill, Swizzle
    from tmalab.faults import TmaFault
    from tmalab.im2col_map import Im2colMap
    from tmalab.launch import device, kernel
    from tmalab.maps_in_memory import map_rows
    from tmalab.mbarrier import MBarrier, MBarrierError
    from tmalab.run import Run
    from tmalab.simulator.exploration import explore
    from tmalab.tensor_map import TensorMap, TensorMapError


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'tmalab' has no attribute {name!r}")
    module = importlib.import_module(_HOME[name])
    value = module if module.__name__ == f"tmalab.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
