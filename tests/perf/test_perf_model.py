"""The performance model, against values worked out by hand."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from provisioner.perf import PerformanceModel


def model(**changes: Any) -> PerformanceModel:
    fields: dict[str, Any] = {
        "model": "m",
        "machine": "box",
        "tensor_parallel": 8,
        "prefill_tokens": np.array([100.0, 200.0, 400.0]),
        "prefill_seconds": np.array([1.0, 2.0, 6.0]),
        "decode_batch": np.array([1.0, 4.0, 8.0]),
        "decode_seconds": np.array([0.1, 0.1, 0.3]),
        "gamma_s_per_token": 0.001,
    }
    return PerformanceModel(**(fields | changes))


@pytest.mark.parametrize(
    ("tokens", "seconds"),
    [
        (100.0, 1.0),
        (150.0, 1.5),
        (200.0, 2.0),
        (250.0, 3.0),
        (400.0, 6.0),
        (500.0, 8.0),  # the last segment: 0.02 s a token
        (50.0, 0.5),  # the first segment: 0.01 s a token
        (1.0, 0.01),
    ],
)
def test_prefill_is_linear_between_and_beyond_knots(tokens: float, seconds: float) -> None:
    assert model().prefill_s(tokens) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    ("batch", "context", "seconds"),
    [(1.0, 0.0, 0.1), (2.0, 100.0, 0.2), (6.0, 0.0, 0.2), (8.0, 1000.0, 1.3), (10.0, 10.0, 0.41)],
)
def test_decode_adds_the_context(batch: float, context: float, seconds: float) -> None:
    assert model().decode_s(batch, context) == pytest.approx(seconds, rel=1e-12)


def test_mixed_is_a_longer_prefill_of_prompts_and_decodes() -> None:
    assert model().mixed_s(200.0, 50.0, 1e6) == pytest.approx(1.1 * 3.0)
    assert model(mixed_factor=2.0).mixed_s(200.0, 50.0, 0.0) == pytest.approx(6.0)


def test_knots_are_met_exactly() -> None:
    times = model()
    assert times.prefill_s(times.prefill_tokens).tolist() == [1.0, 2.0, 6.0]
    assert times.decode_s(times.decode_batch, np.zeros(3)).tolist() == [0.1, 0.1, 0.3]


def test_a_single_knot_is_a_constant() -> None:
    times = model(prefill_tokens=np.array([100.0]), prefill_seconds=np.array([1.0]))
    assert [times.prefill_s(n) for n in (1.0, 100.0, 1e6)] == [1.0, 1.0, 1.0]


def test_arrays_of_any_shape_and_numbers_agree() -> None:
    n = np.array([[1.0, 150.0, 700.0], [100.0, 400.0, 399.0]])
    times = model().prefill_s(n)
    assert times.shape == n.shape
    assert times.tolist() == [[model().prefill_s(float(x)) for x in row] for row in n]
    assert type(model().prefill_s(7)) is float
    assert type(model().decode_s(7, 8)) is float


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tensor_parallel": 0}, "tensor_parallel must be at least 1"),
        ({"gamma_s_per_token": -1e-9}, "decode.gamma_s_per_token must be a number of at least 0"),
        ({"gamma_s_per_token": np.nan}, "decode.gamma_s_per_token must be a number of at least 0"),
        ({"mixed_factor": 0.0}, "mixed_factor must be a number above 0"),
        ({"prefill_seconds": np.ones(2)}, "prefill: as many seconds as tokens are needed, and at least one"),
        (
            {"decode_batch": np.empty(0), "decode_seconds": np.empty(0)},
            "decode: as many seconds as batch are needed, and at least one",
        ),
        (
            {"prefill_tokens": np.array([100.0, 100.0, 400.0])},
            "prefill.tokens must be positive, finite and increasing",
        ),
        ({"decode_batch": np.array([0.0, 1.0, 2.0])}, "decode.batch must be positive, finite and increasing"),
        ({"decode_batch": np.array([1.0, 2.0, np.inf])}, "decode.batch must be positive, finite and increasing"),
        ({"decode_seconds": np.array([0.1, 0.0, 0.3])}, "decode.seconds must be positive and finite"),
        ({"prefill_seconds": np.array([1.0, np.nan, 2.0])}, "prefill.seconds must be positive and finite"),
        (
            {"prefill_seconds": np.array([1.0, 3.0, 6.0])},
            "prefill: the first segment leads to a time of 0 or less at tokens = 1; a knot at 1 mends that",
        ),
    ],
)
def test_faulty_fields_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        model(**changes)
    assert str(caught.value) == message


def test_decreasing_knots_are_kept_as_they_stand() -> None:
    assert model(decode_seconds=np.array([0.1, 0.09, 0.3])).decode_s(4.0, 0.0) == pytest.approx(0.09)


def test_the_knots_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        model().prefill_seconds[0] = 2.0


def test_it_travels_between_processes() -> None:
    there = pickle.loads(pickle.dumps(model(max_context_tokens=5.0)))
    assert there.to_dict() == model().to_dict()
    assert there.max_context_tokens == 5.0


def test_to_dict_is_the_form_of_profile_show() -> None:
    assert model().to_dict() == {
        "model": "m",
        "machine": "box",
        "tensor_parallel": 8,
        "prefill": {"tokens": [100, 200, 400], "seconds": [1.0, 2.0, 6.0]},
        "decode": {"batch": [1, 4, 8], "seconds": [0.1, 0.1, 0.3], "gamma_s_per_token": 0.001},
        "mixed_factor": 1.1,
    }
    tokens = model(prefill_tokens=np.array([100.0, 200.5, 400.0])).to_dict()["prefill"]
    assert repr(tokens) == "{'tokens': [100, 200.5, 400], 'seconds': [1.0, 2.0, 6.0]}"
