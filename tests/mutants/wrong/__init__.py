"""The wrong kernels: `MUTANTS` has them by name."""

from tests.mutants.mutant import Mutant
from tests.mutants.wrong import (
    barriers,
    clusters,
    copies_without_a_map,
    edited_maps,
    gemm,
    handovers,
    memory,
    pipelines,
    promises,
    stages,
    stores,
    threads,
    waits,
    warp_matrices,
)

TOPICS = (
    *(waits, promises, barriers, stages, stores, memory, threads),
    *(clusters, copies_without_a_map, edited_maps, gemm, pipelines, handovers, warp_matrices),
)
MUTANTS: dict[str, Mutant] = {name: mutant for topic in TOPICS for name, mutant in topic.MUTANTS.items()}
assert len(MUTANTS) == sum(len(topic.MUTANTS) for topic in TOPICS), "two mutants have one name"
