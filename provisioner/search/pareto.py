"""The clusters of which none is better than another in everything.

At a rate: a cluster is dominated if one that passes takes no more cost, power and machines, and less of
something. Clusters are tried from the cheapest on; what a passing one dominates is not tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from provisioner.search.candidates import candidates
from provisioner.search.cells import SCREEN
from provisioner.search.evaluate import Judge, impossible_limits
from provisioner.search.evaluation import Evaluation
from provisioner.search.goal import Budget
from provisioner.search.maximise import Climb, Climbing, RateSearch, first_step
from provisioner.search.minimise import explain, nearest, why_none
from provisioner.search.plan import Certificate, Front
from provisioner.search.pool import PART, Workers


def dominates(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether the first takes no more of anything than the second, and less of something."""
    return all(a <= b for a, b in zip(first, second, strict=True)) and tuple(first) != tuple(second)


def pareto(judges: Sequence[Judge], *, max_machines: int, workers: Workers, types: Sequence[str] = ()) -> Front:
    """The clusters that pass at the judges' rate and are not dominated in (cost, power, machines).

    With `types`, in the numbers of machines of each of these types too: then no cluster is left out that a limit
    on a type could favour. Of clusters with equal amounts the one with the most headroom stands for all.
    """
    started = time.perf_counter()
    hopeful = [judge for judge in judges if not impossible_limits(judge)]
    ranked = candidates(hopeful, "cost", max_machines, types)
    passing: list[tuple[Evaluation, tuple[float, ...]]] = []
    tried: list[Evaluation] = []
    is_open = np.ones(len(ranked), np.bool_)  # neither tried nor dominated
    while (places := np.flatnonzero(is_open)[:PART]).size:
        workers.expect(int(is_open.sum()))
        part = [ranked.at(place) for place in places]
        found = workers.map(SCREEN, part)
        tried.extend(found)
        is_open[places] = False
        for candidate, evaluation in zip(part, found, strict=True):
            if evaluation.is_feasible:
                passing.append((evaluation, candidate.amounts))
                taken = np.array(candidate.amounts)
                is_open &= ~((ranked.amounts >= taken).all(axis=1) & (ranked.amounts > taken).any(axis=1))
    return Front(
        clusters=_front(passing),
        evaluations=tuple(tried),
        certificate=Certificate.of(
            [tried],
            judges,
            started,
            f"every other cluster of at most {max_machines} machines fails, is dominated or cannot do the work",
            excluded_by_bound=ranked.excluded,
            excluded_by_dominance=len(ranked) - len(tried),
            uncertain=sum(evaluation.is_uncertain for evaluation in tried),
        ),
        reason=None if passing else explain(judges, tried, max_machines, workers)[1],
    )


def pareto_of_rates(judges: Sequence[Judge], budget: Budget, *, max_machines: int, workers: Workers) -> Front:
    """The clusters within a budget that are not dominated in (requests per second, cost, power).

    Every cluster within the budget is searched for its highest rate.
    """
    started = time.perf_counter()
    searches = [RateSearch(judge) for judge in judges]
    cells = [(search, cluster) for search in searches for cluster in budget.clusters(search.judge.design, max_machines)]
    start = first_step(cells) if cells else 0
    climbs = workers.map(Climbing(start), [Climb(*cell) for cell in cells])
    best = [climb.tried[climb.best] for climb in climbs if climb.best is not None]
    taken = [(-e.rate_rps, round(e.cluster.cost_usd_per_h, 9), round(e.cluster.power_kw, 9)) for e in best]
    tried = tuple(climb.tried[step] for climb in climbs for step in sorted(climb.tried))
    return Front(
        clusters=_front(zip(best, taken, strict=True)),
        evaluations=tried,
        certificate=Certificate.of(
            [tried],
            judges,
            started,
            f"the highest rate of every cluster within {budget} was found to half a percent",
            excluded_by_bound=sum(len(climb.excluded) for climb in climbs),
        ),
        reason=None if best else why_none(judges, nearest(judges, tried, workers), f"raise the budget ({budget})"),
    )


def _front(passing: Iterable[tuple[Evaluation, tuple[float, ...]]]) -> tuple[Evaluation, ...]:
    """The non-dominated, by what they take; of equals the one with the most headroom."""
    ordered = sorted(passing, key=lambda pair: (pair[1], -pair[0].headroom))
    firsts = [next(equals) for _, equals in groupby(ordered, key=lambda pair: pair[1])]
    return tuple(e for e, taken in firsts if not any(dominates(other, taken) for _, other in firsts))
