"""What must hold in every world, whatever its rules: hypothesis looks for one where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from provisioner.capacity import WorkBound, decode_work_s, least_prefill_s, prompt_work_s
from provisioner.domain.trace import RequestTrace
from provisioner.sim import Simulation
from provisioner.sim.arrays import NOBODY
from provisioner.sim.state import DECODES, PREEMPTED, PROMPTS
from tests.sim.strategies import Case, cases, examples
from tests.sim.worlds import KV_BYTES, MODEL, final_state

pytestmark = pytest.mark.nojit

ROUNDING = 1e-9


def horizon_s(simulation: Simulation) -> float:
    """When the last token is out."""
    times = np.concatenate([simulation.first_token_s, simulation.finish_s, [0.0]])
    return float(times[np.isfinite(times)].max())


def finished_part(simulation: Simulation) -> RequestTrace:
    """The requests that finish."""
    finished, trace = np.isfinite(simulation.finish_s), simulation.trace
    return RequestTrace(trace.arrival_s[finished], trace.prompt_tokens[finished], trace.output_tokens[finished])


@given(cases())
@examples(300)
def test_every_request_is_accounted_for_and_machines_keep_their_limits(case: Case) -> None:
    simulation = case.simulate()
    trace, finished = simulation.trace, np.isfinite(simulation.finish_s)
    # Arrived = finished + inside; arrival < first token <= last token.
    assert len(simulation.finish_s) == len(trace) == np.count_nonzero(finished) + simulation.unfinished
    assert np.all(trace.arrival_s < simulation.first_token_s)
    assert np.all(simulation.first_token_s <= simulation.finish_s)
    one_token = trace.output_tokens == 1
    assert np.array_equal(simulation.first_token_s[one_token], simulation.finish_s[one_token])
    assert np.all((simulation.first_token_s < simulation.finish_s)[finished & ~one_token])
    rules = case.design.scheduling
    turned_away = simulation.prompt_machine < 0
    assert not turned_away.any() or rules.max_requests_per_machine > 0
    for numbers in (simulation.prompt_machine, simulation.token_machine):
        assert np.all(((numbers >= 0) & (numbers < sum(case.counts))) | turned_away)
    assert simulation.makespan_s == max([0.0, *simulation.finish_s[finished].tolist()])
    # Limits of tokens, requests and memory; no machine works more than all of the time.
    longest = max([0, *rules.prefill_tokens(trace.prompt_tokens).tolist()])
    most_tokens = rules.max_batch_tokens if rules.chunked_prefill else max(rules.max_batch_tokens, longest)
    assert np.all(simulation.peak_tokens <= most_tokens)
    most_decodes = min(rules.max_batch_requests, rules.max_batch_tokens, rules.max_batch_decodes)
    assert np.all(simulation.peak_decodes <= most_decodes)
    for pool, box in enumerate(case.design.machines):
        capacity = (box.hbm_bytes - MODEL.weights_bytes) // KV_BYTES
        assert np.all(simulation.peak_kv[simulation.pool_rows(pool)] <= capacity)
        held_s = simulation.kv_token_s[simulation.pool_rows(pool)]
        assert np.all((held_s >= -ROUNDING) & (held_s <= capacity * simulation.end_s * (1 + ROUNDING)))
    for busy_s in (simulation.prompt_busy_s, simulation.decode_busy_s, simulation.mixed_busy_s):
        assert np.all(busy_s >= -ROUNDING)
    assert np.all(simulation.busy_s <= horizon_s(simulation) * (1 + ROUNDING))
    assert np.all(simulation.mixed_pool_s >= 0)
    # Phases follow each other; without a decode there is none, and without a second machine no transfer.
    assert np.all(simulation.prompt_start_s >= trace.arrival_s)
    assert np.all((simulation.first_token_s > simulation.prompt_start_s) | np.isinf(simulation.prompt_start_s))
    assert np.all(np.isinf(simulation.decode_start_s[one_token]))
    decoding = np.isfinite(simulation.decode_start_s)
    moved_s = np.where(np.isnan(simulation.transfer_s), 0.0, simulation.transfer_s)
    least_s = simulation.first_token_s + moved_s
    assert np.all(simulation.decode_start_s[decoding] >= least_s[decoding] * (1 - ROUNDING))
    assert np.all(simulation.finish_s[decoding] > simulation.decode_start_s[decoding])
    assert np.all(np.isnan(simulation.transfer_s[simulation.prompt_machine == simulation.token_machine]))
    # Times at each batch size add up to the times busy; batches times their sizes to the time that requests spent in
    # them, of which those preempted spent less than it took (Little's law again, of the batch).
    for pool in range(len(case.counts)):
        busy_s = simulation.busy_s[simulation.pool_rows(pool)].sum()
        assert simulation.batch_time_s[pool, 1:].sum() == pytest.approx(busy_s, rel=1e-9, abs=1e-9)
    if simulation.unfinished == 0:
        sizes = np.arange(simulation.batch_time_s.shape[1])
        prompt_s = np.sum(simulation.first_token_s - simulation.prompt_start_s)
        decode_s = np.sum(simulation.finish_s[decoding] - simulation.decode_start_s[decoding])
        assert np.sum(simulation.batch_time_s * sizes) <= (prompt_s + decode_s) * (1 + ROUNDING) + ROUNDING
    # Little's law on the sample path: the area under the number inside is the sum of the times inside.
    arrival_s, finish_s = trace.arrival_s[finished], simulation.finish_s[finished]
    moments = np.sort(np.concatenate([arrival_s, finish_s]))
    inside = [np.count_nonzero((arrival_s <= t) & (t < finish_s)) for t in moments[:-1]]
    area = float(np.sum(inside * np.diff(moments))) if len(moments) else 0.0
    assert area == pytest.approx(float(np.sum(finish_s - arrival_s)), rel=1e-9, abs=1e-9)


@given(cases())
@examples(300)
def test_the_books_are_empty_when_all_is_done(case: Case) -> None:
    world = final_state(case.network, case.counts, case.trace)
    machines = world.machines
    assert np.all(machines.used_kv >= 0)
    assert np.all(machines.used_kv <= machines.kv_capacity)
    assert np.all(machines.decodes == 0)
    assert np.all(machines.iterations == 0)
    assert np.all(machines.end_s == np.inf)
    assert world.ends[0, 1].key == NOBODY
    assert world.events.size[0] == world.clock[0].retrying
    if np.all(np.isfinite(world.requests.finish_s)):
        for field in ("pending_tokens", "reserved_kv", "used_kv", "waiting", "prompts", "prompt_tokens", "context"):
            assert np.all(machines[field] == 0), field
        for field in ("head", "tail", "oldest", "first_transfer"):
            assert np.all(machines[field] == -1), field


@given(cases())
@examples(300)
def test_nothing_is_left_that_could_go_on(case: Case) -> None:
    world = final_state(case.network, case.counts, case.trace)
    n, first_token_kv = len(world.requests), world.rules.first_token_kv

    def has_room(number: int, kv_tokens: int) -> bool:
        machine = world.machines[number]
        return bool(machine.used_kv + kv_tokens <= machine.kv_capacity)

    for number, machine in enumerate(world.machines):
        # The first prompt in line lacks memory, and so does the first decode if it arrived before that prompt.
        prompt, decode = machine.head[PROMPTS], machine.head[DECODES]
        if decode >= 0 and world.rules.chunked_prefill:
            # In pieces, the first decode comes before any prompt.
            assert not has_room(number, world.requests[decode - n].output_tokens - first_token_kv)
            continue
        if prompt >= 0:
            assert not has_room(number, world.requests[prompt].prompt_tokens + first_token_kv)
        if decode >= 0 and (prompt < 0 or decode - n < prompt):
            assert not has_room(number, world.requests[decode - n].output_tokens - first_token_kv)
        assert machine.head[PREEMPTED] == -1
    for number, request in enumerate(world.requests):
        # Of the transfers that wait, the first in line lacks memory at its destination; all do that try by themselves.
        is_sent = request.output_tokens == 1 or request.prompt_machine == request.token_machine
        if np.isfinite(request.first_token_s) and not is_sent and np.isnan(request.transfer_s):
            first = world.machines[request.token_machine].first_transfer
            if world.rules.transfer_retry_s > 0 or first == number:
                assert not has_room(request.token_machine, request.prompt_tokens + first_token_kv)


@given(cases(ample=True))
@examples(150)
def test_with_memory_for_everything_every_request_finishes(case: Case) -> None:
    simulation = case.simulate()
    assert simulation.unfinished == np.count_nonzero(simulation.prompt_machine < 0)  # those turned away


@given(cases(monotone=True))
@examples(200)
def test_nothing_is_faster_than_alone_on_the_fastest_machine(case: Case) -> None:
    simulation, trace = case.simulate(), case.trace
    prompt, output = trace.prompt_tokens.astype(float), trace.output_tokens.astype(float)
    rules = case.design.scheduling
    # Of a prompt in pieces, at least one token at once.
    computed = np.ones_like(prompt) if rules.chunked_prefill else rules.prefill_tokens(trace.prompt_tokens)
    prefill_s = np.min([min(1.0, model.mixed_factor) * model.prefill_s(computed) for model in case.models], axis=0)
    assert np.all(simulation.first_token_s - trace.arrival_s >= prefill_s * (1 - ROUNDING) - ROUNDING)
    # A decode iteration takes at least f(1); one shared with a prompt at least the prefill of two tokens.
    ones = np.ones_like(prompt)
    alone_s = np.min([model.decode_s(ones, prompt + 1) for model in case.models], axis=0)
    shared_s = min(model.mixed_factor * model.prefill_s(2.0) for model in case.models)
    least_s = (output - 1) * np.minimum(alone_s, shared_s)
    assert np.all(simulation.finish_s >= (simulation.first_token_s + least_s) * (1 - ROUNDING) - ROUNDING)


@given(cases())
@examples(700)
def test_the_work_bounds_are_sound(case: Case) -> None:
    # What the machines were busy is at least the work of what they finished, at the cheapest machine's rate ...
    simulation, scheduling = case.simulate(), case.design.scheduling
    done = finished_part(simulation)
    prompts = scheduling.prefill_tokens(done.prompt_tokens).astype(float)
    prompt_s = np.min([prompt_work_s(model, prompts, scheduling) for model in case.models], axis=0)
    decode_s = np.min([decode_work_s(model, done, scheduling) for model in case.models], axis=0)
    assert simulation.busy_s.sum() >= (prompt_s.sum() + decode_s.sum()) * (1 - ROUNDING)
    # ... no prompt was done sooner than in the fastest iteration that it could be in ...
    least_s = np.min([least_prefill_s(model, prompts, scheduling) for model in case.models], axis=0)
    ttft_s = (simulation.first_token_s - simulation.trace.arrival_s)[np.isfinite(simulation.finish_s)]
    assert np.all(ttft_s >= least_s * (1 - ROUNDING) - ROUNDING)
    # ... and a cluster that did finish it by then cannot have needed more time than there was.
    bound = WorkBound.of(case.design, case.performance, done, simulation.makespan_s)
    first, second = (np.array([float(count)]) for count in (*case.counts, 0)[:2])
    assert np.all(bound.keeps_up(first, second))
    assert bound.load(float(first[0]), float(second[0])) <= 1
