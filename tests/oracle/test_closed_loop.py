"""In a closed loop, too, the kernel does what the oracle does: alone, and with machines that fail."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.oracle.test_failing import as_given, served, world
from tests.oracle.test_oracle import kernel, oracle


def together(requests: list[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
    return [(0.0, prompt, output) for _, prompt, output in requests]


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_is_the_oracle(seed: int) -> None:
    """Arrivals, first tokens and ends, exactly: all times are exact in binary, so that what coincides does in both."""
    random = Random(100 + seed)
    for _ in range(250):
        kinds, counts, requests, rules, _failing = world(random)
        requests, users = together(requests), random.randint(1, len(requests) + 1)
        result = kernel(kinds, counts, requests, rules, users=users)
        wanted = oracle(kinds, counts, requests, rules, users)
        sent = [request for request in wanted if np.isfinite(request.arrival_s)]
        assert result.trace.arrival_s[: len(sent)].tolist() == [request.arrival_s for request in sent]
        assert set(result.trace.arrival_s[len(sent) :]) <= {result.end_s}
        assert result.first_token_s.tolist() == [request.first_token_s for request in wanted]
        assert result.finish_s.tolist() == [request.finish_s for request in wanted]


@pytest.mark.parametrize("seed", range(6))
def test_with_machines_that_fail(seed: int) -> None:
    random = Random(200 + seed)
    for _ in range(250):
        kinds, counts, requests, rules, failing = world(random)
        requests, users = together(requests), random.randint(1, len(requests))
        drawn = (kinds, counts, requests, rules, failing)
        result = kernel(kinds, counts, requests, rules, as_given(failing), users=users)
        columns = (result.first_token_s, result.finish_s, result.restarts, result.prompt_machine, result.token_machine)
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == served(drawn, users), drawn
