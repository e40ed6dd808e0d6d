"""Which machines of a cluster fail, and when: the same for every cluster of a search, by its own numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from provisioner.domain.cluster import Cluster
from provisioner.domain.failures import Failures

Outages = Callable[[Cluster, int], Failures]
"""The failures of a cluster in a replication."""

_STREAM = 7
"""Beside those of arrivals and lengths (`traces.seeds`)."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The first machines of each pool fail at one moment: those that ties favour, and so the busiest.

    `counts` are of the design's pools, in the order of `Design.machines`.
    """

    counts: tuple[int, ...]
    time_s: float
    repair_s: float = np.inf

    def __call__(self, cluster: Cluster, replication: int) -> Failures:  # noqa: ARG002 - in each the same
        """The failures of a cluster."""
        firsts = (0, cluster.prompt_machines)
        lost = [range(first, first + count) for first, count in zip(firsts, self.counts, strict=False)]
        return Failures.of([(self.time_s, number) for numbers in lost for number in numbers], self.repair_s)


@dataclass(frozen=True, slots=True)
class Random:
    """Every machine fails by chance, others in each replication (`Failures.drawn`)."""

    mtbf_s: float
    repair_s: float
    span_s: float
    seed: int = 0

    def __call__(self, cluster: Cluster, replication: int) -> Failures:
        """The failures of a cluster in a replication."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=(replication, _STREAM))
        random = np.random.Generator(np.random.PCG64(sequence))
        return Failures.drawn(cluster.machines, self.mtbf_s, self.repair_s, self.span_s, random)
