"""Trees of matches, against the minimum of a list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.sim import tournament
from provisioner.sim.arrays import NOBODY, make_tournament
from tests.sim.inner import from_python
from tests.sim.strategies import examples

enter = from_python(tournament.enter)

pytestmark = pytest.mark.nojit

SEATS = 11
KEYS = st.one_of(st.integers(0, 3), st.integers(0, 2**62), st.just(NOBODY))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, SEATS - 1), KEYS), max_size=60))
@examples(400)
def test_the_root_is_the_first_of_those_with_the_lowest_key(steps: list[tuple[int, int, int]]) -> None:
    nodes = make_tournament(2, SEATS)
    keys = [[NOBODY] * SEATS, [NOBODY] * SEATS]
    for tree, seat, key in steps:
        enter(nodes, tree, seat, key, 100 + seat)
        keys[tree][seat] = key
        for t in (0, 1):
            best = min(keys[t])
            assert nodes[t, 1].key == best
            if best < NOBODY:
                assert nodes[t, 1].player == 100 + keys[t].index(best)


@pytest.mark.parametrize("seats", [1, 2, 3, 4, 5, 64, 65])
def test_every_seat_reaches_the_root(seats: int) -> None:
    nodes = make_tournament(1, seats)
    for seat in range(seats):
        enter(nodes, 0, seat, seats - seat, seat)
        assert nodes[0, 1].player == seat
    for seat in reversed(range(1, seats)):
        enter(nodes, 0, seat, NOBODY, -1)
        assert nodes[0, 1].player == seat - 1


def test_an_empty_tree_is_nobody_s_for_ever() -> None:
    nodes = make_tournament(1, 3)
    assert nodes[0, 1].player == -1
    assert np.int64(nodes[0, 1].key).view(np.float64) == np.inf


@given(st.lists(st.floats(0, allow_nan=False), min_size=1, max_size=SEATS))
@examples(100)
def test_times_are_ordered_as_their_bits(times_s: list[float]) -> None:
    nodes = make_tournament(1, SEATS)
    for seat, time_s in enumerate(times_s):
        enter(nodes, 0, seat, np.float64(time_s + 0.0).view(np.int64), seat)  # -0 + 0 is 0
    assert nodes[0, 1].player == times_s.index(min(times_s))
