"""Percentiles, latencies, slowdowns, intervals and the drift of the backlog, against numpy and by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.slo import Limit, SloSet
from provisioner.domain.trace import RequestTrace
from provisioner.metrics import (
    Latencies,
    Yardstick,
    alone,
    backlog_growth,
    binding,
    interval,
    latencies,
    percentiles,
    slo_results,
)
from provisioner.sim import Simulation
from tests.sim.worlds import mixed, performance, requests, split

pytestmark = pytest.mark.nojit

INF, NAN = math.inf, math.nan


def happened(trace: RequestTrace, first_token_s: Iterable[float], finish_s: Iterable[float]) -> Simulation:
    """A simulation in which just this happened."""
    nothing = mixed().simulate(1, 0, requests())
    return replace(nothing, trace=trace, first_token_s=np.array([*first_token_s]), finish_s=np.array([*finish_s]))


def slo(*limits: tuple[str, float, float], unit: str = "slowdown", **fields: Any) -> SloSet:
    made = [Limit.model_validate({"metric": m, "percentile": p, "limit": x, "unit": unit}) for m, p, x in limits]
    return SloSet(name="test", limits=tuple(made), **fields)


NINE = [(metric, percent, 2.0) for metric in ("ttft", "tbt", "e2e") for percent in (50.0, 90.0, 99.0)]


# Percentiles.


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60),
    st.one_of(st.floats(0, 100), st.sampled_from([50.0, 90.0, 95.0, 99.0, 99.9])),
)
def test_percentiles_are_numpys(values: list[float], percent: float) -> None:
    expected = float(np.percentile(values, percent))
    assert percentiles(np.array(values), [percent])[0] == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_percentiles_by_hand() -> None:
    values = np.array([4.0, 1.0, 3.0, 2.0])
    assert percentiles(values, (0, 25, 50, 90, 100)) == [1.0, 1.75, 2.5, 3.7, 4.0]
    assert percentiles(np.array([7.0]), [99]) == [7.0]
    assert values.tolist() == [4.0, 1.0, 3.0, 2.0]


def test_no_values_have_no_percentile() -> None:
    assert math.isnan(percentiles(np.array([]), [50])[0])


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([1.0, 2.0, INF], 50, 2.0),  # just at a finite value
        ([1.0, 2.0, INF], 51, INF),  # between it and an infinite one
        ([1.0, 2.0, INF], 99, INF),
        ([1.0, INF, INF], 50, INF),
        ([1.0, INF, INF], 75, INF),  # between two infinite ones
        ([INF], 50, INF),
        ([INF, 1.0], 0, 1.0),
        ([*range(100), INF], 99, 99.0),
        ([*range(99), INF, INF], 99, INF),
    ],
)
def test_infinite_values_count(values: list[float], percent: float, expected: float) -> None:
    assert percentiles(np.array(values, np.float64), [percent]) == [expected]


def test_a_percentile_just_at_a_finite_value_is_finite() -> None:
    assert percentiles(np.array([*range(1000), INF], np.float64), [99.9]) == [999.0]


# Latencies.


def test_the_three_times_of_a_request() -> None:
    # TTFT = first token - arrival, E2E = last token - arrival, TBT = what is between over the tokens after the first.
    trace = requests((1, 100, 5), (2, 100, 2), (3, 100, 1))
    simulation = happened(trace, [1.5, 2.25, 4.0], [3.5, 2.75, 4.0])
    times = latencies(simulation, slo(*NINE))
    assert times.ttft.tolist() == [0.5, 0.25, 1.0]
    assert times.e2e.tolist() == [2.5, 0.75, 1.0]
    assert times.tbt[:2].tolist() == [0.5, 0.5]
    assert math.isnan(times.tbt[2])
    assert times.of("tbt").tolist() == [0.5, 0.5]
    assert times.of("ttft").tolist() == [0.5, 0.25, 1.0]
    assert times.of("e2e", slice(1, None)).tolist() == [0.75, 1.0]


def test_the_habit_of_dividing_by_all_output_tokens() -> None:
    simulation = happened(requests((1, 100, 5), (3, 100, 1)), [1.5, 4.0], [3.5, 4.0])
    times = latencies(simulation, slo(*NINE, tbt_counts_first_token=True))
    assert times.tbt[0] == 0.4
    assert math.isnan(times.tbt[1])


def test_what_never_happens_takes_for_ever() -> None:
    # A never gets its first token, B never its last; C has but one, which has no TBT even so.
    trace = requests((1, 100, 5), (2, 100, 2), (3, 100, 1))
    times = latencies(happened(trace, [INF, 2.25, INF], [INF, INF, INF]), slo(*NINE))
    assert times.ttft.tolist() == [INF, 0.25, INF]
    assert times.e2e.tolist() == [INF, INF, INF]
    assert times.tbt[:2].tolist() == [INF, INF]
    assert math.isnan(times.tbt[2])


# Slowdowns.


def test_what_a_request_takes_alone() -> None:
    # Prompt 100: 0.1 s. An iteration of one at half the output, context 100 + 20 / 2: 0.05 + 110 x 0.001 = 0.16.
    reference = performance(decode=((1, 0.05), (2, 0.06)), gamma=0.001)
    times = alone(requests((0, 100, 20)), reference, slo(*NINE))
    assert times.ttft == pytest.approx([0.1])
    assert times.tbt == pytest.approx([0.16])
    assert times.e2e == pytest.approx([0.1 + 19 * 0.16])


def test_what_a_request_takes_alone_by_the_habit_of_the_papers_simulator() -> None:
    # The decode time is asked with the prompt's tokens as the batch: 0.05 + 99 x 0.01 = 1.04.
    reference = performance(decode=((1, 0.05), (2, 0.06)), gamma=0.001)
    times = alone(requests((0, 100, 20)), reference, slo(*NINE, tbt_reference="prompt_as_batch"))
    assert times.tbt == pytest.approx([1.04])
    assert times.e2e == pytest.approx([0.1 + 19 * 1.04])


def test_slowdowns_and_seconds_by_hand() -> None:
    # Alone: TTFT 0.1, 0.2, 0.4; TBT 0.1 each; E2E 0.3, 0.4, 0.4. The third has no TBT.
    trace = requests((0, 100, 3), (1, 200, 3), (2, 400, 1))
    simulation = happened(trace, [0.2, 1.2, 3.2], [0.6, 1.8, 3.2])
    limits = [("ttft", 50.0, 2.0), ("tbt", 50.0, 2.0), ("e2e", 50.0, 2.0), ("ttft", 90.0, 2.0)]
    slowdowns = Yardstick(slo(*limits), trace, performance()).values(simulation)
    # TTFT 2, 1, 3; TBT 2, 3; E2E 2, 2, 3.
    assert slowdowns == pytest.approx([2.0, 2.5, 2.0, 2.8])
    seconds = Yardstick(slo(*limits, unit="s"), trace, performance()).values(simulation)
    # TTFT 0.2, 0.2, 1.2; TBT 0.2, 0.3; E2E 0.6, 0.8, 1.2.
    assert seconds == pytest.approx([0.2, 0.25, 0.8, 0.2 + 0.8 * 1.0])


def test_requests_before_the_measuring_do_not_count() -> None:
    trace = requests((0, 100, 3), (1, 100, 3), (2, 100, 3))
    simulation = happened(trace, [9.0, 1.1, 2.3], [9.9, 1.3, 2.5])
    limits = slo(("ttft", 99.0, 1.0), unit="s")
    yardstick = Yardstick(limits, trace, performance(), since_s=1.0)
    assert yardstick.values(simulation) == pytest.approx([0.1 + 0.99 * 0.2])
    assert yardstick.values(simulation, since_s=2.0) == pytest.approx([0.3])
    assert yardstick.values(simulation, since_s=0.0) == pytest.approx([0.3 + 0.98 * 8.7])
    assert math.isnan(yardstick.values(simulation, since_s=5.0)[0])


def test_a_yardstick_measures_any_times() -> None:
    trace = requests((0, 100, 2), (1, 200, 2))
    times = Latencies(np.array([0.1, 0.4]), np.array([0.1, 0.1]), np.array([0.2, 0.5]))
    assert Yardstick(slo(("ttft", 50.0, 2.0)), trace, performance()).values_of(times) == pytest.approx([1.5])


# Intervals and verdicts.


def test_students_interval_by_hand() -> None:
    # 1, 2, 3, 4: mean 2.5, standard deviation 1.29099, of the mean 0.645497; t(0.975; 3) = 3.182446.
    ends = interval(np.array([1.0, 2.0, 3.0, 4.0]), 0.95)
    assert ends == pytest.approx((2.5 - 3.182446 * 0.6454972, 2.5 + 3.182446 * 0.6454972), rel=1e-6)
    # t(0.995; 3) = 5.840909.
    ends = interval(np.array([1.0, 2.0, 3.0, 4.0]), 0.99)
    assert ends == pytest.approx((2.5 - 5.840909 * 0.6454972, 2.5 + 5.840909 * 0.6454972), rel=1e-6)


def test_there_is_no_interval_of_one_value_or_of_infinite_ones() -> None:
    assert interval(np.array([1.0]), 0.95) is None
    assert interval(np.array([1.0, INF]), 0.95) is None
    assert interval(np.array([1.0, NAN]), 0.95) is None


def test_values_of_replications_are_pooled() -> None:
    results = slo_results(
        slo(("ttft", 50.0, 2.5), ("e2e", 50.0, 2.4)), [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]
    )
    assert [result.value for result in results] == [2.5, 2.5]
    assert results[0].ci95 == pytest.approx((0.445739, 4.554261), rel=1e-5)
    assert [result.met for result in results] == [True, False]
    assert [result.verdict for result in results] == ["met", "missed"]
    assert results[0].headroom == 0.0
    assert results[1].headroom == pytest.approx(1 - 2.5 / 2.4)
    assert binding(results) is results[1]
    assert results[0].limit.name == "ttft_p50"


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [(4.6, "met"), (4.5, "uncertain"), (2.5, "uncertain"), (0.5, "uncertain"), (0.4, "missed")],
)
def test_with_a_confidence_the_interval_decides(limit: float, verdict: str) -> None:
    # 2.5 +- 2.054.
    (result,) = slo_results(slo(("ttft", 50.0, limit)), [(1.0,), (2.0,), (3.0,), (4.0,)], confidence=0.95)
    assert result.verdict == verdict


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_replications_that_could_not_help_are_not_needed(confidence: float | None) -> None:
    # Two of four planned, summing to more than four times the limit: missed even if the others took no time.
    limits = slo(("ttft", 50.0, 2.0))
    (result,) = slo_results(limits, [(5.0,), (4.0,)], confidence, planned=4)
    assert result.verdict == "missed"
    # 7 of 8 leaves the others room, unless they take 1.5 at least.
    (result,) = slo_results(limits, [(5.0,), (2.0,)], 0.95, planned=4)
    assert result.verdict == "uncertain"
    (result,) = slo_results(limits, [(5.0,), (2.0,)], confidence, planned=4, to_come=np.array([1.5]))
    assert result.verdict == "missed"
    # So far no request had the metric, but in one of those to come none will ever finish.
    (result,) = slo_results(limits, [(np.nan,)], confidence, planned=2, to_come=np.array([np.inf]))
    assert result.verdict == "missed"


def test_one_replication_has_a_verdict_without_an_interval() -> None:
    (result,) = slo_results(slo(("ttft", 50.0, 2.0)), [(1.5,)])
    assert result.met
    assert result.ci95 is None
    (result,) = slo_results(slo(("ttft", 50.0, 2.0)), [(1.5,)], confidence=0.95)
    assert result.verdict == "uncertain"


def test_an_infinite_value_is_missed() -> None:
    for confidence in (None, 0.95):
        (result,) = slo_results(slo(("ttft", 50.0, 2.0)), [(1.0,), (INF,)], confidence=confidence)
        assert result.value == INF
        assert result.verdict == "missed"
        assert result.ci95 is None
        assert result.headroom == -INF


def test_a_metric_that_no_request_has_is_met() -> None:
    for confidence in (None, 0.95):
        (result,) = slo_results(slo(("tbt", 50.0, 2.0)), [(NAN,), (NAN,)], confidence=confidence)
        assert math.isnan(result.value)
        assert result.met
        assert result.headroom == 1.0


def test_a_replication_without_the_metric_does_not_hide_the_others() -> None:
    (result,) = slo_results(slo(("tbt", 50.0, 2.0)), [(NAN,), (8.0,), (9.0,)])
    assert result.value == 8.5
    assert result.verdict == "missed"
    assert result.ci95 == pytest.approx((8.5 - 12.7062 * 0.5, 8.5 + 12.7062 * 0.5), rel=1e-5)


# The backlog.


def test_a_backlog_by_hand() -> None:
    # One arrival each 0.1 s until 20 s, none finishes: 100 inside at 10 s, 200 at 20 s, 100 arrive between.
    trace = requests(*[(0.1 * i + 0.05, 10, 2) for i in range(200)])
    never = happened(trace, [INF] * 200, [INF] * 200)
    assert backlog_growth(never, 20.0, np.zeros(200)) == 1.0
    # Each second one finishes: 90 inside at 10 s, 180 at 20 s; they grow by 90 of 100.
    finish_s = np.where(np.arange(200) % 10 == 0, trace.arrival_s + 0.01, INF)
    assert backlog_growth(happened(trace, finish_s, finish_s), 20.0, np.zeros(200)) == pytest.approx(0.9)
    # Growth that each would cause alone is none: all take 15 s, so 100 are inside at 10 s and 150 at 20 s, anyway.
    slow_s = trace.arrival_s + 15
    assert backlog_growth(happened(trace, slow_s, slow_s), 20.0, np.full(200, 15.0)) == 0.0
    # Growth within four standard deviations of a count is noise: 18 inside at 10 s, 36 at 20 s, 18 < 4 sqrt(54).
    finish_s = np.where(np.arange(200) % 100 < 82, trace.arrival_s + 0.01, INF)
    assert backlog_growth(happened(trace, finish_s, finish_s), 20.0, np.zeros(200)) == 0.0


def test_without_arrivals_there_is_no_backlog() -> None:
    assert backlog_growth(happened(requests(), [], []), 10.0, np.zeros(0)) == 0.0
    # Nor with arrivals of the first half only.
    trace = requests((0, 10, 2), (1, 10, 2))
    assert backlog_growth(happened(trace, [INF, INF], [INF, INF]), 10.0, np.zeros(2)) == 0.0


@pytest.mark.parametrize(
    ("rho", "least", "most"), [(0.5, 0.0, 0.0), (0.9, 0.0, 0.0), (1.5, 0.25, 0.4), (3.0, 0.6, 0.7)]
)
def test_a_stable_cluster_has_no_growing_backlog_and_an_overloaded_one_has(
    rho: float, least: float, most: float
) -> None:
    # One prompt at a time, of 0.1 s each. In overload a share of 1 - 1 / rho of the arrivals stays behind.
    n = 400
    rng = np.random.default_rng(1)
    trace = RequestTrace(np.cumsum(rng.exponential(0.1 / rho, n)), np.full(n, 100), np.ones(n, np.int64))
    simulation = split(max_batch_requests=1, max_pending_tokens=10**9).simulate(1, 1, trace)
    growth = Yardstick(slo(*NINE), trace, performance()).growth(simulation, trace.span_s)
    assert least <= growth <= most
