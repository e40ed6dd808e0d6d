"""Clusters that must do without machines: what is tried, against brute force and theory."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import binom

from provisioner.domain.failures import Failures
from provisioner.search import Cluster, Evaluation, Judge, Plan, Workers, cells, minimise
from provisioner.search.availability import Availability, binomial
from provisioner.search.goal import rank
from provisioner.search.outages import Lost, Random
from provisioner.search.resilient import ResilientJudge
from provisioner.search.survive import Survive, worded
from tests.search.questions import Question, examples, grid, mixed, priced, questions, simple, split
from tests.sim.worlds import machine

ONE = Survive((("machines", 1),), fail_at_s=5.0)


def resilient(question: Question, survive: Survive | None, availability: Availability | None = None) -> list[Judge]:
    return [
        ResilientJudge(judge.design, judge.scenario, judge.precision, survive, availability)
        for judge in question.judges
    ]


def answer(question: Question, judges: list[Judge]) -> Plan:
    with Workers() as workers:
        return minimise(judges, question.objective, max_machines=question.max_machines, workers=workers)


def survives(judge: Judge, cluster: Cluster, survive: Survive) -> bool:
    """Whole, as each smaller cluster (or with the machines of a pool failing before all), and through each failure."""
    if not judge.evaluate(cluster, whole=True).is_feasible:
        return False
    for loss in survive.losses(judge.design):
        left = [count - lost for count, lost in zip(cluster.counts, loss, strict=True)]
        if min(left) < 0:
            continue
        during = Judge(judge.design, judge.scenario, judge.precision, Lost(loss, survive.fail_at_s))
        gone = Judge(judge.design, judge.scenario, judge.precision, Lost(loss, 0.0))
        counts = np.array(float(left[0])), np.array(float(sum(left[1:])))
        smaller = (judge, judge.cluster(*left, *([0] if len(left) == 1 else []))) if all(left) else (gone, cluster)
        if not judge.keeps_up(*counts) or not smaller[0].evaluate(smaller[1], whole=True).is_feasible:
            return False
        if not during.evaluate(cluster, whole=True).is_feasible:
            return False
    return True


@given(questions(replications=(1, 2)))
@examples(40)
def test_the_answer_is_brute_forces(question: Question) -> None:
    """The least of all clusters that survive any one machine; none with less does, such as one machine fewer."""
    judges = resilient(question, ONE)
    plan = answer(question, judges)
    passing = [
        cluster
        for judge in question.judges
        for cluster in grid(judge, question.max_machines)
        if sum(cluster.counts) > 1 and survives(judge, cluster, ONE)
    ]
    if not passing:
        assert not plan.is_feasible
        return
    assert plan.best is not None
    assert plan.is_feasible
    assert rank(plan.best.cluster, question.objective) == min(rank(each, question.objective) for each in passing)
    assert len(plan.best.troubles) == 2 * len(ONE.losses(plan.best.cluster.design))


def test_any_machine_of_an_answer_may_go_and_no_smaller_cluster_survives() -> None:
    """Machines of one pool are alike, so one of each pool is all there is to try: here really each, at the start."""
    question = simple(max_machines=8, objective="machines")
    (judge,) = question.judges
    plan = answer(question, resilient(question, ONE))
    assert plan.best is not None
    assert plan.is_feasible
    cluster = plan.best.cluster
    for number in range(cluster.machines):
        assert (
            Judge(judge.design, judge.scenario, judge.precision, Failures.of([(0.0, number)]))
            .evaluate(cluster, whole=True)
            .is_feasible
        )
    fewer = [each for each in grid(judge, 8) if each.machines == cluster.machines - 1]
    assert fewer
    assert not any(survives(judge, each, ONE) for each in fewer)
    assert any(judge.evaluate(each, whole=True).is_feasible for each in fewer)


def test_a_machine_gone_from_the_start_is_a_smaller_cluster() -> None:
    """Bit for bit: the same evaluation of 2P+2T without one of each as of 1P+1T."""
    (judge,) = simple().judges
    gone = Judge(judge.design, judge.scenario, judge.precision, Lost((1, 1), 0.0))
    first = gone.evaluate(judge.cluster(2, 2), whole=True)
    second = judge.evaluate(judge.cluster(1, 1), whole=True)
    assert [result.value for result in first.results] == [result.value for result in second.results]


def test_losses_are_all_that_can_be_told_apart() -> None:
    box, other = machine("box"), machine("other")
    two = split("two", box, other)
    same = split("same", box, box)
    one = mixed("one", box)
    assert set(Survive((("prompt", 1), ("token", 1)), 0.0).losses(two)) == {(1, 1), (1, 0), (0, 1)}
    assert set(Survive((("machines", 2),), 0.0).losses(two)) == {(2, 0), (1, 1), (0, 2), (1, 0), (0, 1)}
    assert set(Survive((("box", 1),), 0.0).losses(two)) == {(1, 0)}
    assert set(Survive((("box", 1),), 0.0).losses(same)) == {(1, 0), (0, 1)}
    assert Survive((("mixed", 2),), 0.0).losses(one) == ((2,), (1,))
    assert worded(two, (0, 2)) == "token=2"
    with pytest.raises(KeyError):
        Survive((("prompt", 1),), 0.0).losses(one)


def test_a_bound_excludes_only_what_does_not_survive() -> None:
    question = simple(max_machines=6)
    (judge,) = question.judges
    (strict,) = resilient(question, ONE)
    for cluster in grid(judge, 6):
        counts = np.array(float(cluster.prompt_machines)), np.array(float(cluster.token_machines))
        if not strict.keeps_up(*counts):
            assert not survives(judge, cluster, ONE)


def test_what_binds_is_said_of_the_loss() -> None:
    """1P+1T cannot lose either."""
    question = simple(max_machines=2)
    plan = answer(question, resilient(question, Survive((("machines", 2),), 5.0)))
    assert not plan.is_feasible


def held(question: Question, cluster: Cluster, availability: Availability) -> float:
    """The sum over all numbers of machines down, each judged, with SciPy's binomial."""
    (judge,) = question.judges
    found = 0.0
    for first in range(cluster.prompt_machines + 1):
        for second in range(cluster.token_machines + 1):
            lost = Judge(judge.design, judge.scenario, judge.precision, Lost((first, second), 0.0))
            chance = float(
                binom.pmf(first, cluster.prompt_machines, availability.down)
                * binom.pmf(second, cluster.token_machines, availability.down)
            )
            found += chance * lost.evaluate(cluster, whole=True).is_feasible
    return found


