"""Which decode of each batch ends first: a row of numbers for each machine, as many as it has decodes.

A number is the machine's iteration in which a decode ends, and behind it the task. They fall along the row: what ends
first stands last, and is taken from there. Whoever joins moves those that end before it, most of a batch, but next to
each other: that takes less than to keep a heap, up to the largest batches.
"""

from __future__ import annotations

from provisioner.sim.jit import jit
from provisioner.sim.state import World

_TASK_BITS = 32
_TASKS = 2**_TASK_BITS - 1


@jit
def enter(world: World, number: int, task: int, iteration: int) -> None:
    """Enter a decode that joins the batch, and is not counted yet."""
    rows, place = world.finishing, world.machines[number].decodes
    entry = (int(iteration) << _TASK_BITS) + task
    while place > 0 and rows[number, place - 1] < entry:
        rows[number, place] = rows[number, place - 1]
        place -= 1
    rows[number, place] = entry


@jit
def first_end(world: World, number: int) -> int:
    """The iteration in which the first decode of a batch ends, which has some."""
    return int(world.finishing[number, world.machines[number].decodes - 1] >> _TASK_BITS)


@jit
def first(world: World, number: int) -> int:
    """The first decode of a batch to end: out of the row once it is not counted any more."""
    return int(world.finishing[number, world.machines[number].decodes - 1] & _TASKS)


@jit
def take_out(world: World, number: int, task: int) -> int:
    """Take out a decode that leaves the batch, and is still counted; returns the iteration in which it would end."""
    rows, place = world.finishing, world.machines[number].decodes - 1
    moved = rows[number, place]
    while moved & _TASKS != task:
        place -= 1
        following = rows[number, place]
        rows[number, place] = moved
        moved = following
    return int(moved >> _TASK_BITS)
