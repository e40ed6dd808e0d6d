"""Machines that fail: trajectories worked by hand, and what must hold whatever fails."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.depth import Depth
from provisioner.domain.failures import Failures
from provisioner.errors import InputError
from provisioner.sim import Network
from provisioner.sim.native import run_events
from provisioner.sim.state import FAILED, make_world
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


def test_requests_restart_in_order_of_arrival_behind_the_prompts_in_line() -> None:
    """Limit: 100 tokens a batch. A and C (100 tokens each) are on machine 0, B and D on machine 1, A and B running.

    Machine 0 fails at 0.05; A and C stand behind D: B 0-0.1, D -0.2, A -0.3, C -0.4.
    """
    trace = requests((0, 100, 1), (0, 100, 1), (0.01, 100, 1), (0.02, 100, 1))
    result = mixed(max_batch_tokens=100).simulate(2, 0, trace, Failures.of([(0.05, 0)]))
    assert result.first_token_s == pytest.approx([0.3, 0.1, 0.4, 0.2])
    assert result.restarts.tolist() == [1, 0, 1, 0]
    assert result.prompt_start_s == pytest.approx([0.2, 0.0, 0.3, 0.1])
    assert result.busy_s == pytest.approx([0.05, 0.4])


def test_a_machine_of_a_mixed_pair_fails_and_then_the_other() -> None:
    """A on machine 0 and B on machine 1: prompts 0-0.1, then decodes.

    Machine 0 fails at 0.25. A's prompt ends B's run at 0.3: both in 1.5 x 101 ms, to 0.4515. B has one iteration left,
    to 0.5515, A has four, to 0.8515. If machine 1 fails at 0.4, nothing is left, and 0.1 s of that iteration counts.
    """
    trace = requests((0, 100, 5), (0, 100, 5))
    result = mixed().simulate(2, 0, trace, Failures.of([(0.25, 0)]))
    assert times(result) == [(0.4515, 0.8515), (0.1, 0.5515)]
    assert result.prompt_busy_s == pytest.approx([0.1, 0.1])
    assert result.decode_busy_s == pytest.approx([0.15, 0.6])
    assert result.mixed_busy_s == pytest.approx([0.0, 0.1515])
    assert result.batch_time_s[0] == pytest.approx([0.0, 0.1 + 0.15 + 0.1 + 0.2 + 0.3, 0.1515 + 0.1])
    result = mixed().simulate(2, 0, trace, Failures.of([(0.25, 0), (0.4, 1)]))
    assert times(result) == [(NEVER, NEVER), (NEVER, NEVER)]
    assert result.restarts.tolist() == [2, 1]
    assert result.prompt_machine.tolist() == [-1, -1]
    assert result.mixed_busy_s == pytest.approx([0.0, 0.1])


def test_a_run_that_fails_counts_up_to_the_failure() -> None:
    """A decodes on T from 0.1; B is ready at 0.25, which would end that run at 0.3, but T fails at 0.28.

    Both restart on P: prompts together 0.28-0.48, five decode iterations to 0.98.
    """
    network = split()
    result = network.simulate(1, 1, requests((0, 100, 6), (0.15, 100, 6)), Failures.of([(0.28, 1)]))
    assert times(result) == [(0.48, 0.98), (0.48, 0.98)]
    assert result.decode_busy_s == pytest.approx([0.5, 0.18])
    assert result.batch_time_s[1] == pytest.approx([0.0, 0.18, 0.0])
    assert result.batch_time_s[0] == pytest.approx([0.0, 0.2, 0.7])
    assert result.decode_start_s == pytest.approx([0.48, 0.48])


def test_the_last_token_machine_fails_while_a_prompt_runs() -> None:
    """Its machine P goes on with the prompt and decodes behind it, in the mixed pool from 0.05 to 0.3."""
    result = split().simulate(1, 1, requests((0, 100, 3)), Failures.of([(0.05, 1)]))
    assert times(result) == [(0.1, 0.3)]
    assert (result.restarts.tolist(), result.token_machine.tolist()) == ([0], [0])
    assert result.mixed_pool_s == pytest.approx([0.25, 0.0])
    assert np.isnan(result.transfer_s).all()
    result = split().simulate(1, 1, requests((0, 100, 3)), Failures.of([(0.05, 1), (0.2, 0)]))
    assert result.mixed_pool_s == pytest.approx([0.15, 0.0])
    assert (result.unfinished, result.restarts.tolist()) == (1, [1])


def test_machines_that_fail_at_one_moment_fail_together() -> None:
    """The prompt runs on machine 0. Its decode does not go to machine 2 in between."""
    result = split().simulate(1, 3, requests((0, 100, 3)), Failures.of([(0.05, 2), (0.05, 1)]))
    assert times(result) == [(0.1, 0.3)]
    assert (result.restarts.tolist(), result.token_machine.tolist()) == ([0], [3])


def test_an_arrival_at_the_moment_of_a_failure_goes_elsewhere() -> None:
    result = mixed().simulate(2, 0, requests((1.0, 100, 1)), Failures.of([(1.0, 0)]))
    assert (result.prompt_machine.tolist(), result.restarts.tolist()) == ([1], [0])


def test_a_machine_that_is_back_takes_what_found_none() -> None:
    """A runs from 0 and is lost at 0.05, B arrives at 0.2: both start when the machine is back, at 0.5.

    Prompts together to 0.7, A's two decodes to 0.9. Only A has been started anew.
    """
    result = mixed().simulate(1, 0, requests((0.0, 100, 3), (0.2, 100, 1)), Failures.of([(0.05, 0)], repair_s=0.45))
    assert times(result) == [(0.7, 0.9), (0.7, 0.7)]
    assert result.restarts.tolist() == [1, 0]
    assert result.busy_s == pytest.approx([0.05 + 0.4])


def test_a_machine_that_is_back_stands_last_in_its_pool_and_takes_what_comes_next() -> None:
    """Machine 0 is away until 1: of two requests at 2, machine 1 gets the first."""
    trace = requests((0.5, 100, 1), (2.0, 100, 1), (2.0, 100, 1))
    result = mixed().simulate(2, 0, trace, Failures.of([(0.0, 0)], repair_s=1.0))
    assert result.prompt_machine.tolist() == [1, 1, 0]


def test_a_token_machine_that_is_back_is_in_the_token_pool_again() -> None:
    """1P + 1T; T is away from 0.5 to 1.5, when P serves both phases."""
    trace = requests((0.6, 100, 3), (2.0, 100, 3))
    result = split().simulate(1, 1, trace, Failures.of([(0.5, 1)], repair_s=1.0))
    assert times(result) == [(0.7, 0.9), (2.1, 2.3)]
    assert result.token_machine.tolist() == [0, 1]


def test_a_machine_fails_again_once_it_is_back() -> None:
    """Away from 0.05 to 0.2 and from 0.25 to 0.5: the prompt starts at 0, 0.2 and 0.5."""
    failures = Failures(np.array([0.05, 0.25]), np.array([0, 0]), np.array([0.2, 0.5]))
    result = mixed().simulate(1, 0, requests((0.0, 100, 3)), failures)
    assert times(result) == [(0.6, 0.8)]
    assert result.restarts.tolist() == [2]
    assert result.busy_s == pytest.approx([0.05 + 0.05 + 0.3])


def test_a_machine_is_back_just_when_the_other_fails() -> None:
    """At 0.1 machine 0 is back and machine 1 fails: the request that ran there, from 0.05, starts anew on 0."""
    failures = Failures(np.array([0.0, 0.1]), np.array([0, 1]), np.array([0.1, np.inf]))
    result = mixed().simulate(2, 0, requests((0.05, 100, 1)), failures)
    assert times(result) == [(0.2, 0.2)]
    assert (result.prompt_machine.tolist(), result.restarts.tolist()) == ([0], [1])


def test_failures_by_chance_have_the_times_asked_for() -> None:
    """Alternating renewal: of a long time, each machine is down for repair / (mtbf + repair) (here 1/4)."""
    random = np.random.default_rng(5)
    found = Failures.drawn(20, mtbf_s=30.0, repair_s=10.0, span_s=40_000.0, random=random)
    assert (found.back_s - found.time_s) == pytest.approx(10.0)
    assert len(found) == pytest.approx(20 * 40_000 / 40, rel=0.03)
    assert np.bincount(found.machine).min() > 0


WAITING = ((0, 100, 2), (0.01, 30, 2), (0.02, 150, 2))
"""1P + 1T, 1000 tokens/s, room for 200 tokens on T, 120 pending tokens.

