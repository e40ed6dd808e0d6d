"""Descriptions: figures worked by hand, and numpy's and scipy's for what no hand can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from provisioner.domain.trace import RequestTrace
from provisioner.errors import InputError
from provisioner.traces import Description, Reading, describe, describe_trace, plain_csv
from provisioner.traces import distribution as distributions
from provisioner.traces.burstiness import GAP_EDGES_S, BurstinessMeter
from provisioner.traces.distribution import Distribution, PairStore
from provisioner.traces.rows import Intake
from tests.traces.conftest import Write
from tests.traces.shapes import SHAPES, Shape, each_shape

HEAD = "arrival_s,prompt_tokens,output_tokens\n"


def described(write: Write, *rows: tuple[float, int, int], reading: Reading | None = None) -> Description:
    return describe(write(HEAD + "".join(f"{at!r},{prompt},{output}\n" for at, prompt, output in rows)), reading)


class TestByHand:
    def test_arrivals(self, write: Write) -> None:
        """Gaps 0, 0, 3, 1: mean 1, variance (1 + 1 + 4 + 0) / 4."""
        found = described(write, *((at, 1, 1) for at in (2.0, 2.0, 2.0, 5.0, 6.0))).arrivals
        assert found is not None
        assert (found.span_s, found.rate_rps) == (4.0, 1.0)
        assert found.gap_cv == pytest.approx(1.5**0.5)
        assert (found.ties, found.most_at_once, found.smallest_gap_s) == (2, 3, 1.0)
        assert (found.peak_minute, found.quiet_minutes) == (None, None)

    def test_minutes(self, write: Write) -> None:
        """Minutes from the first request: 4, 1, 0 whole ones with 5 requests, and a part of a fourth with one."""
        times = (100.0, 101.0, 102.0, 159.0, 160.0, 281.0)
        found = described(write, *((at, 1, 1) for at in times)).arrivals
        assert found is not None
        assert found.per_minute.tolist() == [4, 1, 0, 1]
        assert found.peak_minute == pytest.approx(4 / (5 / 3))
        assert found.quiet_minutes == pytest.approx(1 / 3)

    def test_lengths(self, write: Write) -> None:
        found = described(write, (0, 10, 4), (1, 20, 3), (2, 20, 2), (3, 50, 1))
        assert found.prompt.values.tolist() == [10, 20, 50]
        assert found.prompt.counts.tolist() == [1, 2, 1]
        assert found.prompt.mean == 25.0
        assert found.prompt.std == pytest.approx((225 + 25 + 25 + 625) ** 0.5 / 2)
        assert found.prompt.percentiles((0, 50, 75, 100)) == {0: 10.0, 50: 20.0, 75: 27.5, 100: 50.0}
        assert found.spearman == pytest.approx(-4.5 / (4.5 * 5) ** 0.5)  # ranks 1, 2.5, 2.5, 4 against 4, 3, 2, 1

    def test_one_request(self, write: Write) -> None:
        found = described(write, (7, 10, 4))
        assert found.arrivals is not None
        assert (found.arrivals.span_s, found.arrivals.rate_rps, found.arrivals.gap_cv) == (0.0, None, None)
        assert (found.pearson, found.spearman) == (None, None)
        assert found.output.percentiles((1, 99.9)) == {1: 4.0, 99.9: 4.0}

    def test_clock_resets_are_counted_and_time_goes_on(self, write: Write) -> None:
        """Gaps 2, (reset by 6) 0, 3, (reset by 2) 0."""
        found = described(write, *((at, 1, 1) for at in (5, 7, 1, 4, 2)))
        assert (found.intake.steps_back, found.intake.largest_step_back_s) == (2, 6.0)
        assert found.arrivals is not None
        assert (found.arrivals.span_s, found.arrivals.ties) == (5.0, 2)

    def test_out_of_order_rows_can_be_sorted_first(self, write: Write) -> None:
        found = described(write, *((at, 1, 1) for at in (5, 7, 1, 4, 2)), reading=Reading(unordered="sort"))
        assert found.intake.steps_back == 2
        assert found.arrivals is not None
        assert (found.arrivals.span_s, found.arrivals.ties) == (6.0, 0)

    def test_nothing_is_left(self, write: Write) -> None:
        with pytest.raises(InputError) as caught:
            described(write, (0, 0, 0), (1, 5, 0))
        assert "no request is left of 2 rows" in caught.value.faults[0].problem

    @each_shape
    def test_every_kind(self, write: Write, shape: Shape) -> None:
        found = describe(write(shape.content), shape.reading)
        assert found.intake.kept == len(shape.rows)
        assert found.arrivals is not None
        assert found.arrivals.span_s == pytest.approx(shape.rows[-1][0] - shape.rows[0][0])
        assert found.prompt.mean == pytest.approx(np.mean([row[1] for row in shape.rows]))


class TestCaps:
    def test_lengths_that_pile_up_at_the_largest(self) -> None:
        lengths = np.concatenate((np.arange(1, 4000), np.full(80, 4096)))
        values, counts = np.unique(lengths, return_counts=True)
        assert Distribution(values, counts).cap == (4096, 80 / len(lengths))

    def test_within_a_token_or_two(self) -> None:
        """As the prompts of Azure's coding trace do, at 7,435 to 7,437."""
        values, counts = np.array([100, 7435, 7436, 7437]), np.array([900, 20, 60, 3])
        assert Distribution(values, counts).cap == (7437, 83 / 983)

    @pytest.mark.parametrize("counts", [[500, 1, 9], [500, 60, 100]])
    def test_no_cap(self, counts: list[int]) -> None:
        """Too few, or no more than just below."""
        assert Distribution(np.array([10, 995, 1000]), np.array(counts)).cap is None

    def test_lengths_that_are_all_the_same(self) -> None:
        assert Distribution(np.array([128]), np.array([1000])).cap is None


