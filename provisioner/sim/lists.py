"""Intrusive doubly linked lists: a machine's queues, with removal from the middle in constant time.

A task stands in at most one list of its machine (`state.LISTS`); -1 is nothing.
"""

from __future__ import annotations

from provisioner.sim.jit import jit
from provisioner.sim.state import Records


@jit
def insert_after(tasks: Records, machine: Records, kind: int, task: int, leader: int) -> None:
    """Put `task` into list `kind` behind `leader`, or first where `leader` is -1."""
    if leader < 0:
        follower = machine.head[kind]
        machine.head[kind] = task
    else:
        follower = tasks[leader].after
        tasks[leader].after = task
    tasks[task].list = kind
    tasks[task].before = leader
    tasks[task].after = follower
    if follower < 0:
        machine.tail[kind] = task
    else:
        tasks[follower].before = task


@jit
def append(tasks: Records, machine: Records, kind: int, task: int) -> None:
    """Put `task` last in list `kind`."""
    insert_after(tasks, machine, kind, task, machine.tail[kind])


@jit
def unlink(tasks: Records, machine: Records, task: int) -> None:
    """Take `task` out of the list it stands in."""
    kind = tasks[task].list
    leader = tasks[task].before
    follower = tasks[task].after
    if leader < 0:
        machine.head[kind] = follower
    else:
        tasks[leader].after = follower
    if follower < 0:
        machine.tail[kind] = leader
    else:
        tasks[follower].before = leader
