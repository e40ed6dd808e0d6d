"""The event loop: arrivals, ends of runs, ends of transfers (Splitwise, sections IV-A to IV-C).

Events are ordered by (time, priority, sequence): at one moment ends of runs come first by machine, then
ends of transfers by request, then arrivals in their order; machines start new runs only after all events
of the moment are in, so that simultaneous arrivals share a batch. A run of equal iterations is one event
(`timing`): work grows with requests, not with tokens.
"""

from __future__ import annotations

import numpy as np

from provisioner.sim.ageing import leave_ageing
from provisioner.sim.batching import fits_memory
from provisioner.sim.heap import pop
from provisioner.sim.jit import jit
from provisioner.sim.lists import unlink
from provisioner.sim.queueing import queue_behind_prompt, queue_decode, queue_prompt
from provisioner.sim.routing import route
from provisioner.sim.running import cut_run, finished_decode, start_run
from provisioner.sim.state import RUNNING_PROMPTS, World
from provisioner.sim.transfer import free, send


@jit
def _make_ready(world: World, number: int) -> None:
    if not world.machines[number].is_ready:
        world.machines[number].is_ready = True
        world.scratch[2 * len(world.requests) + world.clock[0].ready] = number
        world.clock[0].ready += 1


@jit
def _start_ready(world: World, now: float) -> None:
    for place in range(world.clock[0].ready):
        number = world.scratch[2 * len(world.requests) + place]
        world.machines[number].is_ready = False
        start_run(world, number, now)
    world.clock[0].ready = 0


@jit
def _could_join(world: World, number: int, task: int, now: float) -> None:
    """A task could join: start its machine if that is idle, or end the run where the task could join."""
    machine, rules = world.machines[number], world.rules
    if machine.iterations == 0:
        if fits_memory(world, number, task):
            _make_ready(world, number)
    elif task < len(world.requests):
        if not rules.long_prompts_wait or world.requests[task].prompt_tokens <= rules.max_batch_tokens:
            cut_run(world, number, now)
    elif machine.decodes < min(rules.max_batch_requests, rules.max_batch_tokens):
        cut_run(world, number, now)


@jit
def _arrive(world: World, number: int, now: float) -> None:
    route(world, number, now)
    request = world.requests[number]
    machine = world.machines[request.prompt_machine]
    decode = len(world.requests) + number
    world.tasks[decode].remaining = request.output_tokens - 1
    queue_prompt(world, machine, number)
    _could_join(world, request.prompt_machine, number, now)
    if request.prompt_machine == request.token_machine:
        queue_behind_prompt(world, machine, decode)
        if machine.iterations > 0:
            _could_join(world, request.prompt_machine, decode, now)


@jit
def _end_transfer(world: World, number: int, now: float) -> None:
    request = world.requests[number]
    if not request.is_sending:
        send(world, number, now)
        return
    request.is_sending = False
    source = world.machines[request.prompt_machine]
    kv_tokens = request.prompt_tokens + world.rules.first_token_kv
    decode = len(world.requests) + number
    source.reserved_kv -= kv_tokens
    free(world, request.prompt_machine, kv_tokens, now)
    queue_decode(world, world.machines[request.token_machine], decode)
    _could_join(world, request.token_machine, decode, now)
    if source.waiting > 0:
        # Memory is free, which any waiting task may have lacked.
        if source.iterations == 0:
            if fits_memory(world, request.prompt_machine, source.oldest):
                _make_ready(world, request.prompt_machine)
        elif source.decodes < min(world.rules.max_batch_requests, world.rules.max_batch_tokens):
            cut_run(world, request.prompt_machine, now)


@jit
def _finish(world: World, number: int, kv_tokens: int, now: float) -> None:
    """The last token is out: leave the books of the token machine, which holds `kv_tokens` of it."""
    request = world.requests[number]
    machine = world.machines[request.token_machine]
    request.finish_s = now
    machine.pending_tokens -= 1
    machine.reserved_kv -= request.prompt_tokens + request.output_tokens
    free(world, request.token_machine, kv_tokens, now)


@jit
def _finish_with_prompt(world: World, number: int, now: float) -> None:
    """A request of one output token ends with its prompt: nothing is sent or decoded."""
    request = world.requests[number]
    kv_tokens = request.prompt_tokens + world.rules.first_token_kv
    decode = len(world.requests) + number
    if world.tasks[decode].behind_prompt:
        world.tasks[decode].behind_prompt = False
        leave_ageing(world, world.machines[request.token_machine], decode)
    if request.prompt_machine == request.token_machine:
        _finish(world, number, kv_tokens, now)
    else:
        _finish(world, number, 0, now)
        world.machines[request.prompt_machine].reserved_kv -= kv_tokens
        free(world, request.prompt_machine, kv_tokens, now)


@jit
def _end_prompt(world: World, number: int, now: float) -> None:
    """A prompt's iteration has ended, and the first token is out."""
    request = world.requests[number]
    request.first_token_s = now
    world.machines[request.prompt_machine].pending_tokens -= request.prompt_tokens
    if request.output_tokens == 1:
        _finish_with_prompt(world, number, now)
    elif request.prompt_machine == request.token_machine:
        queue_decode(world, world.machines[request.token_machine], len(world.requests) + number)
    else:
        send(world, number, now)


@jit
def _end_run(world: World, number: int, now: float) -> None:
    machine = world.machines[number]
    world.clock[0].iterations += machine.iterations
    machine.iteration += machine.iterations
    machine.context += machine.decodes * machine.iterations
    machine.iterations = 0
    request = finished_decode(world, number)
    while request >= 0:
        kv_tokens = world.requests[request].prompt_tokens + world.requests[request].output_tokens
        _finish(world, request, kv_tokens, now)
        request = finished_decode(world, number)
    machine.prompts = 0
    machine.prompt_tokens = 0
    prompt = machine.head[RUNNING_PROMPTS]
    while prompt >= 0:
        unlink(world.tasks, machine, prompt)
        _end_prompt(world, prompt, now)
        prompt = machine.head[RUNNING_PROMPTS]
    _make_ready(world, number)


@jit
def run_events(world: World) -> None:
    """Run until nothing is left to happen: every request is finished, or waits for room it never gets."""
    events, requests = world.events, world.requests
    next_arrival = 0
    now = 0.0
    while True:
        event_s = events.key[events.items[0, 0]] if events.size[0] > 0 else np.inf
        arrival_s = requests[next_arrival].arrival_s if next_arrival < len(requests) else np.inf
        if world.clock[0].ready > 0 and min(event_s, arrival_s) > now:
            _start_ready(world, now)
            continue
        now = min(event_s, arrival_s)
        if now == np.inf:
            return
        world.clock[0].events += 1
        if arrival_s < event_s:
            _arrive(world, next_arrival, now)
            next_arrival += 1
        else:
            item = pop(events, 0)
            if item < len(world.machines):
                _end_run(world, item, now)
            else:
                _end_transfer(world, item - len(world.machines), now)
