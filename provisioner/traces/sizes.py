"""Size tables: the joint distribution of prompt and output lengths, as counted pairs.

Lengths are drawn by inversion. With the pairs in order of (prompt, output) and *F* the cumulative share of
their counts, a uniform *u* gives the first pair with *F* > *u*. So a request's prompt grows with its *u*, and
two similar tables, or the joint and the independent draw from one, give the same request similar lengths:
common random numbers across length distributions, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np

from provisioner.domain.trace import Floats, Ints, RequestTrace
from provisioner.errors import FaultList
from provisioner.traces.bounds import Bounds
from provisioner.traces.fields import MAX_TOKENS, whole_numbers
from provisioner.traces.header import find_columns
from provisioner.traces.opening import opened_table
from provisioner.traces.table import Columns

COLUMNS = ("prompt_tokens", "output_tokens", "count")
MAX_COUNT = 10**12
MIX_RESOLUTION = 10**12
"""Counts that tables are scaled to before they are put together: shares are right to this many parts."""
MAX_PAIRS = 1_000_000
_MAX_TABLE_BYTES = 64 * 2**20
_HIGHEST = dict(zip(COLUMNS, (MAX_TOKENS, MAX_TOKENS, MAX_COUNT), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class SizeTable:
    """Pairs of lengths with the number of requests that have them.

    Parameters
    ----------
    prompt_tokens, output_tokens : (n,) int64
        Lengths of each pair, at least 1. Kept in order of (prompt, output), however they are given.
    count : (n,) int64
        Requests with these lengths, at least 1; only the shares matter.

    Raises
    ------
    ValueError
        If the table is empty, or a condition above does not hold. `read` checks first and says which line.
    """

    prompt_tokens: Ints
    output_tokens: Ints
    count: Ints

    def __post_init__(self) -> None:
        columns = (self.prompt_tokens, self.output_tokens, self.count)
        if len({len(column) for column in columns}) != 1 or not len(self.count):
            raise ValueError("prompts, outputs and counts differ in length, or are empty")
        if any(np.any(column < 1) for column in columns):
            raise ValueError("lengths and counts are at least 1")
        order = np.lexsort((self.output_tokens, self.prompt_tokens))
        for name, column in zip(COLUMNS, columns, strict=True):
            ordered = np.asarray(column, dtype=np.int64)[order]
            ordered.setflags(write=False)
            object.__setattr__(self, name, ordered)

    def __len__(self) -> int:
        return len(self.count)

    @classmethod
    def mixed(cls, parts: Sequence[tuple[SizeTable, float]]) -> Self:
        """Several tables in one; each is drawn from with the share of its weight (> 0)."""
        total = sum(weight for _, weight in parts)
        factors = [max(1, round(MIX_RESOLUTION * weight / total / int(table.count.sum()))) for table, weight in parts]
        return cls(
            np.concatenate([table.prompt_tokens for table, _ in parts]),
            np.concatenate([table.output_tokens for table, _ in parts]),
            np.concatenate([table.count * factor for (table, _), factor in zip(parts, factors, strict=True)]),
        )

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read `prompt_tokens,output_tokens,count`, columns in any order, `#` before comments.

        Raises
        ------
        InputError
            With a fault for each thing that is wrong, the first 20 in full.
        """
        file = Path(path)
        faults = FaultList(file)
        with opened_table(file, faults, Bounds(max_bytes=_MAX_TABLE_BYTES, max_rows=MAX_PAIRS)) as table:
            places = find_columns(table.header, COLUMNS, faults)
            parts = [_converted(piece.columns(places), faults) for piece in table.pieces()]
        rows = sum(len(count) for *_, count in parts)
        if not rows and not faults:
            faults.add("no sizes below the head line", allowed="at least one row")
        if rows > MAX_PAIRS:
            faults.add("too many rows", allowed=f"up to {MAX_PAIRS:,} rows")
        faults.raise_if_any()
        return cls(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    @classmethod
    def of_trace(cls, trace: RequestTrace) -> Self:
        """Count the pairs of a trace that is not empty."""
        return cls.of_lengths(trace.prompt_tokens, trace.output_tokens)

    @classmethod
    def of_lengths(cls, prompt_tokens: Ints, output_tokens: Ints) -> Self:
        """Count pairs of lengths: (n,) int64 each, n and the lengths at least 1."""
        most = int(output_tokens.max()) + 1
        pairs, count = np.unique(prompt_tokens * most + output_tokens, return_counts=True)
        return cls(pairs // most, pairs % most, count)

    @property
    def requests(self) -> int:
        """Sum of the counts."""
        return int(self.count.sum())

    def sample(self, n: int, rng: np.random.Generator, *, independent: bool = False) -> tuple[Ints, Ints]:
        """Draw the lengths of `n` requests.

        Parameters
        ----------
        n : int
            Number of requests.
        rng : Generator
            Changed: gives two uniforms a request, whether both are needed or not, so that 10 requests and
            then 20 are the same as 30 at once, and the independent draw has the joint draw's prompts.
        independent : bool
            Draw prompt and output from their own distributions, as the paper's simulator does.

        Returns
        -------
        prompt_tokens, output_tokens : (n,) int64
        """
        uniform = rng.random((n, 2))
        pair = _invert(self.count, uniform[:, 0])
        prompts = self.prompt_tokens[pair]
        if not independent:
            return prompts, self.output_tokens[pair]
        order = np.argsort(self.output_tokens, kind="stable")
        return prompts, self.output_tokens[order][_invert(self.count[order], uniform[:, 1])]


def _converted(columns: Columns, faults: FaultList) -> list[Ints]:
    return [
        whole_numbers(texts, columns.lines, faults, field=name, high=_HIGHEST[name])
        for name, texts in zip(COLUMNS, columns.texts, strict=True)
    ]


def _invert(count: Ints, uniform: Floats) -> Ints:
    cumulative = np.cumsum(count)
    return np.searchsorted(cumulative / cumulative[-1], uniform, side="right")
