"""What is known of clusters without simulating them, against simulating them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import ANY

import pytest
from hypothesis import given

from provisioner.domain.cluster import Cluster
from provisioner.search import Evaluation, Judge, Precision, Workers, minimise
from provisioner.search.alike import apart
from provisioner.search.resilient import ResilientJudge
from provisioner.search.survive import Survive
from provisioner.sim import Simulation, Stop
from tests.search.questions import (
    REFERENCE,
    Question,
    examples,
    grid,
    limits,
    poisson,
    questions,
    shipped,
    simple,
)
from tests.sim.worlds import performance

STEEP = performance(decode=((1, 0.1), (10, 1.0)))
MANY_DECODES = simple(
    models={"box": STEEP, REFERENCE: STEEP},
    traces=(poisson(1, 600, 20.0), poisson(2, 600, 20.0)),
    limits=limits(tbt_p90=1.1),
    max_machines=40,
)
"""Nine decodes at a time, which want a machine each, and one prompt."""


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[int, ...]]:
    """Replications simulated, by the counts of the cluster."""
    counts: Counter[tuple[int, ...]] = Counter()
    simulate = Judge.simulate

    def noted(self: Judge, cluster: Cluster, replication: int = 0, stop: Stop | None = None) -> Simulation:
        counts[cluster.counts] += 1
        return simulate(self, cluster, replication, stop)

    monkeypatch.setattr(Judge, "simulate", noted)
    return counts


def afresh(judge: Judge) -> Judge:
    """One who knows nothing yet."""
    return Judge(judge.design, judge.scenario, judge.precision, judge.failures)


@given(questions(replications=(2,)))
@examples(60)
def test_a_judge_says_the_same_whatever_it_was_asked_before(question: Question) -> None:
    for judge in question.judges:
        clusters = grid(judge, 7)
        assert [judge.screen(each) for each in clusters] == [afresh(judge).screen(each) for each in clusters]
        backwards = afresh(judge)
        assert [backwards.screen(each) for each in reversed(clusters)] == [
            judge.screen(each) for each in reversed(clusters)
        ]


def test_clusters_that_differ_in_idle_machines_are_simulated_once(simulated: Counter[tuple[int, ...]]) -> None:
    (judge,) = shipped("AA", rate_rps=2.0, span_s=60.0, replications=2, tbt_p50=0.5)
    found = [judge.screen(judge.cluster(prompt, 1)) for prompt in range(1, 40)]
    used = found[-1].used
    assert used is not None
    assert 2 < used < 20
    assert {counts[0] for counts in simulated} == set(range(1, used + 2))
    assert found[used].results == found[-1].results
    assert found[used].load > found[-1].load
    assert all(evaluation.cluster.prompt_machines == prompt for prompt, evaluation in enumerate(found, 1))


def test_what_passes_or_is_shown_in_full_is_simulated_by_itself(simulated: Counter[tuple[int, ...]]) -> None:
    (judge,) = shipped("AA", rate_rps=2.0, span_s=30.0, replications=2)
    passing = [judge.screen(judge.cluster(prompt, 9)) for prompt in range(12, 16)]
    assert all(evaluation.is_feasible for evaluation in passing)
    (strict,) = shipped("AA", rate_rps=2.0, span_s=30.0, precision=Precision(replications=2, in_full=True), tbt_p50=0.5)
    in_full = [strict.screen(strict.cluster(prompt, 1)) for prompt in range(12, 16)]
    assert not any(evaluation.is_feasible for evaluation in in_full)
    assert len(simulated) == 8
    assert len({evaluation.utilization["prompt"] for evaluation in in_full}) == 4


def test_where_machines_let_requests_in_their_number_matters(simulated: Counter[tuple[int, ...]]) -> None:
    (judge,) = shipped("AA", rate_rps=2.0, span_s=30.0, tbt_p50=0.5)
    scheduling = judge.design.scheduling.model_copy(update={"max_requests_per_machine": 1000})
    design = judge.design.model_copy(update={"scheduling": scheduling})
    crowded = Judge(design, judge.scenario, judge.precision)
    found = [crowded.screen(crowded.cluster(prompt, 1)) for prompt in range(12, 16)]
    assert [evaluation.used for evaluation in found] == [None] * 4
    assert len(simulated) == 4


def test_the_certificate_tells_them_apart(simulated: Counter[tuple[int, ...]]) -> None:
    proof = MANY_DECODES.answer().certificate
    assert proof.alike == 34
    assert proof.simulated == len(simulated)
    assert proof.replications == simulated.total()
    assert MANY_DECODES.answer(jobs=3).certificate == replace(proof, elapsed_s=ANY)


def test_other_goals_and_other_losses_ask_again_in_vain(simulated: Counter[tuple[int, ...]]) -> None:
    (judge,) = shipped("HH", rate_rps=10.0, span_s=20.0, replications=2)
    with Workers() as workers:
        first = minimise([judge], "cost", max_machines=12, workers=workers)
        before = simulated.total()
        second = minimise([judge], "power", max_machines=12, workers=workers)
    assert first.best == second.best
    assert first.confirmed == second.confirmed
    assert simulated.total() == before > 0


def test_what_survives_is_not_confused_with_what_passes() -> None:
    (plain,) = shipped("HH", rate_rps=10.0, span_s=20.0)
    judge = ResilientJudge(plain.design, plain.scenario, plain.precision, Survive((("machines", 1),), fail_at_s=5.0))
    cluster = next(each for each in grid(plain, 12) if plain.screen(each).is_feasible)
    assert judge.screen(cluster).troubles
    assert judge.known(cluster) is None


def test_evaluations_of_other_rates_stand_apart() -> None:
    (judge,) = shipped("AA", rate_rps=2.0, span_s=30.0, tbt_p50=0.5)
    found = [judge.screen(judge.cluster(prompt, 1)) for prompt in (20, 21)]
    faster = [replace(evaluation, rate_rps=3.0) for evaluation in found]
    needed: list[Evaluation] = [found[0], faster[0]]
    assert apart([*found, *faster]) == (needed, 2)
