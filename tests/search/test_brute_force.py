"""Every goal against brute force: every cluster of up to 12 machines, simulated by itself on each of three seeds.

Designs, profiles, requests and objectives are random. For goals about rates, rates are steps of 50 % instead of half
a percent, so that all of them can be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from provisioner.domain.cluster import Cluster
from provisioner.search import (
    OBJECTIVES,
    Budget,
    Evaluation,
    Front,
    Judge,
    Objective,
    Plan,
    Precision,
    Workers,
    maximise,
    minimise,
    pareto,
    pareto_of_rates,
)
from provisioner.search.goal import amounts, rank
from provisioner.search.maximise import rate_of
from provisioner.search.pareto import dominates
from provisioner.traces import Drawn, Poisson, SizeTable
from tests.search.questions import Question, examples, grid, passing, questions

MOST = 12
SEEDS = 3


COARSE = {"STEP": 1.5, "LOWEST_STEP": -20, "FIRST_STRIDE": 2}


@contextmanager
def coarse() -> Iterator[None]:
    """So large steps that all rates can be tried; wherever the search begins, here at 5 requests a second."""
    begin = {f"provisioner.search.{module}.first_step": lambda _: 4 for module in ("maximise", "pareto")}
    changes = {"provisioner.search.maximise." + name: value for name, value in COARSE.items()}
    with ExitStack() as stack:
        for name, value in {**begin, **changes}.items():
            stack.enter_context(patch(name, value))
        yield


HIGHEST_STEP = 15
"""1.5 ** 15 is 438 requests a second."""


def assert_least(plan: Plan, found: Sequence[Evaluation], objective: Objective) -> None:
    """The plan is the one of these passing clusters that takes the least; of equals, has most headroom."""
    if not found:
        assert plan.status == "infeasible"
        assert plan.reason
        return
    least = min(rank(evaluation.cluster, objective) for evaluation in found)
    tied = [evaluation for evaluation in found if rank(evaluation.cluster, objective) == least]
    assert plan.status == "optimal"
    assert plan.best is not None
    assert plan.best.cluster in [evaluation.cluster for evaluation in tied]
    assert plan.best.headroom == max(evaluation.headroom for evaluation in tied)
    assert plan.equally_good == len(tied) - 1


def assert_front(front: Front, found: Sequence[Evaluation], taken: Callable[[Evaluation], tuple[float, ...]]) -> None:
    """The front is what no other of these clusters dominates; of equals, the one with most headroom."""
    all_taken = {taken(evaluation) for evaluation in found}
    undominated = {mine for mine in all_taken if not any(dominates(other, mine) for other in all_taken)}
    assert sorted(taken(evaluation) for evaluation in front.clusters) == sorted(undominated)
    for evaluation in front.clusters:
        equal = [other.headroom for other in found if taken(other) == taken(evaluation)]
        assert evaluation.headroom == pytest.approx(max(equal))


def assert_goals_at_a_rate(question: Question) -> None:
    found = passing(question)
    with Workers() as workers:
        for objective in OBJECTIVES:
            plan = minimise(question.judges, objective, max_machines=question.max_machines, workers=workers)
            assert_least(plan, found, objective)
        front = pareto(question.judges, max_machines=question.max_machines, workers=workers)
    assert_front(front, found, lambda evaluation: amounts(evaluation.cluster))


@given(questions(replications=(SEEDS,), max_machines=MOST))
@examples(30)
def test_least_cost_power_machines_and_their_front(question: Question) -> None:
    assert_goals_at_a_rate(question)


@pytest.mark.slow
@given(questions(replications=(SEEDS,), max_machines=MOST))
@examples(500)
def test_least_cost_power_machines_and_their_front_in_many_cases(question: Question) -> None:
    assert_goals_at_a_rate(question)


@dataclass(frozen=True)
class Reach:
    """At which rates a cluster passes, of all rates at which any request arrives."""

    rates: tuple[Evaluation, ...]
    """From the lowest on."""

    @classmethod
    def of(cls, at: Sequence[Judge], cluster: Cluster) -> Reach:
        return cls(tuple(judge.evaluate(cluster, whole=True) for judge in at))

    @property
    def ends(self) -> list[Evaluation]:
        """Where it passes, and fails one step higher."""
        return [e for e, above in pairwise(self.rates) if e.is_feasible and not above.is_feasible]

    @property
    def starts_low(self) -> bool:
        return self.rates[0].is_feasible

    @property
    def is_interval(self) -> bool:
        """Whether it passes at all rates up to one, or at none."""
        return len(self.ends) == self.starts_low


def at_every_rate(judge: Judge) -> list[Judge]:
    judges = [judge.at_rate(rate_of(step)) for step in range(HIGHEST_STEP, -20, -1)]
    return [each for each in reversed(judges) if each.scenario.has_requests(SEEDS)]


def with_rates(question: Question, seed: int) -> list[Judge]:
    """The question's judges, with lengths like those of its requests at any rate, for a second."""
    demand = Drawn(SizeTable.of_trace(question.traces[0]), seed, Poisson())
    scenario = replace(question.scenario, demand=demand, rate_rps=50.0, span_s=1.0)
    return [Judge(design, scenario, Precision(replications=SEEDS)) for design in question.designs]


