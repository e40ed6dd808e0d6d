"""The machine scheduler: which tasks run in the next batch (Splitwise, IV-B).

A choice fills the batch, up to its limits of requests and tokens, with

1. tasks passed over too often, from the front of the order of ageing;
2. waiting prompts, first come first served, up to the first that does not fit;
3. preempted decodes, in order of preemption;
4. the running decodes, in batch order; the rest is preempted;
5. the other waiting requests by arrival, up to the first that does not fit.

The first task is taken whatever its size. A new task needs room for its KV-cache. A batch may also be limited in its
prompts and in its decodes.
"""

from __future__ import annotations

from provisioner.sim.ageing import leave_ageing, times_passed_over
from provisioner.sim.finishing import enter, first, first_end, take_out
from provisioner.sim.jit import jit
from provisioner.sim.lists import append, unlink
from provisioner.sim.memory import fits, take
from provisioner.sim.queueing import queue_preempted
from provisioner.sim.state import (
    DECODES,
    PREEMPTED,
    PROMPTS,
    RUNNING_DECODES,
    RUNNING_PROMPTS,
    World,
)


@jit
def fits_memory(world: World, number: int, task: int) -> bool:
    """Whether the machine has room for the KV-cache that the task takes when it is first admitted."""
    return fits(world.machines[number], world.tasks[task].kv_tokens)


@jit
def fits_limits(world: World, task: int, size: int, tokens: int) -> bool:
    """Whether a batch of so many requests and tokens can have one more; the first is taken whatever its size."""
    if size == 0:
        return True
    return (
        size < world.rules.max_batch_requests
        and tokens + world.tasks[task].tokens <= world.rules.max_batch_tokens
        and not _is_kind_full(world, task, size)
    )


@jit
def _is_kind_full(world: World, task: int, size: int) -> bool:
    """Whether a batch has as many prompts, or as many decodes, as it may."""
    prompts = world.clock[0].chosen_prompts
    if task < len(world.requests):
        return prompts >= world.rules.max_batch_prompts
    return size - prompts >= world.rules.max_batch_decodes


@jit
def take_memory(world: World, number: int, task: int) -> None:
    """Take the KV-cache memory of a task that is admitted for the first time, or anew after it was evicted."""
    machine = world.machines[number]
    take(machine, world.tasks[task].kv_tokens, machine.start_s)
    if task < len(world.requests):
        request = world.requests[task]
        request.prompt_start_s = min(request.prompt_start_s, machine.start_s)
    else:
        request = world.requests[task - len(world.requests)]
        request.decode_start_s = min(request.decode_start_s, machine.start_s)


@jit
def choose(world: World, number: int, task: int) -> int:
    """Choose a waiting task, which keeps its place in the queues until the choice is complete.

    Returns the tokens it adds to an iteration.
    """
    if world.tasks[task].list != PREEMPTED:
        take_memory(world, number, task)
    world.tasks[task].is_chosen = True
    world.chosen[world.clock[0].chosen] = task
    world.clock[0].chosen += 1
    world.clock[0].chosen_prompts += task < len(world.requests)
    return world.tasks[task].tokens


@jit
def _admit(world: World, number: int, task: int) -> None:
    """Move a chosen task into the batch."""
    machine, tasks, n = world.machines[number], world.tasks, len(world.requests)
    tasks[task].is_chosen = False
    unlink(tasks, machine, task)
    leave_ageing(world, machine, task)
    if task < n:
        append(tasks, machine, RUNNING_PROMPTS, task)
        machine.prompts += 1
        machine.prompt_tokens += tasks[task].tokens
    else:
        request = world.requests[task - n]
        append(tasks, machine, RUNNING_DECODES, task)
        enter(world, number, task, machine.iteration + tasks[task].remaining)
        machine.decodes += 1
        machine.context += request.prompt_tokens + request.output_tokens - tasks[task].remaining


@jit
def leave_batch(world: World, number: int, task: int) -> None:
    """Take a decode that has not ended out of the batch."""
    machine = world.machines[number]
    request = world.requests[task - len(world.requests)]
    remaining = take_out(world, number, task) - machine.iteration
    world.tasks[task].remaining = remaining
    machine.decodes -= 1
    machine.context -= request.prompt_tokens + request.output_tokens - remaining
    unlink(world.tasks, machine, task)


@jit
def _preempt(world: World, number: int, task: int) -> None:
    leave_batch(world, number, task)
    queue_preempted(world, world.machines[number], task)


