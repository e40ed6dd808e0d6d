"""Arrival processes: rate, gaps, and the same requests at every rate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from provisioner.domain.trace import RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.traces import Gamma, Poisson, Recorded, RequestSequence, SizeTable, arrivals_s, generate
from provisioner.traces.seeds import streams


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


SIZES = SizeTable(ints(10, 100, 1000, 5000), ints(400, 30, 20, 1), ints(1, 2, 3, 4))
OTHER = SizeTable(ints(7, 8), ints(9, 10), ints(1, 1))
TRACE = RequestTrace(np.array([1.0, 1.5, 4.0, 6.0]), ints(1, 2, 3, 4), ints(5, 6, 7, 8))


def same(left: RequestTrace, right: RequestTrace) -> bool:
    names = ("arrival_s", "prompt_tokens", "output_tokens")
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in names)


class TestPoisson:
    def test_rate_and_gaps(self):
        times = arrivals_s(Poisson(), 50.0, 4000.0, np.random.default_rng(7))
        assert len(times) == pytest.approx(200_000, abs=4 * np.sqrt(200_000))
        gaps = np.diff(times, prepend=0.0)
        assert gaps.std() / gaps.mean() == pytest.approx(1.0, abs=4 / np.sqrt(200_000))
        assert stats.kstest(gaps[:20_000], stats.expon(scale=1 / 50).cdf).pvalue > 0.01

    def test_counts_of_equal_windows_have_the_variance_of_their_mean(self):
        times = arrivals_s(Poisson(), 50.0, 4000.0, np.random.default_rng(8))
        counts = np.bincount(times.astype(np.int64), minlength=4000)
        assert counts.var() / counts.mean() == pytest.approx(1.0, abs=4 * np.sqrt(2 / 4000))

    def test_all_before_the_end(self):
        times = arrivals_s(Poisson(), 100.0, 10.0, np.random.default_rng(1))
        assert 0 < times[0] < times[-1] < 10.0


class TestGamma:
    @pytest.mark.parametrize("cv", [0.1, 0.5, 1.0, 2.0, 4.0])
    def test_rate_and_coefficient_of_variation(self, cv):
        times = arrivals_s(Gamma(cv), 50.0, 8000.0, np.random.default_rng(11))
        n = 400_000
        assert len(times) == pytest.approx(n, abs=4 * cv * np.sqrt(n))
        gaps = np.diff(times)
        kurtosis = 3 + 6 * cv**2
        error = np.sqrt((kurtosis - 1) / 4 + cv**2) / np.sqrt(n)  # of std / mean, to first order
        assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=5 * error)

    def test_with_cv_1_it_is_poisson(self):
        times = arrivals_s(Gamma(1.0), 50.0, 400.0, np.random.default_rng(5))
        assert stats.kstest(np.diff(times, prepend=0.0), stats.expon(scale=1 / 50).cdf).pvalue > 0.01

    def test_measuring_starts_anywhere(self):
        """The mean number of arrivals is exact from the start on, not too high by (cv^2 - 1) / 2."""
        counts = [len(arrivals_s(Gamma(4.0), 1.0, 20.0, np.random.default_rng(seed))) for seed in range(4000)]
        error = np.std(counts) / np.sqrt(len(counts))
        assert np.mean(counts) == pytest.approx(20.0, abs=4 * error)
        assert 4 * error < 7.5 / 2

    def test_the_azure_burstiness(self):
        trace = generate(SIZES, 70.0, 1200.0, 0, arrivals=Gamma(13.2))
        gaps = np.diff(trace.arrival_s)
        assert 9 < gaps.std() / gaps.mean() < 18

    @pytest.mark.parametrize("cv", [0.0, -1.0, 0.009, 100.1, np.nan, np.inf])
    def test_range(self, cv):
        with pytest.raises(InputError) as caught:
            Gamma(cv)
        (fault,) = caught.value.faults
        assert (fault.problem, fault.field, fault.allowed) == ("out of range", "cv", "0.01 to 100")

    @pytest.mark.parametrize("cv", [0.01, 100.0])
    def test_ends_of_the_range(self, cv):
        assert len(generate(SIZES, 100.0, 100.0, 0, arrivals=Gamma(cv))) > 0


class TestRecorded:
    def test_scaled_to_a_rate(self):
        """Three gaps in 5 s are 0.6 RPS; at 1.2 RPS everything takes half the time."""
        assert Recorded(TRACE).rate_rps == pytest.approx(0.6)
        trace = RequestSequence.recorded(TRACE).at_rate(1.2, 10.0)
        assert trace.arrival_s == pytest.approx([0.5, 0.75, 2.0, 3.0])
        assert trace.prompt_tokens.tolist() == [1, 2, 3, 4]
        assert trace.output_tokens.tolist() == [5, 6, 7, 8]

    def test_cut(self):
        trace = RequestSequence.recorded(TRACE).at_rate(1.2, 2.0)
        assert trace.prompt_tokens.tolist() == [1, 2]

    def test_its_own_rate(self):
        trace = RequestSequence.recorded(TRACE).at_rate(Recorded(TRACE).rate_rps, 100.0)
        assert trace.arrival_s == pytest.approx(TRACE.arrival_s, rel=1e-15)

    def test_it_ends_where_the_recording_ends(self):
        sequence = RequestSequence.recorded(TRACE)
        assert [len(sequence.at_rate(1.2, duration_s)) for duration_s in (100.0, 0.1, 1e6)] == [4, 0, 4]

    def test_its_arrivals_with_other_lengths(self):
        trace = generate(OTHER, 1.2, 10.0, 0, arrivals=Recorded(TRACE))
        assert trace.arrival_s == pytest.approx([0.5, 0.75, 2.0, 3.0])
        assert set(trace.prompt_tokens.tolist()) <= {7, 8}

    @pytest.mark.parametrize("times", [[], [1.0], [2.0, 2.0], [0.0, 5e-324]])
    def test_no_rate(self, times):
        n = len(times)
        trace = RequestTrace(np.array(times), np.ones(n, dtype=np.int64), np.ones(n, dtype=np.int64))
        with pytest.raises(InputError) as caught:
            RequestSequence.recorded(trace)
        assert caught.value.faults == (
            Fault(
                problem="a recording without a rate",
                field="arrivals",
                value=f"{n} requests, all at the same time",
                allowed="two arrival times or more",
            ),
        )


class TestCommonRandomNumbers:
    @pytest.mark.parametrize("arrivals", [Poisson(), Gamma(3.0), Gamma(0.3), Recorded(TRACE)])
    def test_a_higher_rate_has_the_same_requests_and_then_more(self, arrivals):
        sequence = RequestSequence.drawn(SIZES, seed=4, arrivals=arrivals)
        traces = [sequence.at_rate(rate_rps, 120.0) for rate_rps in (30.0, 70.0, 80.0)]
        for slow, fast in pairwise(traces):
            n = len(slow)
            assert n <= len(fast)
            assert np.array_equal(slow.prompt_tokens, fast.prompt_tokens[:n])
            assert np.array_equal(slow.output_tokens, fast.output_tokens[:n])
        assert traces[1].arrival_s == pytest.approx(traces[2].arrival_s[: len(traces[1])] * 80 / 70, rel=1e-12)

    @given(st.lists(st.tuples(st.floats(0.1, 300.0), st.floats(0.1, 100.0)), min_size=1, max_size=6))
    def test_what_was_asked_before_changes_nothing(self, asked):
        sequence = RequestSequence.drawn(SIZES, seed=9)
        for rate_rps, duration_s in asked:
            trace = sequence.at_rate(rate_rps, duration_s)
            assert same(trace, generate(SIZES, rate_rps, duration_s, 9))
            assert np.all(trace.arrival_s < duration_s)

    def test_earlier_traces_stay_as_they_were(self):
        sequence = RequestSequence.drawn(SIZES, seed=9)
        short = sequence.at_rate(10.0, 10.0)
        copy = [short.arrival_s.copy(), short.prompt_tokens.copy(), short.output_tokens.copy()]
        sequence.at_rate(100.0, 1000.0)
        assert same(short, RequestTrace(*copy))

    def test_a_long_sequence_starts_with_a_short_one(self):
        short, long = generate(SIZES, 70.0, 10.0, 1), generate(SIZES, 70.0, 600.0, 1)
        assert np.array_equal(short.arrival_s, long.arrival_s[: len(short)])
        assert len(long) > 4 * 4096  # several blocks


class TestSeeds:
    def test_same_seed_same_arrays(self):
        assert same(generate(SIZES, 70.0, 60.0, 3, 2), generate(SIZES, 70.0, 60.0, 3, 2))

    def test_known_values(self):
        """Guards users' saved results against a silent change of the streams."""
        trace = generate(SIZES, 1.0, 6.0, 0)
        assert trace.arrival_s == pytest.approx(KNOWN_ARRIVALS, rel=1e-12)
        assert trace.prompt_tokens.tolist() == KNOWN_PROMPTS

    def test_other_lengths_meet_the_same_arrivals(self):
        one, other = generate(SIZES, 70.0, 60.0, 3), generate(OTHER, 70.0, 60.0, 3)
        assert np.array_equal(one.arrival_s, other.arrival_s)

    @pytest.mark.parametrize("arrivals", [Gamma(2.0), Recorded(TRACE)])
    def test_other_arrivals_meet_the_same_lengths(self, arrivals):
        one, other = generate(SIZES, 70.0, 60.0, 3), generate(SIZES, 70.0, 60.0, 3, arrivals=arrivals)
        n = min(len(one), len(other))
        assert n > 0
        assert np.array_equal(one.prompt_tokens[:n], other.prompt_tokens[:n])
        assert np.array_equal(one.output_tokens[:n], other.output_tokens[:n])

    def test_seeds_and_replications_are_independent(self):
        draws = {}
        for seed in range(3):
            for replication in range(3):
                for name, generator in streams(seed, replication)._asdict().items():
                    draws[seed, replication, name] = generator.random(2000)
        correlations = np.corrcoef(list(draws.values())) - np.eye(len(draws))
        assert np.abs(correlations).max() < 5 / np.sqrt(2000)

    def test_they_are_spawned_children(self):
        child = np.random.SeedSequence(5).spawn(3)[2].spawn(2)
        expected = [np.random.Generator(np.random.PCG64(stream)).random() for stream in child]
        assert [generator.random() for generator in streams(5, 2)] == expected

    @pytest.mark.parametrize(
        ("seed", "replication", "fields"),
        [(-1, 0, ["seed"]), (0, 2**32, ["replication"]), (2**128, -1, ["seed", "replication"])],
    )
    def test_range(self, seed, replication, fields):
        with pytest.raises(InputError) as caught:
            streams(seed, replication)
        assert [fault.field for fault in caught.value.faults] == fields


