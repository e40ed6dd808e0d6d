"""What must not change a result, or must change it in a known way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.domain.design import Design
from provisioner.domain.trace import RequestTrace
from provisioner.perf.model import PerformanceModel
from provisioner.sim import Network, Simulation
from provisioner.sim.native import run_events
from provisioner.sim.state import make_world
from tests.sim.strategies import HABITS, Case, cases, examples
from tests.sim.worlds import mixed, performance, split

FIELDS = (
    "first_token_s",
    "finish_s",
    "prompt_machine",
    "token_machine",
    "prompt_busy_s",
    "decode_busy_s",
    "mixed_busy_s",
    "mixed_pool_s",
    "peak_tokens",
    "peak_decodes",
    "peak_kv",
)


def assert_same(one: Simulation, other: Simulation, requests: slice = slice(None)) -> None:
    """Equal to the last bit."""
    for field in FIELDS:
        mine, theirs = getattr(one, field), getattr(other, field)
        if len(mine) == len(one.trace):
            mine, theirs = mine[requests], theirs[requests]
        assert np.array_equal(mine, theirs), field
    assert (one.events, one.iterations) == (other.events, other.iterations)


def busy_trace(seed: int, n: int = 2000, rate: float = 120.0) -> RequestTrace:
    """More than the clusters below can do, so that everything there is happens."""
    rng = np.random.default_rng(seed)
    return RequestTrace(np.cumsum(rng.exponential(1 / rate, n)), rng.integers(1, 1500, n), rng.geometric(0.05, n))


def busy_networks() -> list[tuple[Network, tuple[int, int]]]:
    model = performance(prefill=((1, 0.01), (512, 0.03), (2048, 0.11)), decode=((1, 0.01), (64, 0.02)), gamma=1e-7)
    return [
        (split(model, kv_tokens=20_000, tokens_per_s=50_000, residue_s=0.005), (3, 2)),
        (split(model, tokens_per_s=50_000, **HABITS), (3, 2)),
        (mixed(model, kv_tokens=20_000), (3, 0)),
    ]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_the_same_requests_give_the_same_result_bit_for_bit(index: int) -> None:
    network, counts = busy_networks()[index]
    first = network.simulate(*counts, busy_trace(1))
    assert first.mixed_pool_s.sum() > 0 or network.design.is_mixed
    assert_same(first, network.simulate(*counts, busy_trace(1)))
    again, _ = busy_networks()[index]
    assert_same(first, again.simulate(*counts, busy_trace(1)))


def test_four_threads_at_once_give_what_one_gives_alone() -> None:
    jobs = [(network, counts, busy_trace(seed)) for seed in range(4) for network, counts in busy_networks()]
    alone = [network.simulate(*counts, trace) for network, counts, trace in jobs]
    # Threads share networks and traces.
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda job: job[0].simulate(*job[1], job[2]), jobs * 3))
    for one, other in zip(alone * 3, together, strict=True):
        assert_same(one, other)


def slower(model: PerformanceModel, factor: float) -> PerformanceModel:
    return replace(
        model,
        prefill_seconds=model.prefill_seconds * factor,
        decode_seconds=model.decode_seconds * factor,
        gamma_s_per_token=model.gamma_s_per_token * factor,
    )


def with_slower_links(design: Design, factor: float) -> Design:
    boxes = {
        pool: box.model_copy(
            update={
                "interconnect_bytes_per_s": box.interconnect_bytes_per_s / factor,
                "transfer_residue_s": box.transfer_residue_s * factor,
            }
        )
        for pool, box in (("prompt", design.prompt), ("token", design.token), ("mixed", design.mixed))
        if box is not None
    }
    retry_s = design.scheduling.transfer_retry_s * factor
    scheduling = design.scheduling.model_copy(update={"transfer_retry_s": retry_s})
    return design.model_copy(update={**boxes, "scheduling": scheduling})


@pytest.mark.nojit
@given(cases(), st.sampled_from([0.5, 2.0, 1024.0]))
@examples(200)
def test_in_another_unit_of_time_all_is_the_same(case: Case, factor: float) -> None:
    # A power of two changes no rounding, so that even ties stay ties, and equality is exact.
    rescaled = Case(
        design=with_slower_links(case.design, factor),
        models=tuple(slower(model, factor) for model in case.models),
        counts=case.counts,
        trace=case.trace.scaled_in_time(factor),
    )
    one, other = case.simulate(), rescaled.simulate()
    for field in FIELDS:
        scale = factor if field.endswith("_s") else 1
        assert np.array_equal(getattr(one, field) * scale, getattr(other, field)), field
    assert (one.events, one.iterations) == (other.events, other.iterations)


@pytest.mark.nojit
@given(cases())
@examples(200)
def test_a_request_far_in_the_future_changes_nothing_before_it(case: Case) -> None:
    trace = case.trace
    later = RequestTrace(
        np.append(trace.arrival_s, 1e6), np.append(trace.prompt_tokens, 7), np.append(trace.output_tokens, 3)
    )
    one, other = case.simulate(), case.simulate(later)
    finished = np.isfinite(one.finish_s)
    for field in ("first_token_s", "finish_s"):
        # A request that waits for memory may go on when another comes.
        assert np.array_equal(getattr(one, field)[finished], getattr(other, field)[:-1][finished]), field
    for field in ("prompt_machine", "token_machine"):
        assert np.array_equal(getattr(one, field), getattr(other, field)[:-1]), field


@pytest.mark.nojit
@given(cases(), st.integers(0, 23))
@examples(200)
def test_nothing_depends_on_what_comes_later(case: Case, kept: int) -> None:
    # Of the first requests alone, whatever happens before the next would arrive happens all the same.
    trace = case.trace
    if kept >= len(trace):
        return
    head = RequestTrace(trace.arrival_s[:kept], trace.prompt_tokens[:kept], trace.output_tokens[:kept])
    one, other = case.simulate(head), case.simulate()
    next_s = trace.arrival_s[kept]
    for field in ("first_token_s", "finish_s"):
        mine, theirs = getattr(one, field), getattr(other, field)[:kept]
        assert np.array_equal(mine[mine < next_s], theirs[theirs < next_s]), field


def relabelled(network: Network, counts: tuple[int, int], trace: RequestTrace, turns: list[int]) -> np.ndarray:
    """Finish times of machines in another order: token machines first, in their pools by `turns`."""
    machines = np.repeat(network.machine_rows[::-1], counts[::-1]).view(np.recarray)
    world = make_world(network.rules, network.timing, network._given(trace), machines)
    machines.seat = turns
    world.standings.seated[turns] = np.arange(sum(counts))
    run_events(world)
    return np.stack([world.requests["first_token_s"], world.requests["finish_s"]])


@pytest.mark.parametrize("index", [0, 1])
def test_machine_numbers_are_but_names(index: int) -> None:
    # Ties go by the place in the pool, not by number. (Numbers do order events of one moment, of which there are none
    # here: arrivals are continuous.)
    network, counts = busy_networks()[index]
    trace = busy_trace(5)
    expected = network.simulate(*counts, trace)
    turns = [3, 4, 0, 1, 2]
    times_s = relabelled(network, counts, trace, turns)
    assert np.array_equal(times_s, np.stack([expected.first_token_s, expected.finish_s]))


def test_equal_machines_of_a_pool_can_be_exchanged() -> None:
    # With the places in the pools reversed, ties go to other machines. That changes no request's times as long as
    # machines tie only where they are in the same state: prompts of one output token, of lengths that differ, tie only
    # where they are idle. (Decodes count one pending token each, whatever they have left: there ties matter.)
    n = 2000
    rng = np.random.default_rng(6)
    tokens = rng.permutation(np.arange(500, 500 + n))
    trace = RequestTrace(np.cumsum(rng.exponential(0.5, n)), tokens, np.ones(n, np.int64))
    network, counts = split(max_pending_tokens=10**9), (3, 2)
    expected = network.simulate(*counts, trace)
    assert np.mean(expected.first_token_s - trace.arrival_s) > 1.2 * np.mean(tokens) / 1000  # they do queue
    times_s = relabelled(network, counts, trace, [4, 3, 2, 1, 0])
    np.testing.assert_allclose(times_s, np.stack([expected.first_token_s, expected.finish_s]), rtol=1e-12)
