"""Which machine of each pool has the shortest queue, and which the least reserved memory.

A pool has two trees of matches, by pending tokens and by reserved memory; its machines sit in the order in which they
joined it, so that ties go to the first. What changes in the books of machines is noted, and entered in the trees when
the next request is routed. A tree that nobody has asked for while it changed as often as it has nodes is given up, and
set up again when it is asked for: most are hardly ever.

A node is one number: the machine's load, and behind it the seat. The lesser of two wins, and so the seat further left
among equals.
"""

from __future__ import annotations

from provisioner.sim.arrays import NOBODY, Standings
from provisioner.sim.jit import jit, jit_apart
from provisioner.sim.state import POOLS, Records, World, numbered

PENDING, RESERVED = numbered(2, POOLS)
"""Trees of the first pool; those of the others follow."""
SEAT_BITS = 22
"""Seats for two million machines leave two million million tokens for each."""


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
def _is_kept(standings: Standings, tree: int) -> bool:
    """Node 0, which stands outside the tree, counts the changes since it was asked for."""
    return bool(standings.nodes[tree, 0] < standings.nodes.shape[1])


@jit
def _node(load: int, seat: int) -> int:
    return (load << SEAT_BITS) + seat


@jit
def _enter(standings: Standings, tree: int, seat: int, node: int) -> None:
    """Put a node on a seat of a tree, if that is kept, and play its matches again up to the root."""
    if not _is_kept(standings, tree):
        return
    nodes = standings.nodes
    nodes[tree, 0] += 1
    place = (nodes.shape[1] >> 1) + seat
    nodes[tree, place] = node
    while place > 1:
        node = min(node, nodes[tree, place ^ 1])
        place >>= 1
        nodes[tree, place] = node


@jit
def update(world: World) -> None:
    """Enter what has been noted."""
    for place in range(world.clock[0].noted):
        machine = world.machines[world.noted[place]]
        machine.is_noted = False
        seat = machine.seat
        _enter(world.standings, PENDING + machine.pool, seat, _node(machine.pending_tokens, seat))
        _enter(world.standings, RESERVED + machine.pool, seat, _node(machine.reserved_kv, seat))
    world.clock[0].noted = 0


@jit
def change_pool(world: World, number: int, pool: int) -> None:
    """Move a machine to the end of a pool."""
    seat = world.clock[0].next_seat
    if seat == len(world.standings.seated):
        seat = _move_up(world.standings, world.machines)
    _move(world.standings, world.machines, number, pool, seat)
    world.clock[0].next_seat = seat + 1


@jit_apart
def _move(standings: Standings, machines: Records, number: int, pool: int, seat: int) -> None:
    """Move a machine to a seat of a pool."""
    machine = machines[number]
    for kind in (PENDING, RESERVED):
        _enter(standings, kind + machine.pool, machine.seat, NOBODY)
        load = machine.pending_tokens if kind == PENDING else machine.reserved_kv
        _enter(standings, kind + pool, seat, _node(load, seat))
    machine.pool = pool
    machine.seat = seat
    standings.seated[seat] = number


@jit_apart
def _move_up(standings: Standings, machines: Records) -> int:
    """Seat all machines anew in their order, and give up all trees; returns the first free seat."""
    for seat in range(len(machines)):
        following = -1
        for number in range(len(machines)):
            is_seated = machines[number].seat < seat
            if not is_seated and (following < 0 or machines[number].seat < machines[following].seat):
                following = number
        machines[following].seat = seat
        standings.seated[seat] = following
    for tree in range(len(standings.nodes)):
        standings.nodes[tree, 0] = NOBODY
    return len(machines)


@jit_apart
def _set_up(standings: Standings, tree: int, machines: Records) -> None:
    for place in range(standings.nodes.shape[1]):
        standings.nodes[tree, place] = NOBODY if place > 0 else 0
    for number in range(len(machines)):
        machine = machines[number]
        if machine.pool == tree % POOLS:
            load = machine.pending_tokens if tree < RESERVED else machine.reserved_kv
            _enter(standings, tree, machine.seat, _node(load, machine.seat))


@jit
def first(world: World, kind: int, pool: int) -> int:
    """Machine of the pool with the least of a kind, first in its pool among equals; -1 if there is none."""
    standings, tree = world.standings, kind + pool
    if not _is_kept(standings, tree):
        _set_up(standings, tree, world.machines)
    standings.nodes[tree, 0] = 0
    root = standings.nodes[tree, 1]
    return -1 if root == NOBODY else standings.seated[root & ((1 << SEAT_BITS) - 1)]
