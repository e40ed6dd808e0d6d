"""One cluster for several scenarios: it meets its objectives in each, or in scenarios of a stated share of the weight.

A scenario is a workload, a rate or a model. As in `minimise`, nothing is assumed of counts: clusters are tried from the
cheapest on, and each cheaper one was simulated in scenarios enough to fail, or a sound bound excludes it there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from provisioner.domain.cluster import Cluster
from provisioner.search.candidates import candidates
from provisioner.search.evaluate import Judge
from provisioner.search.evaluation import Evaluation
from provisioner.search.goal import Objective, rank
from provisioner.search.plan import Certificate, Status
from provisioner.search.pool import PART, Workers

TINY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A scenario with the judges of the designs, the same designs in the same order as other cases have."""

    name: str
    judges: tuple[Judge, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustPlan:
    """The cheapest cluster that passes often enough, as it does in each case; nothing where there is none."""

    status: Status
    evaluations: tuple[Evaluation, ...]
    share: float
    """Weight of the cases in which it passes, as a share of all."""
    certificate: Certificate

    @property
    def worst(self) -> int:
        """The case with the least headroom."""
        return min(range(len(self.evaluations)), key=lambda case: self.evaluations[case].headroom)


def robust(
    cases: Sequence[Case], objective: Objective, *, share: float = 1.0, max_machines: int, workers: Workers
) -> RobustPlan:
    """Find the cluster that takes the least and passes in cases of at least this share of the weight.

    Of clusters with equal amounts the one with the most headroom in its worst case is taken.
    """
    started = time.perf_counter()
    judges = [judge for case in cases for judge in case.judges]
    allowed = (1 - share) * sum(case.weight for case in cases) + TINY
    hopeful, excluded = _hopeful(cases, objective, max_machines, allowed)
    tried: list[list[Evaluation]] = [[] for _ in cases]
    left = len(hopeful)
    for part in _parts(hopeful, objective):
        workers.expect(left)
        left -= len(part)
        found = workers.map(lambda item: _tried(cases, *item, allowed), part)
        for each in found:
            for own, evaluation in zip(tried, each, strict=False):
                own.append(evaluation)
        passing = [(item[1], each) for item, each in zip(part, found, strict=True) if _failed(cases, each) <= allowed]
        if passing:
            least = min(rank(cluster, objective) for cluster, _ in passing)
            _, best = max(
                (pair for pair in passing if rank(pair[0], objective) == least),
                key=lambda pair: min(evaluation.headroom for evaluation in pair[1]),
            )
            text = f"every cluster with less {objective} fails in too many cases, or is excluded there by a sound bound"
            return RobustPlan(
                status="optimal",
                evaluations=best,
                share=_weight(cases, best) / sum(case.weight for case in cases),
                certificate=Certificate.of(tried, judges, started, text, excluded_by_bound=excluded),
            )
    text = f"every cluster of at most {max_machines} machines fails in too many cases"
    certificate = Certificate.of(tried, judges, started, text, excluded_by_bound=excluded)
    return RobustPlan(status="infeasible", evaluations=(), share=0.0, certificate=certificate)


Item = tuple[int, Cluster]
"""The place of a design, and a cluster of it."""


def _hopeful(cases: Sequence[Case], objective: Objective, max_machines: int, allowed: float) -> tuple[list[Item], int]:
    """The clusters that bounds exclude in few enough cases, the best first; and how many they exclude."""
    weights: dict[tuple[int, int, int], float] = {}
    total = 0
    for place in range(len(cases[0].judges)):
        for case in cases:
            ranking = candidates([case.judges[place]], objective, max_machines)
            for prompt, token in ranking.counts.tolist():
                weights[place, prompt, token] = weights.get((place, prompt, token), 0.0) + case.weight
        total += ranking.excluded + len(ranking.counts)
    needed = sum(case.weight for case in cases) - allowed
    kept = [
        (place, cases[0].judges[place].cluster(prompt, token))
        for (place, prompt, token), weight in weights.items()
        if weight >= needed
    ]
    return sorted(kept, key=lambda item: rank(item[1], objective)), total - len(kept)


def _parts(items: Sequence[Item], objective: Objective) -> list[list[Item]]:
    """Parts for the workers, cut only between unequal clusters."""
    parts: list[list[Item]] = [[]]
    for _, tied in groupby(items, key=lambda item: rank(item[1], objective)):
        if len(parts[-1]) >= PART:
            parts.append([])
        parts[-1].extend(tied)
    return parts


def _tried(cases: Sequence[Case], place: int, cluster: Cluster, allowed: float) -> tuple[Evaluation, ...]:
    """The cluster in each case; in fewer, once those that it fails in weigh too much. A winner is judged wholly."""
    found: list[Evaluation] = []
    for case in cases:
        found.append(case.judges[place].screen(cluster))
        if _failed(cases, found) > allowed:
            return tuple(found)
    return tuple(
        evaluation if evaluation.is_whole else case.judges[place].evaluate(cluster, whole=True)
        for case, evaluation in zip(cases, found, strict=True)
    )


def _failed(cases: Sequence[Case], found: Sequence[Evaluation]) -> float:
    """Weight of the first cases in which the cluster was found to fail."""
    return sum(case.weight for case, each in zip(cases, found, strict=False) if not each.is_feasible)


def _weight(cases: Sequence[Case], evaluations: Sequence[Evaluation]) -> float:
    return sum(case.weight for case, each in zip(cases, evaluations, strict=True) if each.is_feasible)
