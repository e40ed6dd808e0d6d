"""The distribution of one kind of length, exactly, from counts.

Lengths are whole numbers, so counting how often each occurs loses nothing, and takes the same memory for a thousand
requests as for tens of millions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from provisioner.domain.trace import Floats, Ints

PERCENTILES = (1.0, 5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
_CAP_WIDTH, _CAP_SHARE, _CAP_ROWS = 0.001, 0.0005, 10


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """How often each length occurs.

    Parameters
    ----------
    values : (k,) int64
        The lengths that occur, increasing; at least one.
    counts : (k,) int64
        Requests of each, at least 1. `counts.cumsum() / requests` is the empirical distribution function.
    """

    values: Ints
    counts: Ints

    @property
    def requests(self) -> int:
        """Sum of the counts."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean length."""
        return float(self.values @ self.counts) / self.requests

    @property
    def std(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(self.counts @ (self.values - self.mean) ** 2 / self.requests))

    @property
    def cap(self) -> tuple[int, float] | None:
        """A limit that cuts lengths off: the largest length, and the share of requests within 0.1 % of it.

        So many must lie there that it is no chance: ten, one in two thousand, and three times as many as in
        the whole per cent below. None otherwise.
        """
        largest = int(self.values[-1])
        at_cap = int(self.counts[self.values >= (1 - _CAP_WIDTH) * largest].sum())
        below = int(self.counts[self.values >= (1 - 10 * _CAP_WIDTH) * largest].sum()) - at_cap
        if len(self.values) == 1 or at_cap < max(_CAP_ROWS, _CAP_SHARE * self.requests, 3 * below):
            return None
        return largest, at_cap / self.requests

    def percentiles(self, percents: Sequence[float] = PERCENTILES) -> dict[float, float]:
        """Percentiles, with linear interpolation between order statistics, as numpy's default has them."""
        running = np.cumsum(self.counts)
        at = np.asarray(percents) / 100 * (running[-1] - 1)
        low = self.values[np.searchsorted(running, np.floor(at), side="right")]
        high = self.values[np.searchsorted(running, np.ceil(at), side="right")]
        return dict(zip(percents, (low + (at - np.floor(at)) * (high - low)).tolist(), strict=True))


class PairStore:
    """Pairs of lengths as they come, in blocks of 32-bit numbers: 8 bytes a request."""

    _BLOCK = 2**20

    def __init__(self) -> None:
        self._blocks: list[np.ndarray] = []
        self._filled = self._BLOCK
        self._most = [0, 0]

    def __len__(self) -> int:
        return max(0, len(self._blocks) - 1) * self._BLOCK + (self._filled if self._blocks else 0)

    def add(self, prompt_tokens: Ints, output_tokens: Ints) -> None:
        """Keep some more: (n,) int64 each, from 1 to 2**31 - 1."""
        start = 0
        while start < len(prompt_tokens):
            if self._filled == self._BLOCK:
                self._blocks.append(np.empty((2, self._BLOCK), dtype=np.int32))
                self._filled = 0
            end = min(len(prompt_tokens), start + self._BLOCK - self._filled)
            block = self._blocks[-1][:, self._filled : self._filled + end - start]
            block[0], block[1] = prompt_tokens[start:end], output_tokens[start:end]
            self._filled += end - start
            start = end
        for axis, tokens in enumerate((prompt_tokens, output_tokens)):
            self._most[axis] = max(self._most[axis], int(tokens.max(initial=0)))

    def distribution(self, axis: int) -> Distribution:
        """Of prompts (0) or outputs (1)."""
        counts = self._counts(axis)
        (values,) = np.nonzero(counts)
        return Distribution(values, counts[values])

    def correlations(self) -> tuple[float | None, float | None]:
        """Pearson's of the lengths and Spearman's of their ranks; None where one axis does not vary.

        Spearman's is Pearson's of the midranks, which the counts give for each length.
        """
        counts = [self._counts(axis) for axis in (0, 1)]
        own = [np.arange(len(each), dtype=np.float64) for each in counts]
        return self._pearson(own, counts), self._pearson([_midranks(each) for each in counts], counts)

    def _pearson(self, scores: Sequence[Floats], counts: Sequence[Ints]) -> float | None:
        """Correlation of the scores that lengths have on each axis."""
        first, second = (each - float(count @ each) / len(self) for each, count in zip(scores, counts, strict=True))
        squares = [float(count @ each**2) for each, count in zip((first, second), counts, strict=True)]
        if min(squares) <= 0:
            return None
        both = sum(float(first[block[0]] @ second[block[1]]) for block in self._full_blocks())
        return both / float(np.sqrt(squares[0]) * np.sqrt(squares[1]))

    def _counts(self, axis: int) -> Ints:
        counts = np.zeros(self._most[axis] + 1, dtype=np.int64)
        for block in self._full_blocks():
            counts += np.bincount(block[axis], minlength=len(counts))
        return counts

    def _full_blocks(self) -> list[np.ndarray]:
        return [*self._blocks[:-1], *(block[:, : self._filled] for block in self._blocks[-1:])]


def _midranks(counts: Ints) -> Floats:
    """Mean rank, from 0, of those that have each length."""
    midranks: Floats = np.cumsum(counts) - (counts + 1) / 2
    return midranks