class TestBounds:
    @pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
    def test_rate_and_duration(self, value):
        with pytest.raises(InputError) as caught:
            generate(SIZES, value, value, 0)
        allowed = "a finite number above 0"
        assert [(fault.problem, fault.field, fault.allowed) for fault in caught.value.faults] == [
            ("out of range", "rate_rps", allowed),
            ("out of range", "duration_s", allowed),
        ]

    @pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
    def test_arrivals_alone(self, value):
        with pytest.raises(InputError):
            arrivals_s(Poisson(), value, 1.0, np.random.default_rng(0))

    def test_arrivals_of_a_recording_alone(self):
        times = arrivals_s(Recorded(TRACE), 1.2, 100.0, np.random.default_rng(0))
        assert times == pytest.approx([0.5, 0.75, 2.0, 3.0])

    def test_too_many_requests(self):
        with pytest.raises(InputError) as caught:
            generate(SIZES, 1e6, 120.0, 0)
        assert caught.value.faults == (
            Fault(
                problem="too many requests",
                field="rate_rps",
                value=1e6,
                allowed="up to 50,000,000 requests, the rate times the 120 s",
            ),
        )

    def test_no_request_in_a_short_time(self):
        assert len(generate(SIZES, 1e-6, 1.0, 0)) == 0


KNOWN_ARRIVALS = [
    1.0545469102572156,
    3.380800146904183,
    3.5869273506719015,
    3.7508616749139,
    4.983272643663541,
    5.976655047364237,
]
KNOWN_PROMPTS = [1000, 5000, 100, 1000, 5000, 5000]
