"""Runs: a batch kept through equal iterations, from one choice to the next."""

from __future__ import annotations

import numpy as np

from provisioner.sim.batching import choose_batch
from provisioner.sim.chunking import choose_pieces
from provisioner.sim.ends import end_after, set_end
from provisioner.sim.finishing import first, first_end
from provisioner.sim.jit import jit
from provisioner.sim.lists import unlink
from provisioner.sim.log import note_run
from provisioner.sim.memory import give_up
from provisioner.sim.paging import enter_growth, iterations_with_room, make_room
from provisioner.sim.routing import give_back
from provisioner.sim.state import LISTS, World
from provisioner.sim.timing import decode_base_s, decodes_s, decodes_within, prefill_s


@jit
def start_run(world: World, number: int, now: float) -> None:
    """Choose a batch and set the event at which its run ends; a machine with nothing to run is idle."""
    machine = world.machines[number]
    machine.start_s = now
    if world.rules.kv_on_demand:
        make_room(world, number)
    if world.rules.chunked_prefill:
        choose_pieces(world, number)
    else:
        choose_batch(world, number)
    if machine.prompts > 0:
        duration_s = _start_iteration(world, number)
    elif machine.decodes > 0:
        duration_s = _start_decodes(world, number)
    else:
        if machine.waiting == 0:
            give_back(world, number, now)
        return
    set_end(world, number, now + duration_s)


@jit
def _start_iteration(world: World, number: int) -> float:
    """A batch with prompts runs one iteration."""
    machine = world.machines[number]
    machine.iterations = 1
    machine.is_cut = True
    tokens = machine.prompt_tokens + machine.decodes
    machine.peak_tokens = max(machine.peak_tokens, tokens)
    duration_s = prefill_s(world.timing, machine.kind, tokens)
    if machine.decodes > 0:
        duration_s *= world.timing.mixed_factor[machine.kind]
        machine.mixed_busy_s += duration_s
    else:
        machine.prompt_busy_s += duration_s
    return duration_s


@jit
def _start_decodes(world: World, number: int) -> float:
    """A batch of decodes runs until the first of them ends, or lacks memory that it takes on demand."""
    machine = world.machines[number]
    machine.iterations = first_end(world, number) - machine.iteration
    machine.is_cut = False
    if world.rules.kv_on_demand:
        machine.grown = 0
        machine.iterations = min(machine.iterations, iterations_with_room(world, number))
    machine.peak_decodes = max(machine.peak_decodes, machine.decodes)
    machine.base_s = decode_base_s(world.timing, machine.kind, machine.decodes)
    gamma = world.timing.gamma[machine.kind]
    duration_s = decodes_s(machine.base_s, gamma, machine.decodes, machine.context, machine.iterations)
    machine.decode_busy_s += duration_s
    return duration_s


@jit
def cut_run(world: World, number: int, now: float) -> None:
    """End a run of decodes at its first iteration boundary after `now`."""
    machine = world.machines[number]
    if machine.is_cut:
        return
    machine.is_cut = True
    gamma = world.timing.gamma[machine.kind]
    iterations = 1 + decodes_within(machine.base_s, gamma, machine.decodes, machine.context, now - machine.start_s)
    if iterations < machine.iterations:
        end_after(world, number, iterations)


@jit
def void_run(world: World, number: int, now: float) -> None:
    """The machine fails: its run ends at once, without result; its batch, its queues and its memory are empty."""
    machine = world.machines[number]
    enter_growth(world, number, now)
    if machine.iterations > 0:
        left_s = machine.end_s - now
        if machine.prompts == 0:
            machine.decode_busy_s -= left_s
        elif machine.decodes == 0:
            machine.prompt_busy_s -= left_s
        else:
            machine.mixed_busy_s -= left_s
        count_time(world, number, now)
        set_end(world, number, np.inf)
        machine.iterations = 0
    for kind in range(LISTS):
        machine.head[kind] = machine.tail[kind] = -1
    machine.oldest = -1
    machine.waiting = machine.prompts = machine.prompt_tokens = machine.decodes = machine.context = 0
    give_up(machine, machine.used_kv, now)
    machine.is_ready = False


@jit
def count_time(world: World, number: int, now: float) -> None:
    """Enter a run that ends now among the times spent at each batch size."""
    machine = world.machines[number]
    world.batch_time_s[machine.home, machine.prompts + machine.decodes] += now - machine.start_s
    note_run(world, number, now)


@jit
def finished_decode(world: World, number: int) -> int:
    """Take out and return a request that has run its last decode iteration; -1 when none is left."""
    machine = world.machines[number]
    if machine.decodes == 0 or first_end(world, number) > machine.iteration:
        return -1
    task = first(world, number)
    unlink(world.tasks, machine, task)
    request = task - len(world.requests)
    machine.decodes -= 1
    machine.context -= world.requests[request].prompt_tokens + world.requests[request].output_tokens
    return request
