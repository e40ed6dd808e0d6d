"""The fit: it recovers what made the points, whatever repeats, noise and outliers there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provisioner.errors import InputError
from provisioner.perf import PerformanceModel, Points, fit, plausible
from provisioner.perf.fit import MAX_KNOTS, MAX_SHAPES, pooled
from provisioner.perf.shapes import medians, numbered


def points(rows: Any, **names: Any) -> Points:
    columns = np.array(rows, dtype=float).reshape(-1, 5).T
    fields: dict[str, Any] = {"model": "m", "machine": "box", "tensor_parallel": 8} | names
    return Points(
        prompt_tokens=columns[0],
        batch=columns[1],
        output_tokens=columns[2],
        prefill_s=columns[3],
        decode_s=columns[4],
        **fields,
    )


def measure(model: PerformanceModel, shapes: list[tuple[int, int, int]]) -> Points:
    """What a profiler without noise would see of `model`."""
    lengths = np.array(shapes, dtype=float)
    blank = np.full((len(shapes), 2), 1.0)
    bare = points(np.hstack([lengths, blank]))
    prefill, decode = model.prefill_s(bare.total_tokens), model.decode_s(bare.batch, bare.context_tokens)
    return points(np.column_stack([lengths, prefill, decode]))


SWEEP = [(n, 1, 128) for n in (128, 256, 512, 1024, 2048, 4096)] + [(512, b, 128) for b in (2, 4, 8, 16)]


@st.composite
def models(draw: st.DrawFn) -> PerformanceModel:
    """Monotone models with knots where `SWEEP` measures."""

    def rising(start: float, n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        steps = draw(st.lists(st.floats(0.0, 0.5), min_size=n - 1, max_size=n - 1))
        return start + np.concatenate([[0.0], np.cumsum(steps)])

    start = draw(st.floats(0.6, 2.0))  # large enough to lead to something positive at one token
    return PerformanceModel(
        model="m",
        machine="box",
        tensor_parallel=8,
        prefill_tokens=np.array([128.0, 256, 512, 1024, 2048, 4096, 8192]),
        prefill_seconds=rising(start, 7),
        decode_batch=np.array([1.0, 2, 4, 8, 16]),
        decode_seconds=rising(draw(st.floats(0.01, 1.0)), 5),
        gamma_s_per_token=draw(st.floats(0.0, 1e-4)),
    )


@given(models())
@settings(max_examples=60)
def test_it_recovers_the_model_that_made_the_points(model: PerformanceModel) -> None:
    found = fit(measure(model, SWEEP))
    assert found.prefill_tokens.tolist() == model.prefill_tokens.tolist()
    assert found.decode_batch.tolist() == model.decode_batch.tolist()
    np.testing.assert_allclose(found.prefill_seconds, model.prefill_seconds, rtol=1e-7)
    np.testing.assert_allclose(found.decode_seconds, model.decode_seconds, rtol=1e-7)
    assert found.gamma_s_per_token == pytest.approx(model.gamma_s_per_token, rel=1e-6, abs=1e-12)
    assert found.max_context_tokens == 16 * (512 + 64)


rows_of_anything = st.lists(
    st.tuples(
        st.integers(1, 10**9),
        st.integers(1, 10**9),
        st.integers(0, 10**9),
        st.floats(1e-9, 1e6) | st.just(np.nan),
        st.floats(1e-9, 1e6) | st.just(np.nan),
    ),
    min_size=1,
    max_size=30,
)
nearby = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 5), st.integers(0, 3), st.floats(0.01, 0.09), st.floats(0.01, 0.09)),
    min_size=1,
    max_size=60,
)


@given(rows_of_anything | nearby)
@settings(max_examples=300)
def test_whatever_was_measured_times_are_positive_and_never_decrease(rows: list[tuple[float, ...]]) -> None:
    try:
        found = fit(points(rows))
    except InputError:  # a phase that was not measured
        return
    assert np.all(np.diff(found.prefill_seconds) >= 0)
    assert np.all(np.diff(found.decode_seconds) >= 0)
    assert found.gamma_s_per_token >= 0
    assert found.prefill_s(1.0) > 0
    assert found.decode_s(1.0, 0.0) > 0


def test_repeats_count_by_their_median() -> None:
    repeats = [(100, 1, 10, seconds, 0.01) for seconds in (0.1, 0.2, 0.9)]
    found = fit(points([*repeats, (200, 1, 10, 0.3, 0.01)]))
    np.testing.assert_allclose(found.prefill_seconds, [0.2, 0.3])
    assert fit(points(repeats * 7)).prefill_s(100.0) == pytest.approx(0.2)


def test_two_shapes_of_equal_tokens_meet_between() -> None:
    found = fit(points([(400, 1, 0, 0.10, 0.01), (100, 4, 0, 0.12, 0.01)]))
    assert found.prefill_s(400.0) == pytest.approx((10 + 1 / 0.12) / (100 + 1 / 0.12**2))


def test_a_dip_is_levelled() -> None:
    found = fit(points([(100, 1, 0, 0.2, 0.1), (200, 1, 0, 0.19, 0.1), (400, 1, 0, 0.3, 0.1)]))
    np.testing.assert_allclose(found.prefill_seconds[:2], found.prefill_seconds[0])
    assert 0.19 < found.prefill_seconds[0] < 0.2


def test_context_costs_nothing_where_it_was_not_varied() -> None:
    found = fit(points([(512, b, 128, b * 0.1, 0.03 + b * 0.001) for b in (1, 2, 4)]))
    assert found.gamma_s_per_token == 0.0
    np.testing.assert_allclose(found.decode_seconds, [0.031, 0.032, 0.034])


def test_a_batch_that_ran_in_parts_is_left_out_of_both_phases() -> None:
    measured = points(
        [
            (512, 8, 128, 0.6, 0.040),
            (512, 16, 128, 1.2, 0.042),
            (512, 32, 128, 2.4, 0.052),
            (512, 64, 128, 0.36, 0.042),
        ]
    )
    assert plausible(measured).tolist() == [True, True, True, False]
    assert fit(measured).decode_batch.tolist() == [8, 16, 32]


def test_long_prompts_may_cost_more_than_many_short_ones() -> None:
    assert plausible(points([(8192, 1, 1, 9.0, 0.1), (128, 128, 1, 2.0, 0.1)])).all()


def test_a_steep_first_segment_is_anchored_at_one_token() -> None:
    found = fit(points([(1000, 2, 10, 0.1, 0.1), (2000, 4, 10, 0.5, 0.4)]))
    assert found.prefill_tokens.tolist() == [1, 2000, 8000]
    assert found.prefill_s(1.0) == pytest.approx(0.1 / 2000)
    assert found.decode_s(1.0, 0.0) == pytest.approx(0.05)


def test_a_phase_that_was_not_measured_is_told() -> None:
    with pytest.raises(InputError) as caught:
        fit(points([(100, 1, 10, np.nan, np.nan)]))
    assert [(fault.problem, fault.field, fault.value) for fault in caught.value.faults] == [
        ("no prefill_s was measured", "prefill_s", "m/box/tp8"),
        ("no decode_s was measured", "decode_s", "m/box/tp8"),
    ]


def test_many_different_lengths_are_taken_together() -> None:
    rng = np.random.default_rng(0)
    prompt, output = rng.integers(1, 8000, 20_000), rng.integers(1, 500, 20_000)
    batch = rng.integers(1, 200, 20_000)
    noise = rng.lognormal(0.0, 0.02, (2, 20_000))
    prefill = (0.03 + prompt * batch * 1e-4) * noise[0]
    decode = (0.03 + batch * 1e-4 + batch * (prompt + output / 2) * 1e-7) * noise[1]
    measured = points(np.column_stack([prompt, batch, output, prefill, decode]))
    assert len(pooled(measured)) <= MAX_SHAPES
    found = fit(measured)
    assert max(len(found.prefill_tokens), len(found.decode_batch)) <= MAX_KNOTS + 1
    assert found.gamma_s_per_token == pytest.approx(1e-7, rel=0.05)
    assert found.prefill_s(50_000.0) == pytest.approx(5.03, rel=0.02)
    assert found.decode_s(64.0, 0.0) == pytest.approx(0.0364, rel=0.05)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.floats(-1e3, 1e3) | st.just(np.nan)),
        max_size=40,
    )
)
def test_medians_are_numpys(rows: list[tuple[int, float]]) -> None:
    keys = np.array([row[0] for row in rows], dtype=float)[:, None]
    values = np.array([row[1] for row in rows])
    count, number = numbered(keys)
    expected = []
    for key in np.unique(keys):
        measured = values[(keys[:, 0] == key) & ~np.isnan(values)]
        expected.append(np.median(measured) if measured.size else np.nan)
    np.testing.assert_array_equal(medians(values, number, count), expected)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((0, 1, 1, 1, 1), "prompts and batches count from 1, outputs from 0, all to 1e9"),
        ((1, 1, np.nan, 1, 1), "prompts and batches count from 1, outputs from 0, all to 1e9"),
        ((1, 1, 1, 0, 1), "measured times are from 1e-9 to 1e6 seconds"),
        ((1, 1, 1, 1, np.inf), "measured times are from 1e-9 to 1e6 seconds"),
    ],
)
def test_points_hold_what_can_be_measured(row: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        points([row])


def test_columns_of_points_are_of_one_length() -> None:
    column, short = np.ones(2), np.ones(1)
    with pytest.raises(ValueError, match="differ in length"):
        Points(
            model="m",
            machine="box",
            tensor_parallel=8,
            prompt_tokens=column,
            batch=column,
            output_tokens=column,
            prefill_s=column,
            decode_s=short,
        )
