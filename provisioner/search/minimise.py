"""The cheapest cluster that passes, and the proof that no cheaper one does.

Passing is not monotone in the counts: 25+5 machines may pass where 26+4 and 27+3 do not. So clusters are
tried from the cheapest on, and the first that passes is the answer once every cheaper one was simulated
or excluded by a bound that holds for any scheduler.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from provisioner.search.candidates import Candidate, candidates
from provisioner.search.confirm import confirm
from provisioner.search.evaluate import Judge, impossible_limits
from provisioner.search.evaluation import Evaluation
from provisioner.search.goal import Objective, rank
from provisioner.search.plan import Certificate, Plan
from provisioner.search.pool import PART, Workers


def minimise(judges: Sequence[Judge], objective: Objective, *, max_machines: int, workers: Workers) -> Plan:
    """Find the cluster of the judges' designs that passes and takes the least.

    Among clusters of equal cost, power and machines the one with the most headroom is taken. With a
    confidence, the winner must also pass on that share of the fresh seeds.
    """
    started = time.perf_counter()
    tried: list[Evaluation] = []
    excluded = unconfirmed = 0
    for part in _parts(candidates(judges, objective, max_machines)):
        kept = [candidate for candidate in part if not candidate.is_excluded]
        excluded += len(part) - len(kept)
        found = workers.map(lambda candidate: candidate.judge.screen(candidate.cluster), kept)
        tried.extend(found)
        for winners in _passing(kept, found):
            for place, (judge, winner) in enumerate(winners):
                confirmed = confirm(judge, winner.cluster, workers)
                if not _is_confirmed(judge, confirmed):
                    unconfirmed += 1
                    continue
                best = rank(winner.cluster, objective)
                cheaper = [e for e in tried if rank(e.cluster, objective) < best]
                certificate = Certificate(
                    simulated=len(tried),
                    excluded_by_bound=excluded,
                    elapsed_s=time.perf_counter() - started,
                    text=f"every cluster with less {objective} was simulated or excluded by a sound bound",
                    uncertain=sum(evaluation.is_uncertain for evaluation in cheaper),
                    unconfirmed=unconfirmed,
                )
                return Plan(
                    status="feasible" if certificate.uncertain else "optimal",
                    best=winner,
                    evaluations=tuple(tried),
                    certificate=certificate,
                    equally_good=len(winners) - 1 - place,
                    confirmed=confirmed,
                )
    closest = nearest(judges, tried)
    return Plan(
        status="infeasible",
        best=closest,
        evaluations=tuple(tried),
        certificate=Certificate(
            simulated=len(tried),
            excluded_by_bound=excluded,
            elapsed_s=time.perf_counter() - started,
            text=f"every cluster of at most {max_machines} machines was simulated or excluded by a sound bound",
            uncertain=sum(evaluation.is_uncertain for evaluation in tried),
            unconfirmed=unconfirmed,
        ),
        reason=why_none(judges, closest, f"raise --max-machines (now {max_machines})"),
    )


def nearest(judges: Sequence[Judge], tried: Sequence[Evaluation]) -> Evaluation | None:
    """The cluster that misses by the least, judged on all replications.

    A screened cluster is no nearer than it looks: the one that looks nearest is judged wholly, until it still does.
    """
    by_design = {judge.design.name: judge for judge in judges}
    left = list(tried)
    closest: Evaluation | None = None
    while left:
        best = max(range(len(left)), key=lambda place: _nearness(left[place]))
        if closest is not None and _nearness(left[best]) <= _nearness(closest):
            break
        looked_at = left.pop(best)
        judge = by_design[looked_at.cluster.design.name].at_rate(looked_at.rate_rps)
        whole = judge.evaluate(looked_at.cluster, whole=True)
        closest = max(closest or whole, whole, key=_nearness)
    return closest


def _nearness(evaluation: Evaluation) -> tuple[bool, float]:
    return evaluation.is_stable, evaluation.headroom


def why_none(judges: Sequence[Judge], closest: Evaluation | None, advice: str) -> str:
    """Why no cluster passes: what binds, how far off the closest is, and what might help."""
    impossible = list(islice((why for judge in judges for why in impossible_limits(judge)), 3))
    if closest is None and impossible:
        return "no number of machines helps: " + "; ".join(impossible)
    if closest is None:
        return f"no cluster within the limits can do the work: {advice}"
    cluster = f"{closest.cluster.design.short} {closest.cluster.label}"
    if not closest.is_stable:
        return f"no cluster keeps up with the work; {cluster} comes nearest: {advice}"
    missed = closest.binding
    miss = f"{missed.value:.3g} against {missed.limit.limit:g}"
    return f"{missed.limit.name} binds: {cluster} comes nearest with {miss}: {advice}"


def _parts(ranked: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """Cut the ranking between unequal clusters, so that a part has work for every worker."""
    part: list[Candidate] = []
    work = 0
    for _, tied in groupby(ranked, key=lambda candidate: candidate.amounts):
        equal = list(tied)
        part.extend(equal)
        work += sum(not candidate.is_excluded for candidate in equal)
        if work >= PART:
            yield part
            part, work = [], 0
    if part:
        yield part


def _passing(kept: Sequence[Candidate], found: Sequence[Evaluation]) -> list[list[tuple[Judge, Evaluation]]]:
    """The passing clusters, from the best on: those of equal amounts together, the one with most headroom first."""
    pairs = [pair for pair in zip(kept, found, strict=True) if pair[1].is_feasible]
    return [
        sorted(((c.judge, e) for c, e in tied), key=lambda winner: -winner[1].headroom)
        for _, tied in groupby(pairs, key=lambda pair: pair[0].amounts)
    ]


def _is_confirmed(judge: Judge, confirmed: tuple[int, int] | None) -> bool:
    confidence = judge.precision.confidence
    return confidence is None or confirmed is None or confirmed[0] >= confidence * confirmed[1]
