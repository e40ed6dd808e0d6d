"""With machines that fail, too, the kernel does what the oracle does."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from provisioner.domain.failures import Failures
from tests.oracle.failing import FailingSimulator
from tests.oracle.simulator import Kind, Machine, Request, Rules
from tests.oracle.test_oracle import kernel

World = tuple[list[Kind], list[int], list[tuple[float, int, int]], Rules, list[tuple[float, int, float]]]


def curve(random: Random) -> list[tuple[float, float]]:
    """Rising points at powers of two, in sixteenths of a second: every time between is exact in binary."""
    seconds = 1 + random.randint(0, 4)
    points = [(1.0, seconds / 16)]
    for exponent in range(1, random.randint(1, 4)):
        seconds += random.randint(0, 4)
        points.append((2.0**exponent, seconds / 16))
    return points


def kind(random: Random) -> Kind:
    """Little memory and slow transfers, so that much waits, and is on the way, when a machine fails."""
    capacity = random.choice([21, 25, 40, 60, 1000])
    return Kind(
        prefill=curve(random),
        decode=curve(random),
        gamma=random.choice([0.0, 1 / 256, 1 / 64]),
        mixed_factor=random.choice([1.0, 1.125, 1.5]),
        kv_capacity=capacity,
        kv_routable=capacity,
        kv_tokens_per_s=random.choice([2.0, 16.0, 256.0]),
        residue_s=random.choice([0.0, 1 / 16]),
    )


def world(random: Random) -> World:
    """A cluster of one to six machines; some, seldom all, fail, and some are back, many at one moment."""
    kinds = [kind(random) for _ in range(random.choice([1, 2, 2, 2]))]
    counts = [random.randint(1, 3) for _ in kinds]
    requests = sorted(
        (random.randint(0, 64) / 16, random.randint(1, 12), random.randint(1, 9)) for _ in range(random.randint(1, 30))
    )
    on_demand = random.random() < 0.4
    rules = Rules(
        max_batch_requests=random.choice([1, 2, 4, 512]),
        max_batch_tokens=random.choice([4, 8, 16, 2048]),
        max_batch_prompts=random.choice([1, 2, 100_000]),
        max_batch_decodes=random.choice([1, 2, 100_000]),
        cached_prompt_share=random.choice([0.0, 0.3, 0.75, 1.0]),
        max_requests_per_machine=random.choice([0, 0, 1, 5]),
        chunked_prefill=len(kinds) == 1 and random.random() < 0.5,
        max_passed_over=random.randint(1, 4),
        max_pending_tokens=random.choice([0, 8, 24, 8192]),
        layerwise_from_tokens=random.choice([0, 4, 512]),
        kv_on_demand=on_demand,
        first_token_in_prompt_kv=not on_demand and random.random() < 0.5,
        long_prompts_wait=random.random() < 0.5,
        transfer_retry_s=random.choice([0.0, 0.0, 0.25, 1.0]),
    )
    machines = sum(counts)
    most = machines if random.random() < 0.2 else max(machines - 2, 1)
    grid = random.choice([1 / 16, 1 / 8, 1])
    failing = random.sample(range(machines), random.randint(0, most))
    return kinds, counts, requests, rules, [each for number in failing for each in outages(random, number, grid)]


def outages(random: Random, number: int, grid: float) -> list[tuple[float, int, float]]:
    """When a machine fails, and when it is back: never, or after a while, once or up to four times."""
    found = []
    time_s = random.randint(0, int(6 / grid)) * grid
    for _ in range(random.choice([0, 0, 1, 2, 4])):
        back_s = time_s + random.randint(1, int(2 / grid)) * grid
        found.append((time_s, number, back_s))
        time_s = back_s + random.randint(1, int(2 / grid)) * grid
    if not found or random.random() < 0.3:
        found.append((time_s, number, math.inf))
    return found


def as_given(outages: list[tuple[float, int, float]]) -> Failures:
    ordered = sorted(outages)
    times_s, numbers, back_s = zip(*ordered, strict=True) if ordered else ((), (), ())
    return Failures(np.array(times_s, np.float64), np.array(numbers, np.int64), np.array(back_s, np.float64))


def served(world: World, users: int = 0) -> list[tuple[float, float, int, int, int]]:
    """What the oracle has: first token, end, restarts and machines of each request."""
    kinds, counts, rows, rules, failing = world
    homes = ("mixed",) if len(kinds) == 1 else ("prompt", "token")
    pools = [(each, home) for each, home, count in zip(kinds, homes, counts, strict=True) for _ in range(count)]
    machines = [Machine(number, each, home) for number, (each, home) in enumerate(pools)]
    requests = [Request(number, *row) for number, row in enumerate(rows)]
    oracle = FailingSimulator(requests, machines, rules, failing, users)
    oracle.run()
    numbers = [(r.source.number, r.target.number) if r.number in oracle.routed else (-1, -1) for r in requests]
    return [
        (request.first_token_s, request.finish_s, restarts, *ends)
        for request, restarts, ends in zip(requests, oracle.restarts, numbers, strict=True)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_is_the_oracle_with_failures(seed: int) -> None:
    """Exactly, in 250 random worlds a seed; all times are exact in binary, so that what coincides does in both."""
    random = Random(seed)
    for _ in range(250):
        drawn = world(random)
        kinds, counts, requests, rules, failing = drawn
        result = kernel(kinds, counts, requests, rules, as_given(failing))
        columns = (result.first_token_s, result.finish_s, result.restarts, result.prompt_machine, result.token_machine)
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == served(drawn), drawn
