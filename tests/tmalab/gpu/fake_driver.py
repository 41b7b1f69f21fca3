"""A driver that keeps what it was told, for launches without a GPU. What a real one does is in test_on_hopper.py."""

from __future__ import annotations

import ctypes
import struct

import numpy as np

from tmalab.gpu.device import DriverError

BASE = 0x7F00_0000_0000


class FakeDriver:
    """Device memory as bytes at BASE, a kernel that does what `effect` says, notes of waits that `notes` gives."""

    def __init__(self, effect=None, notes=(0, b""), fault=None, endless=False):
        self.memory = np.zeros(1 << 16, np.uint8)
        self.effect, self.notes, self.fault, self.endless = effect, notes, fault, endless
        self.parameters = None
        self.config = None
        self.freed = 0
        self.launches = []  # the streams
        self.attributes = {True: 1024, False: 32}  # threads that a CTA can have, registers of a thread
        self.clusters = 66

    def __call__(self, function, *arguments):
        return getattr(self, function)(*arguments)

    def cuCtxSetCurrent(self, context):
        pass

    def cuLibraryLoadData(self, code, *options):
        assert code[:4] == b"\x7fELF"
        return "library"

    def cuLibraryGetKernel(self, library, name):
        return 6

    def cuKernelGetFunction(self, kernel):
        return kernel

    def cuLibraryGetGlobal(self, library, name):
        return 7, 0

    def cuMemAlloc(self, size):
        self.allocated = size
        return BASE

    def cuMemFree(self, address):
        self.freed += 1
        if self.fault:
            raise DriverError("cuMemFree", self.fault, "after a fault everything fails")

    def cuMemcpyHtoD(self, to, source, size):
        if to == 7:
            self.limit = struct.unpack("<QQQ", source)[0]
        else:
            self.memory[to - BASE : to - BASE + size] = np.frombuffer(ctypes.string_at(source, size), np.uint8)

    def cuMemcpyDtoH(self, to, source, size):
        if source == 7:
            count, notes = self.notes
            content = struct.pack("<QQQ", 0, 0, count) + notes
        else:
            content = self.memory[source - BASE : source - BASE + size].tobytes()
        ctypes.memmove(to, content, min(size, len(content)))

    def cuFuncGetAttribute(self, attribute, function):
        return self.attributes["MAX_THREADS" in attribute.name]

    def cuOccupancyMaxActiveClusters(self, function, config):
        return self.clusters

    def cuCtxSynchronize(self):
        self.cuStreamQuery(0)

    def cuLaunchKernelEx(self, config, function, pointers, extra):
        self.config = config
        self.launches.append(int(config.hStream))
        self.parameters = pointers
        if self.effect:
            self.effect(self.memory)

    def cuStreamQuery(self, stream):
        if self.endless:
            raise DriverError("cuStreamQuery", 600, "CUDA_ERROR_NOT_READY")
        if self.fault:
            raise DriverError("cuStreamQuery", self.fault, "fault")
