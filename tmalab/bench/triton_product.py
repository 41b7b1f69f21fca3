"""Triton's matrix product, since a learner will ask: blocks of C in groups of rows, a loop over K, software pipelining.

Triton lays out shared memory, issues copies and allocates registers itself; what is chosen here is the size of the
blocks, the warps and the stages. Each product takes the fastest of a few.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from tmalab.bench.on_gpu import Launch, Timer

try:
    import triton
    import triton.language as tl
except ImportError:  # it comes with PyTorch, on Linux
    triton = tl = None

GROUP = 8


class Config(NamedTuple):
    """Rows and columns of a block of C, columns of A and B at a time, warps, stages."""

    bm: int
    bn: int
    bk: int
    warps: int
    stages: int


CONFIGS = (
    Config(128, 256, 64, 8, 3),
    Config(128, 256, 64, 8, 4),
    Config(128, 128, 64, 8, 4),
    Config(64, 128, 64, 4, 4),
)
INSTALLED = triton is not None
_chosen: dict[tuple[int, int, int], Config] = {}


@cache
def _jitted() -> Any:
    return triton.jit(_product)


def _product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """C = A B' for one block of C."""
    block = tl.program_id(0)
    rows, columns = tl.cdiv(m, BM), tl.cdiv(n, BN)
    band = block // (GROUP * columns)
    height = min(rows - band * GROUP, GROUP)
    row = band * GROUP + block % (GROUP * columns) % height
    column = block % (GROUP * columns) // height
    i = row * BM + tl.arange(0, BM)
    j = column * BN + tl.arange(0, BN)
    at = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    a_at = a + (i % m)[:, None] * k + at[None, :]
    b_at = b + (j % n)[None, :] * k + at[:, None]
    for step in range(tl.cdiv(k, BK)):
        inside = at < k - step * BK
        acc = tl.dot(
            tl.load(a_at, mask=inside[None, :], other=0.0), tl.load(b_at, mask=inside[:, None], other=0.0), acc
        )
        a_at += BK
        b_at += BK
    tl.store(c + i[:, None] * n + j[None, :], acc.to(tl.bfloat16), mask=(i < m)[:, None] & (j < n)[None, :])


def triton_product(a: Any, b: Any, c: Any) -> Launch:
    """A launch with the fastest of the blocks for this product."""
    (m, k), n = a.shape, b.shape[0]
    if (m, n, k) not in _chosen:
        timed = {config: min(Timer([_launch(a, b, c, config)])() for _ in range(3)) for config in CONFIGS}
        _chosen[m, n, k] = min(timed, key=timed.__getitem__)
    return _launch(a, b, c, _chosen[m, n, k])


def _launch(a: Any, b: Any, c: Any, config: Config) -> Launch:
    (m, k), n = a.shape, b.shape[0]
    grid = (triton.cdiv(m, config.bm) * triton.cdiv(n, config.bn),)
    blocks = {"BM": config.bm, "BN": config.bn, "BK": config.bk, "GROUP": GROUP}

    def launch(_stream: Any) -> None:
        _jitted()[grid](a, b, c, m, n, k, **blocks, num_warps=config.warps, num_stages=config.stages)

    launch(None)  # compiled before a graph captures it
    return launch
