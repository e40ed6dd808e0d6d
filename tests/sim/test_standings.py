"""Who comes first in each pool, against a look at every machine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.sim import standings
from provisioner.sim.native import IS_PLAIN
from provisioner.sim.standings import PENDING, RESERVED
from provisioner.sim.state import MIXED, PROMPT, TOKEN, World
from tests.sim.inner import from_python
from tests.sim.strategies import examples
from tests.sim.worlds import empty_world, requests, split

pytestmark = pytest.mark.nojit

change_pool = from_python(standings.change_pool)
count_pending = from_python(standings.count_pending)
count_reserved = from_python(standings.count_reserved)
first = from_python(standings.first)
update = from_python(standings.update)

COUNTS = (3, 2)
MACHINES = sum(COUNTS)
LOADS = st.integers(0, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("pending"), st.integers(0, MACHINES - 1), LOADS),
        st.tuples(st.just("reserved"), st.integers(0, MACHINES - 1), LOADS),
        st.tuples(st.just("pool"), st.integers(0, MACHINES - 1), st.integers(0, 3)),
        st.tuples(st.just("ask"), st.sampled_from([PENDING, RESERVED]), st.sampled_from([PROMPT, TOKEN, MIXED])),
    ),
    max_size=80,
)


class Pools:
    """The same as lists of machines, in the order in which they joined."""

    def __init__(self) -> None:
        self.members = {PROMPT: [0, 1, 2], TOKEN: [3, 4], MIXED: [], 3: []}
        self.loads = {PENDING: [0] * MACHINES, RESERVED: [0] * MACHINES}

    def move(self, number: int, pool: int) -> None:
        for members in self.members.values():
            if number in members:
                members.remove(number)
        self.members[pool].append(number)

    def first(self, kind: int, pool: int) -> int:
        return min(self.members[pool], key=lambda number: self.loads[kind][number], default=-1)


def take(step: tuple[str, Any, Any], world: World, pools: Pools) -> None:
    what, number, value = step
    if what == "pool":
        change_pool(world, number, value)
        pools.move(number, value)
    elif what == "ask":
        update(world)
        assert first(world, number, value) == pools.first(number, value)
    else:
        kind, count = (PENDING, count_pending) if what == "pending" else (RESERVED, count_reserved)
        count(world, number, value - pools.loads[kind][number])
        pools.loads[kind][number] = value


@given(STEPS)
@examples(300)
def test_first_is_the_first_of_those_with_the_least(steps: list[tuple[str, Any, Any]]) -> None:
    world, pools = empty_world(split(), COUNTS, requests((0.0, 1, 1))), Pools()
    for step in steps:
        take(step, world, pools)


def test_machines_move_more_often_than_there_are_seats() -> None:
    # Each move takes another seat: when the last is taken, all are seated anew in their order.
    world, pools = empty_world(split(), COUNTS, requests((0.0, 1, 1))), Pools()
    for step in range(100 if IS_PLAIN else 1000):
        take(("pool", step * 3 % MACHINES, step % 3), world, pools)
        take(("pending", step % MACHINES, step * 5 % 4), world, pools)
        take(("ask", PENDING, step * 2 % 3), world, pools)
        take(("ask", RESERVED, step % 3), world, pools)


def test_a_tree_is_given_up_when_nobody_asks_and_set_up_when_somebody_does() -> None:
    world, pools = empty_world(split(), COUNTS, requests((0.0, 1, 1))), Pools()
    take(("ask", PENDING, PROMPT), world, pools)
    nodes = world.standings.nodes.shape[1]
    for step in range(2 * nodes):
        assert world.standings.nodes[PENDING + PROMPT, 0] == min(step, nodes)
        take(("pending", 0, 3 - step % 2), world, pools)
        update(world)
    take(("ask", PENDING, PROMPT), world, pools)
    assert world.standings.nodes[PENDING + PROMPT, 0] == 0