A and B go to P, their decodes to T. C finds a queue at P and T idle: T joins the mixed pool and takes its prompt,
0.02 -> 0.17, and P its decode. P runs A 0 -> 0.1 and B 0.1 -> 0.13. T has no room for A before 0.32."""


def waiting(**habits: float) -> Network:
    return split(kv_tokens=1000, token_kv_tokens=200, tokens_per_s=1000, max_pending_tokens=120, **habits)


def test_a_kv_cache_that_waits_for_room_goes_elsewhere() -> None:
    """T fails at 0.15: A's and B's wait in line for it, and are then decoded on P, where they are; C restarts there.

    All three from 0.15 in 1.5 x 152 ms: A and B end at 0.378, and C's prompt; C's decode at 0.478.
    """
    result = waiting().simulate(1, 1, requests(*WAITING), Failures.of([(0.15, 1)]))
    assert times(result) == [(0.1, 0.378), (0.13, 0.378), (0.378, 0.478)]
    assert result.restarts.tolist() == [0, 0, 1]
    assert result.token_machine.tolist() == [0, 0, 0]


def test_a_kv_cache_that_would_be_tried_again_goes_elsewhere_at_once() -> None:
    """As above, but A would try again at 1.1, and B is on the way when T fails: it restarts as C does.

    A's decode with both prompts, 1.5 x 181 ms, to 0.4215; their decodes to 0.5215. Nothing happens at 1.1.
    """
    result = waiting(transfer_retry_s=1.0).simulate(1, 1, requests(*WAITING), Failures.of([(0.15, 1)]))
    assert times(result) == [(0.1, 0.4215), (0.4215, 0.5215), (0.4215, 0.5215)]
    assert result.restarts.tolist() == [0, 1, 1]
    assert result.end_s == pytest.approx(0.5215)


def test_a_failing_source_leaves_the_line_for_room_to_others() -> None:
    """2P + 1T, 1000 tokens/s, room for 300 tokens on T, 120 pending tokens.

    A (130) runs on P0 to 0.13, X (110) on P1 to 0.12, B (30) behind it to 0.15, Y (5) behind A to 0.135. Then C (200):
    P0 has a queue, so T takes its prompt, 0.02-0.22, and P0 is to decode it. T has no room for A, which waits for it
    from 0.13 on, and B behind it.
    P0 fails at 0.16: A is lost, so B, which fits, is sent, to 0.19, and decodes when T is done with C: 0.22-0.32.
    C gets P1 as its token machine: sent 0.22-0.42, decode -0.52. A restarts on P1: 0.16-0.29, decode -0.39.
    """
    trace = requests((0, 130, 2), (0.01, 110, 1), (0.015, 30, 2), (0.016, 5, 1), (0.02, 200, 2))
    network = split(kv_tokens=1000, token_kv_tokens=300, tokens_per_s=1000, max_pending_tokens=120)
    result = network.simulate(2, 1, trace, Failures.of([(0.16, 0)]))
    assert times(result) == [(0.29, 0.39), (0.12, 0.12), (0.15, 0.32), (0.135, 0.135), (0.22, 0.52)]
    assert result.restarts.tolist() == [1, 0, 0, 0, 0]
    assert result.token_machine.tolist() == [1, 2, 2, 2, 1]
    np.testing.assert_allclose(result.transfer_s, [np.nan, np.nan, 0.03, np.nan, 0.2])
    # P0 and T join the mixed pool at 0.02, P1 at 0.16: P0 until Y has ended, P1 until A has, T until B has.
    assert result.mixed_pool_s == pytest.approx([0.115, 0.23, 0.3])


def test_a_kv_cache_is_not_sent_to_a_machine_that_fails_at_that_moment() -> None:
    """1P + 3T, 1000 tokens/s, room for 200 tokens on each T, 165 pending tokens. T1 and T2 fail at 0.12.

    A, B and D have their prompts on P, A 0-0.1, then B and D to 0.16, and T1, T2 and T3 for their decodes. T1 takes the
    prompt of C (0.02-0.17), so that A waits for room there. At 0.12 C is lost, and A and B get T3 instead.
    T3: A is sent to 0.22, B and D to 0.19; B and D decode to 0.29, then A to 0.39. C runs on P to 0.31 and 0.41.
    """
    trace = requests((0, 100, 2), (0.01, 30, 2), (0.015, 30, 2), (0.02, 150, 2))
    network = split(kv_tokens=1000, token_kv_tokens=200, tokens_per_s=1000, max_pending_tokens=165)
    result = network.simulate(1, 3, trace, Failures.of([(0.12, 1), (0.12, 2)]))
    assert times(result) == [(0.1, 0.39), (0.16, 0.29), (0.16, 0.29), (0.31, 0.41)]
    assert result.restarts.tolist() == [0, 0, 0, 1]
    assert result.token_machine.tolist() == [3, 3, 3, 0]


def test_threads_agree() -> None:
    rows = [(i / 64, 20 + 37 * i % 200, 1 + 11 * i % 40) for i in range(400)]
    failures = Failures.of([(1.0, 0), (1.0, 3), (2.5, 4)])
    network = split(tokens_per_s=2000)

    def finish_s(_: int) -> list[float]:
        result = network.simulate(3, 3, requests(*rows), failures)
        assert result.restarts.sum() > 0
        return [*result.finish_s.tolist(), *result.kv_token_s.tolist(), *result.batch_time_s.ravel().tolist()]

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(finish_s, range(16)))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize(
    ("times_s", "machines", "problem"),
    [
        ([0.0, 1.0], [0], "differ in length"),
        ([-1.0], [0], "not negative"),
        ([np.nan], [0], "finite"),
        ([np.inf], [0], "finite"),
        ([0.0], [-1], "start at 0"),
        ([2.0, 1.0], [0, 1], "in order"),
        ([1.0, 1.0], [1, 0], "in order"),
        ([1.0, 2.0], [0, 0], "only once"),
    ],
)
def test_failures_are_checked(times_s: list[float], machines: list[int], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Failures(np.array(times_s), np.array(machines))


@pytest.mark.parametrize(
    ("back_s", "problem"),
    [([1.0, 3.0], "back after"), ([2.0, 3.0], "only once"), ([np.nan, 3.0], "back after"), ([1.5], "differ")],
)
def test_returns_are_checked(back_s: list[float], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Failures(np.array([1.0, 2.0]), np.array([0, 0]), np.array(back_s))


@given(cases())
@examples(60)
def test_failures_that_hit_nobody_change_nothing(case: Case) -> None:
    first, second = (*case.counts, 0)[:2]
    plain = case.simulate()
    after = [(plain.end_s + 1, number) for number in range(sum(case.counts))]
    for failures in (Failures.of([]), Failures.of(after)):
        result = case.network.simulate(first, second, case.trace, failures)
        done = np.isfinite(plain.finish_s)
        assert result.finish_s.tolist() == plain.finish_s.tolist()
        assert result.prompt_machine[done].tolist() == plain.prompt_machine[done].tolist()
        assert result.busy_s.tolist() == plain.busy_s.tolist()
        assert not result.restarts[done].any()


@given(cases(), st.data())
@examples(200)
def test_what_holds_whatever_fails(case: Case, data: st.DataObject) -> None:
    machines = sum(case.counts)
    numbers = data.draw(st.lists(st.integers(0, machines - 1), max_size=machines, unique=True))
    failing = [(data.draw(st.integers(0, 80)) / 16, number) for number in numbers]
    failed_s = np.full(machines, np.inf)
    for time_s, number in failing:
        failed_s[number] = time_s
    first, second = (*case.counts, 0)[:2]
    result = case.network.simulate(first, second, case.trace, Failures.of(failing))
    # Nothing is served by a machine after its failure, and nothing waits longer for a restart than it must.
    served, done = np.isfinite(result.first_token_s), np.isfinite(result.finish_s)
    assert np.all(result.first_token_s[served] <= failed_s[result.prompt_machine[served]])
    assert np.all(result.finish_s[done] <= failed_s[result.token_machine[done]])
    assert np.all(result.restarts <= len({time_s for time_s, _ in failing}))
    steps = [case.trace.arrival_s, result.prompt_start_s, result.first_token_s]
    steps.append(np.minimum(result.decode_start_s, result.finish_s))
    for before, after in pairwise([*steps, result.finish_s]):
        assert np.all(before <= after)
    # Time is spent once, and memory is not lent.
    assert np.all(result.busy_s <= np.minimum(failed_s, result.end_s) + 1e-9)
    for pool in range(len(case.counts)):
        busy_s = result.busy_s[result.pool_rows(pool)].sum()
        assert result.batch_time_s[pool].sum() == pytest.approx(busy_s, abs=1e-9)
    assert np.all(result.mixed_pool_s >= 0)
    assert np.all(result.kv_token_s >= -1e-6)
    depth = Depth.of(result, ("a", "b")[: len(case.counts)], (1,) * len(case.counts))
    series = np.array([depth.waiting_prompt, depth.in_prompt, depth.waiting_decode, depth.in_decode])
    assert np.all(series >= 0)
    inside = [
        np.count_nonzero(case.trace.arrival_s <= t) - np.count_nonzero(result.finish_s <= t) for t in depth.instants_s
    ]
    assert series.sum(axis=0).tolist() == inside


@given(cases(), st.data())
@examples(150)
def test_books_are_empty_when_all_is_done(case: Case, data: st.DataObject) -> None:
    """Whatever fails: failed machines hold nothing, and nor do others once all requests are finished."""
    machines = sum(case.counts)
    numbers = data.draw(st.lists(st.integers(0, machines - 1), max_size=machines, unique=True))
    failing = [(data.draw(st.integers(0, 80)) / 16, number) for number in numbers]
    boxes = np.repeat(case.network.machine_rows, case.counts).view(np.recarray)
    repair_s = data.draw(st.sampled_from([np.inf, 0.25, 1.0]))
    failures = Failures.of(failing, repair_s)
    told = case.network._given(case.trace)
    world = make_world(case.network.rules, case.network.timing, told, boxes, failures=failures)
    run_events(world)
    lost = np.isin(np.arange(machines), numbers) & np.isinf(repair_s)
    assert np.all(boxes.pool[~lost] != FAILED)
    assert np.all(boxes.used_kv[~lost] <= boxes.kv_capacity[~lost])
    assert np.all(boxes.pool[lost] == FAILED)
    empty = lost | np.isfinite(world.requests["finish_s"]).all()
    for field in ("used_kv", "reserved_kv", "pending_tokens", "waiting", "prompts", "decodes", "context", "iterations"):
        assert not boxes[field][empty].any(), field
    for field in ("head", "oldest", "first_transfer"):
        assert np.all(boxes[field][empty] == -1), field