def test_an_availability_is_the_sum_over_machines_down() -> None:
    question = simple(max_machines=8, objective="machines")
    availability = Availability(0.95, mtbf_s=90.0, repair_s=10.0)
    (judge,) = question.judges
    plan = answer(question, resilient(question, None, availability))
    assert plan.best is not None
    share = plan.best.share
    assert share is not None
    assert share.is_met
    expected = held(question, plan.best.cluster, availability)
    assert share.lower <= expected + 1e-12
    assert expected <= share.upper + 1e-12
    assert share.upper - share.lower <= 0.01 * 0.05 + 1e-12
    for cluster in grid(judge, plan.best.cluster.machines - 1):
        assert not judge.evaluate(cluster, whole=True).is_feasible or held(question, cluster, availability) < 0.95


def test_the_probabilities_are_binomial() -> None:
    for count, down in ((1, 0.5), (40, 0.004), (200, 0.3)):
        ours = [binomial(count, lost, down) for lost in range(count + 1)]
        np.testing.assert_allclose(ours, binom.pmf(range(count + 1), count, down), rtol=1e-9, atol=1e-300)
    states = Availability(0.9, 3.0, 1.0).states((2, 1))
    assert sum(chance for chance, _ in states) == pytest.approx(1.0)
    assert states[0] == (pytest.approx(0.75**3), (0, 0))


def test_the_share_of_a_long_run_is_the_binomials() -> None:
    """Machines by chance: the share of the time with at most one of three away is that of the formula."""
    availability = Availability(0.9, mtbf_s=30.0, repair_s=10.0)
    span_s = 200_000.0
    cluster = simple().judges[0].cluster(2, 1)
    failures = Random(availability.mtbf_s, availability.repair_s, span_s)(cluster, 0)
    times_s = np.concatenate([failures.time_s, failures.back_s])
    order = np.argsort(times_s)
    away = np.cumsum(np.concatenate([np.ones(len(failures)), -np.ones(len(failures))])[order])
    lasting_s = np.diff(times_s[order])
    few_s = times_s[order][0] + lasting_s[away[:-1] <= 1].sum()
    assert few_s / times_s.max() == pytest.approx(binom.cdf(1, 3, availability.down), abs=0.01)


def test_evaluations_tell_the_worst() -> None:
    question = simple(max_machines=8)
    (judge,) = resilient(question, ONE)
    evaluation: Evaluation = judge.evaluate(judge.cluster(2, 2), whole=True)
    assert [(trouble.lost, trouble.is_during) for trouble in evaluation.troubles] == [
        ("token=1", False),
        ("prompt=1", False),
        ("token=1", True),
        ("prompt=1", True),
    ]
    worst = evaluation.worst_trouble
    assert worst is not None
    assert evaluation.headroom == min(trouble.evaluation.headroom for trouble in evaluation.troubles)
    assert evaluation.headroom < evaluation.own_headroom
    assert replace(evaluation, troubles=()).headroom == evaluation.own_headroom


def test_a_priced_pool_is_not_the_one_that_is_made_larger() -> None:
    """Spares cost what their machines cost: with prompt machines ten times as dear, fewer of them are bought."""
    box = machine("box")
    dear = simple(designs=(split("two", priced(box, 10, 1), priced(box, 1, 1)),), max_machines=8)
    cheap = simple(designs=(split("two", priced(box, 1, 1), priced(box, 10, 1)),), max_machines=8)
    found = [answer(question, resilient(question, ONE)).best for question in (dear, cheap)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].cluster.prompt_machines <= found[1].cluster.prompt_machines


def test_evaluations_are_written_down_and_found_again_whole() -> None:
    """With losses and shares, by way of JSON; judges that ask for other things are known apart."""
    question = simple(max_machines=8)
    (judge,) = resilient(question, ONE, Availability(0.9, 90.0, 10.0))
    evaluation = judge.evaluate(judge.cluster(3, 3), whole=True)
    assert evaluation.troubles
    assert evaluation.share is not None
    written = json.loads(json.dumps(cells.encode(evaluation)))
    assert cells.decode(written, judge, evaluation.cluster) == evaluation
    others = [*question.judges, *resilient(question, ONE), *resilient(question, Survive((("token", 1),), 5.0)), judge]
    assert len({each.identity for each in others}) == len(others)
    assert pickle.loads(pickle.dumps(judge)).identity == judge.identity
