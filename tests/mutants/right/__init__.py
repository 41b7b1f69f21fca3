"""The right kernels: `CASES` has them by name, each call makes fresh arguments."""

from tests.mutants.case import Cases
from tests.mutants.right import (
    bulk,
    cluster_styles,
    clusters,
    edited_maps,
    gemm,
    handovers,
    loads,
    maps,
    per_thread_copies,
    pipelines,
    reductions,
    rings,
    stores,
    threads,
    warp_matrices,
)

TOPICS = (
    loads,
    rings,
    stores,
    threads,
    per_thread_copies,
    maps,
    clusters,
    cluster_styles,
    bulk,
    reductions,
    edited_maps,
    gemm,
    pipelines,
    handovers,
    warp_matrices,
)
CASES: Cases = {name: case for topic in TOPICS for name, case in topic.CASES.items()}
assert len(CASES) == sum(len(topic.CASES) for topic in TOPICS), "two kernels have one name"
