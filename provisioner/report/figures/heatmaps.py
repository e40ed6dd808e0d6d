"""The design space: every limit over a grid of counts, with its boundary and the optimum (figure 12)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.cluster import Cluster
from provisioner.domain.trace import Floats, Ints
from provisioner.report.figures.wording import Limited, limit_name
from provisioner.search import Evaluation, Objective
from provisioner.search.goal import rank

Segment = tuple[tuple[float, float], tuple[float, float]]
Sides = tuple[float, float, float, float]
"""Of a cell: left, right, lower and upper end."""
NEAREST = 3
"""Misses that are marked where nothing passes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeatMaps:
    """A grid of one design's clusters, against each limit.

    Parameters
    ----------
    prompts, tokens : (p,), (t,) int64
        Counts of machines, increasing.
    ratios : (limits, t, p) float64
        Achieved / limit: above 1 is missed, infinite where requests never finish, NaN where no
        cluster was simulated.
    passes : (t, p) bool
        Whether every limit is met and the cluster keeps up.
    marked : tuple of Cluster
        The optimum; where nothing passes, the nearest misses, the nearest first.
    """

    title: str
    prompts: Ints
    tokens: Ints
    limits: tuple[Limited, ...]
    ratios: Floats
    passes: NDArray[np.bool_]
    marked: tuple[Cluster, ...]
    note: str
    unit: str = "machine"
    """What is counted."""

    @classmethod
    def of(
        cls,
        found: Sequence[Evaluation],
        title: str,
        objective: Objective = "cost",
        best: Evaluation | None = None,
    ) -> Self:
        """Lay out clusters of one split design; the best is the one that passes and takes the least."""
        cells = {e.cluster.counts: e for e in found}
        prompts = np.unique([prompt for prompt, _ in cells])
        tokens = np.unique([token for _, token in cells])
        limits = tuple(result.limit for result in found[0].results)
        ratios = np.full((len(limits), len(tokens), len(prompts)), np.nan)
        passes = np.zeros(ratios.shape[1:], bool)
        for (prompt, token), evaluation in cells.items():
            row, column = int(np.searchsorted(tokens, token)), int(np.searchsorted(prompts, prompt))
            ratios[:, row, column] = [r.value / r.limit.limit for r in evaluation.results]
            passes[row, column] = evaluation.is_feasible
        marked, note = _marked(list(cells.values()), objective, best)
        return cls(
            title=title,
            prompts=prompts,
            tokens=tokens,
            limits=limits,
            ratios=ratios,
            passes=passes,
            marked=marked,
            note=note,
            unit=found[0].cluster.design.unit,
        )

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """(t, p) bool: the cells that were simulated; a metric that no request has is no miss."""
        return np.asarray(~np.all(np.isnan(self.ratios), axis=0))

    def boundary(self, index: int | None) -> list[Segment]:
        """The sides of neighbouring cells of which one meets the limit of that index, or all, and the other not."""
        worst: Floats = self.ratios if index is None else self.ratios[[index]]
        inside: NDArray[np.bool_] = np.asarray(~(worst > 1).any(axis=0))
        x, y, known = edges(self.prompts), edges(self.tokens), self.is_known
        across = (inside[:, 1:] != inside[:, :-1]) & known[:, 1:] & known[:, :-1]
        along = (inside[1:] != inside[:-1]) & known[1:] & known[:-1]
        upright = [((x[c + 1], y[r]), (x[c + 1], y[r + 1])) for r, c in np.argwhere(across)]
        level = [((x[c], y[r + 1]), (x[c + 1], y[r + 1])) for r, c in np.argwhere(along)]
        return upright + level

    def sharing(self, most: int) -> tuple[int, int]:
        """How many neighbouring counts of prompt and of token machines share a cell if at most so many are drawn."""
        across = down = 1
        known = self.is_known
        while _blocks(known, across, down) > most:
            if len(self.prompts) / across >= len(self.tokens) / down:
                across += 1
            else:
                down += 1
        return across, down

    def cells(self, most: int) -> list[tuple[int, int, Sides]]:
        """At most so many cells, as drawn: the place (token, prompt) of the best cluster in each, and its sides."""
        across, down = self.sharing(most)
        x, y, known = edges(self.prompts), edges(self.tokens), self.is_known
        worst = np.where(known, np.nanmax(np.where(known, self.ratios, 0.0), axis=0), np.inf)
        found = []
        for t in range(0, len(self.tokens), down):
            for p in range(0, len(self.prompts), across):
                here = (slice(t, t + down), slice(p, p + across))
                if not known[here].any():
                    continue
                rank = np.lexsort((worst[here].ravel(), ~self.passes[here].ravel(), ~known[here].ravel()))
                row, column = np.unravel_index(rank[0], known[here].shape)
                end_t, end_p = min(t + down, len(self.tokens)), min(p + across, len(self.prompts))
                sides = (float(x[p]), float(x[end_p]), float(y[t]), float(y[end_t]))
                found.append((t + int(row), p + int(column), sides))
        return found

    @property
    def any_passes(self) -> bool:
        """Whether what is marked is an optimum, and not a miss."""
        return bool(self.passes.any())


def _blocks(known: NDArray[np.bool_], across: int, down: int) -> int:
    """How many cells of so many neighbours have anything to show."""
    rows, columns = (np.arange(0, size, step) for size, step in zip(known.shape, (down, across), strict=True))
    return int(np.logical_or.reduceat(np.logical_or.reduceat(known, rows, axis=0), columns, axis=1).sum())


def edges(counts: Ints) -> Floats:
    """Where cells meet: half way between counts."""
    if len(counts) == 1:
        return np.array([counts[0] - 0.5, counts[0] + 0.5])
    middle = (counts[1:] + counts[:-1]) / 2
    return np.concatenate([[2 * counts[0] - middle[0]], middle, [2 * counts[-1] - middle[-1]]])


def _marked(
    found: Sequence[Evaluation], objective: Objective, best: Evaluation | None
) -> tuple[tuple[Cluster, ...], str]:
    passing = [e for e in found if e.is_feasible]
    if passing:
        if best is None or not best.is_feasible:
            best = min(passing, key=lambda e: (rank(e.cluster, objective), -e.headroom))
        spent = f"{best.cluster.cost_usd_per_h:,.2f} USD/h, {best.cluster.power_kw:,.1f} kW"
        counted = f"{len(passing):,} of {len(found):,} simulated clusters pass"
        return (best.cluster,), f"★ least {objective} that passes: {best.cluster.label}, {spent}; {counted}"
    nearest = sorted(found, key=lambda e: (not e.is_stable, -e.headroom))[:NEAREST]
    words = ", ".join(f"{e.cluster.label} ({_shortfall(e)})" for e in nearest)
    return tuple(e.cluster for e in nearest), f"No cluster passes; × nearest misses: {words}"


def _shortfall(evaluation: Evaluation) -> str:
    if not evaluation.is_stable or not math.isfinite(evaluation.headroom):
        return "does not keep up"
    return f"{limit_name(evaluation.binding.limit)} {-evaluation.headroom:.0%} over"
