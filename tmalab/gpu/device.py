"""The Hopper GPU of this machine: found once, or one sentence that says why there is none.

Everything goes through the driver's API (cuda.bindings) in the device's primary context, which PyTorch, CuPy and numba
share.

>>> from tmalab.gpu.device import why_no_gpu
>>> sentence = why_no_gpu()      # None where a kernel can be launched
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from tmalab.faults import KINDS
from tmalab.gpu.errors import GpuStopped, GpuUnavailable
from tmalab.texts import text

OLDEST_DRIVER = 13000  # CUDA 13.0, whose assembler makes the cubins; driver 580
FAULTS = {int(described.split("(")[1].rstrip(")")): kind for kind, described in KINDS.items()}  # driver's error: kind
NOT_READY = 600  # CUDA_ERROR_NOT_READY: the kernel still runs


class DriverError(RuntimeError):
    """A driver call that failed. `.code` is CUDA's number."""

    def __init__(self, function: str, code: int, name: str):
        super().__init__(text("gpu.driver-error", function=function, name=name, code=code))
        self.code, self.name = code, name


@dataclass(frozen=True)
class Hopper:
    """A GPU that runs sm_90a code."""

    name: str
    driver_version: int  # as CUDA counts: 13000 is 13.0
    context: Any

    @property
    def cuda(self) -> str:
        """The newest CUDA that the driver knows, as it is written: 13.0."""
        return _version(self.driver_version)

    def use(self) -> None:
        """Make its context the one of this thread."""
        call("cuCtxSetCurrent", self.context)


_stopped: list[str] = []  # why the context is lost, once it is


def call(function: str, *arguments: Any) -> Any:
    """Call the driver: what it returns, without the status; DriverError where that is not success."""
    from cuda.bindings import driver

    status, *results = getattr(driver, function)(*arguments)
    if int(status) != 0:
        raise DriverError(function, int(status), status.name)
    return results[0] if len(results) == 1 else tuple(results)


def stop(reason: str) -> None:
    """Remember that this process has lost the GPU: after a fault the context answers every call with the same error."""
    _stopped.append(reason)


def stopped() -> bool:
    """Whether this process has lost the GPU."""
    return bool(_stopped)


def hopper() -> Hopper:
    """The GPU to launch on. GpuUnavailable where there is none, GpuStopped where this process has lost it."""
    if _stopped:
        raise GpuStopped(text("gpu.stopped", reason=_stopped[0]))
    found = _find()
    if isinstance(found, str):
        raise GpuUnavailable(found)
    return found


def why_no_gpu() -> str | None:
    """Why no kernel can be launched here, in one sentence; None where one can."""
    try:
        hopper()
    except (GpuUnavailable, GpuStopped) as error:
        return str(error)
    return None


@cache
def _find() -> Hopper | str:
    """The first Hopper GPU, or the sentence that says what is missing."""
    try:
        from cuda.bindings import driver  # noqa: F401
    except ImportError:
        return text("gpu.no-bindings")
    try:
        call("cuInit", 0)
        version = call("cuDriverGetVersion")
        devices = [call("cuDeviceGet", index) for index in range(call("cuDeviceGetCount"))]
    except (DriverError, RuntimeError, OSError):  # no libcuda, or a driver without a device
        return text("gpu.no-driver")
    if version < OLDEST_DRIVER:
        have, wanted = _version(version), _version(OLDEST_DRIVER)
        return text("gpu.old-driver", have=have, wanted=wanted)
    described = [(device, *_describe(device)) for device in devices]
    for device, name, capability in described:
        if capability == (9, 0):
            return Hopper(name, version, call("cuDevicePrimaryCtxRetain", device))
    if not described:
        return text("gpu.no-driver")
    _, name, (major, minor) = described[0]
    return text("gpu.no-hopper", name=name, capability=f"sm_{major}{minor}")


def _describe(device: Any) -> tuple[str, tuple[int, int]]:
    from cuda.bindings.driver import CUdevice_attribute as attribute

    name = call("cuDeviceGetName", 256, device)
    major = call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
    minor = call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
    return name.decode().split("\0")[0], (major, minor)


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
