"""Matrix products of bf16: this project's kernels, cuBLAS through PyTorch, and Triton, on the same random matrices.

`measure_gemm` compares the best kernel of the ladder with the others over many shapes, `measure_ladder` every step at
one, `measure_tiles` the shapes of tiles among which the best kernel is chosen. Results are checked against a float32
product: the error's norm is below 3e-3 of the result's, no poison is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tmalab.bench import results, triton_product
from tmalab.bench.contest import Buffers, Contender, hold, ours
from tmalab.bench.on_gpu import BenchError, Launch, buffers, provenance, torch
from tmalab.bench.shapes import LADDER, PRODUCTS
from tmalab.kernels import gemm_cluster, gemm_naive, gemm_persistent, gemm_pipelined, gemm_warp_specialized
from tmalab.kernels.gemm_tiles import TILES, Tile, choose
from tmalab.texts import text

LARGEST_ERROR = 3e-3  # of the result's norm: twice what rounding to bf16 leaves
SETTLE = 0.15  # seconds in which the clock has come down to what the power limit lets a contender have
CUBLAS = "cuBLAS"
Shape = tuple[int, int, int]


def measure_gemm(shapes: Sequence[Shape] = PRODUCTS, rounds: int = 15, settle: float = 0.0) -> dict[str, Any]:
    """The best kernel against cuBLAS and Triton. GpuUnavailable without a Hopper GPU or PyTorch; BenchError."""
    return _measure("gemm", shapes, rounds, settle, lambda shape: {"tmalab": best(shape), **others()})


def measure_ladder(shapes: Sequence[Shape] = LADDER, rounds: int = 15, settle: float = SETTLE) -> dict[str, Any]:
    """Every step of the ladder against cuBLAS, the last step first. Raises as `measure_gemm`.

    `settle`: seconds that each runs before it is timed. At this size all of the last steps are at the power limit.
    """
    return _measure(
        "ladder", shapes, rounds, settle, lambda shape: {**dict(reversed(steps(shape).items())), **others()}
    )


def measure_tiles(shapes: Sequence[Shape] = PRODUCTS, rounds: int = 15, settle: float = 0.0) -> dict[str, Any]:
    """Every shape of tiles against cuBLAS, the chosen one first. Raises as `measure_gemm`."""
    return _measure("tiles", shapes, rounds, settle, lambda shape: {**tiles(shape), CUBLAS: cublas})


def tiles(shape: Shape) -> dict[str, Contender]:
    """The persistent kernel with each shape of tiles, by what the shape is called."""
    chosen = choose(*shape)
    return {str(tile): of_tile(tile) for tile in (chosen, *(tile for tile in TILES if tile != chosen))}


def best(shape: Shape) -> Contender:
    """The kernel with the shape of tiles that is chosen for a product."""
    return of_tile(choose(*shape))


def of_tile(tile: Tile) -> Contender:
    """The persistent kernel with these tiles, alone or in clusters."""
    return ours((gemm_cluster if tile.cluster == gemm_cluster.CTAS else gemm_persistent).launch_of, tile)


def steps(shape: Shape) -> dict[str, Contender]:
    """The ladder, from its first step on. What CTAs share is the last one's: until then tiles go row by row."""
    return {
        "gemm_naive": ours(gemm_naive.launch_of),
        "gemm_pipelined, 2 stages": ours(gemm_pipelined.launch_of, 2),
        "gemm_pipelined, 3 stages": ours(gemm_pipelined.launch_of, 3),
        "gemm_warp_specialized": ours(gemm_warp_specialized.launch_of),
        "gemm_persistent": of_tile(choose(*shape, cluster=1)._replace(group=1)),
        "gemm_cluster": of_tile(choose(*shape, cluster=gemm_cluster.CTAS)),
    }


def others() -> dict[str, Contender]:
    """cuBLAS, and Triton where it is installed."""
    return {CUBLAS: cublas} | ({"Triton": triton_product.triton_product} if triton_product.INSTALLED else {})


def cublas(a: Any, b: Any, c: Any) -> Launch:
    """PyTorch's product of two bf16 matrices, which is cuBLAS's."""
    mm, transposed = torch().mm, b.t()
    return lambda _stream: mm(a, transposed, out=c)


def compare(
    name: str, shape: Shape, contenders: Mapping[str, Contender], rounds: int, settle: float = 0.0
) -> tuple[dict[str, Any], list[int]]:
    """One case of a bench, and the clocks."""
    m, n, k = shape
    sets = [_matrices(shape, seed) for seed in range(buffers(2 * (m * k + n * k + m * n)))]
    reference = torch().mm(sets[0][0].float(), sets[0][1].float().t())
    seconds, about, clocks = hold(contenders, sets, lambda name, found: _check(name, found, reference), rounds, settle)
    if "tmalab" in about:
        about["tmalab"]["tile"] = choose(*shape)._asdict()
    work = 2.0 * m * n * k
    return results.case(name, list(shape), work, CUBLAS, seconds, about, buffers=len(sets)), clocks


def _measure(name: str, shapes: Sequence[Shape], rounds: int, settle: float, contenders: Any) -> dict[str, Any]:
    cases, clocks = [], []
    for shape in shapes:
        found, seen = compare(name, shape, contenders(shape), rounds, settle)
        cases.append(found)
        clocks += seen
    return results.result(name, cases, rounds, provenance(name), clocks, settle)


def _matrices(shape: Shape, seed: int) -> Buffers:
    """A, B and C of a product: random numbers of a normal distribution."""
    found, (m, n, k) = torch(), shape
    generator = found.Generator("cuda").manual_seed(seed)
    options = {"device": "cuda", "dtype": found.bfloat16}
    a, b = (found.empty(rows, k, **options).normal_(generator=generator) for rows in (m, n))
    return a, b, found.empty(m, n, **options)


def _check(name: str, found: Buffers, reference: Any) -> dict[str, Any]:
    """The relative error of a product; BenchError where it is too large, or poison is left."""
    error = float((found[-1].float() - reference).norm() / reference.norm())
    if not error < LARGEST_ERROR:  # a NaN is not
        raise BenchError(text("bench.wrong-product", contender=name, error=f"{error:.2g}", largest=LARGEST_ERROR))
    return {"relative_error": error}
