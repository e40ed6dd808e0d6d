"""Machines that fail, what becomes of their requests (Splitwise, IV-E: they restart from scratch), and their return.

A failed machine is out of all pools: nothing is routed to it, its run has no result, its memory is lost.
Of the requests that it was to serve

- those whose prompt or decode waits or runs there, whose finished KV-cache waits there to be sent, or
  whose KV-cache is on the way from or to it leave the books of both their machines and are routed anew;
- those that have nothing on it yet, but were to decode there, only get another token machine.

A machine that is back stands last in its own pool, empty. Nothing moves to it: it serves what is routed
from then on, and what has found no machine at all before.

All failures and returns of a moment count as one. Memory that they free elsewhere is for transfers waiting
there first, then other token machines are chosen, then the restarting requests are routed, each in order of
arrival. A request that restarts keeps its number, and with it its place by arrival among decodes and
among tasks passed over equally often; as a prompt it stands last in its machine's line.
"""

from __future__ import annotations

import numpy as np

from provisioner.sim.heap import pop, push
from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.memory import give_up, reservation
from provisioner.sim.paging import adapt_run, enter_growth
from provisioner.sim.queueing import queue_decode
from provisioner.sim.routing import give_back, reroute_decode
from provisioner.sim.running import void_run
from provisioner.sim.standings import change_pool, count_pending, count_reserved
from provisioner.sim.state import FAILED, NOWHERE, World
from provisioner.sim.transfer import send, start_waiting, stop
from provisioner.sim.waking import could_join, follow_prompt, memory_freed


@jit_apart
def change(world: World, number: int, now: float) -> None:
    """A machine fails or is back, and with it all others that do at this moment."""
    m, n = len(world.machines), len(world.requests)
    events = world.events
    while number >= 0:
        _turn(world, number, now)
        is_next = events.size[0] > 0 and events.key[0, 0] == now and events.item[0, 0] < n + m
        number = pop(events, 0) - n if is_next else -1
    for request in range(world.clock[0].arrived):
        if _is_lost(world, request):
            _withdraw(world, request, now)
            _forget(world, request)
            push(events, 0, n + m + request, now)
        elif _is_outside(world, request, now):
            push(events, 0, n + m + request, now)
    for machine in range(m):
        if world.machines[machine].pool != FAILED:
            start_waiting(world, machine, now)
            if world.machines[machine].is_freed:
                memory_freed(world, machine, now)
                adapt_run(world, machine)
        world.machines[machine].is_freed = False
    for request in range(world.clock[0].arrived):
        if _is_under_way(world, request) and _has_failed(world, world.requests[request].token_machine):
            _redirect(world, request, now)


@jit
def _turn(world: World, number: int, now: float) -> None:
    """A machine that is there fails; one that has failed is back; set the time of what it does next."""
    machine = world.machines[number]
    if machine.pool == FAILED:
        change_pool(world, number, machine.home)
        world.clock[0].in_service += 1
    else:
        give_back(world, number, now)
        change_pool(world, number, FAILED)
        world.clock[0].in_service -= 1
        void_run(world, number, now)
    machine.changes += 1
    next_s = world.changes_s[number, machine.changes]
    if next_s < np.inf:
        push(world.events, 0, len(world.requests) + number, next_s)


@jit
def _has_failed(world: World, number: int) -> bool:
    return world.machines[number].pool == FAILED


@jit
def _is_under_way(world: World, number: int) -> bool:
    """Whether a request has been routed, and is not finished."""
    return world.requests[number].prompt_machine >= 0 and world.requests[number].finish_s == np.inf


@jit
def _is_outside(world: World, number: int, now: float) -> bool:
    """Whether a request found no machine at all when it arrived or restarted, and was not turned away."""
    request = world.requests[number]
    was_let_in = world.rules.max_requests_per_machine == 0 or request.restarts > 0
    return request.prompt_machine < 0 and request.arrival_s < now and was_let_in


@jit
def _is_at_token_machine(world: World, number: int) -> bool:
    """Whether the KV-cache is complete where the decode waits or runs."""
    return world.tasks[len(world.requests) + number].list != NOWHERE


@jit
def _is_lost(world: World, number: int) -> bool:
    """Whether any part of a request's work or KV-cache is on a failed machine."""
    if not _is_under_way(world, number):
        return False
    request = world.requests[number]
    if _is_at_token_machine(world, number):
        return _has_failed(world, request.token_machine)
    return _has_failed(world, request.prompt_machine) or (
        request.is_sending and _has_failed(world, request.token_machine)
    )


@jit
def _withdraw(world: World, number: int, now: float) -> None:
    """Leave the books of both machines, and free the memory of one that has not failed."""
    request = world.requests[number]
    prompt_kv = request.prompt_tokens + world.rules.first_token_kv
    count_pending(world, request.token_machine, -1)
    count_reserved(world, request.token_machine, -reservation(world, number))
    if _is_at_token_machine(world, number):
        if request.is_evicted:
            count_pending(world, request.token_machine, -world.tasks[number].tokens)
        return
    if request.prompt_machine != request.token_machine:
        count_reserved(world, request.prompt_machine, -prompt_kv)
    if request.first_token_s == np.inf:
        count_pending(world, request.prompt_machine, -request.prefill_tokens)
        return
    _free_later(world, request.prompt_machine, prompt_kv, now)
    if request.is_sending:
        _free_later(world, request.token_machine, prompt_kv, now)
    stop(world, number)


@jit
def _free_later(world: World, number: int, kv_tokens: int, now: float) -> None:
    """Free memory that is used once all has been withdrawn; that of a failed machine is gone already."""
    if not _has_failed(world, number):
        enter_growth(world, number, now)
        give_up(world.machines[number], kv_tokens, now)
        world.machines[number].is_freed = True


@jit
def _forget(world: World, number: int) -> None:
    """A request is as it was before its arrival, but for the count of its restarts."""
    request = world.requests[number]
    decode = len(world.requests) + number
    request.prompt_machine = request.token_machine = -1
    request.is_sending = request.is_evicted = False
    request.restarts += 1
    world.clock[0].inside -= 1
    world.tasks[decode].list = NOWHERE
    world.tasks[decode].behind_prompt = False


@jit
def _redirect(world: World, number: int, now: float) -> None:
    """Another machine decodes a request: its prompt has not ended, or its KV-cache waits for room."""
    request = world.requests[number]
    decode = len(world.requests) + number
    is_waiting = request.first_token_s < np.inf
    if is_waiting:
        stop(world, number)
    reroute_decode(world, number, now)
    if request.token_machine != request.prompt_machine:
        if is_waiting:
            send(world, number, now)
    elif is_waiting:
        queue_decode(world, world.machines[request.token_machine], decode)
        could_join(world, request.token_machine, decode, now)
    else:
        follow_prompt(world, number, now)
