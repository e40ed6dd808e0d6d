"""One cluster's verdict: the percentiles by plain arithmetic, and how replications are pooled."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from provisioner.domain.slo import Limit
from provisioner.perf import PerformanceModel
from provisioner.sim import Simulation
from tests.search.questions import REFERENCE, Question, examples, limits, mixed, poisson, questions, simple, split
from tests.sim.worlds import machine, requests


def plain_value(simulation: Simulation, limit: Limit, reference: PerformanceModel) -> float:
    """The value of one limit, request by request."""
    values = []
    trace = simulation.trace
    for arrival_s, prompt, output, first_s, finish_s in zip(
        trace.arrival_s.tolist(),
        trace.prompt_tokens.tolist(),
        trace.output_tokens.tolist(),
        simulation.first_token_s.tolist(),
        simulation.finish_s.tolist(),
        strict=True,
    ):
        prompt_s, decode_s = reference.prefill_s(float(prompt)), reference.decode_s(1.0, prompt + output / 2)
        if limit.metric == "ttft":
            seconds, alone_s = first_s - arrival_s, prompt_s
        elif limit.metric == "e2e":
            seconds, alone_s = finish_s - arrival_s, prompt_s + (output - 1) * decode_s
        elif output == 1:
            continue
        else:
            seconds = math.inf if math.isinf(finish_s) else (finish_s - first_s) / (output - 1)
            alone_s = decode_s
        values.append(seconds / alone_s if limit.unit == "slowdown" else seconds)
    if not values:
        return math.nan
    values.sort()
    place = (len(values) - 1) * limit.percentile / 100
    low, share = int(place), place - int(place)
    if share == 0.0 or math.isinf(values[low]):
        return values[low]
    return values[low] + share * (values[low + 1] - values[low])


@given(questions())
@examples(60)
def test_values_are_the_means_of_plain_percentiles(question: Question) -> None:
    judge, cluster = question.clusters[-1]
    evaluation = judge.evaluate(cluster, whole=True)
    for limit, result in zip(question.limits, evaluation.results, strict=True):
        plain = [
            plain_value(judge.simulate(cluster, replication), limit, question.models[REFERENCE])
            for replication in range(len(question.traces))
        ]
        assert result.value == pytest.approx(sum(plain) / len(plain), rel=1e-9, nan_ok=True)
        if len(plain) == 1:
            assert result.ci95 is None
    assert evaluation.is_feasible == (evaluation.is_stable and all(result.met for result in evaluation.results))


@given(questions())
@examples(40)
def test_headroom_is_the_least_part_of_a_limit_that_is_left(question: Question) -> None:
    for judge, cluster in question.clusters[:3]:
        evaluation = judge.evaluate(cluster, whole=True)
        parts = [1 - r.value / r.limit.limit for r in evaluation.results if not math.isnan(r.value)]
        least = min(parts, default=1.0)
        assert evaluation.binding.headroom == least
        assert evaluation.headroom == (least if evaluation.is_stable else min(least, 0.0))


def test_an_interval_is_students_t_over_replications() -> None:
    question = simple(traces=tuple(poisson(seed, 60, 4.0) for seed in range(4)), span_s=15.0)
    (judge,) = question.judges
    cluster = judge.cluster(1, 1)
    evaluation = judge.evaluate(cluster, whole=True)
    for index, result in enumerate(evaluation.results):
        values = [judge.scenario.trial(r).yardstick.values(judge.simulate(cluster, r))[index] for r in range(4)]
        half = 3.182446305284263 * np.std(values, ddof=1) / 2  # t(0.975, 3) / sqrt(4)
        assert result.ci95 == pytest.approx((np.mean(values) - half, np.mean(values) + half))


def test_a_request_that_never_finishes_is_counted_and_warned_of() -> None:
    """The second prompt is longer than the memory of any machine: both times are infinite for it."""
    box = machine("box", kv_tokens=500)
    question = simple(
        designs=(split("two", box, box),),
        traces=(requests((0.0, 100, 3), (1.0, 600, 3), (2.0, 100, 3)),),
        limits=limits(ttft_p50=3.0, ttft_p99=3.0),
    )
    (judge,) = question.judges
    evaluation = judge.evaluate(judge.cluster(2, 2), whole=True)
    assert evaluation.unfinished == 1
    assert [result.met for result in evaluation.results] == [True, False]
    assert evaluation.results[1].value == math.inf
    assert any("1 request" in warning and "never finish" in warning for warning in evaluation.warnings)
    plan = question.answer()
    assert plan.status == "infeasible"
    assert plan.reason


def test_a_metric_that_no_request_has_is_met() -> None:
    question = simple(traces=(requests((0.0, 10, 1), (1.0, 10, 1)),), span_s=2.0, limits=limits(tbt_p50=0.001))
    plan = question.answer()
    assert plan.status == "optimal"
    assert plan.best is not None
    assert plan.best.cluster.machines == 2
    assert math.isnan(plan.best.binding.value)


def test_a_replication_without_a_metric_hides_no_miss_of_the_others() -> None:
    """No output has a second token in the first replication; in the second, every decode takes 0.1 s."""
    question = simple(
        traces=(requests((0.0, 10, 1), (1.0, 10, 1)), requests((0.0, 10, 5), (1.0, 10, 5))),
        span_s=2.0,
        limits=limits("s", tbt_p50=0.02),
    )
    assert question.answer().status == "infeasible"


def overtaken() -> Question:
    """Two replications of a second: short prompts, then long ones that take a second alone.

    One machine: TTFT P50 is 0.10 s in the first, where ten arrive at once, and at least 1.0 s in the second: 0.55 s
    in the mean, at least. Two machines: 0.05 s, and 0.525 s. With many: 0.505 s.
    """
    short = requests(*((0.0, 20, 1) for _ in range(9)))
    long = requests((0.0, 1000, 1))
    return simple(
        designs=(mixed("one", machine("box"), max_batch_requests=1),),
        traces=(short, long),
        span_s=10.0,
        limits=limits("s", ttft_p50=0.53),
        max_machines=4,
    )


def test_overtaken_is_what_it_says() -> None:
    (judge,) = overtaken().judges
    values = [judge.evaluate(judge.cluster(count, 0), whole=True).results[0].value for count in (1, 2, 3)]
    assert values == pytest.approx([0.55, 0.53, 0.52])


def test_a_cluster_given_up_early_does_not_pass() -> None:
    question = replace(overtaken(), limits=limits("s", ttft_p50=0.535))
    (judge,) = question.judges
    assert not judge.evaluate(judge.cluster(1, 0), whole=True).is_feasible
    assert not judge.evaluate(judge.cluster(1, 0)).is_feasible
    plan = question.answer()
    assert plan.best is not None
    assert plan.best.cluster.machines == 2


def test_the_nearest_miss_is_judged_on_all_replications() -> None:
    """How far off the best is would otherwise depend on when each cluster was given up."""
    traces = tuple(poisson(seed, 60, 8.0) for seed in range(5))
    question = simple(traces=traces, span_s=8.0, limits=limits(ttft_p90=1.2), max_machines=2)
    plan = question.answer()
    assert plan.status == "infeasible"
    assert plan.best is not None
    assert plan.best.replications == 5
