"""Ending a simulation once too many requests were too slow: what is counted, and when it ends."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from provisioner.sim import Stop
from tests.sim.worlds import mixed, requests

pytestmark = pytest.mark.nojit

# One machine, batches of 100 tokens: 1000 tokens/s prefill, 0.1 s a decode. Five prompts of 100 tokens at once end at
# 0.1, 0.2, 0.3, 0.4 and 0.5 s.
TRACE = requests(*((0.0, 100, 1) for _ in range(5)))
ALONE_S = 0.1
TTFT, TBT, E2E = 0, 1, 2


def stop(measure: int, most: float, left: int, unit_s: float = ALONE_S) -> Stop:
    return of_one_limit(measure, np.full((len(TRACE), 1), unit_s), most, left)


def of_one_limit(measure: int, unit_s: NDArray[np.float64], most: float, left: int) -> Stop:
    return Stop(np.array([measure]), unit_s, np.array([0, 1]), np.array([most]), np.array([left]), number=np.array([0]))


@pytest.mark.parametrize("measure", [TTFT, E2E])
@pytest.mark.parametrize(("left", "end_s", "seen"), [(0, 0.3, 3), (1, 0.4, 4), (2, 0.5, 5), (3, 0.5, 5)])
def test_it_ends_with_the_request_that_is_one_too_many(measure: int, left: int, end_s: float, seen: int) -> None:
    """Slower than 2.5 times alone are the third, the fourth and the fifth."""
    result = mixed(max_batch_tokens=100).simulate(1, 0, TRACE, stop=stop(measure, 2.5, left))
    assert result.end_s == pytest.approx(end_s)
    assert int(np.isfinite(result.finish_s).sum()) == seen
    assert result.is_whole == (left == 3)


def test_a_time_at_the_limit_is_not_late() -> None:
    result = mixed(max_batch_tokens=100).simulate(1, 0, TRACE, stop=stop(TTFT, 5.0, 0, unit_s=0.5 / 5))
    assert result.is_whole


def test_a_request_that_does_not_count_is_never_late() -> None:
    result = mixed(max_batch_tokens=100).simulate(1, 0, TRACE, stop=stop(TTFT, 1e-9, 0, unit_s=np.inf))
    assert result.is_whole


def test_the_time_between_tokens_is_all_of_it() -> None:
    """A prompt, 0.1 s, and three decodes, 0.3 s."""
    trace = requests((0.0, 100, 4))
    for most, is_whole in ((0.29, False), (0.31, True)):
        limit = of_one_limit(TBT, np.ones((1, 1)), most, 0)
        assert mixed().simulate(1, 0, trace, stop=limit).is_whole == is_whole


def test_up_to_its_end_it_is_the_same_simulation() -> None:
    trace = requests(*((0.05 * i, 60, 1 + i % 4) for i in range(40)))
    whole = mixed(max_batch_tokens=100).simulate(2, 0, trace)
    limit = of_one_limit(E2E, np.ones((40, 1)), 0.35, 5)
    cut = mixed(max_batch_tokens=100).simulate(2, 0, trace, stop=limit)
    assert not cut.is_whole
    assert cut.end_s < whole.end_s
    for name in ("first_token_s", "finish_s"):
        seen = getattr(cut, name)
        np.testing.assert_array_equal(seen[np.isfinite(seen)], getattr(whole, name)[np.isfinite(seen)])
        assert np.all(getattr(whole, name)[~np.isfinite(seen)] >= cut.end_s)


def test_the_first_of_several_limits_that_is_exceeded_too_often_ends_it() -> None:
    """TTFT of 1, 2, 3, 4, 5 times alone; E2E the same. Two may exceed 2.5, and none 4.5: the fifth does."""
    limits = Stop(
        measure=np.array([E2E, TTFT]),
        unit_s=np.full((len(TRACE), 2), ALONE_S),
        first=np.array([0, 1, 3]),
        most=np.array([9.0, 2.5, 4.5]),
        left=np.array([0, 3, 0]),
        number=np.array([2, 0, 1]),
    )
    result = mixed(max_batch_tokens=100).simulate(1, 0, TRACE, stop=limits)
    assert not result.is_whole
    assert limits.left.tolist() == [0, 0, -1]
    assert limits.at_least(np.array([1.0, 1.0, 1.0])) == (1.0, 4.5, 1.0)
