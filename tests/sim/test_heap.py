"""The indexed heap, against Python's own."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.sim import heap as heaps
from provisioner.sim.heap import Heap, make_heap
from tests.sim.inner import from_python
from tests.sim.strategies import examples

pop = from_python(heaps.pop)
push = from_python(heaps.push)
remove = from_python(heaps.remove)

pytestmark = pytest.mark.nojit

ITEMS = 12
KEYS = st.one_of(st.integers(0, 5), st.floats(0, 5, allow_subnormal=False)).map(float)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(0, 1), st.integers(0, ITEMS - 1), KEYS),
        st.tuples(st.just("remove"), st.integers(0, 1), st.integers(0, ITEMS - 1), KEYS),
        st.tuples(st.just("pop"), st.integers(0, 1), st.just(0), st.just(0.0)),
    ),
    max_size=60,
)


def check(heap: Heap, model: list[dict[int, float]]) -> None:
    """The places are those of the items, no child stands before its parent, and outside there is nothing."""
    for h, inside in enumerate(model):
        size = int(heap.size[h])
        items = heap.items[h, :size].tolist()
        assert sorted(items) == sorted(inside)
        for place, item in enumerate(items):
            assert heap.slot[item] == place
            assert heap.key[item] == inside[item]
            if place:
                parent = items[(place - 1) // 2]
                assert (heap.key[parent], parent) < (heap.key[item], item)
    outside = set(range(ITEMS)) - set(model[0]) - set(model[1])
    assert all(heap.slot[item] == -1 for item in outside)


@given(STEPS)
@examples(400)
def test_two_heaps_that_share_their_items(steps: list[tuple[str, int, int, float]]) -> None:
    heap = make_heap(2, ITEMS, ITEMS, np.float64)
    model: list[dict[int, float]] = [{}, {}]
    for step, h, item, key in steps:
        mine = model[h]
        if step == "push" and item not in model[1 - h]:
            earlier = min(key, mine.get(item, key))  # a key is only moved to an earlier one
            push(heap, h, item, earlier)
            mine[item] = earlier
        elif step == "remove" and item in mine:
            remove(heap, h, item)
            del mine[item]
        elif step == "pop" and mine:
            expected = min((key, item) for item, key in mine.items())[1]
            assert pop(heap, h) == expected
            del mine[expected]
        check(heap, model)


@given(st.lists(KEYS, max_size=40))
@examples(200)
def test_pops_come_in_the_order_of_heapq(keys: list[float]) -> None:
    heap = make_heap(1, max(len(keys), 1), max(len(keys), 1), np.float64)
    theirs: list[tuple[float, int]] = []
    for item, key in enumerate(keys):
        push(heap, 0, item, key)
        heapq.heappush(theirs, (key, item))
    ours = [int(pop(heap, 0)) for _ in keys]
    assert ours == [heapq.heappop(theirs)[1] for _ in keys]
    assert heap.size[0] == 0


def test_equal_keys_come_by_item_and_an_earlier_key_moves_ahead() -> None:
    heap: Any = make_heap(1, 4, 4, np.int64)
    for item in (3, 1, 2, 0):
        push(heap, 0, item, 7)
    push(heap, 0, 3, 6)
    assert [int(pop(heap, 0)) for _ in range(4)] == [3, 0, 1, 2]


def test_the_last_item_that_fills_a_gap_may_have_to_rise() -> None:
    # Removing 3 puts the last, 6, under 1, where it must rise: 10 stands before 20.
    heap = make_heap(1, 7, 7, np.float64)
    for item, key in enumerate([1.0, 20.0, 2.0, 30.0, 40.0, 3.0, 10.0]):
        heap.key[item] = key
        heap.items[0, item] = item
        heap.slot[item] = item
    heap.size[0] = 7
    remove(heap, 0, 3)
    assert [int(pop(heap, 0)) for _ in range(6)] == [0, 2, 5, 6, 1, 4]
