"""The cluster scheduler: which machines serve a request, decided at its arrival (Splitwise, IV-A).

Join the shortest queue, by pending tokens, for prompts; least reserved memory for decodes. A pool that
is full borrows from the mixed pool, then from the other pool, whose machine joins the mixed pool until
it has no work left.
"""

from __future__ import annotations

from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.memory import reservation
from provisioner.sim.state import FAILED, MIXED, PROMPT, TOKEN, World


@jit
def _shortest_queue(world: World, pool: int) -> int:
    """Machine of the pool with the fewest pending tokens, first in its pool among equals; -1 if there is none."""
    best, load, turn = -1, 0, 0
    for number in range(len(world.machines)):
        machine = world.machines[number]
        if machine.pool == pool and (
            best < 0 or machine.pending_tokens < load or (machine.pending_tokens == load and machine.turn < turn)
        ):
            best, load, turn = number, machine.pending_tokens, machine.turn
    return best


@jit
def _least_reserved(world: World, pool: int) -> int:
    """Machine of the pool with the least reserved memory, first in its pool among equals; -1 if there is none."""
    best, load, turn = -1, 0, 0
    for number in range(len(world.machines)):
        machine = world.machines[number]
        if machine.pool == pool and (
            best < 0 or machine.reserved_kv < load or (machine.reserved_kv == load and machine.turn < turn)
        ):
            best, load, turn = number, machine.reserved_kv, machine.turn
    return best


@jit
def _shortest_queue_of_all(world: World) -> int:
    """Machine with the fewest pending tokens: prompt pool before mixed before token pool among equals."""
    best = -1
    for pool in (PROMPT, MIXED, TOKEN):
        number = _shortest_queue(world, pool)
        if number >= 0 and (best < 0 or world.machines[number].pending_tokens < world.machines[best].pending_tokens):
            best = number
    return best


@jit
def change_pool(world: World, number: int, pool: int) -> None:
    """Move a machine to the end of a pool."""
    world.machines[number].pool = pool
    world.machines[number].turn = world.clock[0].next_turn
    world.clock[0].next_turn += 1


@jit
def borrow(world: World, number: int, now: float) -> None:
    """Move a machine from its own pool to the mixed pool."""
    change_pool(world, number, MIXED)
    world.machines[number].mixed_since_s = now


@jit
def give_back(world: World, number: int, now: float) -> None:
    """Return a borrowed machine to its own pool."""
    machine = world.machines[number]
    if machine.pool != machine.home:
        change_pool(world, number, machine.home)
        machine.mixed_pool_s += now - machine.mixed_since_s


@jit
def _prompt_machine(world: World, prefill_tokens: int) -> int:
    for pool in (PROMPT, MIXED):
        number = _shortest_queue(world, pool)
        if number >= 0:
            machine = world.machines[number]
            if machine.waiting == 0 or machine.pending_tokens + prefill_tokens <= world.rules.max_pending_tokens:
                return number
    return -1


@jit
def _token_machine(world: World, kv_tokens: int) -> int:
    for pool in (TOKEN, MIXED):
        number = _least_reserved(world, pool)
        if number >= 0 and world.machines[number].reserved_kv + kv_tokens <= world.machines[number].kv_routable:
            return number
    return -1


@jit
def _split(world: World, prefill_tokens: int, kv_tokens: int, now: float) -> tuple[int, int]:
    """Prompt and token machine of a request in a cluster of two pools."""
    prompt_machine = _prompt_machine(world, prefill_tokens)
    token_machine = _token_machine(world, kv_tokens)
    if prompt_machine < 0:
        prompt_machine = _shortest_queue(world, TOKEN)
        if prompt_machine >= 0:
            borrow(world, prompt_machine, now)
    if token_machine < 0:
        token_machine = _least_reserved(world, PROMPT)
        if token_machine >= 0:
            borrow(world, token_machine, now)
    if prompt_machine < 0 or token_machine < 0:
        prompt_machine = token_machine = _shortest_queue_of_all(world)
    return prompt_machine, token_machine


@jit_apart
def is_full(world: World) -> bool:
    """Whether as many requests are inside as the machines in service may have."""
    in_service = 0
    for number in range(len(world.machines)):
        in_service += world.machines[number].pool != FAILED
    return world.clock[0].inside >= in_service * world.rules.max_requests_per_machine


@jit
def route(world: World, number: int, now: float) -> None:
    """Choose both machines of an arriving request and enter it in the books; without any machine it stays out."""
    request = world.requests[number]
    kv_tokens = reservation(world, number)
    if world.rules.is_colocated:
        request.prompt_machine = request.token_machine = _shortest_queue(world, MIXED)
    else:
        request.prompt_machine, request.token_machine = _split(world, request.prefill_tokens, kv_tokens, now)
    if request.prompt_machine < 0:
        return
    world.machines[request.prompt_machine].pending_tokens += request.prefill_tokens
    world.machines[request.token_machine].pending_tokens += 1
    world.machines[request.token_machine].reserved_kv += kv_tokens
    if request.prompt_machine != request.token_machine:
        prompt_kv = request.prompt_tokens + world.rules.first_token_kv
        world.machines[request.prompt_machine].reserved_kv += prompt_kv


@jit
def reroute_decode(world: World, number: int, now: float) -> None:
    """Choose another token machine for a request whose own has failed, and move its books; its prompt stays."""
    request = world.requests[number]
    kv_tokens = reservation(world, number)
    target = _token_machine(world, kv_tokens)
    if target < 0:
        target = _least_reserved(world, PROMPT)
        if target >= 0:
            borrow(world, target, now)
        else:
            target = _shortest_queue_of_all(world)
    world.machines[request.token_machine].pending_tokens -= 1
    world.machines[request.token_machine].reserved_kv -= kv_tokens
    request.token_machine = target
    world.machines[target].pending_tokens += 1
    world.machines[target].reserved_kv += kv_tokens
    if target == request.prompt_machine:
        world.machines[target].reserved_kv -= request.prompt_tokens + world.rules.first_token_kv
