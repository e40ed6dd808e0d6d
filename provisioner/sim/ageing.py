"""The order in which a machine ages its waiting tasks, so that none starves (Splitwise, IV-B).

Every batch choice passes over the tasks that it leaves waiting. A newcomer is queued before the tasks
that have by then been passed over more often than itself, or as often but arrived later. A decode whose
prompt waits or runs on the same machine stands in the order too, not ageing until its prompt is done.
"""

from __future__ import annotations

from provisioner.sim.jit import jit
from provisioner.sim.ordering import entry_of, insert, lay_out, newcomer, place_by_bisection, take_out, task_at
from provisioner.sim.state import Records, World


@jit
def times_passed_over(machine: Records, task: Records) -> int:
    """How many batch choices have left this waiting task out."""
    if task.behind_prompt:
        return 0
    return task.passed_over + machine.choices


@jit
def _leader(tasks: Records, machine: Records, own: int) -> int:
    """The task to stand behind, in an order that is sorted."""
    leader = -1
    follower = machine.oldest
    while follower >= 0 and own >= entry_of(tasks, follower):
        leader = follower
        follower = tasks[follower].younger
    return leader


@jit
def join_ageing(world: World, machine: Records, task: int, count: int) -> None:
    """Queue a task that has been passed over `count` times before."""
    tasks = world.tasks
    own = newcomer(tasks, machine, count, task)
    place = 0
    if machine.waiting == 0:
        machine.is_sorted = True
        machine.row_room = 0
    if machine.is_sorted:
        leader = _leader(tasks, machine, own)
    else:
        if machine.row_room == 0:
            lay_out(world, machine)
        place = place_by_bisection(world.rows, machine, count, own)
        leader = task_at(tasks, world.rows, machine, place - 1) if place > 0 else -1
    if leader < 0:
        follower = machine.oldest
        machine.oldest = task
    else:
        follower = tasks[leader].younger
        tasks[leader].younger = task
    tasks[task].older = leader
    tasks[task].younger = follower
    if follower >= 0:
        tasks[follower].older = task
    tasks[task].passed_over = count - machine.choices
    machine.waiting += 1
    if machine.waiting <= machine.row_room:
        insert(tasks, world.rows, machine, task, place)
    elif machine.row_room > 0:
        lay_out(world, machine)


@jit
def leave_ageing(world: World, machine: Records, task: int) -> None:
    """A waiting task is chosen; `passed_over` holds its plain count from here on."""
    tasks = world.tasks
    if machine.row_room > 0:
        take_out(tasks, world.rows, machine, task)
    tasks[task].passed_over = times_passed_over(machine, tasks[task])
    older, younger = tasks[task].older, tasks[task].younger
    if older < 0:
        machine.oldest = younger
    else:
        tasks[older].younger = younger
    if younger >= 0:
        tasks[younger].older = older
    machine.waiting -= 1
