"""Every run and every transfer, kept for those who want to see them. Off by default: the log has no room."""

from __future__ import annotations

from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.state import World


@jit
def note_run(world: World, number: int, now: float) -> None:
    """A machine's run ends now."""
    if world.clock[0].logged < len(world.log):
        _keep(world, number, -1, world.machines[number].start_s, now)


@jit
def note_transfer(world: World, request: int, now: float) -> None:
    """A request's KV-cache has arrived at its token machine."""
    if world.clock[0].logged < len(world.log):
        start_s = now - world.requests[request].transfer_s
        _keep(world, world.requests[request].token_machine, request, start_s, now)


@jit_apart
def _keep(world: World, number: int, request: int, start_s: float, now: float) -> None:
    machine, entry = world.machines[number], world.log[world.clock[0].logged]
    entry.machine = number
    entry.request = request
    entry.start_s = start_s
    entry.end_s = now
    entry.prompts = machine.prompts
    entry.prompt_tokens = machine.prompt_tokens
    entry.decodes = machine.decodes
    entry.iterations = machine.iterations
    entry.waiting = machine.waiting
    entry.used_kv = machine.used_kv
    world.clock[0].logged += 1
