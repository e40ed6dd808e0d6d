"""The heaps, against Python's own."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.sim import heap as heaps
from provisioner.sim.arrays import Heap, make_heap
from provisioner.sim.native import IS_PLAIN
from tests.sim.inner import from_python
from tests.sim.strategies import examples

find = from_python(heaps.find)
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
    """Each row holds its items with their keys, no child stands before its parent, and every item is found."""
    for h, inside in enumerate(model):
        size = int(heap.size[h])
        stand = list(zip(heap.key[h, :size].tolist(), heap.item[h, :size].tolist(), strict=True))
        assert sorted(stand) == sorted((key, item) for item, key in inside.items())
        for place in range(1, size):
            assert stand[(place - 1) // 2] < stand[place]
        for item in range(ITEMS):
            place = find(heap, h, item)
            assert place == size if item not in inside else stand[place] == (inside[item], item)


@given(STEPS)
@examples(400)
def test_two_heaps_in_one_pair_of_arrays(steps: list[tuple[str, int, int, float]]) -> None:
    heap = make_heap(2, ITEMS, np.float64)
    model: list[dict[int, float]] = [{}, {}]
    for step, h, item, key in steps:
        mine = model[h]
        if step == "push" and item not in mine:
            push(heap, h, item, key)
            mine[item] = key
        elif step == "remove" and item in mine:
            remove(heap, h, find(heap, h, item))
            del mine[item]
        elif step == "pop" and mine:
            expected = min((key, item) for item, key in mine.items())[1]
            assert pop(heap, h) == expected
            del mine[expected]
        check(heap, model)


@given(st.lists(KEYS, max_size=40))
@examples(200)
def test_pops_come_in_the_order_of_heapq(keys: list[float]) -> None:
    heap = make_heap(1, max(len(keys), 1), np.float64)
    theirs: list[tuple[float, int]] = []
    for item, key in enumerate(keys):
        push(heap, 0, item, key)
        heapq.heappush(theirs, (key, item))
    ours = [int(pop(heap, 0)) for _ in keys]
    assert ours == [heapq.heappop(theirs)[1] for _ in keys]
    assert heap.size[0] == 0


def test_equal_keys_come_by_item() -> None:
    heap: Any = make_heap(1, 4, np.int64)
    for item in (3, 1, 2, 0):
        push(heap, 0, item, 7)
    assert [int(pop(heap, 0)) for _ in range(4)] == [0, 1, 2, 3]


def test_the_last_item_that_fills_a_gap_may_have_to_rise() -> None:
    # Removing the 30 at place 3 puts the last, 10, under 20, where it must rise.
    heap = make_heap(1, 7, np.float64)
    heap.key[0] = [1.0, 20.0, 2.0, 30.0, 40.0, 3.0, 10.0]
    heap.item[0] = range(7)
    heap.size[0] = 7
    remove(heap, 0, 3)
    assert [int(pop(heap, 0)) for _ in range(6)] == [0, 2, 5, 6, 1, 4]


def test_compiled_functions_cannot_be_called_by_mistake() -> None:
    # They are for compiled code; from Python they would get what compiled code does not have.
    heap = make_heap(1, ITEMS, np.float64)
    if IS_PLAIN:
        pytest.skip("nothing is compiled")
    with pytest.raises(KeyError):
        heaps.push(heap, 0, 1, 1.0)
