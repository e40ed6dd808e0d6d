"""An order of ageing as a row of numbers too, while bisection asks for its k-th task.

Rows lie in one array, each with room to grow, and end with the front of the order, near which most join and leave. A
row that has none left is written anew behind the others, and all are where the array is full. On an overloaded machine
thousands of tasks wait: to walk along them for every newcomer made a simulation of 4 ms one of 1.5 s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.state import Records, World


@jit
def task_at(rows: NDArray[np.int32], machine: Records, place: int) -> int:
    """The task at a place of the order, counted from its front."""
    return int(rows[machine.row_start + machine.waiting - 1 - place])


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
        world.rows[place] = task
        task = world.tasks[task].younger


@jit_apart
def insert(rows: NDArray[np.int32], machine: Records, task: int, place: int) -> None:
    """Enter a task that has just joined at a place of the order, in whose row there is room."""
    last = machine.row_start + machine.waiting - 1
    for entry in range(last, last - place, -1):
        rows[entry] = rows[entry - 1]
    rows[last - place] = task


@jit_apart
def take_out(rows: NDArray[np.int32], machine: Records, task: int) -> None:
    """Take out a task that is about to leave."""
    last = machine.row_start + machine.waiting - 1
    entry = last
    while rows[entry] != task:
        entry -= 1
    for place in range(entry, last):
        rows[place] = rows[place + 1]
