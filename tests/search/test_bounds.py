"""What is excluded without a simulation could not have passed: floors, and the bound on work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from provisioner.capacity import WorkBound
from provisioner.domain.cluster import Cluster
from provisioner.search import Judge
from provisioner.search.minimise import impossible_limits
from tests.search.questions import (
    REFERENCE,
    Question,
    examples,
    grid,
    limits,
    passing,
    questions,
    shipped,
    simple,
    split,
)
from tests.sim.strategies import Case, cases
from tests.sim.worlds import machine, performance, requests

ROUNDING = 1e-9


def keeps_up(judge: Judge, prompt_machines: int, token_machines: int) -> bool:
    return bool(judge.keeps_up(np.array([float(prompt_machines)]), np.array([float(token_machines)])).all())


def assert_floors(question: Question) -> None:
    for judge, cluster in question.clusters:
        for replication in range(len(question.traces)):
            values = judge.scenario.trial(replication).yardstick.values(judge.simulate(cluster, replication))
            for value, floor in zip(values, judge.floors[replication], strict=True):
                assert (np.isnan(value) and np.isnan(floor)) or value >= floor * (1 - ROUNDING)


@given(questions())
@examples(40)
def test_no_simulated_value_is_below_its_floor(question: Question) -> None:
    assert_floors(question)


def test_what_fits_no_machine_takes_for_ever() -> None:
    """With room for 100 tokens: prompt and output together, or the prompt alone if nothing is left to decode."""
    box = machine("box", kv_tokens=100)
    fits, has_no_room_for_its_output, has_none = [False, False], [False, True], [True, True]
    for prompt, output, endless in (
        (100, 1, fits), (98, 2, fits), (99, 2, has_no_room_for_its_output), (101, 1, has_none),
    ):  # fmt: skip
        trace = requests((0.0, prompt, output))
        question = simple(
            designs=(split("two", box, box),), traces=(trace,), limits=limits("s", ttft_p50=1e9, e2e_p50=1e9)
        )
        (judge,) = question.judges
        simulation = judge.simulate(judge.cluster(1, 1))
        assert np.isinf(judge.floors[0]).tolist() == endless
        assert np.isinf([simulation.first_token_s[0], simulation.finish_s[0]]).tolist() == endless


def test_floors_allow_for_what_the_clock_rounds() -> None:
    """Half a minute on, a prompt of a millisecond shows as 0.99999999999 of that: no limit there is impossible."""
    trace = requests(*[(0.3 * n + 0.1, 1, 2) for n in range(200)])
    question = simple(traces=(trace,), span_s=60.0, limits=limits(ttft_p1=2.0, tbt_p1=2.0, e2e_p1=2.0))
    (judge,) = question.judges
    values = judge.scenario.trial(0).yardstick.values(judge.simulate(judge.cluster(1, 1)))
    assert min(values) < 1.0
    assert np.all(judge.floors[0] <= values)


def a_batch_is_faster() -> Question:
    """Prompts of 100 tokens take a second alone, but two of them together a tenth: a profile that is not monotone.

    Medians of measurements may be so, as those of the paper's own simulator are.
    """
    uneven = performance(prefill=((1, 0.01), (100, 1.0), (200, 0.1), (400, 0.2)))
    return simple(
        models={"box": uneven, REFERENCE: performance()},
        traces=(requests((0.0, 100, 1), (0.0, 100, 1), (5.0, 100, 1), (5.0, 100, 1)),),
        limits=limits("s", ttft_p50=0.5),
        span_s=10.0,
    )


def test_floors_hold_where_a_batch_is_faster_than_a_prompt_alone() -> None:
    assert_floors(a_batch_is_faster())


def test_a_limit_that_only_a_batch_can_meet_is_not_impossible() -> None:
    plan = a_batch_is_faster().answer()
    assert plan.status == "optimal"


@given(questions(monotone=False))
@examples(40)
def test_no_simulated_value_is_below_its_floor_whatever_the_profile(question: Question) -> None:
    assert_floors(question)


@given(questions())
@examples(40)
def test_where_a_limit_is_impossible_no_cluster_passes(question: Question) -> None:
    tight = question.with_limits(0.3)
    hopeless = {judge.design.name for judge in tight.judges if impossible_limits(judge)}
    assert not hopeless & {evaluation.cluster.design.name for evaluation in passing(tight)}


@given(cases())
@examples(120)
def test_a_cluster_that_did_the_work_in_a_time_is_not_excluded_for_that_time(case: Case) -> None:
    """Whatever the profile and the rules; and for the time its busiest machine worked, which is less."""
    simulation = case.simulate()
    if simulation.unfinished or not len(case.trace):
        return
    first, second = (*map(float, case.counts), 0.0)[:2]
    for span_s in (simulation.makespan_s, float(simulation.busy_s.max())):
        bound = WorkBound.of(case.design, case.performance, case.trace, span_s)
        assert bound.keeps_up(np.array(first), np.array(second))
        assert bound.load(first, second) <= 1.0


def test_the_bound_is_tight_where_nothing_can_be_shared() -> None:
    """Five prompts of a second each, then a second of decodes each, one at a time: 10 s of work for two machines."""
    alone = performance(mixed_factor=200.0)  # a decode beside a prompt would take longer than by itself
    box = machine("box")
    question = simple(
        designs=(split("two", box, box, max_batch_requests=1),),
        models={"box": alone, REFERENCE: alone},
        traces=(requests(*((float(i), 1000, 11) for i in range(5))),),
        limits=limits(ttft_p50=1e6),
    )
    for span_s, load in ((5.0, 1.0), (10.0, 0.5), (4.9, 1.0204)):
        (judge,) = replace(question, span_s=span_s).judges
        assert judge.load(judge.cluster(1, 1)) == pytest.approx(load, rel=1e-4)
        assert keeps_up(judge, 1, 1) == (span_s >= 5.0)


@pytest.mark.parametrize("name", ["HH", "HA", "HHcap", "A100"])
def test_shipped_clusters_that_are_excluded_fall_behind_for_good(name: str) -> None:
    """Two minutes at 20 requests a second: an excluded cluster is still at work long after the last arrival."""
    span_s = 120.0
    (judge,) = shipped(name, rate_rps=20.0, span_s=span_s)
    excluded = [cluster for cluster in grid(judge, 6) if not keeps_up(judge, *_counts(cluster))]
    assert excluded
    for cluster in excluded:
        assert judge.load(cluster) > 1.0
        assert not judge.evaluate(cluster).is_stable
        assert judge.simulate(cluster).makespan_s > span_s
    largest = max(excluded, key=judge.load)
    assert judge.simulate(largest).makespan_s > span_s * 0.9 * judge.load(largest)


def _counts(cluster: Cluster) -> tuple[int, int]:
    return cluster.prompt_machines, cluster.token_machines


def test_more_machines_never_keep_up_with_less() -> None:
    (judge,) = shipped("HA", rate_rps=30.0, span_s=60.0)
    for p in range(1, 8):
        for t in range(1, 8):
            if keeps_up(judge, p, t):
                assert keeps_up(judge, p + 1, t)
                assert keeps_up(judge, p, t + 1)
                assert judge.load(judge.cluster(p + 1, t)) <= judge.load(judge.cluster(p, t)) * (1 + ROUNDING)


def unlike_replications() -> Question:
    """Prompts that only the first machine is good at, then decodes that both are bad at.

    1+1 machines have 40 s of work to give in 20 s. The first replication has 20 prompts of 1 s on the first machine,
    of 10 s on the second: they fit. The second has 45 s of decodes wherever they run: they do not.
    """
    first, second = machine("first"), machine("second")
    prompts = requests(*((float(i), 1000, 1) for i in range(20)))
    decodes = requests(*((float(i), 1, 31) for i in range(15)))
    slow = performance(prefill=((1, 0.01), (1000, 10.0)))
    return simple(
        designs=(split("two", first, second, max_batch_requests=1, max_batch_tokens=1),),
        models={"first": performance(), "second": slow, REFERENCE: performance()},
        traces=(prompts, decodes),
        span_s=20.0,
        limits=limits(ttft_p50=1e6),
    )


def test_the_load_is_that_of_the_heaviest_replication() -> None:
    (judge,) = unlike_replications().judges
    assert not keeps_up(judge, 1, 1)
    assert judge.load(judge.cluster(1, 1)) == pytest.approx(1.125, rel=0.01)


def test_an_excluded_cluster_does_not_pass_when_asked_for_by_itself() -> None:
    (judge,) = unlike_replications().judges
    assert not judge.evaluate(judge.cluster(1, 1), whole=True).is_feasible


@given(questions())
@examples(40)
def test_alone_and_in_a_search_a_cluster_keeps_up_or_does_not(question: Question) -> None:
    one = replace(question, traces=question.traces[:1])
    for judge, cluster in one.clusters:
        assert keeps_up(judge, *_counts(cluster)) == (judge.load(cluster) <= 1.0)
