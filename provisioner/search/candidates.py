"""The clusters that a search may answer with, cheapest first, without those that a sound bound excludes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from provisioner.domain.cluster import Cluster
from provisioner.domain.trace import Ints
from provisioner.search.evaluate import Judge
from provisioner.search.goal import Objective, rank


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster, who judges it, and its place in the ranking."""

    cluster: Cluster
    judge: Judge
    key: tuple[float, ...]
    is_excluded: bool
    """Whether it cannot keep up with the work, whatever its schedulers do."""


def candidates(judges: Sequence[Judge], objective: Objective, max_machines: int) -> list[Candidate]:
    """Every cluster of the judges' designs with at most `max_machines`, best first."""
    found: list[Candidate] = []
    for judge in judges:
        prompt, token = _grid(max_machines, is_mixed=judge.design.is_mixed)
        keeps_up = judge.keeps_up(prompt.astype(np.float64), token.astype(np.float64))
        for p, t, could in zip(prompt.tolist(), token.tolist(), keeps_up.tolist(), strict=True):
            cluster = judge.cluster(p, t)
            found.append(Candidate(cluster, judge, rank(cluster, objective), not could))
    return sorted(found, key=lambda candidate: candidate.key)


def _grid(max_machines: int, *, is_mixed: bool) -> tuple[Ints, Ints]:
    if is_mixed:
        counts = np.arange(1, max_machines + 1)
        return counts, np.zeros_like(counts)
    prompt, token = np.meshgrid(np.arange(1, max_machines), np.arange(1, max_machines), indexing="ij")
    inside = prompt + token <= max_machines
    return prompt[inside], token[inside]
