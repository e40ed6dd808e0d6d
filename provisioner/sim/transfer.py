"""Moving the KV-cache of a finished prompt to the machine of its decode (Splitwise, IV-C).

A short prompt is sent when it is done, in ``kv_bytes / bandwidth``. A long one is sent layer by layer
while it is computed; what shows afterwards is the part that did not fit beside the computation, and
never less than the residue. Either way the destination must have room first.
"""

from __future__ import annotations

from provisioner.sim.heap import find, push, remove
from provisioner.sim.jit import jit
from provisioner.sim.memory import fits, give_up, take
from provisioner.sim.paging import adapt_run, enter_growth
from provisioner.sim.state import World
from provisioner.sim.timing import prefill_s


@jit
def _visible_s(world: World, number: int) -> float:
    """How long after its prompt a transfer ends."""
    request = world.requests[number]
    source = world.machines[request.prompt_machine]
    target = world.machines[request.token_machine]
    serial_s = request.prompt_tokens / min(source.kv_tokens_per_s, target.kv_tokens_per_s)
    if request.prompt_tokens < world.rules.layerwise_from_tokens:
        return serial_s
    residue_s = max(source.residue_s, target.residue_s)
    hidden_s = prefill_s(world.timing, source.kind, request.prefill_tokens)
    return min(serial_s, max(residue_s, serial_s - hidden_s))


@jit
def _start(world: World, number: int, now: float) -> bool:
    """Start a transfer if its destination has room for the prompt's KV-cache."""
    request = world.requests[number]
    target = world.machines[request.token_machine]
    kv_tokens = request.prompt_tokens + world.rules.first_token_kv
    enter_growth(world, request.token_machine, now)
    if not fits(target, kv_tokens):
        return False
    take(target, kv_tokens, now)
    adapt_run(world, request.token_machine)
    request.is_sending = True
    request.transfer_s = _visible_s(world, number)
    push(world.events, 0, number, now + request.transfer_s)
    return True


@jit
def send(world: World, number: int, now: float) -> None:
    """Transfer a request's KV-cache, or wait for room: in line, or trying again after a fixed time."""
    target = world.machines[world.requests[number].token_machine]
    retry_s = world.rules.transfer_retry_s
    if (retry_s > 0.0 or target.first_transfer < 0) and _start(world, number, now):
        return
    if retry_s > 0.0:
        push(world.events, 0, number, now + retry_s)
        world.clock[0].retrying += 1
    elif target.first_transfer < 0:
        target.first_transfer = target.last_transfer = number
    else:
        world.requests[target.last_transfer].next_transfer = number
        target.last_transfer = number


@jit
def free(world: World, number: int, kv_tokens: int, now: float) -> None:
    """Free memory of a machine: transfers that waited for it start, first come first served."""
    enter_growth(world, number, now)
    give_up(world.machines[number], kv_tokens, now)
    start_waiting(world, number, now)
    adapt_run(world, number)


@jit
def start_waiting(world: World, number: int, now: float) -> None:
    """Start the transfers that wait for room at a machine, up to the first that finds none."""
    machine = world.machines[number]
    while machine.first_transfer >= 0 and _start(world, machine.first_transfer, now):
        machine.first_transfer = world.requests[machine.first_transfer].next_transfer


@jit
def stop(world: World, number: int) -> None:
    """Take back a transfer that is under way or waits for room."""
    request = world.requests[number]
    place = find(world.events, 0, number)
    if place < world.events.size[0]:
        remove(world.events, 0, place)
        if not request.is_sending:
            world.clock[0].retrying -= 1
    else:
        target = world.machines[request.token_machine]
        leader = -1
        other = target.first_transfer
        while other != number:
            leader = other
            other = world.requests[other].next_transfer
        if leader < 0:
            target.first_transfer = request.next_transfer
        else:
            world.requests[leader].next_transfer = request.next_transfer
        if target.last_transfer == number:
            target.last_transfer = leader
    request.next_transfer = -1
