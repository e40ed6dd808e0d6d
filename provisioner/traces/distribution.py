"""The distribution of one kind of length, exactly, from counts.

Lengths are whole numbers, so counting how often each occurs loses nothing, and takes the same memory for a thousand
requests as for tens of millions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.trace import Floats, Ints

PERCENTILES = (1.0, 5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
_DENSE = 2**18
"""Lengths below have a place of their own in an array, so that counting them takes one step."""
_CAP_WIDTH, _CAP_SHARE, _CAP_ROWS = 0.001, 0.0005, 10

_Block = NDArray[np.int32]


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
        self._blocks: list[_Block] = []
        self._filled = self._BLOCK

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

    def summary(self) -> PairSummary:
        """What the pairs are like; at least one."""
        blocks = [*self._blocks[:-1], *(block[:, : self._filled] for block in self._blocks[-1:])]
        prompt, output = (_Axis.of([block[axis] for block in blocks]) for axis in (0, 1))
        pearson = _correlation(blocks, (prompt, prompt.values), (output, output.values))
        spearman = _correlation(blocks, (prompt, prompt.midranks), (output, output.midranks))
        return PairSummary(prompt.distribution, output.distribution, pearson, spearman)


class PairSummary(NamedTuple):
    """Both distributions; Pearson's correlation of the lengths and Spearman's of their ranks.

    Spearman's is Pearson's of the midranks, which the counts give for each length. None where one axis does not vary.
    """

    prompt: Distribution
    output: Distribution
    pearson: float | None
    spearman: float | None


class _Axis(NamedTuple):
    """One kind of length, counted: short ones each at their own place, long ones in order behind them."""

    values: Ints
    counts: Ints
    dense: int

    @classmethod
    def of(cls, blocks: Sequence[_Block]) -> _Axis:
        dense = min(_DENSE, 1 + max(int(block.max()) for block in blocks))
        long = np.unique(np.concatenate([np.unique(block[block >= dense]) for block in blocks]))
        values = np.concatenate((np.arange(dense, dtype=np.int64), long.astype(np.int64)))
        axis = cls(values, np.zeros(len(values), dtype=np.int64), dense)
        for block in blocks:
            axis.counts[:] += np.bincount(axis.places(block), minlength=len(values))
        return axis

    @property
    def distribution(self) -> Distribution:
        (found,) = np.nonzero(self.counts)
        return Distribution(self.values[found], self.counts[found])

    @property
    def midranks(self) -> Floats:
        """Mean rank, from 0, of those that have each length."""
        midranks: Floats = np.cumsum(self.counts) - (self.counts + 1) / 2
        return midranks

    def places(self, block: _Block) -> _Block:
        """Where in `values` each length stands."""
        (long,) = np.nonzero(block >= self.dense)
        if not len(long):
            return block
        places = block.copy()
        places[long] = self.dense + np.searchsorted(self.values[self.dense :], block[long])
        return places


def _correlation(
    blocks: Sequence[_Block], prompt: tuple[_Axis, Ints | Floats], output: tuple[_Axis, Ints | Floats]
) -> float | None:
    """Pearson's correlation of scores, which stand beside each axis's values."""
    centred, squares = [], []
    for axis, scores in (prompt, output):
        centred.append(scores - float(axis.counts @ scores) / int(axis.counts.sum()))
        squares.append(float(axis.counts @ centred[-1] ** 2))
    if min(len(np.flatnonzero(axis.counts)) for axis, _ in (prompt, output)) < 2:  # noqa: PLR2004 - to vary
        return None
    both = sum(
        float(centred[0][prompt[0].places(block[0])] @ centred[1][output[0].places(block[1])]) for block in blocks
    )
    return both / float(np.sqrt(squares[0]) * np.sqrt(squares[1]))
