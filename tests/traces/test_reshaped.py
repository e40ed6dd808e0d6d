"""Demands made from others: a rate for each hour, and runs drawn from a recording."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from provisioner.domain.trace import RequestTrace
from provisioner.errors import InputError
from provisioner.traces import Drawn, Gamma, Hourly, Poisson, Replayed, Resampled, SizeTable

ONE = np.ones(1, dtype=np.int64)
SIZES = SizeTable(ONE * 10, ONE * 5, ONE)
DAY_S = 6 * 3600.0


def ramp(n: int) -> RequestTrace:
    """Gap *i* is i seconds, and the request at its end has i prompt tokens."""
    return RequestTrace(np.cumsum(np.arange(n, dtype=np.float64)), np.arange(n) + 1, np.full(n, 7))


class TestHourly:
    def test_each_hour_has_its_rate(self) -> None:
        """Proportions 1, 0, 3 twice over, at 2 RPS in the mean: 1.5, 0 and 4.5 RPS."""
        trace = Hourly(Drawn(SIZES, 0, Poisson()), (1, 0, 3), DAY_S).trace(0, 2.0, DAY_S)
        counts = np.histogram(trace.arrival_s, bins=6, range=(0, DAY_S))[0]
        wanted = np.array([1.5, 0, 4.5, 1.5, 0, 4.5]) * 3600
        assert np.all(np.abs(counts - wanted) <= 4 * np.sqrt(wanted))

    def test_within_an_hour_it_is_poisson(self) -> None:
        """Given their number, arrivals of a Poisson process are uniform, and their gaps exponential."""
        trace = Hourly(Drawn(SIZES, 1, Poisson()), (1, 3), 7200.0).trace(0, 2.0, 7200.0)
        busy = trace.arrival_s[trace.arrival_s > 3600]
        assert stats.kstest(busy, stats.uniform(3600, 3600).cdf).pvalue > 0.01
        gaps = np.diff(busy)
        assert gaps.std() / gaps.mean() == pytest.approx(1.0, abs=4 / np.sqrt(len(gaps)))

    def test_bursts_stay(self) -> None:
        trace = Hourly(Drawn(SIZES, 1, Gamma(4.0)), (1, 1), 7200.0).trace(0, 20.0, 7200.0)
        gaps = np.diff(trace.arrival_s)
        assert gaps.std() / gaps.mean() == pytest.approx(4.0, rel=0.15)

    def test_equal_rates_change_nothing(self) -> None:
        plain = Drawn(SIZES, 3, Poisson())
        trace = Hourly(plain, (5, 5, 5), 4000.0).trace(2, 3.0, 4000.0)
        assert trace.arrival_s == pytest.approx(plain.trace(2, 3.0, 4000.0).arrival_s, rel=1e-12)

    def test_by_hand(self) -> None:
        """Requests every half hour, one an hour in the first and three in the second: at 1 h, 1 h 20, 1 h 40, ..."""
        times = np.array([0.0, 1800.0, 3600.0, 5400.0])
        recorded = Replayed(RequestTrace(times, np.full(4, 9), np.full(4, 9)), 1 / 1800)
        trace = Hourly(recorded, (1, 3), 7200.0).trace(0, 1 / 1800, 7200.0)
        assert trace.arrival_s == pytest.approx([0.0, 3600.0, 4800.0, 6000.0])

    @given(st.lists(st.floats(0, 5), min_size=1, max_size=5), st.floats(100, 40_000), st.floats(0.001, 0.5))
    def test_the_mean_is_the_rate_asked_for(self, rates: list[float], span_s: float, rate_rps: float) -> None:
        """The clock maps the span onto itself, so as many requests come as without it."""
        plain = Drawn(SIZES, 3, Poisson())
        try:
            trace = Hourly(plain, rates, span_s).trace(0, rate_rps, span_s)
        except InputError:
            hours = int(np.ceil(span_s / 3600))
            assert sum(np.resize(rates, hours)) < 1e-6
            return
        assert abs(len(trace) - len(plain.trace(0, rate_rps, span_s))) <= 1
        assert np.all(trace.arrival_s < span_s)

    @pytest.mark.parametrize("rates", [(), (0.0,), (-1.0, 2.0), (float("nan"),), (0.0, 1.0), (1.0,) * 9000])
    def test_refused(self, rates: tuple[float, ...]) -> None:
        with pytest.raises(InputError) as caught:
            Hourly(Drawn(SIZES, 0, Poisson()), rates, 3000.0)
        assert caught.value.faults[0].field == "--arrivals"


class TestResampled:
    def test_runs_keep_gaps_and_lengths_together(self) -> None:
        """Each gap of the ramp stands before its own request, and is followed by the next within a run."""
        recorded = ramp(50)
        own_rps = 49 / recorded.span_s
        trace = Resampled(recorded, 0, 7).trace(0, own_rps, 20_000.0)
        gaps = np.diff(trace.arrival_s, prepend=0.0)
        assert gaps == pytest.approx(trace.prompt_tokens - 1.0, abs=1e-6)
        steps = np.diff(trace.prompt_tokens)
        inside = np.arange(1, len(steps) + 1) % 7 != 0
        assert set(steps[inside].tolist()) <= {1, -48}  # the recording is a circle

    def test_rate_and_burstiness(self) -> None:
        rng = np.random.default_rng(2)
        gaps = rng.gamma(1 / 9, 9, 4000)
        recorded = RequestTrace(np.cumsum(gaps), rng.integers(1, 99, 4000), np.ones(4000, dtype=np.int64))
        demand = Resampled(recorded, 5, 100)
        traces = [demand.trace(replication, 10.0, 2000.0) for replication in range(10)]
        counts = [len(trace) for trace in traces]
        assert np.mean(counts) == pytest.approx(20_000, rel=0.05)
        assert len(set(counts)) > 1
        cvs = [np.diff(trace.arrival_s).std() / np.diff(trace.arrival_s).mean() for trace in traces]
        own = np.diff(recorded.arrival_s)
        assert np.mean(cvs) == pytest.approx(own.std() / own.mean(), rel=0.05)

    def test_common_random_numbers(self) -> None:
        demand = Resampled(ramp(50), 3, 7)
        slow, fast = demand.trace(1, 1.0, 100.0), demand.trace(1, 2.0, 100.0)
        assert slow.arrival_s == pytest.approx(fast.arrival_s[: len(slow)] * 2)
        assert np.array_equal(slow.prompt_tokens, fast.prompt_tokens[: len(slow)])
        again = Resampled(ramp(50), 3, 7).trace(1, 1.0, 100.0)
        assert np.array_equal(slow.arrival_s, again.arrival_s)

    @pytest.mark.parametrize(("recorded", "run"), [(ramp(50), 0), (ramp(50), 2_000_000), (ramp(1), 1), (ramp(2), 1)])
    def test_refused(self, recorded: RequestTrace, run: int) -> None:
        if recorded.span_s == 1.0:
            assert len(Resampled(recorded, 0, run).trace(0, 1.0, 10.0)) > 5
            return
        with pytest.raises(InputError):
            Resampled(recorded, 0, run)