lengths = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 10_000_000)), min_size=1, max_size=60)


@given(lengths, st.integers(1, 7), st.sampled_from([1, 20, 2**18]))
def test_lengths_as_numpy_and_scipy_have_them(pairs: list[tuple[int, int]], block: int, dense: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributions, "_DENSE", dense)
        check_lengths(pairs, block)


def check_lengths(pairs: list[tuple[int, int]], block: int) -> None:
    store = PairStore()
    store._BLOCK = block  # type: ignore[misc]  # several blocks
    store._filled = block
    columns = np.array(pairs, dtype=np.int64).T
    for start in range(0, len(pairs), 5):
        store.add(columns[0, start : start + 5], columns[1, start : start + 5])
    assert len(store) == len(pairs)
    summary = store.summary()
    for axis, found in enumerate((summary.prompt, summary.output)):
        assert found.requests == len(pairs)
        assert found.mean == pytest.approx(columns[axis].mean())
        assert found.std == pytest.approx(columns[axis].std(), abs=1e-6)
        wanted = np.percentile(columns[axis], distributions.PERCENTILES)
        assert list(found.percentiles().values()) == pytest.approx(wanted.tolist())
    pearson, spearman = summary.pearson, summary.spearman
    if min(np.ptp(columns, axis=1)) == 0:
        assert (pearson, spearman) == (None, None)
    else:
        assert pearson == pytest.approx(np.corrcoef(columns)[0, 1], abs=1e-9)
        assert spearman == pytest.approx(stats.spearmanr(*columns).statistic, abs=1e-9)


gaps = st.lists(st.sampled_from([0.0, 0.0, 1e-6, 0.5, 3.0, 59.0, 200.0]) | st.floats(0, 1e5), min_size=1, max_size=60)


@given(gaps, st.integers(1, 9))
def test_arrivals_as_numpy_has_them_in_pieces_of_any_size(gap_s: list[float], size: int) -> None:
    times = 17.0 + np.cumsum(gap_s)
    meter = BurstinessMeter()
    for start in range(0, len(times), size):
        meter.add(times[start : start + size])
    found = meter.result()
    steps = np.diff(times)
    assert found.span_s == times[-1] - times[0]
    assert found.ties == np.count_nonzero(steps == 0)
    assert found.most_at_once == np.unique(times, return_counts=True)[1].max()
    if len(steps) > 1 and steps.mean() > 0:
        assert found.gap_cv == pytest.approx(steps.std() / steps.mean(), rel=1e-6, abs=1e-9)
    minutes = ((times - times[0]) // 60).astype(int)
    assert found.per_minute.tolist() == np.bincount(minutes).tolist()
    assert found.gap_counts.sum() == len(steps)
    below = [int(np.count_nonzero(steps < edge)) for edge in (1e-3, 1.01, 100.0)]
    edges = [int(np.argmin(np.abs(GAP_EDGES_S - edge))) for edge in (1e-3, 1.0, 100.0)]
    near = [int(found.gap_counts[:edge].sum()) for edge in edges]
    slack = [int(np.count_nonzero(np.abs(steps / edge - 1) < 0.02)) for edge in (1e-3, 1.0, 100.0)]
    assert all(abs(a - b) <= c for a, b, c in zip(below, near, slack, strict=True))


def test_a_file_and_its_trace_are_described_alike(write: Write) -> None:
    rng = np.random.default_rng(3)
    trace = RequestTrace(np.cumsum(rng.exponential(0.3, 5000)), rng.integers(1, 900, 5000), rng.integers(1, 90, 5000))
    ours, theirs = describe_trace(trace, Intake.of_drawn(5000)), describe(write(plain_csv(trace)))
    assert ours.arrivals is not None
    assert theirs.arrivals is not None
    assert ours.arrivals.gap_cv == pytest.approx(theirs.arrivals.gap_cv)
    assert (ours.pearson, ours.spearman) == (theirs.pearson, theirs.spearman)
    assert np.array_equal(ours.prompt.values, theirs.prompt.values)


@pytest.mark.parametrize("chunk_bytes", [1, 40, 256 * 2**10])
def test_pieces_of_any_size_give_the_same(write: Write, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int) -> None:
    monkeypatch.setattr("provisioner.traces.lines.CHUNK_BYTES", chunk_bytes)
    found = describe(write(SHAPES["burstgpt-1"].content))
    assert found.arrivals is not None
    assert (found.arrivals.span_s, found.intake.rows, found.intake.kept) == (113.0, 6, 3)


def test_memory_is_of_the_numbers_only(tmp_path: Path) -> None:
    """Half a million rows, 20 MB of text: 4 MB of numbers, and one block more at most."""
    import tracemalloc  # noqa: PLC0415

    path = tmp_path / "trace"
    with path.open("w") as file:
        file.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
        for row in range(500_000):
            clock = f"{row // 36_000:02}:{row // 600 % 60:02}:{row // 10 % 60:02}.{row % 10}00000"
            file.write(f"2024-05-10 {clock}+00:00,{row % 9000 + 1},7\n")
    tracemalloc.start()
    try:
        assert describe(path).intake.rows == 500_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30e6


def test_who_watches_is_told_of_every_byte(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("arrival_s,prompt_tokens,output_tokens\n" + "".join(f"{i},10,2\n" for i in range(20_000)))
    seen: list[int] = []
    describe(file, watch=seen.append)
    assert sum(seen) == file.stat().st_size
    assert len(seen) > 1
