"""Runs of one shape: rows that agree in every length, pooled to medians."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


def numbered(shapes: Floats) -> tuple[int, Rows]:
    """Count the distinct rows of `shapes` (n, k), and number each row's shape (n,), in sorted order."""
    if not len(shapes):
        return 0, np.empty(0, dtype=np.intp)
    order = np.lexsort(shapes.T[::-1])  # np.unique with an axis is ten times slower
    ordered = shapes[order]
    is_first = np.any(ordered[1:] != ordered[:-1], axis=1)
    number = np.empty(len(shapes), dtype=np.intp)
    number[order] = np.concatenate([[0], np.cumsum(is_first)])
    return int(number[order[-1]]) + 1, number


def medians(values: Floats, number: Rows, count: int) -> Floats:
    """Return the median (count,) of the values (n,) of each shape, NaN left aside; NaN where that leaves none."""
    known = ~np.isnan(values)
    by_shape = np.lexsort((values[known], number[known]))
    ordered = np.append(values[known][by_shape], np.nan)
    size = np.bincount(number[known], minlength=count)
    first = np.cumsum(size) - size
    lower, upper = ordered[first + np.maximum(size - 1, 0) // 2], ordered[first + size // 2]
    return np.where(size > 0, (lower + upper) / 2, np.nan)
