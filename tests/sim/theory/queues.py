"""What queueing theory says, and how a simulation is held against it.

Notation: arrival rate `lam`, mean service time `mean`, its second moment `second`, load `rho`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from provisioner.domain.trace import Floats, Ints, RequestTrace
from provisioner.sim import Network
from tests.sim.worlds import performance, split

MICROSECOND = 1e-6
PATIENT = 10**6
"""Passed-over count at which nothing is overdue: prompts are served strictly first come first served."""
NO_LIMIT = 10**9
BATCH_OF_ONE = {"max_batch_requests": 1, "max_passed_over": PATIENT, "max_pending_tokens": NO_LIMIT}
PER_TOKEN_1_US = ((1, MICROSECOND), (1_000_000, 1.0))
"""One microsecond for each prompt token, so that prompts are service times in microseconds."""


def single_server(**scheduling: int) -> Network:
    """A prompt machine that serves one prompt at a time."""
    return split(performance(prefill=PER_TOKEN_1_US), **(BATCH_OF_ONE | scheduling))


def prompts_only(arrival_s: Floats, service_us: Ints) -> RequestTrace:
    """Requests of one output token, so that nothing but the prompt is served."""
    return RequestTrace(arrival_s, service_us, np.ones(len(arrival_s), np.int64))


def poisson(rng: np.random.Generator, rate: float, n: int) -> Floats:
    """Arrival times of a Poisson process."""
    return np.cumsum(rng.exponential(1 / rate, n))


def lindley(arrival_s: Floats, service_s: Floats) -> Floats:
    """Waiting times of a G/G/1 queue, first come first served: W' = max(0, W + S - A) (Lindley, 1952)."""
    waits = np.zeros(len(arrival_s))
    for i in range(1, len(arrival_s)):
        waits[i] = max(0.0, waits[i - 1] + service_s[i - 1] - (arrival_s[i] - arrival_s[i - 1]))
    return waits


def pollaczek_khinchine(lam: float, mean: float, second: float) -> float:
    """Mean wait of an M/G/1 queue: lam E[S^2] / 2 (1 - rho)."""
    return lam * second / (2 * (1 - lam * mean))


def erlang_c(servers: int, offered: float) -> float:
    """Probability that an arrival waits in an M/M/c queue (Erlang, 1917)."""
    terms = [offered**k / math.factorial(k) for k in range(servers)]
    full = offered**servers / math.factorial(servers) / (1 - offered / servers)
    return full / (sum(terms) + full)


def mmc_wait(servers: int, lam: float, mean: float) -> float:
    """Mean wait of an M/M/c queue."""
    return erlang_c(servers, lam * mean) / (servers / mean - lam)


def t_interval(values: list[float], confidence: float = 0.99) -> tuple[float, float]:
    """Mean of independent replications and the half-width of its interval by Student's t."""
    sample = np.array(values)
    half = stats.t.ppf((1 + confidence) / 2, len(sample) - 1) * sample.std(ddof=1) / math.sqrt(len(sample))
    return float(sample.mean()), float(half)


def assert_agrees(values: list[float], theory: float, precision: float, bias: float = 0.0) -> None:
    """The theory lies in the interval of the replications, which is at most `precision` of it wide to each side.

    `bias` is what the simulation may differ by because its service is in discrete iterations.
    """
    mean, half = t_interval(values)
    assert len(values) >= 20
    assert half <= precision * theory, f"too wide to tell: {mean} +- {half}"
    assert abs(mean - theory) <= half + bias, f"{mean} +- {half}, theory {theory}"