@jit
def _preempt_all(world: World, number: int) -> None:
    """Leave all running decodes out: what they have left is read off once, not looked for again and again."""
    machine, tasks = world.machines[number], world.tasks
    while machine.decodes > 0:
        tasks[first(world, number)].remaining = first_end(world, number) - machine.iteration
        machine.decodes -= 1
    machine.context = 0
    task = machine.head[RUNNING_DECODES]
    while task >= 0:
        unlink(tasks, machine, task)
        queue_preempted(world, machine, task)
        task = machine.head[RUNNING_DECODES]


@jit
def _take_overdue(world: World, number: int, size: int, tokens: int) -> tuple[int, int]:
    machine, tasks = world.machines[number], world.tasks
    task = machine.oldest
    while task >= 0 and times_passed_over(machine, tasks[task]) >= world.rules.max_passed_over:
        if not fits_limits(world, task, size, tokens):
            break
        if tasks[task].list == PREEMPTED or fits_memory(world, number, task):
            tokens += choose(world, number, task)
            size += 1
        task = tasks[task].younger
    return size, tokens


@jit
def _take_from(world: World, number: int, queue: int, size: int, tokens: int) -> tuple[int, int]:
    """Take from the front of a queue up to the first task that does not fit.

    A task already taken as overdue stands in its queue still, and ends it where its tokens would not
    fit twice; so do the reference simulators.
    """
    task = world.machines[number].head[queue]
    while task >= 0 and fits_limits(world, task, size, tokens):
        if not world.tasks[task].is_chosen:
            if queue != PREEMPTED and not fits_memory(world, number, task):
                break
            tokens += choose(world, number, task)
            size += 1
        task = world.tasks[task].after
    return size, tokens


@jit
def _keep_running(world: World, number: int, running: int, size: int, tokens: int) -> tuple[int, int]:
    """Keep as many of the `running` decodes as fit, in batch order, and preempt the others."""
    rules = world.rules
    most = rules.max_batch_decodes - (size - world.clock[0].chosen_prompts)
    kept = min(running, rules.max_batch_requests - size, rules.max_batch_tokens - tokens, most)
    kept = max(kept, 1 if size == 0 and running > 0 else 0)
    if kept == 0 < running:
        _preempt_all(world, number)
    elif kept < running:
        task = world.machines[number].head[RUNNING_DECODES]
        for _ in range(kept):
            task = world.tasks[task].after
        for _ in range(running - kept):
            follower = world.tasks[task].after
            _preempt(world, number, task)
            task = follower
    return size + kept, tokens + kept


@jit
def next_unchosen(world: World, task: int) -> int:
    """The first of a queue from `task` on that is not chosen; -1 if there is none."""
    while task >= 0 and world.tasks[task].is_chosen:
        task = world.tasks[task].after
    return task


@jit
def _next_of_kind(world: World, task: int, size: int) -> int:
    """`next_unchosen`; -1 also if the batch has as many of its kind as it may."""
    task = next_unchosen(world, task)
    return -1 if task >= 0 and _is_kind_full(world, task, size) else task


@jit
def _take_by_arrival(world: World, number: int, size: int, tokens: int) -> None:
    """Take waiting prompts and decodes by arrival, up to the first that does not fit.

    Those of a kind of which the batch has as many as it may do not keep the others waiting.
    """
    n = len(world.requests)
    prompt = _next_of_kind(world, world.machines[number].head[PROMPTS], size)
    decode = _next_of_kind(world, world.machines[number].head[DECODES], size)
    while prompt >= 0 or decode >= 0:
        task = prompt if decode < 0 or 0 <= prompt < decode - n else decode
        if not fits_limits(world, task, size, tokens) or not fits_memory(world, number, task):
            break
        tokens += choose(world, number, task)
        size += 1
        prompt, decode = _next_of_kind(world, prompt, size), _next_of_kind(world, decode, size)


@jit
def admit_chosen(world: World, number: int) -> None:
    """The choice is complete: move what was chosen into the batch."""
    for place in range(world.clock[0].chosen):
        _admit(world, number, world.chosen[place])
    world.clock[0].chosen = world.clock[0].chosen_prompts = 0


@jit
def choose_batch(world: World, number: int) -> None:
    """Choose the machine's next batch; every task left waiting has been passed over once more."""
    machine = world.machines[number]
    running = machine.decodes
    size, tokens = 0, 0
    if machine.waiting > 0:
        size, tokens = _take_overdue(world, number, size, tokens)
        size, tokens = _take_from(world, number, PROMPTS, size, tokens)
        size, tokens = _take_from(world, number, PREEMPTED, size, tokens)
        size, tokens = _keep_running(world, number, running, size, tokens)
        _take_by_arrival(world, number, size, tokens)
        admit_chosen(world, number)
    machine.choices += 1
