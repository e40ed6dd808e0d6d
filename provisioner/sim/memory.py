"""A machine's KV-cache memory, in tokens: taken and freed, and how much of it for how long."""

from __future__ import annotations

from provisioner.sim.jit import jit
from provisioner.sim.state import Records, World


@jit
def take(machine: Records, kv_tokens: int, now: float) -> None:
    """Take memory, which must be free."""
    machine.used_kv += kv_tokens
    machine.peak_kv = max(machine.peak_kv, machine.used_kv)
    machine.kv_token_s -= kv_tokens * now


@jit
def give_up(machine: Records, kv_tokens: int, now: float) -> None:
    """Free memory."""
    machine.used_kv -= kv_tokens
    machine.kv_token_s += kv_tokens * now


@jit
def fits(machine: Records, kv_tokens: int) -> bool:
    """Whether so much memory is free."""
    return bool(machine.used_kv + kv_tokens <= machine.kv_capacity)


@jit
def reservation(world: World, number: int) -> int:
    """What routing counts of a request on its token machine: what it will hold at most, as far as that is known.

    On demand, nothing is known of its output.
    """
    request = world.requests[number]
    return request.prompt_tokens if world.rules.kv_on_demand else request.prompt_tokens + request.output_tokens


@jit
def held_at_end(world: World, number: int) -> int:
    """What a request holds on its token machine when its last token is out, which on demand takes no memory."""
    request = world.requests[number]
    return request.prompt_tokens + request.output_tokens - world.rules.kv_on_demand
