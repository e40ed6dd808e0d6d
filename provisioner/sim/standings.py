"""Which machine of each pool has the shortest queue, and which the least reserved memory.

A pool has two trees of matches (`tournament`), by pending tokens and by reserved memory; its machines sit in the order
in which they joined it, so that ties go to the first. What changes in the books of machines is noted, and entered in
the trees when the next request is routed. A tree that nobody has asked for while it changed as often as it has nodes
is given up, and set up again when it is asked for: most are hardly ever.
"""

from __future__ import annotations

from provisioner.sim.arrays import NOBODY, Tournament
from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.state import POOLS, Records, World, numbered
from provisioner.sim.tournament import enter

PENDING, RESERVED = numbered(2, POOLS)
"""Trees of the first pool; those of the others follow."""


@jit
def _note(world: World, number: int) -> None:
    if not world.machines[number].is_noted:
        world.machines[number].is_noted = True
        world.noted[world.clock[0].noted] = number
        world.clock[0].noted += 1


@jit
def count_pending(world: World, number: int, tokens: int) -> None:
    """Add tokens to the queue of a machine."""
    world.machines[number].pending_tokens += tokens
    _note(world, number)


@jit
def count_reserved(world: World, number: int, kv_tokens: int) -> None:
    """Add tokens to the reserved memory of a machine."""
    world.machines[number].reserved_kv += kv_tokens
    _note(world, number)


@jit
def _is_kept(trees: Tournament, tree: int) -> bool:
    """Node 0, which stands outside the tree, counts the changes since it was asked for."""
    return bool(trees[tree, 0].key < trees.shape[1])


@jit
def _enter(trees: Tournament, tree: int, seat: int, load: int, number: int) -> None:
    """Enter a machine with its load in a tree, if that is kept."""
    if _is_kept(trees, tree):
        trees[tree, 0].key += 1
        enter(trees, tree, seat, load, number)


@jit
def update(world: World) -> None:
    """Enter what has been noted."""
    for place in range(world.clock[0].noted):
        number = world.noted[place]
        machine = world.machines[number]
        machine.is_noted = False
        _enter(world.standings, PENDING + machine.pool, machine.seat, machine.pending_tokens, number)
        _enter(world.standings, RESERVED + machine.pool, machine.seat, machine.reserved_kv, number)
    world.clock[0].noted = 0


@jit
def change_pool(world: World, number: int, pool: int) -> None:
    """Move a machine to the end of a pool."""
    seat = world.clock[0].next_seat
    if seat == world.standings.shape[1] >> 1:
        seat = _move_up(world.standings, world.machines)
    _move(world.standings, world.machines, number, pool, seat)
    world.clock[0].next_seat = seat + 1


@jit_apart
def _move(trees: Tournament, machines: Records, number: int, pool: int, seat: int) -> None:
    """Move a machine to a seat of a pool."""
    machine = machines[number]
    for kind in (PENDING, RESERVED):
        _enter(trees, kind + machine.pool, machine.seat, NOBODY, -1)
        load = machine.pending_tokens if kind == PENDING else machine.reserved_kv
        _enter(trees, kind + pool, seat, load, number)
    machine.pool = pool
    machine.seat = seat


@jit_apart
def _move_up(trees: Tournament, machines: Records) -> int:
    """Seat all machines anew in their order, and give up all trees; returns the first free seat."""
    for seat in range(len(machines)):
        following = -1
        for number in range(len(machines)):
            is_seated = machines[number].seat < seat
            if not is_seated and (following < 0 or machines[number].seat < machines[following].seat):
                following = number
        machines[following].seat = seat
    for tree in range(len(trees)):
        trees[tree, 0].key = NOBODY
    return len(machines)


@jit_apart
def _set_up(trees: Tournament, tree: int, machines: Records) -> None:
    for place in range(trees.shape[1]):
        trees[tree, place].key = NOBODY if place > 0 else 0
        trees[tree, place].player = -1
    for number in range(len(machines)):
        machine = machines[number]
        if machine.pool == tree % POOLS:
            load = machine.pending_tokens if tree < RESERVED else machine.reserved_kv
            enter(trees, tree, machine.seat, load, number)


@jit
def first(world: World, kind: int, pool: int) -> int:
    """Machine of the pool with the least of a kind, first in its pool among equals; -1 if there is none."""
    tree = kind + pool
    if not _is_kept(world.standings, tree):
        _set_up(world.standings, tree, world.machines)
    world.standings[tree, 0].key = 0
    return world.standings[tree, 1].player
