"""One cluster for several scenarios equals brute force over every cluster and scenario."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.search import Workers
from provisioner.search.goal import rank
from provisioner.search.robust import Case, robust
from tests.search.questions import Question, examples, limits, poisson, questions, simple


def answer(asked: list[Question], weights: list[float], share: float) -> Any:
    cases = [
        Case(name=str(place), judges=tuple(each.judges), weight=weight)
        for place, (each, weight) in enumerate(zip(asked, weights, strict=True))
    ]
    with Workers() as workers:
        return robust(cases, asked[0].objective, share=share, max_machines=asked[0].max_machines, workers=workers)


@given(question=questions(), data=st.data())
@examples(15)
def test_the_cluster_is_the_one_that_brute_force_finds(question: Question, data: st.DataObject) -> None:
    others = [
        question,
        question.with_limits(0.9),
        replace(question, traces=(poisson(7, 30, 3.0),) * len(question.traces)),
    ]
    weights = [1.0, 2.0, 1.0]
    share = data.draw(st.sampled_from([0.5, 0.75, 1.0]))
    passing = []
    for place in range(len(question.clusters)):
        met = sum(
            weight
            for each, weight in zip(others, weights, strict=True)
            if each.clusters[place][0].evaluate(each.clusters[place][1], whole=True).is_feasible
        )
        if met >= share * 4 - 1e-9:
            passing.append(rank(question.clusters[place][1], question.objective))
    found = answer(others, weights, share)
    assert found.status == ("optimal" if passing else "infeasible")
    if passing:
        assert rank(found.evaluations[0].cluster, question.objective) == min(passing)
        assert found.share >= share - 1e-9


def test_a_rare_case_may_be_left_out() -> None:
    """Ten times the load in a case of weight 1 of 10: nine tenths need no more than the usual load does."""
    usual, rush = simple(), simple(traces=(poisson(1, 1200, 40.0),))
    alone = usual.answer().best
    assert alone is not None
    part = answer([usual, rush], [9.0, 1.0], 0.9)
    assert part.evaluations[0].cluster == alone.cluster
    assert part.share == pytest.approx(0.9)
    whole = answer([usual, rush], [9.0, 1.0], 1.0)
    assert whole.share == 1
    assert whole.evaluations[0].cluster.cost_usd_per_h > alone.cluster.cost_usd_per_h


@pytest.mark.parametrize("cases", [1, 2])
def test_clusters_that_fail_count_as_simulated(cases: int) -> None:
    """Of two machines there is one cluster, which requests queue for in each case, and are too late in the last."""
    fails = simple(max_machines=2, limits=limits(ttft_p90=1.01))
    passes = replace(fails, limits=limits(ttft_p90=100.0))
    found = answer([*[passes] * (cases - 1), fails], [1.0] * cases, 1.0)
    assert found.status == "infeasible"
    assert found.certificate.simulated == found.certificate.replications == cases
