"""An order of ageing as a row of numbers too, while bisection asks for its k-th task.

An entry says all that a newcomer is compared by: as one number, below 0 for a decode behind its prompt, which is not
passed over. So a probe of the bisection reads one number, and branches nowhere.

Rows lie in one array, each with room to grow, and end with the front of the order, near which most join and leave. A
row that has none left is written anew behind the others, and all are where the array is full. On an overloaded machine
thousands of tasks wait: to walk along them for every newcomer made a simulation of 4 ms one of 1.5 s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.state import Records, World

_NAME_BITS = 32
_NAMES = 2**_NAME_BITS - 1
_LEAST = 2**30
"""Times passed over, less choices made, are counted from there."""


@jit
def _name(tasks: Records, task: int) -> int:
    """A task as a number in the order of arrival: a request's prompt before its decode."""
    n = len(tasks) // 2
    return 2 * int(task) if task < n else 2 * (int(task) - n) + 1


@jit
def newcomer(tasks: Records, machine: Records, count: int, task: int) -> int:
    """What a newcomer, passed over `count` times, is compared by: it stands before entries that are greater."""
    # Not before the other task of the same request: whichever it is, its name is that of the decode.
    return (int(count - machine.choices + _LEAST) << _NAME_BITS) + (_name(tasks, task) | 1)


@jit
def entry_of(tasks: Records, task: int) -> int:
    """What a waiting task is compared by."""
    name = _name(tasks, task)
    if tasks[task].behind_prompt:
        return -1 - name
    return ((int(tasks[task].passed_over) + _LEAST) << _NAME_BITS) + name


@jit
def task_at(tasks: Records, rows: NDArray[np.int64], machine: Records, place: int) -> int:
    """The task at a place of the order, counted from its front."""
    entry = int(rows[machine.row_start + machine.waiting - 1 - place])
    name = (entry ^ (entry >> 63)) & _NAMES
    return (name >> 1) + (name & 1) * (len(tasks) // 2)


@jit_apart
def place_by_bisection(rows: NDArray[np.int64], machine: Records, count: int, own: int) -> int:
    """The place of a `newcomer`, passed over `count` times, counted from the front, in an order that is not sorted.

    Decodes behind their prompts do not age with their neighbours. A bisection then finds a place that
    depends on its probes; the reference simulators bisect, and agree with ours only if ours does.
    """
    behind = own & _NAMES if count == 0 else _NAMES  # not before any that has not been passed over, having been
    last = machine.row_start + machine.waiting - 1
    low, high = 0, int(machine.waiting)
    while low < high:
        middle = (low + high) >> 1
        entry = rows[last - middle]
        is_before = int((own < entry) | (behind < ~entry))
        high += (middle - high) & -is_before
        low += (middle + 1 - low) & (is_before - 1)
    return low


@jit_apart
def lay_out(world: World, machine: Records) -> None:
    """Write the order's row, with as much room again."""
    machine.row_room = 2 * machine.waiting
    if world.clock[0].row_end + machine.row_room <= len(world.rows):
        _write(world, machine)
        return
    world.clock[0].row_end = 0
    for number in range(len(world.machines)):
        if world.machines[number].row_room > 0:
            _write(world, world.machines[number])


@jit
def _write(world: World, machine: Records) -> None:
    machine.row_room = 2 * machine.waiting
    machine.row_start = world.clock[0].row_end
    world.clock[0].row_end += machine.row_room
    place = machine.row_start + machine.waiting
    task = machine.oldest
    while task >= 0:
        place -= 1
        world.rows[place] = entry_of(world.tasks, task)
        task = world.tasks[task].younger


@jit_apart
def insert(tasks: Records, rows: NDArray[np.int64], machine: Records, task: int, place: int) -> None:
    """Enter a task that has just joined at a place of the order, in whose row there is room."""
    last = machine.row_start + machine.waiting - 1
    for entry in range(last, last - place, -1):
        rows[entry] = rows[entry - 1]
    rows[last - place] = entry_of(tasks, task)


@jit
def _find(tasks: Records, rows: NDArray[np.int64], machine: Records, task: int) -> int:
    """Where in the array a task of the order stands."""
    entry = entry_of(tasks, task)
    place = machine.row_start + machine.waiting - 1
    while rows[place] != entry:
        place -= 1
    return int(place)


@jit_apart
def take_out(tasks: Records, rows: NDArray[np.int64], machine: Records, task: int) -> None:
    """Take out a task that is about to leave: those before it move up as it is looked for."""
    own = entry_of(tasks, task)
    place = machine.row_start + machine.waiting - 1
    moved = rows[place]
    while moved != own:
        place -= 1
        following = rows[place]
        rows[place] = moved
        moved = following


@jit
def age_from_now(tasks: Records, rows: NDArray[np.int64], machine: Records, task: int) -> None:
    """A decode's prompt is done: from here on it is passed over like others."""
    place = _find(tasks, rows, machine, task) if machine.row_room > 0 else -1
    tasks[task].behind_prompt = False
    tasks[task].passed_over = -machine.choices
    if place >= 0:
        rows[place] = entry_of(tasks, task)
