"""Iteration times and runs of them: closed forms against sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.scheduling import Scheduling
from provisioner.perf.model import PerformanceModel
from provisioner.sim import Network, timing
from provisioner.sim.run import TABLE
from provisioner.sim.state import Timing
from tests.sim.inner import from_python
from tests.sim.strategies import examples, performances
from tests.sim.worlds import MODEL, design, machine, mixed, performance

decode_base_s = from_python(timing.decode_base_s)
decodes_s = from_python(timing.decodes_s)
interpolate = from_python(timing._interpolate)
decodes_within = from_python(timing.decodes_within)
prefill_s = from_python(timing.prefill_s)

pytestmark = pytest.mark.nojit

BASES = st.floats(1e-4, 10.0)
GAMMAS = st.one_of(st.just(0.0), st.floats(1e-9, 1e-2))
REQUESTS = st.integers(1, 40)
CONTEXTS = st.integers(2, 5000)


def ends_s(base_s: float, gamma: float, requests: int, context: int, iterations: int) -> list[float]:
    """When each iteration ends, summed one by one."""
    steps = [base_s + gamma * (context + requests * i) for i in range(iterations)]
    return [math.fsum(steps[: i + 1]) for i in range(iterations)]


def timing(*models: PerformanceModel) -> Timing:
    """The models as rows of one table, which pads the shorter ones."""
    boxes = [machine(f"box-{i}") for i in range(len(models))]
    by_name = {box.name: model for box, model in zip(boxes, models, strict=True)}
    return Network.of(design(boxes, Scheduling()), MODEL, by_name).timing


@given(BASES, GAMMAS, REQUESTS, CONTEXTS, st.integers(1, 200))
@examples(300)
def test_a_run_takes_the_sum_of_its_iterations(
    base_s: float, gamma: float, requests: int, context: int, iterations: int
) -> None:
    expected_s = ends_s(base_s, gamma, requests, context * requests, iterations)[-1]
    assert decodes_s(base_s, gamma, requests, context * requests, iterations) == pytest.approx(expected_s, rel=1e-12)


@given(BASES, GAMMAS, REQUESTS, CONTEXTS, st.floats(0, 1))
@examples(400)
def test_iterations_within_a_time_are_counted(
    base_s: float, gamma: float, requests: int, context: int, share: float
) -> None:
    context *= requests
    ends = [decodes_s(base_s, gamma, requests, context, k) for k in range(1, 61)]
    elapsed_s = share * ends[-1]
    complete = decodes_within(base_s, gamma, requests, context, elapsed_s)
    assert complete == sum(end <= elapsed_s for end in ends)
    summed = ends_s(base_s, gamma, requests, context, 60)
    assert all(end <= elapsed_s * (1 + 1e-12) for end in summed[:complete])
    assert all(end >= elapsed_s * (1 - 1e-12) for end in summed[complete:])


@given(BASES, GAMMAS, REQUESTS, CONTEXTS, st.integers(0, 300))
@examples(400)
def test_an_iteration_is_complete_at_its_very_end(
    base_s: float, gamma: float, requests: int, context: int, k: int
) -> None:
    # Neither one more nor one less than the formula that sets the run's end, to the last bit.
    context *= requests
    end_s = decodes_s(base_s, gamma, requests, context, k)
    assert decodes_within(base_s, gamma, requests, context, end_s) == k
    if k > 0:
        assert decodes_within(base_s, gamma, requests, context, math.nextafter(end_s, 0.0)) == k - 1


@pytest.mark.parametrize("gamma", [1e-30, 1e-20, 1e-15, 1e-12])
def test_contexts_that_cost_next_to_nothing_do_not_spoil_the_root(gamma: float) -> None:
    # (sqrt(l^2 + 2 g t) - l) / g cancels where g is tiny.
    assert decodes_within(0.03, gamma, 10, 1000, 3.0 + 1e-6) == 100
    assert decodes_within(0.03, gamma, 10, 1000, 0.0) == 0


def test_worked_by_hand() -> None:
    # f = 0.1, gamma = 0.001, two requests of context 10 and 20: 0.130, 0.132, 0.134.
    assert decodes_s(0.1, 0.001, 2, 30, 3) == pytest.approx(0.396)
    ends = [(0.0, 0), (0.1299, 0), (0.1301, 1), (0.2619, 1), (0.2621, 2), (0.3961, 3)]
    for elapsed_s, complete in ends:
        assert decodes_within(0.1, 0.001, 2, 30, elapsed_s) == complete
    # Without gamma in powers of two, where boundaries are exact.
    assert [decodes_within(0.25, 0.0, 2, 30, t) for t in (0.0, 0.25, 0.5, 0.74, 0.75)] == [0, 1, 2, 2, 3]


@given(performances(), performances(), st.integers(1, 5000), st.integers(1, 600))
@examples(200)
def test_the_kernel_reads_performance_models_as_they_are(
    first: PerformanceModel, second: PerformanceModel, tokens: int, requests: int
) -> None:
    table = timing(first, second)
    for kind, model in enumerate((first, second)):
        assert prefill_s(table, kind, tokens) == pytest.approx(model.prefill_s(float(tokens)), rel=1e-9)
        assert decode_base_s(table, kind, requests) == pytest.approx(model.decode_s(float(requests), 0.0), rel=1e-9)
    assert table.gamma.tolist() == [first.gamma_s_per_token, second.gamma_s_per_token]
    assert table.mixed_factor.tolist() == [first.mixed_factor, second.mixed_factor]


@given(performances(), st.lists(st.integers(0, 3 * TABLE), min_size=1, max_size=20))
@examples(200)
def test_what_is_looked_up_is_what_is_interpolated_to_the_last_bit(model: PerformanceModel, sizes: list[int]) -> None:
    table = timing(model)
    for size in (*sizes, 0, TABLE - 1, TABLE):
        assert prefill_s(table, 0, size) == interpolate(table, 0, float(size))
        assert decode_base_s(table, 0, size) == interpolate(table, 1, float(size))


@pytest.mark.parametrize(
    ("tokens", "seconds"), [(50, 0.5), (100, 1.0), (150, 1.5), (200, 2.0), (250, 3.0), (400, 6.0), (500, 8.0)]
)
def test_interpolation_by_hand(tokens: int, seconds: float) -> None:
    table = mixed(performance(prefill=((100, 1.0), (200, 2.0), (400, 6.0)))).timing
    assert prefill_s(table, 0, tokens) == pytest.approx(seconds)


def test_beyond_a_last_segment_that_falls_times_stay() -> None:
    table = mixed(performance(prefill=((100, 1.0), (200, 2.0), (400, 0.5)))).timing
    assert [prefill_s(table, 0, n) for n in (50, 300, 400, 500)] == pytest.approx([0.5, 1.25, 0.5, 0.5])


def test_a_single_knot_is_a_constant() -> None:
    table = mixed(performance(prefill=((100, 0.3),), decode=((4, 0.2),))).timing
    assert [prefill_s(table, 0, n) for n in (1, 100, 1000)] == [0.3] * 3
    assert [decode_base_s(table, 0, b) for b in (1, 4, 9)] == [0.2] * 3
    assert np.all(table.knots == 1)
