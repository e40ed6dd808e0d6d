"""`maximise` to half a percent, and its budgets (test_brute_force.py has all of its answers, in larger steps)."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.cluster import Cluster
from provisioner.search import Budget, Judge, Precision, Workers, maximise
from provisioner.search.maximise import STEP, rate_of
from provisioner.search.minimise import impossible_limits
from provisioner.traces import Drawn, Poisson, SizeTable
from tests.search.questions import Question, examples, limits, mixed, questions, simple, split
from tests.sim.worlds import machine, requests

AT_5_RPS = 323
"""Where the search begins, which must not matter: 1.005 ** 323 is 5.01."""


def at_any_rate(question: Question, seed: int) -> list[Judge]:
    """The question's judges, with requests like the question's at any rate."""
    sizes = SizeTable.of_trace(question.traces[0])
    return [
        Judge(
            judge.design,
            replace(judge.scenario, demand=Drawn(sizes, seed, Poisson()), rate_rps=2.0, span_s=5.0),
            Precision(replications=2),
        )
        for judge in question.judges
    ]


def passes(judge: Judge, cluster: Cluster, step: int) -> bool:
    """Simulated on its own, without a bound: at this rate every objective is met."""
    return judge.at_rate(rate_of(step)).evaluate(cluster, whole=True).is_feasible


@given(questions(replications=(1,)), st.integers(1, 3), st.integers(0, 99))
@examples(30)
def test_no_cluster_of_the_budget_passes_a_step_higher(question: Question, machines: int, seed: int) -> None:
    judges = at_any_rate(question, seed)
    budget = Budget(machines=machines + 1)
    with patch("provisioner.search.maximise.first_step", lambda _: AT_5_RPS), Workers() as workers:
        plan = maximise(judges, budget, workers=workers)
    cells = [(judge, cluster) for judge in judges for cluster in budget.largest(judge.design)]
    if not plan.is_feasible:
        assert not any(evaluation.is_feasible for evaluation in plan.evaluations)
        return
    assert plan.best is not None
    step = round(np.log(plan.best.rate_rps) / np.log(STEP))
    judge = next(judge for judge in judges if judge.design == plan.best.cluster.design)
    assert budget.allows(plan.best.cluster)
    assert passes(judge, plan.best.cluster, step)
    for other, cluster in cells:
        if impossible_limits(other) or cluster == plan.best.cluster:
            continue
        # Passing need not be monotone in the rate: a cluster may also have failed below.
        has_failed = any(
            evaluation.cluster == cluster and not evaluation.is_feasible
            for evaluation in plan.evaluations
            if evaluation.rate_rps <= rate_of(step + 1)
        )
        assert has_failed or not passes(other, cluster, step + 1)


def test_the_answer_does_not_hang_on_the_number_of_workers() -> None:
    answers = []
    for jobs in (1, 4):
        with Workers(jobs) as workers:
            plan = maximise(at_any_rate(simple(), 3), Budget(machines=6), workers=workers)
        answers.append([(e.cluster.label, e.rate_rps, e.headroom) for e in (plan.best, *plan.evaluations) if e])
    assert answers[0] == answers[1]


def test_a_rate_so_low_that_no_request_arrives_is_no_answer() -> None:
    """Each prompt of a hundred tokens is sent for up to 100 s: at no rate is any request done in ten."""
    box = machine("box", tokens_per_s=1.0)
    question = simple(
        designs=(split("two", box, box),),
        traces=(requests(*((float(i), 100, 2) for i in range(9))),),
        limits=limits("s", e2e_p50=10.0),
    )
    with Workers() as workers:
        plan = maximise(at_any_rate(question, 0), Budget(machines=2), workers=workers)
    assert plan.status == "infeasible"
    assert plan.best is not None
    assert plan.best.results[0].value > 100.0


def test_clusters_that_reach_the_same_rate_are_counted() -> None:
    """Two designs of the same machine."""
    box = machine("box")
    with Workers() as workers:
        plan = maximise(
            at_any_rate(simple(designs=(mixed("a", box), mixed("b", box))), 3), Budget(machines=2), workers=workers
        )
    assert plan.equally_good == 1


def test_a_budget_lists_the_clusters_that_it_cannot_enlarge() -> None:
    """By hand: 7 machines of one kind are 6 pairs of counts; with costs 2 and 3 and 10 USD/h there are 3."""
    design = simple().designs[0]
    assert [c.counts for c in Budget(machines=7).largest(design)] == [(p, 7 - p) for p in range(1, 7)]
    box = design.machines[0]
    priced = design.model_copy(
        update={
            "prompt": box.model_copy(update={"cost_usd_per_h": 2.0}),
            "token": box.model_copy(update={"cost_usd_per_h": 3.0}),
        }
    )
    # 1+2 = 8, 2+2 = 10, 3+1 = 9: with one more of either kind each is above 10.
    assert [c.counts for c in Budget(cost_usd_per_h=10.0).largest(priced)] == [(2, 2), (3, 1)]
    assert Budget(machines=1).largest(design) == []
