"""An indexed binary heap over arrays: the event queue, and each batch's order of finishing.

Items are small integers; `key[item]` orders them, equal keys by item number, and `slot[item]` is the
item's place in the heap (-1 outside), so that a key can be moved. Several heaps live in one array:
heap *h* owns `items[h]`, its length is `size[h]`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provisioner.sim.jit import jit


class Heap(NamedTuple):
    """Heaps sharing one set of items.

    `items` (heaps, capacity) int32 and `size` (heaps,) int64 are the trees, `key` (n,) the order,
    `slot` (n,) int32 each item's place.
    """

    items: NDArray[np.int32]
    size: NDArray[np.int64]
    key: NDArray[Any]
    slot: NDArray[np.int32]


def make_heap(heaps: int, capacity: int, items: int, key_type: type) -> Heap:
    """Empty heaps for item numbers below `items`."""
    return Heap(
        items=np.zeros((heaps, capacity), np.int32),
        size=np.zeros(heaps, np.int64),
        key=np.zeros(items, key_type),
        slot=np.full(items, -1, np.int32),
    )


@jit
def _before(heap: Heap, first: int, second: int) -> bool:
    return heap.key[first] < heap.key[second] or (heap.key[first] == heap.key[second] and first < second)


@jit
def _rise(heap: Heap, h: int, place: int, item: int) -> None:
    while place > 0:
        parent_place = (place - 1) >> 1
        parent = heap.items[h, parent_place]
        if not _before(heap, item, parent):
            break
        heap.items[h, place] = parent
        heap.slot[parent] = place
        place = parent_place
    heap.items[h, place] = item
    heap.slot[item] = place


@jit
def _sink(heap: Heap, h: int, place: int, item: int) -> None:
    size = heap.size[h]
    while True:
        child_place = 2 * place + 1
        if child_place >= size:
            break
        child = heap.items[h, child_place]
        if child_place + 1 < size and _before(heap, heap.items[h, child_place + 1], child):
            child_place += 1
            child = heap.items[h, child_place]
        if not _before(heap, child, item):
            break
        heap.items[h, place] = child
        heap.slot[child] = place
        place = child_place
    heap.items[h, place] = item
    heap.slot[item] = place


@jit
def push(heap: Heap, h: int, item: int, key: float) -> None:
    """Put `item` into heap `h`, or move its key to an earlier one."""
    heap.key[item] = key
    place = heap.slot[item]
    if place < 0:
        place = heap.size[h]
        heap.size[h] += 1
    _rise(heap, h, place, item)


@jit
def remove(heap: Heap, h: int, item: int) -> None:
    """Take `item` out of heap `h`, wherever it stands."""
    place = heap.slot[item]
    heap.slot[item] = -1
    heap.size[h] -= 1
    last = heap.items[h, heap.size[h]]
    if last != item:
        if place > 0 and _before(heap, last, heap.items[h, (place - 1) >> 1]):
            _rise(heap, h, place, last)
        else:
            _sink(heap, h, place, last)


@jit
def pop(heap: Heap, h: int) -> int:
    """Take out and return the first item of heap `h`, which must not be empty."""
    item = heap.items[h, 0]
    remove(heap, h, item)
    return item
