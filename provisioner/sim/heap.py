"""Binary heaps over arrays: what happens next.

Items are small integers, ordered by their keys, equal keys by item number. Keys stand beside their items in the
order of the heap, so that what is compared lies together. Several heaps live in one pair of arrays: heap *h*
owns row *h*, its length is `size[h]`.
"""

from __future__ import annotations

from provisioner.sim.arrays import Heap
from provisioner.sim.jit import jit


@jit
def _stands_before(heap: Heap, h: int, place: int, key: float, item: int) -> bool:
    """Whether what stands at a place comes before an item with a key."""
    here = heap.key[h, place]
    # Without branches: which of two comes first is as good as random.
    return (here < key) | ((here == key) & (heap.item[h, place] < item))


@jit
def _move(heap: Heap, h: int, source: int, target: int) -> None:
    heap.key[h, target] = heap.key[h, source]
    heap.item[h, target] = heap.item[h, source]


@jit
def _rise(heap: Heap, h: int, place: int, key: float, item: int) -> None:
    """Put an item at a place or above."""
    while place > 0:
        parent = (place - 1) >> 1
        if _stands_before(heap, h, parent, key, item):
            break
        _move(heap, h, parent, place)
        place = parent
    heap.key[h, place] = key
    heap.item[h, place] = item


@jit
def _sink(heap: Heap, h: int, place: int, key: float, item: int) -> None:
    """Put an item at a place or below."""
    size = heap.size[h]
    child = 2 * place + 1
    while child < size:
        right = min(child + 1, size - 1)
        child += _stands_before(heap, h, right, heap.key[h, child], heap.item[h, child])
        if not _stands_before(heap, h, child, key, item):
            break
        _move(heap, h, child, place)
        place = child
        child = 2 * place + 1
    heap.key[h, place] = key
    heap.item[h, place] = item


@jit
def push(heap: Heap, h: int, item: int, key: float) -> None:
    """Put `item` into heap `h`."""
    place = heap.size[h]
    heap.size[h] = place + 1
    _rise(heap, h, place, key, item)


@jit
def find(heap: Heap, h: int, item: int) -> int:
    """The place of `item` in heap `h`, or its size if it is not there."""
    place = 0
    while place < heap.size[h] and heap.item[h, place] != item:
        place += 1
    return place


@jit
def remove(heap: Heap, h: int, place: int) -> None:
    """Take out of heap `h` what stands at a place."""
    last = heap.size[h] - 1
    heap.size[h] = last
    if place < last:
        key, item = heap.key[h, last], heap.item[h, last]
        if place > 0 and not _stands_before(heap, h, (place - 1) >> 1, key, item):
            _rise(heap, h, place, key, item)
        else:
            _sink(heap, h, place, key, item)


@jit
def pop(heap: Heap, h: int) -> int:
    """Take out and return the first item of heap `h`, which must not be empty."""
    item = heap.item[h, 0]
    last = heap.size[h] - 1
    heap.size[h] = last
    if last > 0:
        _sink(heap, h, 0, heap.key[h, last], heap.item[h, last])
    return item
