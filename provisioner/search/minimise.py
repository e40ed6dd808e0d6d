"""The cheapest cluster that passes, and the proof that no cheaper one does.

Passing is not monotone in the counts: 25+5 machines may pass where 26+4 and 27+3 do not. So clusters are
tried from the cheapest on, and the first that passes is the answer once every cheaper one was simulated
or excluded by a bound that holds for any scheduler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice

from joblib import Parallel, delayed

from provisioner.search.candidates import Candidate, candidates
from provisioner.search.evaluate import Evaluation, Judge
from provisioner.search.goal import Objective
from provisioner.search.plan import Certificate, Plan

Watch = Callable[[int], None]
"""Told of so many clusters more that were simulated."""


def minimise(
    judges: Sequence[Judge],
    objective: Objective,
    *,
    max_machines: int,
    jobs: int = 2,
    watch: Watch = lambda _: None,
) -> Plan:
    """Find the cluster of the judges' designs that passes and takes the least.

    Among clusters of equal cost, power and machines the one with the most headroom is taken.
    """
    started = time.perf_counter()
    hopeful = [judge for judge in judges if not impossible_limits(judge)]
    ranked = candidates(hopeful, objective, max_machines)
    tried: list[Evaluation] = []
    excluded = 0
    winners: list[Evaluation] = []
    with Parallel(n_jobs=jobs, backend="threading") as pool:
        for group in _groups(ranked, at_least=8 * jobs):
            excluded += sum(candidate.is_excluded for candidate in group)
            kept = [candidate for candidate in group if not candidate.is_excluded]
            found = pool(delayed(_evaluate)(candidate, watch) for candidate in kept)
            tried.extend(found)
            winners = _best(kept, found)
            if winners:
                break
    elapsed_s = time.perf_counter() - started
    if winners:
        return Plan(
            status="optimal",
            objective=objective,
            best=winners[0],
            evaluations=tuple(tried),
            equally_good=len(winners) - 1,
            certificate=Certificate(
                simulated=len(tried),
                excluded_by_bound=excluded,
                elapsed_s=elapsed_s,
                text=f"every cluster with less {objective} was simulated or excluded by a sound bound",
            ),
        )
    certificate = Certificate(
        simulated=len(tried),
        excluded_by_bound=excluded,
        elapsed_s=elapsed_s,
        text=f"every cluster of at most {max_machines} machines was simulated or excluded by a sound bound",
    )
    return Plan(
        status="infeasible",
        objective=objective,
        best=_nearest(tried),
        evaluations=tuple(tried),
        equally_good=0,
        certificate=certificate,
        reason=_reason(judges, tried, max_machines),
    )


def impossible_limits(judge: Judge) -> list[str]:
    """Objectives that no number of machines of the design can meet: a request alone misses them already."""
    floors = judge.floors.mean(axis=0)
    return [
        f"{limit.name} is {floor:.3g} {limit.unit} for requests alone, above the limit of {limit.limit:g}"
        for limit, floor in zip(judge.scenario.slo.limits, floors, strict=True)
        if floor > limit.limit * (1 + 1e-12)
    ]


def _evaluate(candidate: Candidate, watch: Watch) -> Evaluation:
    evaluation = candidate.judge.evaluate(candidate.cluster)
    watch(1)
    return evaluation


def _groups(ranked: list[Candidate], at_least: int) -> Iterator[list[Candidate]]:
    """Cut the ranking between unequal clusters, so that a part has work for every worker."""
    ties = (list(tied) for _, tied in groupby(ranked, key=lambda candidate: candidate.key))
    part: list[Candidate] = []
    for tied in ties:
        part.extend(tied)
        if sum(not candidate.is_excluded for candidate in part) >= at_least:
            yield part
            part = []
    if part:
        yield part


def _best(kept: list[Candidate], found: Sequence[Evaluation]) -> list[Evaluation]:
    """The passing clusters with the least key, the one with the most headroom first."""
    passing = [(c.key, e) for c, e in zip(kept, found, strict=True) if e.is_feasible]
    if not passing:
        return []
    least = min(key for key, _ in passing)
    return sorted((e for key, e in passing if key == least), key=lambda e: -e.headroom)


def _nearest(tried: Sequence[Evaluation]) -> Evaluation | None:
    return max(tried, key=lambda evaluation: (evaluation.is_stable, evaluation.headroom), default=None)


def _reason(judges: Sequence[Judge], tried: Sequence[Evaluation], max_machines: int) -> str:
    nearest = _nearest(tried)
    impossible = list(islice((why for judge in judges for why in impossible_limits(judge)), 3))
    if nearest is None and impossible:
        return "no number of machines helps: " + "; ".join(impossible)
    if nearest is None:
        return f"no cluster of at most {max_machines} machines can do the work: raise --max-machines"
    missed = nearest.binding
    return (
        f"{missed.limit.name} binds: {nearest.cluster.design.short} {nearest.cluster.label} comes nearest with "
        f"{missed.value:.3g} against {missed.limit.limit:g}; raise --max-machines (now {max_machines})"
    )
