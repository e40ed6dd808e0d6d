"""Courses by dynamic programming."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from provisioner.fleet.responses import closed_path


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5), seed=st.integers(0, 1000))
def test_a_closed_path_is_the_cheapest_way_round(sizes: list[int], seed: int) -> None:
    """By trying every way."""
    random = np.random.default_rng(seed)
    costs = [random.integers(0, 9, (sizes[t], sizes[(t + 1) % len(sizes)])).astype(float) for t in range(len(sizes))]

    def total(path: tuple[int, ...]) -> float:
        return sum(cost[path[t], path[(t + 1) % len(path)]] for t, cost in enumerate(costs))

    assert total(tuple(closed_path(costs))) == min(total(path) for path in product(*map(range, sizes)))
