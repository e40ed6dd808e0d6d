"""Batches and several machines as queues with many servers.

A token machine whose iteration time does not depend on the batch serves each decode at full speed, up to its limit of
requests: it is a queue with as many servers as the limit. One whose iteration time is proportional to the batch shares
its speed equally: processor sharing. Decodes start at iteration boundaries, which at a microsecond an iteration and a
mean service of 1000 of them is as good as at once; the difference is allowed for as `bias`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from provisioner.domain.trace import Floats, Ints, RequestTrace
from provisioner.sim import Network
from tests.sim.theory.queues import (
    BATCH_OF_ONE,
    MICROSECOND,
    PATIENT,
    PER_TOKEN_1_US,
    assert_agrees,
    lindley,
    mmc_wait,
    poisson,
    prompts_only,
    t_interval,
)
from tests.sim.worlds import Knots, mixed, performance, split

MEAN_US = 1000
MEAN_S = MEAN_US * MICROSECOND
FLAT: Knots = ((1, MICROSECOND),)
SHARED: Knots = ((1, MICROSECOND), (2, 2 * MICROSECOND))

Draw = Callable[[np.random.Generator, int], Ints]


def geometric(rng: np.random.Generator, n: int) -> Ints:
    return rng.geometric(1 / MEAN_US, n)


def two_point(rng: np.random.Generator, n: int) -> Ints:
    return np.where(rng.random(n) < 0.9, 200, 8200).astype(np.int64)


def token_machine(decode: Knots, **scheduling: Any) -> Network:
    """A prompt machine that takes no time to speak of, and a token machine."""
    model = performance(prefill=((1, 1e-12),), decode=decode)
    return split(model, layerwise_from_tokens=0, max_passed_over=PATIENT, **scheduling)


def decodes_only(arrival_s: Floats, iterations: Ints) -> RequestTrace:
    return RequestTrace(arrival_s, np.ones(len(arrival_s), np.int64), iterations + 1)


def times_inside_s(network: Network, trace: RequestTrace) -> tuple[Floats, Floats]:
    """Time from arrival to finish, and its part in excess of the decode iterations at full speed."""
    inside_s = network.simulate(1, 1, trace).finish_s - trace.arrival_s
    return inside_s, inside_s - (trace.output_tokens - 1) * MICROSECOND


@pytest.mark.parametrize(("servers", "rho"), [(2, 0.7), (5, 0.8), (16, 0.9)])
def test_a_batch_limit_is_a_number_of_servers_m_m_c(servers: int, rho: float) -> None:
    rate, n = rho * servers / MEAN_S, 40_000
    network = token_machine(FLAT, max_batch_requests=servers)
    waits = []
    for seed in range(20):
        rng = np.random.default_rng((5, seed))
        _, waits_s = times_inside_s(network, decodes_only(poisson(rng, rate, n), geometric(rng, n)))
        waits.append(float(waits_s[4_000:].mean()))
    assert_agrees(waits, mmc_wait(servers, rate, MEAN_S), 0.08, bias=MICROSECOND)


def test_a_batch_without_limit_is_a_queue_of_infinitely_many_servers_m_g_inf() -> None:
    # Nobody waits; the number inside is Poisson with mean rate x E[S], whatever the distribution of S, so that the
    # machine is idle with probability exp(-mean).
    rate, n = 1.5 / MEAN_S, 20_000
    network = token_machine(FLAT, max_batch_requests=512)
    idle: list[float] = []
    found: list[float] = []
    for seed in range(20):
        rng = np.random.default_rng((6, seed))
        trace = decodes_only(poisson(rng, rate, n), two_point(rng, n))
        simulation = network.simulate(1, 1, trace)
        waits_s = simulation.finish_s - trace.arrival_s - (trace.output_tokens - 1) * MICROSECOND
        assert waits_s.max() < 1.01 * MICROSECOND
        left = np.searchsorted(np.sort(simulation.finish_s), trace.arrival_s, side="right")
        found.append(float((np.arange(n) - left)[1_000:].mean()))
        idle.append(1 - float(simulation.decode_busy_s[1] / simulation.makespan_s))
    assert_agrees(found, 1.5, 0.03, bias=rate * MICROSECOND)
    assert_agrees(idle, math.exp(-1.5), 0.05, bias=0.002)


@pytest.mark.parametrize("draw", [geometric, two_point])
def test_a_batch_that_shares_its_speed_is_processor_sharing_m_g_1_ps(draw: Draw) -> None:
    # Mean time inside is E[S] / (1 - rho), whatever the distribution of S.
    rho, n = 0.7, 40_000
    network = token_machine(SHARED)
    means = []
    for seed in range(20):
        rng = np.random.default_rng((7, seed))
        inside_s, _ = times_inside_s(network, decodes_only(poisson(rng, rho / MEAN_S, n), draw(rng, n)))
        means.append(float(inside_s[4_000:].mean()))
    assert_agrees(means, MEAN_S / (1 - rho), 0.05, bias=0.003 * MEAN_S)


def test_a_prompt_and_a_token_machine_are_queues_in_tandem() -> None:
    # Departures of an M/M/1 queue are a Poisson process (Burke, 1956): the token machine is an M/M/1 queue too, and the
    # times inside add up (Jackson, 1957).
    rate, n = 0.8 / MEAN_S, 40_000
    model = performance(prefill=PER_TOKEN_1_US, decode=FLAT)
    network = split(model, layerwise_from_tokens=0, **BATCH_OF_ONE)
    prompt_s: list[float] = []
    token_s: list[float] = []
    for seed in range(20):
        rng = np.random.default_rng((8, seed))
        # Loads of 0.6 and 0.8.
        trace = RequestTrace(poisson(rng, rate, n), rng.geometric(1 / 750, n), geometric(rng, n) + 1)
        simulation = network.simulate(1, 1, trace)
        prompt_s.append(float((simulation.first_token_s - trace.arrival_s)[4_000:].mean()))
        token_s.append(float((simulation.finish_s - simulation.first_token_s)[4_000:].mean()))
    assert_agrees(prompt_s, 0.75 * MEAN_S / (1 - 0.6), 0.03)
    assert_agrees(token_s, MEAN_S / (1 - 0.8), 0.06)


def shortest_queue(machines: int, trace: RequestTrace) -> Ints:
    """Join the shortest queue by pending tokens: those of requests that are not finished, one more each."""
    free_s = np.zeros(machines)
    pending: list[list[tuple[float, int]]] = [[] for _ in range(machines)]
    chosen = np.zeros(len(trace), np.int64)
    for i, (now, tokens) in enumerate(zip(trace.arrival_s.tolist(), trace.prompt_tokens.tolist(), strict=True)):
        pending = [[(finish, load) for finish, load in queue if finish > now] for queue in pending]
        loads = [sum(load for _, load in queue) for queue in pending]
        chosen[i] = best = loads.index(min(loads))
        free_s[best] = max(free_s[best], now) + tokens * MICROSECOND
        pending[best].append((free_s[best], tokens + 1))
    return chosen


@pytest.mark.nojit
def test_each_of_several_machines_follows_lindleys_recursion() -> None:
    rng = np.random.default_rng(9)
    trace = prompts_only(poisson(rng, 2.4 / MEAN_S, 300), geometric(rng, 300))
    simulation = mixed(performance(prefill=PER_TOKEN_1_US), **BATCH_OF_ONE).simulate(3, 0, trace)
    assert np.array_equal(simulation.prompt_machine, shortest_queue(3, trace))
    service_s = trace.prompt_tokens * MICROSECOND
    waits_s = simulation.first_token_s - trace.arrival_s - service_s
    for number in range(3):
        here = simulation.prompt_machine == number
        expected_s = lindley(trace.arrival_s[here], service_s[here])
        np.testing.assert_allclose(waits_s[here], expected_s, rtol=0, atol=1e-9)


def test_joining_the_shortest_queue_waits_between_one_common_and_separate_queues() -> None:
    # Pending tokens count the one being served whole until it is done, so this is not quite the M/M/c queue, which is
    # least work left (Kiefer and Wolfowitz, 1955). But no way to route beats one common queue, M/M/c, in the mean,
    # and to look at the queues is better than not to: c separate M/M/1 queues of random routing.
    machines, rho, n = 3, 0.8, 40_000
    rate = machines * rho / MEAN_S
    network = mixed(performance(prefill=PER_TOKEN_1_US), **BATCH_OF_ONE)
    means = []
    for seed in range(20):
        rng = np.random.default_rng((10, seed))
        trace = prompts_only(poisson(rng, rate, n), geometric(rng, n))
        simulation = network.simulate(machines, 0, trace)
        waits_s = simulation.first_token_s - trace.arrival_s - trace.prompt_tokens * MICROSECOND
        means.append(float(waits_s[4_000:].mean()))
    mean, half = t_interval(means)
    assert half < 0.05 * mean
    assert mmc_wait(machines, rate, MEAN_S) < mean - half
    assert mean + half < mmc_wait(1, rate / machines, MEAN_S)
