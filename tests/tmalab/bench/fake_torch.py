"""As much of PyTorch as the benches use, on NumPy: tensors, graphs that keep their launches, a clock of its own."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np


class Dtype:
    def __init__(self, numpy):
        self.numpy, self.is_floating_point = np.dtype(numpy), np.dtype(numpy).kind == "f"


bfloat16, int64 = Dtype(np.float32), Dtype(np.int64)  # numbers that bf16 rounds are not needed here


class Tensor:
    def __init__(self, array, dtype=bfloat16):
        self.array, self.dtype = array, dtype

    @property
    def shape(self):
        return self.array.shape

    def normal_(self, generator):
        self.array[:] = generator.normal(size=self.array.shape)
        return self

    def fill_(self, value):
        self.array[:] = value

    def copy_(self, other):
        self.array[:] = other.array

    def float(self):
        return Tensor(self.array.astype(np.float64))

    def t(self):
        return Tensor(self.array.T)

    def __sub__(self, other):
        return Tensor(self.array - other.array)

    def norm(self):
        return float(np.linalg.norm(self.array))

    def view(self, *shape):
        return Tensor(self.array.reshape(shape), self.dtype)


def empty(*shape, device, dtype):
    return Tensor(np.empty(shape, dtype.numpy), dtype)


def empty_like(other):
    return Tensor(np.empty_like(other.array), other.dtype)


def randint(high, shape, device, dtype):
    return Tensor(np.random.default_rng(0).integers(high, size=shape, dtype=dtype.numpy), dtype)


def mm(a, b, out=None):
    product = Tensor(a.array @ b.array)
    if out is not None:
        out.copy_(product)
    return product


def equal(a, b):
    return np.array_equal(a.array, b.array)


class Generator:
    def __init__(self, device):
        assert device == "cuda"

    def manual_seed(self, seed):
        return np.random.default_rng(seed)


class Graph:
    """What was launched while it was captured, and what a replay costs: a microsecond for each launch."""

    def __init__(self):
        self.launches = 0

    def replay(self):
        cuda.now += 1e-3 * self.launches


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = cuda.now

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return end.at - self.at


class Stream:
    cuda_stream = 11


class Cuda(SimpleNamespace):
    now, capturing = 0.0, None  # milliseconds
    CUDAGraph, Event = Graph, Event

    def is_available(self):
        return True

    def current_stream(self):
        return Stream()

    @contextmanager
    def graph(self, graph):
        self.capturing = graph
        yield
        self.capturing = None


cuda = Cuda()


def launched():
    """A launch counts where a graph is captured."""
    if cuda.capturing is not None:
        cuda.capturing.launches += 1
