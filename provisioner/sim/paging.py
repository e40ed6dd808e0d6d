"""KV-cache on demand, in place of a reservation, as engines with paged memory have it (vLLM: SOSP 2023, section 4.5).

A decode holds the KV-cache that it attends to: one token more with every iteration, from when that starts. So a run
lasts only as long as there is room. Before a machine chooses a batch, every running decode takes the token of its
next iteration, or the first waiting decode does where none runs. If there is no room for them, decodes are evicted, of
the requests that arrived last first: their KV-cache is dropped. An evicted request is a prompt again, of what its
prompt and its tokens so far make, which stands before the prompts that wait and gives the next token.
"""

from __future__ import annotations

from provisioner.sim.ageing import join_ageing, leave_ageing
from provisioner.sim.batching import leave_batch
from provisioner.sim.chunking import is_started
from provisioner.sim.ends import end_after
from provisioner.sim.finishing import first_end
from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.lists import insert_after, unlink
from provisioner.sim.memory import fits, give_up, take
from provisioner.sim.standings import count_pending
from provisioner.sim.state import DECODES, PREEMPTED, PROMPTS, RUNNING_DECODES, World
from provisioner.sim.timing import decodes_s, decodes_within


@jit_apart
def grow(world: World, number: int, iterations: int) -> None:
    """Enter what the run's decodes have taken by the start of its iteration after so many.

    Each iteration but the first, whose token the choice took, starts when those before it end: the times of which
    `timing.decodes_s` is one are a polynomial, and so is their sum.
    """
    machine = world.machines[number]
    done, decodes = machine.grown, machine.decodes
    later = iterations - done
    if later <= 0:
        return
    machine.used_kv += decodes * later
    machine.peak_kv = max(machine.peak_kv, machine.used_kv)
    gamma = world.timing.gamma[machine.kind]
    starts_s = later * machine.start_s
    for sign, k in ((1.0, float(iterations)), (-1.0, float(done))):
        of_context = machine.context * k * (k + 1.0) / 2.0 + decodes * (k - 1.0) * k * (k + 1.0) / 6.0
        starts_s += sign * (machine.base_s * k * (k + 1.0) / 2.0 + gamma * of_context)
    machine.kv_token_s -= decodes * starts_s
    machine.grown = iterations


@jit
def _is_growing(world: World, number: int) -> bool:
    """Whether a run is under way that takes KV-cache as it goes on."""
    machine = world.machines[number]
    return bool(world.rules.kv_on_demand and machine.iterations > 0 and machine.prompts == 0)


@jit
def enter_growth(world: World, number: int, now: float) -> None:
    """Enter what the decodes of a run under way have taken, if anything; to be done before memory is looked at."""
    if _is_growing(world, number):
        _grow_until(world, number, now)


@jit_apart
def _grow_until(world: World, number: int, now: float) -> None:
    """Enter what has been taken by now; an iteration that starts at this moment starts last."""
    machine = world.machines[number]
    gamma, elapsed_s = world.timing.gamma[machine.kind], now - machine.start_s
    complete = decodes_within(machine.base_s, gamma, machine.decodes, machine.context, elapsed_s)
    if decodes_s(machine.base_s, gamma, machine.decodes, machine.context, complete) >= elapsed_s:
        complete -= 1
    grow(world, number, min(complete, machine.iterations - 1))


@jit
def iterations_with_room(world: World, number: int) -> int:
    """How many iterations of its run a machine has memory for."""
    machine = world.machines[number]
    return machine.grown + 1 + (machine.kv_capacity - machine.used_kv) // machine.decodes


@jit
def adapt_run(world: World, number: int) -> None:
    """Memory was taken or freed beside a run under way: it ends where there is no room for its next iteration."""
    if _is_growing(world, number):
        _end_with_room(world, number)


@jit_apart
def _end_with_room(world: World, number: int) -> None:
    machine = world.machines[number]
    wanted = machine.iterations
    if not machine.is_cut:
        wanted = first_end(world, number) - machine.iteration
    iterations = min(wanted, iterations_with_room(world, number))
    if iterations != machine.iterations:
        end_after(world, number, iterations)


@jit_apart
def make_room(world: World, number: int) -> None:
    """Before a choice: the running decodes take the tokens of their next iteration, if need be from others' room."""
    machine = world.machines[number]
    while machine.decodes > 0 and not fits(machine, machine.decodes):
        _evict(world, number, _last_to_arrive(world, number))
    take(machine, machine.decodes, machine.start_s)
    while (
        machine.decodes == 0
        and machine.head[PREEMPTED] < 0
        and machine.head[DECODES] != machine.tail[DECODES]
        and not fits(machine, 1)
    ):
        _evict(world, number, machine.tail[DECODES])


@jit
def _last_to_arrive(world: World, number: int) -> int:
    """Of the decodes whose KV-cache the machine holds, running or not, that of the request that arrived last."""
    last = -1
    for kind in (RUNNING_DECODES, PREEMPTED, DECODES):
        task = world.machines[number].head[kind]
        while task >= 0:
            last = max(last, task)
            task = world.tasks[task].after
    return last


@jit
def _evict(world: World, number: int, decode: int) -> None:
    """Drop the KV-cache of a decode: its request waits as a prompt again."""
    machine, tasks = world.machines[number], world.tasks
    request = world.requests[decode - len(world.requests)]
    if tasks[decode].list == RUNNING_DECODES:
        leave_batch(world, number, decode)
    else:
        leave_ageing(world, machine, decode)
        unlink(tasks, machine, decode)
    # One that was left out of a batch has taken the token of its next iteration already.
    given = request.output_tokens - tasks[decode].remaining
    give_up(machine, request.prompt_tokens + given - int(tasks[decode].list != PREEMPTED), machine.start_s)
    tasks[decode].remaining -= 1
    request.is_evicted = True
    request.recomputations += 1
    _queue_anew(world, number, decode - len(world.requests), given)


@jit
def _queue_anew(world: World, number: int, task: int, given: int) -> None:
    """Queue an evicted request's prompt, with the tokens it has given, before all but one that is done in part."""
    machine, tasks = world.machines[number], world.tasks
    tasks[task].tokens = tasks[task].remaining = world.requests[task].prefill_tokens + given
    tasks[task].kv_tokens = world.requests[task].prompt_tokens + given
    count_pending(world, number, tasks[task].tokens)
    first = machine.head[PROMPTS]
    is_begun = first >= 0 and is_started(world, first)
    insert_after(tasks, machine, PROMPTS, task, first if is_begun else -1)
    join_ageing(world, machine, task, 0)
