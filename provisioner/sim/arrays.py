"""The arrays that heaps (`heap`) and trees of matches (`standings`, `tournament`) live in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Heap(NamedTuple):
    """Heaps in rows: `key` (heaps, capacity), `item` (heaps, capacity) int64, `size` (heaps,) int64."""

    key: NDArray[Any]
    item: NDArray[np.int64]
    size: NDArray[np.int64]


def make_heap(heaps: int, capacity: int, key_type: type) -> Heap:
    """Empty heaps, each with room for so many items."""
    return Heap(
        key=np.empty((heaps, capacity), key_type),
        item=np.empty((heaps, capacity), np.int64),
        size=np.zeros(heaps, np.int64),
    )


Tournament = Any
"""An array (trees, nodes) of `NODE`."""


def record(fields: Sequence[tuple[Any, ...]]) -> np.dtype[Any]:
    """Names and formats as a dtype whose items have fields as attributes."""
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


NODE = record([("key", "i8"), ("player", "i8")])

NOBODY = int(np.float64(np.inf).view(np.int64))
"""The key of an empty seat: infinite as a time, and more than is ever counted."""


def _leaves(seats: int) -> int:
    """The least power of two, from 2 on, that has so many."""
    return 1 << max(seats - 1, 1).bit_length()


def make_tournament(trees: int, seats: int) -> Tournament:
    """Trees with at least so many seats, all empty."""
    nodes = np.empty((trees, 2 * _leaves(seats)), NODE)
    nodes["key"] = NOBODY
    nodes["player"] = -1
    return nodes


class Standings(NamedTuple):
    """Trees of matches in rows: `nodes` (trees, nodes) int64, and who has which `seated` (seats,) int64."""

    nodes: NDArray[np.int64]
    seated: NDArray[np.int64]


def make_standings(trees: int, machines: int) -> Standings:
    """Empty trees, with the first machines seated in their order and at least as many seats free."""
    leaves = _leaves(2 * machines)
    seated = np.empty(leaves, np.int64)
    seated[:machines] = np.arange(machines)
    return Standings(np.full((trees, 2 * leaves), NOBODY), seated)
