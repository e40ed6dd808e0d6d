"""The cluster scheduler: which machines serve a request, decided at its arrival (Splitwise, IV-A).

Join the shortest queue, by pending tokens, for prompts; least reserved memory for decodes. A pool that
is full borrows from the mixed pool, then from the other pool, whose machine joins the mixed pool until
it has no work left.
"""

from __future__ import annotations

from provisioner.sim.jit import jit
from provisioner.sim.memory import reservation
from provisioner.sim.standings import PENDING, RESERVED, change_pool, count_pending, count_reserved, first, update
from provisioner.sim.state import MIXED, PROMPT, TOKEN, World


@jit
def _shortest_queue_of_all(world: World) -> int:
    """Machine with the fewest pending tokens: prompt pool before mixed before token pool among equals."""
    best = -1
    for pool in (PROMPT, MIXED, TOKEN):
        number = first(world, PENDING, pool)
        if number >= 0 and (best < 0 or world.machines[number].pending_tokens < world.machines[best].pending_tokens):
            best = number
    return best


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
        number = first(world, PENDING, pool)
        if number >= 0:
            machine = world.machines[number]
            if machine.waiting == 0 or machine.pending_tokens + prefill_tokens <= world.rules.max_pending_tokens:
                return number
    return -1


@jit
def _token_machine(world: World, kv_tokens: int) -> int:
    for pool in (TOKEN, MIXED):
        number = first(world, RESERVED, pool)
        if number >= 0 and world.machines[number].reserved_kv + kv_tokens <= world.machines[number].kv_routable:
            return number
    return -1


@jit
def _split(world: World, prefill_tokens: int, kv_tokens: int, now: float) -> tuple[int, int]:
    """Prompt and token machine of a request in a cluster of two pools."""
    prompt_machine = _prompt_machine(world, prefill_tokens)
    token_machine = _token_machine(world, kv_tokens)
    if prompt_machine < 0:
        prompt_machine = first(world, PENDING, TOKEN)
        if prompt_machine >= 0:
            borrow(world, prompt_machine, now)
    if token_machine < 0:
        token_machine = first(world, RESERVED, PROMPT)
        if token_machine >= 0:
            borrow(world, token_machine, now)
    if prompt_machine < 0 or token_machine < 0:
        prompt_machine = token_machine = _shortest_queue_of_all(world)
    return prompt_machine, token_machine


@jit
def is_full(world: World) -> bool:
    """Whether as many requests are inside as the machines in service may have."""
    return bool(world.clock[0].inside >= world.clock[0].in_service * world.rules.max_requests_per_machine)


@jit
def route(world: World, number: int, now: float) -> None:
    """Choose both machines of an arriving request and enter it in the books; without any machine it stays out."""
    request = world.requests[number]
    kv_tokens = reservation(world, number)
    update(world)
    if world.rules.is_colocated:
        request.prompt_machine = request.token_machine = first(world, PENDING, MIXED)
    else:
        request.prompt_machine, request.token_machine = _split(world, request.prefill_tokens, kv_tokens, now)
    if request.prompt_machine < 0:
        return
    count_pending(world, request.prompt_machine, request.prefill_tokens)
    count_pending(world, request.token_machine, 1)
    count_reserved(world, request.token_machine, kv_tokens)
    if request.prompt_machine != request.token_machine:
        count_reserved(world, request.prompt_machine, request.prompt_tokens + world.rules.first_token_kv)


@jit
def reroute_decode(world: World, number: int, now: float) -> None:
    """Choose another token machine for a request whose own has failed, and move its books; its prompt stays."""
    request = world.requests[number]
    kv_tokens = reservation(world, number)
    update(world)
    target = _token_machine(world, kv_tokens)
    if target < 0:
        target = first(world, RESERVED, PROMPT)
        if target >= 0:
            borrow(world, target, now)
        else:
            target = _shortest_queue_of_all(world)
    count_pending(world, request.token_machine, -1)
    count_reserved(world, request.token_machine, -kv_tokens)
    request.token_machine = target
    count_pending(world, target, 1)
    count_reserved(world, target, kv_tokens)
    if target == request.prompt_machine:
        count_reserved(world, target, -(request.prompt_tokens + world.rules.first_token_kv))
