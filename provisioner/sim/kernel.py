"""The event loop: arrivals, ends of runs, ends of transfers, failures and returns (Splitwise, sections IV-A to IV-C).

Events are ordered by (time, priority, sequence): at one moment ends of runs come first by machine, then
ends of transfers by request, then failures and returns all together, then requests that restart in order of their
first arrival, then arrivals in their order; machines start new runs only after all events of the moment
are in, so that simultaneous arrivals share a batch. A run of equal iterations is one event (`timing`):
work grows with requests, not with tokens.
"""

from __future__ import annotations

import numpy as np

from provisioner.sim.ageing import leave_ageing
from provisioner.sim.ends import set_end
from provisioner.sim.failure import change
from provisioner.sim.heap import pop
from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.lists import unlink
from provisioner.sim.log import note_transfer
from provisioner.sim.memory import held_at_end, reservation
from provisioner.sim.paging import grow
from provisioner.sim.queueing import queue_decode, queue_prompt
from provisioner.sim.routing import is_full, route
from provisioner.sim.running import count_time, finished_decode
from provisioner.sim.standings import count_pending, count_reserved
from provisioner.sim.state import NOWHERE, RUNNING_PROMPTS, World
from provisioner.sim.stop import E2E, TBT, TTFT, count_late
from provisioner.sim.transfer import free, send
from provisioner.sim.waking import could_join, follow_prompt, make_ready, memory_freed, start_ready


@jit
def _fill(world: World, number: int) -> None:
    """Set up a request's row: nothing has happened to it."""
    request, given = world.requests[number], world.given
    request.arrival_s = given.arrival_s[number]
    request.prompt_tokens = given.prompt_tokens[number]
    request.output_tokens = given.output_tokens[number]
    request.prefill_tokens = given.prefill_tokens[number]
    request.prompt_machine = request.token_machine = -1
    request.restarts = request.recomputations = 0
    request.is_sending = request.is_evicted = False
    _reset(world, number)


@jit
def _reset(world: World, number: int) -> None:
    """Nothing has happened to a request since it arrived, or now restarts."""
    request = world.requests[number]
    request.first_token_s = request.finish_s = request.prompt_start_s = request.decode_start_s = np.inf
    request.transfer_s = np.nan
    request.next_transfer = -1


@jit
def _prepare(world: World, number: int) -> None:
    """Set what a request's two tasks are made of."""
    request, rules = world.requests[number], world.rules
    prompt, decode = world.tasks[number], world.tasks[len(world.requests) + number]
    prompt.list = decode.list = NOWHERE
    prompt.is_chosen = decode.is_chosen = False
    prompt.behind_prompt = decode.behind_prompt = False
    prompt.remaining = prompt.tokens = request.prefill_tokens
    prompt.kv_tokens = request.prompt_tokens + rules.first_token_kv
    decode.remaining = request.output_tokens - 1
    decode.tokens = 1
    decode.kv_tokens = 1 if rules.kv_on_demand else request.output_tokens - rules.first_token_kv


@jit
def _arrive(world: World, number: int, now: float) -> None:
    request = world.requests[number]
    if world.rules.max_requests_per_machine > 0 and request.restarts == 0 and is_full(world):
        return
    if held_at_end(world, number) > world.rules.max_kv_tokens:
        return
    route(world, number, now)
    if request.prompt_machine < 0:
        return
    world.clock[0].inside += 1
    _prepare(world, number)
    queue_prompt(world, world.machines[request.prompt_machine], number)
    could_join(world, request.prompt_machine, number, now)
    if request.prompt_machine == request.token_machine:
        follow_prompt(world, number, now)


@jit
def _end_transfer(world: World, number: int, now: float) -> None:
    request = world.requests[number]
    if not request.is_sending:
        world.clock[0].retrying -= 1
        send(world, number, now)
        return
    request.is_sending = False
    note_transfer(world, number, now)
    kv_tokens = request.prompt_tokens + world.rules.first_token_kv
    decode = len(world.requests) + number
    count_reserved(world, request.prompt_machine, -kv_tokens)
    free(world, request.prompt_machine, kv_tokens, now)
    queue_decode(world, world.machines[request.token_machine], decode)
    could_join(world, request.token_machine, decode, now)
    memory_freed(world, request.prompt_machine, now)


@jit
def _send_next(world: World, now: float) -> None:
    """In a closed loop, whoever has an answer sends the next request at once; it arrives last of this moment."""
    if world.clock[0].sent < len(world.requests):
        world.given.arrival_s[world.clock[0].sent] = now
        world.clock[0].sent += 1


@jit
def _finish(world: World, number: int, kv_tokens: int, now: float) -> None:
    """The last token is out: leave the books of the token machine, which holds `kv_tokens` of it."""
    request = world.requests[number]
    request.finish_s = now
    count_late(world, number, TBT, now - request.first_token_s)
    count_late(world, number, E2E, now - request.arrival_s)
    count_pending(world, request.token_machine, -1)
    world.clock[0].inside -= 1
    count_reserved(world, request.token_machine, -reservation(world, number))
    free(world, request.token_machine, kv_tokens, now)
    _send_next(world, now)


