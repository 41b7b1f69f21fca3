"""More styles of right kernels, and each of them wrong in several ways: CASES by name, WRONG edits."""

from tests.tmalab.simulator.styles import (
    clusters,
    copies,
    hand_overs,
    more_clusters,
    more_stores,
    pipelines,
    states,
    stores,
    threads,
    wrong_clusters,
    wrong_loads,
    wrong_stores,
    wrong_threads,
)

CASES = (
    states.CASES
    | pipelines.CASES
    | hand_overs.CASES
    | stores.CASES
    | more_stores.CASES
    | clusters.CASES
    | more_clusters.CASES
    | threads.CASES
    | copies.CASES
)
WRONG = [*wrong_loads.WRONG, *wrong_stores.WRONG, *wrong_clusters.WRONG, *wrong_threads.WRONG]
