"""When something that could join a batch starts an idle machine, or ends the run of a busy one."""

from __future__ import annotations

from provisioner.sim.batching import fits_memory
from provisioner.sim.jit import jit
from provisioner.sim.queueing import queue_behind_prompt
from provisioner.sim.running import cut_run, start_run
from provisioner.sim.state import DECODES, PREEMPTED, PROMPTS, World


@jit
def make_ready(world: World, number: int) -> None:
    """Have the machine start once all events of this moment are in."""
    if not world.machines[number].is_ready:
        world.machines[number].is_ready = True
        world.ready[world.clock[0].ready] = number
        world.clock[0].ready += 1


@jit
def start_ready(world: World, now: float) -> None:
    """All events of this moment are in: start the machines."""
    for place in range(world.clock[0].ready):
        number = world.ready[place]
        if world.machines[number].is_ready:
            world.machines[number].is_ready = False
            start_run(world, number, now)
    world.clock[0].ready = 0


@jit
def could_join(world: World, number: int, task: int, now: float) -> None:
    """A task could join: start its machine if that is idle, or end the run where the task could join."""
    machine, rules = world.machines[number], world.rules
    if machine.iterations == 0:
        if fits_memory(world, number, task) or (rules.kv_on_demand and task >= len(world.requests)):
            make_ready(world, number)
    elif task < len(world.requests):
        if not rules.long_prompts_wait or world.tasks[task].tokens <= rules.max_batch_tokens:
            cut_run(world, number, now)
    elif machine.decodes < min(rules.max_batch_requests, rules.max_batch_tokens, rules.max_batch_decodes):
        cut_run(world, number, now)


@jit
def follow_prompt(world: World, number: int, now: float) -> None:
    """Queue a decode where its prompt waits or runs."""
    machine_number = world.requests[number].prompt_machine
    decode = len(world.requests) + number
    queue_behind_prompt(world, world.machines[machine_number], decode)
    if world.machines[machine_number].iterations > 0:
        could_join(world, machine_number, decode, now)


@jit
def _some_task_fits(world: World, number: int) -> bool:
    """Whether a waiting task that a choice would come to first has room."""
    machine = world.machines[number]
    if machine.head[PREEMPTED] >= 0 or fits_memory(world, number, machine.oldest):
        return True
    prompt, decode = machine.head[PROMPTS], machine.head[DECODES]
    if decode >= 0 and world.rules.kv_on_demand:
        return True  # others may make room
    return (prompt >= 0 and fits_memory(world, number, prompt)) or (decode >= 0 and fits_memory(world, number, decode))


@jit
def memory_freed(world: World, number: int, now: float) -> None:
    """Memory is free, which any waiting task may have lacked."""
    machine, rules = world.machines[number], world.rules
    if machine.waiting > 0:
        if machine.iterations == 0:
            if _some_task_fits(world, number):
                make_ready(world, number)
        elif machine.decodes < min(rules.max_batch_requests, rules.max_batch_tokens):
            cut_run(world, number, now)