@jit_apart
def _finish_with_prompt(world: World, number: int, now: float) -> None:
    """A request of one output token ends with its prompt: nothing is sent or decoded."""
    request = world.requests[number]
    kv_tokens = request.prompt_tokens + world.rules.first_token_kv
    decode = len(world.requests) + number
    if world.tasks[decode].behind_prompt:
        leave_ageing(world, world.machines[request.token_machine], decode)
        world.tasks[decode].behind_prompt = False
    if request.prompt_machine == request.token_machine:
        _finish(world, number, kv_tokens, now)
    else:
        _finish(world, number, 0, now)
        count_reserved(world, request.prompt_machine, -kv_tokens)
        free(world, request.prompt_machine, kv_tokens, now)


@jit_apart
def _end_recomputation(world: World, number: int, now: float) -> None:
    """What was dropped of a request's KV-cache is there again, and its next token is out."""
    machine, decode = world.requests[number].token_machine, len(world.requests) + number
    world.requests[number].is_evicted = False
    count_pending(world, machine, -world.tasks[number].tokens)
    if world.tasks[decode].remaining == 0:
        _finish(world, number, held_at_end(world, number), now)
    else:
        queue_decode(world, world.machines[machine], decode)


@jit
def _end_prompt(world: World, number: int, now: float) -> None:
    """A prompt's iteration has ended, and the first token is out."""
    request = world.requests[number]
    if request.is_evicted:
        _end_recomputation(world, number, now)
        return
    request.first_token_s = now
    count_late(world, number, TTFT, now - request.arrival_s)
    count_pending(world, request.prompt_machine, -request.prefill_tokens)
    if request.output_tokens == 1:
        _finish_with_prompt(world, number, now)
    elif request.prompt_machine == request.token_machine:
        queue_decode(world, world.machines[request.token_machine], len(world.requests) + number)
    else:
        send(world, number, now)


@jit
def _end_run(world: World, number: int, now: float) -> None:
    machine = world.machines[number]
    if world.rules.kv_on_demand and machine.prompts == 0:
        grow(world, number, machine.iterations - 1)
    count_time(world, number, now)
    set_end(world, number, np.inf)
    world.clock[0].iterations += machine.iterations
    machine.iteration += machine.iterations
    machine.context += machine.decodes * machine.iterations
    machine.iterations = 0
    request = finished_decode(world, number)
    while request >= 0:
        _finish(world, request, held_at_end(world, request), now)
        request = finished_decode(world, number)
    machine.prompts = 0
    machine.prompt_tokens = 0
    prompt = machine.head[RUNNING_PROMPTS]
    while prompt >= 0:
        unlink(world.tasks, machine, prompt)
        _end_prompt(world, prompt, now)
        prompt = machine.head[RUNNING_PROMPTS]
    make_ready(world, number)


@jit
def _happen(world: World, item: int, now: float) -> None:
    if item < len(world.requests):
        _end_transfer(world, item, now)
    else:
        change(world, item - len(world.requests), now)


@jit
def run_events(world: World) -> None:
    """Run until nothing is left to happen: every request is finished, or waits for room it never gets."""
    _run(world)
    for number in range(world.clock[0].arrived, len(world.requests)):
        _fill(world, number)


@jit
def _run(world: World) -> None:
    events, arrivals_s = world.events, world.given.arrival_s
    first_restart = len(world.requests) + len(world.machines)
    next_arrival = 0
    now = settled_s = 0.0
    while True:
        end_s = np.int64(world.ends[0, 1].key).view(np.float64)
        event_s = min(end_s, events.key[0, 0] if events.size[0] > 0 else np.inf)
        arrival_s = arrivals_s[next_arrival] if next_arrival < len(arrivals_s) else np.inf
        if world.clock[0].ready > 0 and min(event_s, arrival_s) > now:
            start_ready(world, now)
            continue
        if world.clock[0].is_stopped:
            world.clock[0].end_s = now
            return
        only_retries = min(arrival_s, end_s) == np.inf and events.size[0] == world.clock[0].retrying
        if only_retries and event_s > settled_s + world.rules.transfer_retry_s:
            # Each was tried in vain since anything else happened: no memory will ever be free for them.
            world.clock[0].end_s = settled_s
            return
        now = min(event_s, arrival_s)
        if not only_retries:
            settled_s = now
        world.clock[0].events += 1
        if arrival_s < event_s:
            arriving = next_arrival
            next_arrival += 1
            _fill(world, arriving)
            world.clock[0].arrived = next_arrival
        elif end_s == now:
            _end_run(world, world.ends[0, 1].player, now)
            continue
        else:
            item = pop(events, 0)
            if item < first_restart:
                _happen(world, item, now)
                continue
            arriving = item - first_restart
            _reset(world, arriving)
        _arrive(world, arriving, now)
