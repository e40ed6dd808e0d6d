"""A closed loop: so many users, each of whom sends a request as soon as the one before is finished."""

from __future__ import annotations

import numpy as np
import pytest

from provisioner.domain.trace import RequestTrace
from tests.oracle.simulator import Kind, Rules
from tests.oracle.test_oracle import kernel

ONE_BY_ONE = Rules(max_batch_requests=1)


def kind(kv_capacity: int = 1000) -> Kind:
    """A second for any prompt, half a second for any decode iteration."""
    return Kind([(1.0, 1.0), (64.0, 1.0)], [(1.0, 0.5), (64.0, 0.5)], 0.0, 1.0, kv_capacity, kv_capacity, 1e9, 0.0)


def test_by_hand() -> None:
    """One machine, one request at a time, two users, prompts of 1 s: a request is finished each second.

    The first two come at 0. The third comes when the first is finished, at 1, and waits for the second.
    """
    result = kernel([kind()], [1], [(0.0, 4, 1)] * 5, ONE_BY_ONE, users=2)
    assert result.finish_s.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert result.trace.arrival_s.tolist() == [0.0, 0.0, 1.0, 2.0, 3.0]


def test_those_that_finish_together_send_together() -> None:
    """Three users, batches of three: all three come back at once, at 2 s (1 s of prompts, two decode iterations)."""
    result = kernel([kind()], [1], [(0.0, 4, 3)] * 6, Rules(), users=3)
    assert result.trace.arrival_s.tolist() == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]
    assert result.finish_s.tolist() == [2.0, 2.0, 2.0, 4.0, 4.0, 4.0]


def test_as_many_users_as_requests_is_an_open_loop() -> None:
    requests = [(0.0, 1 + n % 7, 1 + n % 5) for n in range(40)]
    machines = ([kind(), kind()], [2, 1], requests, Rules())
    open_loop, closed = kernel(*machines), kernel(*machines, users=40)
    assert np.array_equal(open_loop.finish_s, closed.finish_s)
    assert np.array_equal(open_loop.trace.arrival_s, closed.trace.arrival_s)


@pytest.mark.parametrize("users", [1, 3, 8])
@pytest.mark.parametrize("pools", [1, 2])
def test_so_many_requests_are_inside_until_the_last_is_sent(users: int, pools: int) -> None:
    rng = np.random.default_rng(users)
    requests = [(0.0, int(p), int(o)) for p, o in zip(rng.integers(1, 12, 200), rng.integers(1, 9, 200), strict=True)]
    result = kernel([kind()] * pools, [2] * pools, requests, Rules(), users=users)
    arrival_s, finish_s = result.trace.arrival_s, result.finish_s
    assert result.unfinished == 0
    moments = np.unique(finish_s)[:-1] + 1e-9
    moments = moments[moments < arrival_s[-1]]
    assert len(moments) > 10
    inside = [np.count_nonzero(arrival_s <= at) - np.count_nonzero(finish_s <= at) for at in moments]
    assert set(inside) == {users}


def test_littles_law() -> None:
    """Users = throughput x mean response time, over a long run."""
    rng = np.random.default_rng(5)
    requests = [(0.0, int(p), int(o)) for p, o in zip(rng.integers(1, 12, 4000), rng.integers(1, 9, 4000), strict=True)]
    result = kernel([kind()], [1], requests, Rules(max_batch_requests=4), users=7)
    response_s = result.finish_s - result.trace.arrival_s
    assert response_s.mean() * 4000 / result.makespan_s == pytest.approx(7, rel=0.005)


def test_a_user_whose_request_fits_nowhere_waits_for_ever() -> None:
    """Nothing behind it is ever sent: it counts as sent at the end, and as never finished."""
    requests = [(0.0, 400, 1), *[(0.0, 4, 1)] * 3]
    result = kernel([kind(kv_capacity=50)], [1], requests, Rules(), users=1)
    assert result.unfinished == 4
    assert result.trace.arrival_s.tolist() == [0.0, result.end_s, result.end_s, result.end_s]
    assert set(result.prompt_machine[1:].tolist()) == {-1}


@pytest.mark.parametrize(("times", "users"), [([0.0, 0.0], -1), ([0.0, 1.0], 2)])
def test_users_begin_together(times: list[float], users: int) -> None:
    with pytest.raises(ValueError, match="users"):
        RequestTrace(np.array(times), np.ones(2, dtype=np.int64), np.ones(2, dtype=np.int64), users)