def budgets(most: int) -> st.SearchStrategy[Budget]:
    """Any of the three limits. A machine takes at least 1 USD/h and 1 kW, so that no cluster has more than `most`."""
    amount = st.sampled_from([2, most // 2, most - 1, most])
    return st.builds(
        Budget,
        cost_usd_per_h=st.none() | amount.map(float),
        power_kw=st.none() | amount.map(float),
        machines=st.none() | amount,
    ).filter(lambda budget: bool(str(budget)))


def cannot_be_enlarged(judge: Judge, budget: Budget) -> list[Cluster]:
    """By definition: in the budget, and with one machine more not."""
    inside = [cluster for cluster in grid(judge, MOST) if budget.allows(cluster)]

    def larger(cluster: Cluster) -> list[Cluster]:
        p, t = cluster.prompt_machines, cluster.token_machines
        return [judge.cluster(p + 1, t)] + ([] if judge.design.is_mixed else [judge.cluster(p, t + 1)])

    return [cluster for cluster in inside if not any(budget.allows(other) for other in larger(cluster))]


def assert_most_within(question: Question, budget: Budget, seed: int) -> None:
    judges = with_rates(question, seed)
    reaches = [
        Reach.of(at, cluster)
        for judge, at in zip(judges, map(at_every_rate, judges), strict=True)
        for cluster in cannot_be_enlarged(judge, budget)
    ]
    assume(not any(reach.rates[-1].is_feasible for reach in reaches))
    with Workers() as workers:
        plan = maximise(judges, budget, workers=workers)
    low = [reach.ends[0] for reach in reaches if reach.starts_low]
    if not plan.is_feasible:
        assert not low
        return
    assert plan.best is not None
    ends = [(end.cluster, end.rate_rps) for reach in reaches for end in reach.ends]
    assert (plan.best.cluster, plan.best.rate_rps) in ends
    assert plan.best.rate_rps >= max((end.rate_rps for end in low), default=0.0)
    if all(reach.is_interval for reach in reaches):
        tied = [end for end in low if end.rate_rps == max(end.rate_rps for end in low)]
        assert plan.best.rate_rps == tied[0].rate_rps
        assert plan.best.headroom == max(end.headroom for end in tied)
        assert plan.equally_good == len(tied) - 1


@given(questions(replications=(1,), max_machines=MOST), budgets(MOST), st.integers(0, 99))
@examples(24)
def test_most_throughput_within_a_budget(question: Question, budget: Budget, seed: int) -> None:
    with coarse():
        assert_most_within(question, budget, seed)


@pytest.mark.slow
@given(questions(replications=(1,), max_machines=MOST), budgets(MOST), st.integers(0, 99))
@examples(300)
def test_most_throughput_within_a_budget_in_many_cases(question: Question, budget: Budget, seed: int) -> None:
    with coarse():
        assert_most_within(question, budget, seed)


def assert_front_of_rates(question: Question, budget: Budget, seed: int) -> None:
    judges = with_rates(question, seed)
    reaches = [
        Reach.of(at, cluster)
        for judge, at in zip(judges, map(at_every_rate, judges), strict=True)
        for cluster in grid(judge, MOST)
        if budget.allows(cluster)
    ]
    assume(not any(reach.rates[-1].is_feasible for reach in reaches))
    with Workers() as workers:
        front = pareto_of_rates(judges, budget, max_machines=MOST, workers=workers)
    if all(reach.is_interval for reach in reaches):
        assert_front(front, [reach.ends[0] for reach in reaches if reach.ends], of_rates)


def of_rates(evaluation: Evaluation) -> tuple[float, ...]:
    """What is wanted little of: the rate, turned round, then cost and power."""
    cost, power, _ = amounts(evaluation.cluster)
    return -evaluation.rate_rps, cost, power


@given(questions(replications=(1,), max_machines=MOST), budgets(MOST), st.integers(0, 99))
@examples(10)
def test_the_front_of_throughput_cost_and_power(question: Question, budget: Budget, seed: int) -> None:
    with coarse():
        assert_front_of_rates(question, budget, seed)


@pytest.mark.slow
@given(questions(replications=(1,), max_machines=MOST), budgets(MOST), st.integers(0, 99))
@examples(100)
def test_the_front_of_throughput_cost_and_power_in_many_cases(question: Question, budget: Budget, seed: int) -> None:
    with coarse():
        assert_front_of_rates(question, budget, seed)
