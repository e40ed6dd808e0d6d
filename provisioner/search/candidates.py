"""The clusters that a search may answer with, cheapest first, without those that a sound bound excludes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from provisioner.domain.cluster import Cluster
from provisioner.domain.trace import Floats, Ints
from provisioner.search.evaluate import Judge, impossible_limits
from provisioner.search.goal import OBJECTIVES, Objective


@dataclass(frozen=True, slots=True)
class Candidate:
    """Counts of machines, who judges them, and their place in the ranking."""

    judge: Judge
    prompt_machines: int
    token_machines: int
    amounts: tuple[float, ...]
    """Cost, power and machines, rounded so that equal sums are equal (`goal.amounts`)."""
    is_excluded: bool
    """Whether it cannot keep up with the work, or a request alone misses an objective, whatever the schedulers do."""

    @property
    def cluster(self) -> Cluster:
        """The cluster itself; there are far more candidates than clusters looked at."""
        return self.judge.cluster(self.prompt_machines, self.token_machines)


def candidates(judges: Sequence[Judge], objective: Objective, max_machines: int) -> Iterator[Candidate]:
    """Every cluster of the judges' designs with at most `max_machines`, best first (`goal.rank`)."""
    if not judges:
        return
    grids = [_grid(max_machines, is_mixed=judge.design.is_mixed) for judge in judges]
    could = [
        judge.keeps_up(prompt.astype(np.float64), token.astype(np.float64)) & (not impossible_limits(judge))
        for judge, (prompt, token) in zip(judges, grids, strict=True)
    ]
    owner = np.repeat(np.arange(len(judges)), [len(prompt) for prompt, _ in grids])
    counts = np.concatenate([np.stack(grid, axis=1) for grid in grids])
    taken = np.concatenate([_amounts(judge, *grid) for judge, grid in zip(judges, grids, strict=True)])
    excluded = ~np.concatenate(could)
    # Far more clusters are ranked than looked at.
    for place in np.lexsort((*taken.T[::-1], taken[:, OBJECTIVES.index(objective)])):
        prompt, token = counts[place].tolist()
        yield Candidate(judges[owner[place]], prompt, token, tuple(taken[place].tolist()), bool(excluded[place]))


def _amounts(judge: Judge, prompt: Ints, token: Ints) -> Floats:
    """(clusters, 3) float64: `goal.amounts` of many clusters at once."""
    first, last = judge.design.machines[0], judge.design.machines[-1]
    cost = prompt * first.cost_usd_per_h + token * last.cost_usd_per_h
    power = prompt * first.power_kw + token * last.power_kw
    return np.round(np.stack([cost, power, (prompt + token).astype(np.float64)], axis=1), 9)


def _grid(max_machines: int, *, is_mixed: bool) -> tuple[Ints, Ints]:
    if is_mixed:
        counts = np.arange(1, max_machines + 1)
        return counts, np.zeros_like(counts)
    prompt, token = np.meshgrid(np.arange(1, max_machines), np.arange(1, max_machines), indexing="ij")
    inside = prompt + token <= max_machines
    return prompt[inside], token[inside]
