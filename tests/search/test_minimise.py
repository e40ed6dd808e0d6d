"""What `minimise` accounts for, and what its answer must not hang on (test_brute_force.py has the answers)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.cluster import Cluster
from provisioner.search import Certificate, Judge, Plan, Workers, minimise, pareto
from provisioner.search.confirm import FIRST_FRESH_SEED
from provisioner.search.evaluate import impossible_limits
from provisioner.search.goal import amount, rank
from provisioner.sim import Simulation, Stop
from tests.search.questions import Question, examples, questions, shipped


def spent(plan: Plan, question: Question) -> float:
    """What the answer takes of what is minimised; infinite where nothing passes."""
    if not plan.is_feasible:
        return math.inf
    assert plan.best is not None
    return amount(plan.best.cluster, question.objective)


@given(questions())
@examples(40)
def test_every_cheaper_cluster_is_accounted_for(question: Question) -> None:
    plan = question.answer()
    best = (math.inf,) if plan.best is None or not plan.is_feasible else rank(plan.best.cluster, question.objective)
    tried = [evaluation.cluster for evaluation in plan.evaluations]
    excluded = 0
    for judge, cluster in question.clusters:
        counts = np.array([float(cluster.prompt_machines)]), np.array([float(cluster.token_machines)])
        if cluster in tried:
            assert not impossible_limits(judge)
            continue
        is_excluded = not judge.keeps_up(*counts).all()
        excluded += is_excluded or bool(impossible_limits(judge))
        assert is_excluded or impossible_limits(judge) or rank(cluster, question.objective) > best
    known = plan.certificate.simulated + plan.certificate.alike
    assert len(tried) == len({(c.design.name, c.counts) for c in tried}) == known
    assert plan.certificate.excluded_by_bound <= excluded
    if not plan.is_feasible:
        assert known + plan.certificate.excluded_by_bound == len(question.clusters)


def _cheapest(judge: Judge) -> Certificate:
    return minimise([judge], "cost", max_machines=12, workers=Workers()).certificate


def _front(judge: Judge) -> Certificate:
    return pareto([judge], max_machines=12, workers=Workers()).certificate


@pytest.mark.parametrize("search", [_cheapest, _front])
@pytest.mark.parametrize("in_full", [False, True])
def test_the_certificate_says_what_was_spared(
    search: Callable[[Judge], Certificate], monkeypatch: pytest.MonkeyPatch, *, in_full: bool
) -> None:
    (judge,) = shipped("HH", rate_rps=10.0, span_s=20.0, replications=3)
    judge = Judge(judge.design, judge.scenario, replace(judge.precision, in_full=in_full))
    ended: list[bool] = []
    simulate = Judge.simulate

    def noted(self: Judge, cluster: Cluster, replication: int = 0, stop: Stop | None = None) -> Simulation:
        found = simulate(self, cluster, replication, stop)
        if replication < FIRST_FRESH_SEED:
            ended.append(not found.is_whole)
        return found

    monkeypatch.setattr(Judge, "simulate", noted)
    proof = search(judge)
    assert (proof.replications, proof.ended_early) == (len(ended), sum(ended))
    assert proof.replications + proof.replications_spared == 3 * proof.simulated
    assert proof.replications_spared > 0
    assert (proof.ended_early > 0) is not in_full


@given(questions(replications=(3,)))
@examples(30)
def test_stopping_early_changes_no_verdict(question: Question) -> None:
    for judge, cluster in question.clusters:
        early, whole = judge.evaluate(cluster), judge.evaluate(cluster, whole=True)
        assert whole.replications == 3
        assert early.is_feasible == whole.is_feasible
        if early.replications == 3:
            assert str(early) == str(whole)
        else:
            assert not early.is_feasible


@given(questions(), st.sampled_from([2, 4]))
@examples(15)
def test_the_number_of_workers_changes_nothing(question: Question, jobs: int) -> None:
    one, many = question.answer(jobs=1), question.answer(jobs=jobs)
    assert ledger(one) == ledger(many)


def ledger(plan: Plan) -> str:
    """All that a plan says, apart from the time it took."""
    return str(replace(plan, certificate=replace(plan.certificate, elapsed_s=0.0)))


@given(questions())
@examples(10)
def test_the_same_question_has_the_same_answer(question: Question) -> None:
    assert ledger(question.answer()) == ledger(question.answer())


@given(questions(), st.sampled_from([0.5, 0.9, 0.99]))
@examples(30)
def test_a_tighter_slo_never_costs_less(question: Question, factor: float) -> None:
    loose, tight = question.answer(), question.with_limits(factor).answer()
    assert spent(loose, question) <= spent(tight, question)


@given(questions())
@examples(15)
def test_fewer_limits_never_cost_more(question: Question) -> None:
    if len(question.limits) > 1:
        fewer = replace(question, limits=question.limits[1:])
        assert spent(fewer.answer(), fewer) <= spent(question.answer(), question)


@given(questions())
@examples(15)
def test_a_wider_choice_never_costs_more(question: Question) -> None:
    narrow = spent(question.answer(), question)
    wider = replace(question, max_machines=question.max_machines + 1)
    assert spent(wider.answer(), wider) <= narrow
    for design in question.designs:
        alone = replace(question, designs=(design,))
        assert narrow <= spent(alone.answer(), alone)


@given(questions())
@examples(15)
def test_the_order_of_designs_does_not_matter(question: Question) -> None:
    reverse = replace(question, designs=question.designs[::-1])
    plan, other = question.answer(), reverse.answer()
    assert (plan.status, spent(plan, question), plan.equally_good) == (
        other.status,
        spent(other, reverse),
        other.equally_good,
    )
    if plan.is_feasible:
        assert plan.best is not None
        assert other.best is not None
        assert plan.best.headroom == pytest.approx(other.best.headroom, rel=1e-12)
