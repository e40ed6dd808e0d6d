"""More work than can be done: machines run full batches, and throughput is what a full batch gives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sim.worlds import mixed, performance, requests, split

pytestmark = pytest.mark.nojit

CURVED = ((1, 0.02), (512, 0.1), (2048, 0.7))
"""Not linear, so that only a batch of 2048 tokens takes 0.7 s."""


@pytest.mark.parametrize("prompt_tokens", [128, 256, 2048])
def test_prompts_are_served_in_full_batches(prompt_tokens: int) -> None:
    # 2048 tokens each 0.7 s: the k-th batch ends at 0.7 (k + 1).
    batch = 2048 // prompt_tokens
    trace = requests(*[(0, prompt_tokens, 1)] * (batch * 5))
    simulation = split(performance(prefill=CURVED), max_pending_tokens=10**6).simulate(1, 1, trace)
    expected_s = 0.7 * (np.arange(batch * 5) // batch + 1)
    np.testing.assert_allclose(simulation.finish_s, expected_s, rtol=1e-12)
    tokens_per_s = trace.prompt_tokens.sum() / simulation.makespan_s
    assert tokens_per_s == pytest.approx(2048 / 0.7)
    assert simulation.peak_tokens.tolist() == [2048, 0]


def test_prompts_of_several_machines_are_served_in_full_batches() -> None:
    # JSQ deals equal prompts out in turn.
    trace = requests(*[(0, 512, 1)] * 24)
    simulation = mixed(performance(prefill=CURVED)).simulate(3, 0, trace)
    assert np.bincount(simulation.prompt_machine).tolist() == [8, 8, 8]
    assert simulation.makespan_s == pytest.approx(2 * 0.7)


@pytest.mark.parametrize("gamma", [0.0, 1e-6])
def test_decodes_are_served_in_full_batches(gamma: float) -> None:
    # 40 decodes of 50 iterations, 8 at a time: five batches, each 50 f(8) + gamma (50 c + 8 x 50 x 49 / 2), where the
    # contexts c sum to 8 x 11 at first. Prompts are instant: ten tokens in a nanosecond, the first 8 before the rest.
    model = performance(prefill=((1, 1e-12),), decode=((1, 0.01), (8, 0.03), (16, 0.3)), gamma=gamma)
    network = split(model, layerwise_from_tokens=0, max_batch_requests=8, max_pending_tokens=10**6, max_passed_over=99)
    simulation = network.simulate(1, 1, requests(*[(0, 10, 51)] * 40))
    batch_s = 50 * 0.03 + gamma * (50 * 8 * 11 + 8 * 50 * 49 / 2)
    expected_s = batch_s * (np.arange(40) // 8 + 1)
    np.testing.assert_allclose(simulation.finish_s, expected_s, rtol=1e-9)
    assert simulation.peak_decodes.tolist() == [0, 8]
    assert simulation.decode_busy_s[1] == pytest.approx(5 * batch_s)


def test_the_token_limit_is_the_batch_limit_of_decodes_too() -> None:
    model = performance(prefill=((1, 1e-12),), decode=((1, 0.01), (8, 0.03), (16, 0.3)))
    network = split(model, layerwise_from_tokens=0, max_batch_tokens=8, max_pending_tokens=10**6, max_passed_over=99)
    simulation = network.simulate(1, 1, requests(*[(0, 1, 51)] * 16))
    np.testing.assert_allclose(simulation.finish_s, 1.5 * (np.arange(16) // 8 + 1), rtol=1e-9)
