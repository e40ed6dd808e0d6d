"""The clusters that a search may answer with, cheapest first, without those that a sound bound excludes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.cluster import Cluster
from provisioner.domain.trace import Floats, Ints
from provisioner.search.evaluate import Judge, impossible_limits
from provisioner.search.goal import OBJECTIVES, Objective


@dataclass(frozen=True, slots=True)
class Candidate:
    """Counts of machines, who judges them, and their place in the ranking."""

    judge: Judge
    cluster: Cluster
    amounts: tuple[float, ...]
    """Cost, power and machines, rounded so that equal sums are equal (`goal.amounts`); then whole machines by type."""
    excluded_before: int
    """Clusters of a better rank that a bound excludes."""
    is_last: bool
    """Whether no candidate of equal amounts follows."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Candidates, best first: far more are ranked than looked at, so each is made when it is asked for.

    `counts` (n, 2) int64 are prompt and token machines, `judge` (n,) int64 who judges them, `amounts` (n, 3 + types)
    float64 what they take, `excluded_before` (n,) int64 how many excluded ones rank better.
    """

    judges: Sequence[Judge]
    judge: Ints
    counts: Ints
    amounts: Floats
    excluded_before: Ints
    excluded: int
    """Clusters that a bound excludes, of all."""

    def __len__(self) -> int:
        """Candidates that no bound excludes."""
        return len(self.counts)

    def at(self, place: int) -> Candidate:
        """The one at that place."""
        judge = self.judges[self.judge[place]]
        return Candidate(
            judge,
            judge.cluster(*self.counts[place].tolist()),
            tuple(self.amounts[place].tolist()),
            int(self.excluded_before[place]),
            is_last=place + 1 == len(self) or bool(np.any(self.amounts[place + 1] != self.amounts[place])),
        )

    def __iter__(self) -> Iterator[Candidate]:
        """Make them one by one."""
        return map(self.at, range(len(self)))


def candidates(judges: Sequence[Judge], objective: Objective, max_machines: int, types: Sequence[str] = ()) -> Ranking:
    """The clusters of the judges' designs with at most `max_machines` that no bound excludes, best first (`goal.rank`).

    Excluded are those that cannot keep up with the work whatever their schedulers do, and all of a design in
    which requests alone miss an objective. With `types`, amounts have the machines of each of these types too.
    """
    grids = [_grid(max_machines, is_mixed=judge.design.is_mixed) for judge in judges]
    counts = np.concatenate([np.zeros((0, 2), np.int64), *(np.stack(grid, axis=1) for grid in grids)])
    judge = np.repeat(np.arange(len(judges)), [len(prompt) for prompt, _ in grids])
    pairs = list(zip(judges, grids, strict=True))
    amounts = np.concatenate([np.zeros((0, 3 + len(types))), *(_amounts(by, *grid, types) for by, grid in pairs)])
    could = np.concatenate([np.zeros(0, np.bool_), *(_could(by, *grid) for by, grid in pairs)])
    order = np.lexsort((*amounts.T[::-1], amounts[:, OBJECTIVES.index(objective)]))
    kept = order[could[order]]
    return Ranking(
        judges, judge[kept], counts[kept], amounts[kept], np.cumsum(~could[order])[could[order]], int((~could).sum())
    )


def _could(judge: Judge, prompt: Ints, token: Ints) -> NDArray[np.bool_]:
    """(clusters,) bool: no bound excludes it."""
    if impossible_limits(judge):
        return np.zeros(len(prompt), np.bool_)
    return judge.keeps_up(prompt.astype(np.float64), token.astype(np.float64))


def _amounts(judge: Judge, prompt: Ints, token: Ints, types: Sequence[str]) -> Floats:
    """(clusters, 3 + types) float64: `goal.amounts` of many clusters at once, then whole machines of each type."""
    first, last = judge.design.machines[0], judge.design.machines[-1]
    cost = prompt * first.cost_usd_per_h + token * last.cost_usd_per_h
    power = prompt * first.power_kw + token * last.power_kw
    units = judge.design.units_per_machine
    of_types = [(prompt * (first.name == name) + token * (last.name == name)) / units for name in types]
    return np.round(np.stack([cost, power, (prompt + token).astype(np.float64), *of_types], axis=1), 9)


def _grid(max_machines: int, *, is_mixed: bool) -> tuple[Ints, Ints]:
    if is_mixed:
        counts = np.arange(1, max_machines + 1)
        return counts, np.zeros_like(counts)
    prompt, token = np.meshgrid(np.arange(1, max_machines), np.arange(1, max_machines), indexing="ij")
    inside = prompt + token <= max_machines
    return prompt[inside], token[inside]
