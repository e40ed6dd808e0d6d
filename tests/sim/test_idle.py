"""Machines that have nothing to do change nothing: clusters with more of them, or with none of them, do the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from provisioner.sim import Simulation
from tests.sim.strategies import Case, cases, examples
from tests.sim.worlds import requests, split

pytestmark = pytest.mark.nojit


def same(one: Simulation, other: Simulation) -> bool:
    """Whether the same happened, on the same machines of each pool."""
    moved = other.pool_sizes[0] - one.pool_sizes[0]
    for name in ("prompt_machine", "token_machine"):
        own, others = getattr(one, name), getattr(other, name)
        if not np.array_equal(own + moved * (own >= one.pool_sizes[0]), others):
            return False
    times = ("first_token_s", "finish_s", "prompt_start_s", "decode_start_s", "transfer_s")
    return all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in times)


@given(cases(), st.integers(1, 8), st.integers(1, 8))
@examples(600)
def test_as_many_machines_as_are_used_do_as_any_number_above(case: Case, first: int, other: int) -> None:
    assume(case.design.scheduling.max_requests_per_machine == 0)
    one = replace(case, counts=(first, *case.counts[1:])).simulate()
    assume(one.used < first)
    count = max(one.used, 1) + other - 1
    assert same(one, replace(case, counts=(count, *case.counts[1:])).simulate())


def test_a_machine_is_used_once_something_is_to_run_there() -> None:
    # Two requests at once: the second's prompt goes to the second machine, the third one's to the first again.
    network = split()
    assert network.simulate(3, 1, requests((0.0, 10, 2), (0.0, 10, 2), (5.0, 10, 2))).used == 2
    assert network.simulate(2, 1, requests((0.0, 10, 2), (5.0, 10, 2))).used == 1
    assert network.simulate(2, 1, requests()).used == 0


def test_a_machine_that_is_lent_to_a_decode_is_used() -> None:
    # The token machine holds one of these requests. When the second arrives the first prompt machine is idle again, but
    # sends the first request's KV-cache still: the second one, which holds nothing, is lent to the decode.
    network = split(kv_tokens=40, token_kv_tokens=20, tokens_per_s=10.0)
    lent = network.simulate(3, 1, requests((0.0, 10, 5), (0.5, 10, 5)))
    assert lent.prompt_machine.tolist() == [0, 0]
    assert lent.token_machine.tolist() == [3, 1]
    assert lent.used == 2
