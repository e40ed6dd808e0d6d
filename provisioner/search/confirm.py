"""Trying an answer on requests that the search has not seen."""

from __future__ import annotations

from provisioner.domain.cluster import Cluster
from provisioner.search.cells import Cell, PassingAlone
from provisioner.search.evaluate import Judge
from provisioner.search.pool import Workers

FRESH_SEEDS = 20
"""Replications that no search has seen, on which its winner is tried."""
FIRST_FRESH_SEED = 1_000_000


def confirm(judge: Judge, cluster: Cluster, workers: Workers) -> tuple[int, int] | None:
    """On how many fresh seeds, each by itself, the cluster meets every objective, and of how many.

    None where there are no fresh seeds, as for a recorded trace.
    """
    if judge.scenario.demand.replications is not None:
        return None
    seeds = range(FIRST_FRESH_SEED, FIRST_FRESH_SEED + FRESH_SEEDS)
    return sum(workers.map(PassingAlone(Cell(judge, cluster)), seeds)), FRESH_SEEDS
