"""One machine, a batch of one: a single-server queue, of which much is known exactly.

Arrivals are injected, and service times are prompts at a microsecond a token, so they can have any distribution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from provisioner.domain.trace import Floats, Ints
from provisioner.sim import Simulation
from tests.sim.theory.queues import (
    MICROSECOND,
    assert_agrees,
    lindley,
    poisson,
    pollaczek_khinchine,
    prompts_only,
    single_server,
)

MEAN_US = 1000
P = 1 / MEAN_US

Draw = Callable[[np.random.Generator, int], Ints]


def deterministic(_: np.random.Generator, n: int) -> Ints:
    return np.full(n, MEAN_US)


def geometric(rng: np.random.Generator, n: int) -> Ints:
    """Exponential in whole microseconds."""
    return rng.geometric(P, n)


def two_point(rng: np.random.Generator, n: int) -> Ints:
    """Nine of ten take 600 us, one 4600 us: more varied than exponential."""
    return np.where(rng.random(n) < 0.9, 600, 4600).astype(np.int64)


SERVICES: dict[str, tuple[Draw, float]] = {
    # Name: how to draw it, and its second moment in square microseconds.
    "M/D/1": (deterministic, MEAN_US**2),
    "M/M/1": (geometric, (2 - P) / P**2),
    "M/G/1": (two_point, 0.9 * 600**2 + 0.1 * 4600**2),
}


def waits_s(simulation: Simulation) -> Floats:
    trace = simulation.trace
    return simulation.first_token_s - trace.arrival_s - trace.prompt_tokens * MICROSECOND


@pytest.mark.nojit
def test_d_d_1_below_capacity_never_waits() -> None:
    # Every 1.1 ms a request of 1 ms.
    arrival_s = 0.0011 * np.arange(200)
    simulation = single_server().simulate(1, 1, prompts_only(arrival_s, np.full(200, 1000)))
    np.testing.assert_allclose(simulation.finish_s, arrival_s + 0.001, rtol=1e-12)
    np.testing.assert_allclose(simulation.prompt_busy_s, [0.2, 0], rtol=1e-12)


@pytest.mark.nojit
def test_d_d_1_above_capacity_falls_behind_by_a_fixed_time_each() -> None:
    # Every 0.8 ms a request of 1 ms: the k-th waits 0.2 k ms, and leaves at k + 1 ms.
    k = np.arange(200)
    simulation = single_server().simulate(1, 1, prompts_only(0.0008 * k, np.full(200, 1000)))
    np.testing.assert_allclose(waits_s(simulation), 0.0002 * k, rtol=0, atol=1e-12)
    np.testing.assert_allclose(simulation.finish_s, 0.001 * (k + 1), rtol=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("draw", [geometric, two_point])
def test_g_g_1_follows_lindleys_recursion_request_by_request(draw: Draw) -> None:
    rng = np.random.default_rng(1)
    # Bursts of arrivals: gaps are often nothing at all.
    arrival_s = np.cumsum(np.where(rng.random(300) < 0.3, 0.0, rng.exponential(0.0015, 300)))
    trace = prompts_only(arrival_s, draw(rng, 300))
    simulation = single_server().simulate(1, 1, trace)
    expected_s = lindley(arrival_s, trace.prompt_tokens * MICROSECOND)
    np.testing.assert_allclose(waits_s(simulation), expected_s, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    ("rho", "requests", "warm_up", "precision"),
    [(0.5, 20_000, 1_000, 0.03), (0.8, 50_000, 5_000, 0.05), (0.95, 150_000, 30_000, 0.12)],
)
def test_mean_wait_is_that_of_pollaczek_and_khinchine(
    name: str, rho: float, requests: int, warm_up: int, precision: float
) -> None:
    draw, second_us2 = SERVICES[name]
    rate = rho / (MEAN_US * MICROSECOND)
    network = single_server()
    means = []
    for seed in range(20):
        rng = np.random.default_rng((2, seed))
        trace = prompts_only(poisson(rng, rate, requests), draw(rng, requests))
        means.append(float(waits_s(network.simulate(1, 1, trace))[warm_up:].mean()))
    theory_s = pollaczek_khinchine(rate, MEAN_US * MICROSECOND, second_us2 * MICROSECOND**2)
    assert_agrees(means, theory_s, precision)


def test_m_m_1_in_full() -> None:
    # Time inside is exponential with mean E[S] / (1 - rho); an arrival finds rho / (1 - rho) inside, and nobody with
    # probability 1 - rho (Poisson arrivals see time averages); the machine is busy rho of the time.
    rho, n, warm_up = 0.8, 40_000, 4_000
    network = single_server()
    found: list[float] = []
    idle: list[float] = []
    busy: list[float] = []
    inside: dict[float, list[float]] = {50: [], 90: [], 99: []}
    for seed in range(20):
        rng = np.random.default_rng((3, seed))
        trace = prompts_only(poisson(rng, rho / (MEAN_US * MICROSECOND), n), geometric(rng, n))
        simulation = network.simulate(1, 1, trace)
        for percent, values in inside.items():
            values.append(float(np.percentile((simulation.finish_s - trace.arrival_s)[warm_up:], percent)))
        # First come first served: departures are in order too.
        left = np.searchsorted(simulation.finish_s, trace.arrival_s, side="right")
        number = (np.arange(n) - left)[warm_up:]
        found.append(float(number.mean()))
        idle.append(float(np.mean(number == 0)))
        busy.append(float(simulation.prompt_busy_s[0] / simulation.makespan_s))
    mean_s = MEAN_US * MICROSECOND / (1 - rho)
    for percent, values in inside.items():
        assert_agrees(values, -np.log(1 - percent / 100) * mean_s, 0.06)
    assert_agrees(found, rho / (1 - rho), 0.05)
    assert_agrees(idle, 1 - rho, 0.03)
    assert_agrees(busy, rho, 0.01)


def test_the_order_of_service_does_not_change_the_mean_wait() -> None:
    # Requests passed over too often go first, newest first. Whatever the order, as long as it does not look at service
    # times and the machine never idles while one waits, the mean wait is the same (Kleinrock's conservation law).
    # On the same sample path the total wait may differ, by whose service stands last; the mean over many does not.
    rate = 0.9 / (MEAN_US * MICROSECOND)
    means = []
    differs = False
    for seed in range(20):
        rng = np.random.default_rng((4, seed))
        trace = prompts_only(poisson(rng, rate, 60_000), geometric(rng, 60_000))
        waited_s = waits_s(single_server(max_passed_over=4).simulate(1, 1, trace))
        differs |= not np.allclose(waited_s, waits_s(single_server().simulate(1, 1, trace)))
        means.append(float(waited_s[5_000:].mean()))
    assert differs
    theory_s = pollaczek_khinchine(rate, MEAN_US * MICROSECOND, (2 - P) / P**2 * MICROSECOND**2)
    assert_agrees(means, theory_s, 0.08)
