"""The machine scheduler with chunked prefill: prompts run in pieces beside decodes, which they never hold up.

In place of the rules of `batching`, a choice fills the batch, up to its limits of requests and tokens, with

1. the running decodes;
2. waiting decodes in order of request arrival, those that fit the memory;
3. waiting prompts, first come first served: each as much of it as there are tokens left, so that at most the last one
   is not complete. It stands first in its queue and goes on in the next iteration.

A prompt takes the memory of all of its KV-cache with its first piece, and none starts while the first of the waiting
decodes lacks memory. Nothing is preempted, and nothing ages. An iteration's time is that of its tokens: what a later
piece spends on attending to the earlier ones is not modelled (see docs/model.md).
"""

from __future__ import annotations

from provisioner.sim.ageing import leave_ageing
from provisioner.sim.batching import admit_chosen, choose, fits_limits, fits_memory, next_unchosen, take_memory
from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.lists import append, unlink
from provisioner.sim.state import DECODES, PROMPTS, RUNNING_PROMPTS, World


@jit
def _take_decodes(world: World, number: int) -> tuple[int, int]:
    """Take waiting decodes beside the running ones, which all stay; returns the batch's size and tokens."""
    machine = world.machines[number]
    size = tokens = machine.decodes
    task = machine.head[DECODES]
    while task >= 0 and fits_limits(world, task, size, tokens):
        if fits_memory(world, number, task):
            tokens += choose(world, number, task)
            size += 1
        task = world.tasks[task].after
    return size, tokens


@jit
def is_started(world: World, task: int) -> bool:
    """Whether a piece of the prompt has been computed: its memory is taken."""
    return world.tasks[task].remaining < world.tasks[task].tokens


@jit
def _take_piece(world: World, number: int, task: int, room: int) -> int:
    """Have the next iteration compute so much of a prompt, which leaves its queue with its last piece.

    Returns the tokens of the piece.
    """
    machine, tasks = world.machines[number], world.tasks
    if not is_started(world, task):
        take_memory(world, number, task)
    piece = min(room, tasks[task].remaining)
    tasks[task].remaining -= piece
    machine.prompts += 1
    machine.prompt_tokens += piece
    if tasks[task].remaining == 0:
        unlink(tasks, machine, task)
        leave_ageing(world, machine, task)
        append(tasks, machine, RUNNING_PROMPTS, task)
    return piece


@jit
def _take_prompts(world: World, number: int, size: int, tokens: int) -> None:
    """Fill the batch with prompts, the last of them in part."""
    machine, rules = world.machines[number], world.rules
    decode = next_unchosen(world, machine.head[DECODES])
    may_start = decode < 0 or fits_memory(world, number, decode)
    task = machine.head[PROMPTS]
    while task >= 0:
        if size + machine.prompts >= rules.max_batch_requests or machine.prompts >= rules.max_batch_prompts:
            break
        if tokens >= rules.max_batch_tokens:
            break
        if not is_started(world, task) and not (may_start and fits_memory(world, number, task)):
            break
        follower = world.tasks[task].after
        tokens += _take_piece(world, number, task, rules.max_batch_tokens - tokens)
        task = follower


@jit_apart
def choose_pieces(world: World, number: int) -> None:
    """Choose the next batch of a mixed machine with chunked prefill."""
    machine = world.machines[number]
    if machine.waiting > 0:
        size, tokens = _take_decodes(world, number)
        _take_prompts(world, number, size, tokens)
        admit_chosen(world, number)
    machine.choices += 1
