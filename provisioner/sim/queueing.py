"""How tasks come to wait at a machine, by kind."""

from __future__ import annotations

from provisioner.sim.ageing import join_ageing
from provisioner.sim.jit import jit
from provisioner.sim.lists import append, insert_after
from provisioner.sim.ordering import age_from_now
from provisioner.sim.state import DECODES, PREEMPTED, PROMPTS, Records, World


@jit
def queue_prompt(world: World, machine: Records, task: int) -> None:
    """A prompt arrives at its machine."""
    append(world.tasks, machine, PROMPTS, task)
    join_ageing(world, machine, task, 0)


@jit
def queue_behind_prompt(world: World, machine: Records, task: int) -> None:
    """A decode arrives with its prompt: it stands in the order of ageing, but can neither run nor age."""
    world.tasks[task].behind_prompt = True
    join_ageing(world, machine, task, 0)
    machine.is_sorted = False


@jit
def queue_decode(world: World, machine: Records, task: int) -> None:
    """A decode becomes ready to run, its KV-cache in place; decodes wait in order of request arrival."""
    tasks = world.tasks
    leader = machine.tail[DECODES]
    while leader > task:
        leader = tasks[leader].before
    insert_after(tasks, machine, DECODES, task, leader)
    if tasks[task].behind_prompt:
        age_from_now(tasks, world.rows, machine, task)
    else:
        join_ageing(world, machine, task, 0)


@jit
def queue_preempted(world: World, machine: Records, task: int) -> None:
    """A running decode is left out of the batch: its KV-cache stays."""
    append(world.tasks, machine, PREEMPTED, task)
    join_ageing(world, machine, task, world.tasks[task].passed_over)
