"""The cheapest cluster that passes, and the proof that no cheaper one does.

Passing is not monotone in the counts: 25+5 machines may pass where 26+4 and 27+3 do not. So clusters are
tried from the cheapest on, and the first that passes is the answer once every cheaper one was simulated
or excluded by a bound that holds for any scheduler.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from provisioner.search.candidates import Candidate, candidates
from provisioner.search.evaluate import Evaluation, Judge, impossible_limits
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
        found = workers.map(lambda candidate: candidate.judge.evaluate(candidate.cluster), kept)
        tried.extend(found)
        for winners in _passing(kept, found):
            for place, (judge, winner) in enumerate(winners):
                confirmed = judge.confirm(winner.cluster)
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
    return Plan(
        status="infeasible",
        best=_whole(judges, nearest(tried)),
        evaluations=tuple(tried),
        certificate=Certificate(
            simulated=len(tried),
            excluded_by_bound=excluded,
            elapsed_s=time.perf_counter() - started,
            text=f"every cluster of at most {max_machines} machines was simulated or excluded by a sound bound",
            uncertain=sum(evaluation.is_uncertain for evaluation in tried),
            unconfirmed=unconfirmed,
        ),
        reason=why_none(judges, tried, f"raise --max-machines (now {max_machines})"),
    )


def nearest(tried: Sequence[Evaluation]) -> Evaluation | None:
    """The cluster that misses by the least."""
    return max(tried, key=lambda evaluation: (evaluation.is_stable, evaluation.headroom), default=None)


def _whole(judges: Sequence[Judge], evaluation: Evaluation | None) -> Evaluation | None:
    """The same cluster judged on all replications, which a miss need not have been."""
    if evaluation is None:
        return None
    judge = next(judge for judge in judges if judge.design == evaluation.cluster.design)
    return judge.evaluate(evaluation.cluster, whole=True)


def why_none(judges: Sequence[Judge], tried: Sequence[Evaluation], advice: str) -> str:
    """Why no cluster passes: what binds, how far off the best is, and what might help."""
    closest = nearest(tried)
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


def _parts(ranked: list[Candidate]) -> Iterator[list[Candidate]]:
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
