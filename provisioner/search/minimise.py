"""The cheapest cluster that passes, and the proof that no cheaper one does.

Passing is not monotone in the counts: 25+5 machines may pass where 26+4 and 27+3 do not. So clusters are
tried from the cheapest on, and the first that passes is the answer once every cheaper one was simulated
or excluded by a bound that holds for any scheduler.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice

from provisioner.search.candidates import Candidate, candidates
from provisioner.search.cells import GLANCE, SCREEN, Cell
from provisioner.search.confirm import confirm
from provisioner.search.evaluate import Judge, impossible_limits
from provisioner.search.evaluation import Evaluation
from provisioner.search.goal import Objective
from provisioner.search.plan import Certificate, Plan
from provisioner.search.pool import Stream, Workers

PROOF = "was simulated, is alike to one that was, or is excluded by a sound bound"


def minimise(judges: Sequence[Judge], objective: Objective, *, max_machines: int, workers: Workers) -> Plan:
    """Find the cluster of the judges' designs that passes and takes the least.

    Among clusters of equal cost, power and machines the one with the most headroom is taken. With a
    confidence, the winner must also pass on that share of the fresh seeds.
    """
    started = time.perf_counter()
    tried: list[Evaluation] = []
    unconfirmed = 0
    ranking = candidates(judges, objective, max_machines)
    workers.expect(len(ranking))
    with workers.stream(SCREEN, ranking) as screened:
        for tied in _ties(screened):
            cheaper = len(tried)
            tried.extend(evaluation for _, evaluation in tied)
            winners = sorted((pair for pair in tied if pair[1].is_feasible), key=lambda pair: -pair[1].headroom)
            for place, (candidate, winner) in enumerate(winners):
                if candidate.judge.precision.confidence is None:
                    screened.close()  # this is the answer, whatever the fresh seeds say
                confirmed = confirm(candidate.judge, winner.cluster, workers)
                if not _is_confirmed(candidate.judge, confirmed):
                    unconfirmed += 1
                    continue
                certificate = Certificate.of(
                    [tried],
                    judges,
                    started,
                    f"every cluster with less {objective} {PROOF}",
                    excluded_by_bound=candidate.excluded_before,
                    uncertain=sum(evaluation.is_uncertain for evaluation in tried[:cheaper]),
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
    closest, reason = explain(judges, tried, max_machines, workers)
    return Plan(
        status="infeasible",
        best=closest,
        evaluations=tuple(tried),
        certificate=Certificate.of(
            [tried],
            judges,
            started,
            f"every cluster of at most {max_machines} machines {PROOF}",
            excluded_by_bound=ranking.excluded,
            uncertain=sum(evaluation.is_uncertain for evaluation in tried),
            unconfirmed=unconfirmed,
        ),
        reason=reason,
    )


def _ties(screened: Stream[Candidate, Evaluation]) -> Iterator[list[tuple[Candidate, Evaluation]]]:
    """Candidates of equal amounts, together."""
    tied = []
    for candidate, evaluation in screened:
        tied.append((candidate, evaluation))
        if candidate.is_last:
            yield tied
            tied = []


def explain(
    judges: Sequence[Judge], tried: Sequence[Evaluation], max_machines: int, workers: Workers
) -> tuple[Evaluation | None, str]:
    """The nearest miss, if any cluster was simulated, and why none of so many machines passes."""
    closest = nearest(judges, tried, workers)
    advice = f"raise --max-machines (now {max_machines})"
    return closest, why_none(judges, closest, advice if tried else _shortfall(judges, max_machines) + advice)


def nearest(judges: Sequence[Judge], tried: Sequence[Evaluation], workers: Workers) -> Evaluation | None:
    """The cluster that misses by the least in the replication with the most work, judged on all of them.

    Of clusters whose simulations were stopped, no more than bounds is known: they are simulated once more.
    """
    if not tried:
        return None
    by_design = {judge.design.name: judge for judge in judges}

    def judge(evaluation: Evaluation) -> Judge:
        return by_design[evaluation.cluster.design.name].at_rate(evaluation.rate_rps)

    glances = iter(workers.map(GLANCE, [Cell(judge(e), e.cluster) for e in tried if not e.is_whole]))
    looked_at = [evaluation if evaluation.is_whole else next(glances) for evaluation in tried]
    closest = max(looked_at, key=lambda evaluation: (evaluation.is_stable, evaluation.headroom))
    return judge(closest).evaluate(closest.cluster, whole=True)


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
    trouble = closest.worst_trouble
    if closest.share is not None and not closest.share.is_met and (trouble is None or trouble.evaluation.is_feasible):
        held = f"{closest.share.upper:.6g} of the time at most, less than {closest.share.asked.target:.6g}"
        return f"the SLOs of {cluster}, which comes nearest, hold {held}: {advice}"
    missed = closest.binding
    if trouble is not None:
        cluster, missed = f"{cluster} with {trouble}", trouble.evaluation.binding
    miss = f"{missed.value:.3g} against {missed.limit.limit:g}"
    return f"{missed.limit.name} binds: {cluster} comes nearest with {miss}: {advice}"


def _shortfall(judges: Sequence[Judge], max_machines: int) -> str:
    """Which cluster of so many machines comes nearest to doing the work, in words."""
    largest = [
        (judge.load(cluster), cluster.label, judge.design.short)
        for judge in judges
        for cluster in (
            [judge.cluster(max_machines, 0)]
            if judge.design.is_mixed
            else [judge.cluster(prompt, max_machines - prompt) for prompt in range(1, max_machines)]
        )
    ]
    if not largest:
        return ""
    load, label, design = min(largest)
    return f"{design} {label} comes nearest, with {load:.2f} times the work that it can do at best: "


def _is_confirmed(judge: Judge, confirmed: tuple[int, int] | None) -> bool:
    confidence = judge.precision.confidence
    return confidence is None or confirmed is None or confirmed[0] >= confidence * confirmed[1]
