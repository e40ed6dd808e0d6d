"""Machines that fail: trajectories worked by hand, and what must hold whatever fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.failures import Failures
from provisioner.errors import InputError
from provisioner.sim.kernel import run_events
from provisioner.sim.state import REQUEST, make_world
from tests.sim.strategies import Case, cases, examples
from tests.sim.worlds import mixed, requests, split

pytestmark = pytest.mark.nojit

NEVER = np.inf


def times(result: Any) -> list[tuple[float, float]]:
    return [(round(a, 9), round(b, 9)) for a, b in zip(result.first_token_s, result.finish_s, strict=True)]


def test_a_prompt_that_runs_on_a_failing_machine_starts_anew_elsewhere() -> None:
    """1 ms a prompt token, 100 ms a decode iteration, transfers take no time.

    100 tokens start on machine 0 at 0 and would end at 0.1; it fails at 0.06, machine 1 runs them from there.
    """
    result = split().simulate(2, 1, requests((0.0, 100, 3)), Failures.of([(0.06, 0)]))
    assert times(result) == [(0.16, 0.36)]
    assert result.prompt_machine.tolist() == [1]
    assert result.restarts.tolist() == [1]


def test_a_decode_on_a_failing_machine_starts_anew_from_its_prompt() -> None:
    """First token at 0.1, one decode iteration to 0.2; machine 1 (token) fails at 0.25: prompt again 0.25-0.35."""
    result = split().simulate(1, 2, requests((0.0, 100, 3)), Failures.of([(0.25, 1)]))
    assert times(result) == [(0.35, 0.55)]
    assert result.token_machine.tolist() == [2]
    assert result.restarts.tolist() == [1]


def test_a_request_with_nothing_on_the_failing_machine_only_gets_another() -> None:
    """At 0.05 the prompt still runs: machine 2 decodes instead of 1, nothing is lost."""
    result = split().simulate(1, 2, requests((0.0, 100, 3)), Failures.of([(0.05, 1)]))
    assert times(result) == [(0.1, 0.3)]
    assert result.token_machine.tolist() == [2]
    assert result.restarts.tolist() == [0]


def test_a_transfer_to_or_from_a_failing_machine_is_lost() -> None:
    """100 tokens at 1,000 a second are on the way from 0.1 to 0.2; either end failing at 0.15 restarts the request.

    Source lost: machine 1 runs the prompt from 0.15 to 0.25, sends to 0.35, decodes to 0.55. Target lost: machine 0
    does the same.
    """
    for failing in (0, 2):
        result = split(tokens_per_s=1000.0, layerwise_from_tokens=1000).simulate(
            2, 2, requests((0.0, 100, 3)), Failures.of([(0.15, failing)])
        )
        assert times(result) == [(0.25, 0.55)]
        assert result.restarts.tolist() == [1]


def test_the_last_machine_of_a_pool_is_replaced_by_the_other_pool() -> None:
    """The token machine fails before anything arrives: the prompt machine decodes too, 0.1 then 2 x 0.1."""
    result = split().simulate(1, 1, requests((1.0, 100, 3)), Failures.of([(0.5, 1)]))
    assert times(result) == [(1.1, 1.3)]
    assert (result.prompt_machine.tolist(), result.token_machine.tolist()) == ([0], [0])


def test_without_machines_nothing_finishes() -> None:
    result = mixed().simulate(1, 0, requests((0.0, 100, 3), (1.0, 100, 3)), Failures.of([(0.05, 0)]))
    assert times(result) == [(NEVER, NEVER), (NEVER, NEVER)]
    assert result.unfinished == 2


def test_a_failing_idle_machine_changes_nothing_for_others() -> None:
    trace = requests((0.0, 100, 3), (2.0, 100, 3))
    whole = mixed().simulate(2, 0, trace)
    less = mixed().simulate(2, 0, trace, Failures.of([(1.0, 1)]))
    assert times(less) == times(whole) == [(0.1, 0.3), (2.1, 2.3)]


def test_what_ends_at_the_moment_of_a_failure_has_ended() -> None:
    """The run ends at 0.3 just when the machine fails."""
    result = mixed().simulate(1, 0, requests((0.0, 100, 3)), Failures.of([(0.1 + 0.2, 0)]))
    assert times(result) == [(0.1, 0.3)]
    assert result.restarts.tolist() == [0]


def test_a_machine_that_there_is_not_cannot_fail() -> None:
    with pytest.raises(InputError, match="a machine fails that there is not"):
        mixed().simulate(2, 0, requests((0.0, 1, 1)), Failures.of([(0.0, 2)]))


@given(cases(), st.data())
@examples(150)
def test_books_are_empty_when_all_is_done(case: Case, data: st.DataObject) -> None:
    """Whatever fails: requests finish in order of their steps or never, and surviving machines hold nothing."""
    machines = sum(case.counts)
    numbers = data.draw(st.lists(st.integers(0, machines - 1), max_size=machines, unique=True))
    failing = [(data.draw(st.integers(0, 80)) / 16, number) for number in numbers]
    rows = np.zeros(len(case.trace), REQUEST).view(np.recarray)
    for field in ("arrival_s", "prompt_tokens", "output_tokens"):
        rows[field] = getattr(case.trace, field)
    boxes = np.repeat(case.network.machine_rows, case.counts).view(np.recarray)
    world = make_world(case.network.rules, case.network.timing, rows, boxes, Failures.of(failing))
    run_events(world)
    done = np.isfinite(rows.finish_s)
    assert np.all(rows.first_token_s[done] <= rows.finish_s[done])
    assert np.all(rows.arrival_s[done] <= rows.prompt_start_s[done])
    alive = np.setdiff1d(np.arange(machines), numbers)
    assert not np.isin(rows.token_machine[done & (rows.finish_s > 6.0)], numbers).any()
    if done.all():
        for field in ("used_kv", "reserved_kv", "pending_tokens", "waiting"):
            assert not boxes[field][alive].any(), field
