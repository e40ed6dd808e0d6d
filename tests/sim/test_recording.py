"""Every run and transfer of a simulation, kept one by one."""

from __future__ import annotations

import numpy as np
import pytest

from provisioner.sim import Network
from tests.sim.worlds import empty_world, mixed, requests, split

pytestmark = pytest.mark.nojit

SLOW_LINK = {"tokens_per_s": 1000.0, "layerwise_from_tokens": 10**6}
TRACE = requests((0.0, 100, 3), (0.5, 100, 1))


def test_a_run_and_a_transfer_by_hand() -> None:
    """A prompt of 0.1 s, its KV-cache sent in 0.1 s, two decodes of 0.1 s; then a prompt of one token out."""
    recording = split(**SLOW_LINK).record(1, 1, TRACE)
    told = [
        (e.machine, e.request, round(e.start_s, 9), round(e.end_s, 9), e.prompts, e.prompt_tokens, e.decodes)
        for e in recording.log
    ]
    assert told == [
        (0, -1, 0.0, 0.1, 1, 100, 0),
        (1, 0, 0.1, 0.2, 0, 0, 0),
        (1, -1, 0.2, 0.4, 0, 0, 1),
        (0, -1, 0.5, 0.6, 1, 100, 0),
    ]
    assert recording.log.iterations.tolist() == [1, 0, 2, 1]
    assert recording.runs_of(0).end_s.tolist() == pytest.approx([0.1, 0.6])
    assert recording.transfers_to(1).request.tolist() == [0]
    assert recording.end_s == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("network", "counts"), [(split(**SLOW_LINK, token_kv_tokens=700), (2, 2)), (mixed(kv_tokens=900), (3, 0))]
)
def test_what_is_kept_adds_up_to_what_the_simulation_says(network: Network, counts: tuple[int, int]) -> None:
    generator = np.random.default_rng(7)
    rows = [
        (at, int(prompt), int(output))
        for at, prompt, output in zip(
            np.sort(generator.uniform(0, 20, 150)),
            generator.integers(1, 300, 150),
            generator.integers(1, 12, 150),
            strict=True,
        )
    ]
    trace = requests(*rows)
    recording = network.record(*counts, trace)
    plain = network.simulate(*counts, trace)
    assert np.array_equal(recording.simulation.finish_s, plain.finish_s)
    assert recording.simulation.events == plain.events
    assert sum(recording.log.iterations[recording.log.request < 0]) == plain.iterations
    for number in range(sum(counts)):
        runs = recording.runs_of(number)
        assert np.all(runs.start_s[1:] >= runs.end_s[:-1] - 1e-12)
        spent = runs.end_s - runs.start_s
        has_prompts, has_decodes = runs.prompts > 0, runs.decodes > 0
        assert spent[has_prompts & ~has_decodes].sum() == pytest.approx(plain.prompt_busy_s[number])
        assert spent[~has_prompts & has_decodes].sum() == pytest.approx(plain.decode_busy_s[number])
        assert spent[has_prompts & has_decodes].sum() == pytest.approx(plain.mixed_busy_s[number])
    sent = recording.log[recording.log.request >= 0]
    assert sorted(sent.request.tolist()) == np.flatnonzero(~np.isnan(plain.transfer_s)).tolist()
    assert sent.end_s - sent.start_s == pytest.approx(plain.transfer_s[sent.request])
    assert np.array_equal(sent.machine, plain.token_machine[sent.request])


def test_nothing_is_kept_unless_it_is_asked_for() -> None:
    assert len(empty_world(split(), (1, 1), TRACE).log) == 0
