"""A table of text: names of columns, and rows piece by piece, whatever it is written in.

`Table` is what a format is found in and read from; `csv_table`, `jsonl_table` and `parquet_table` each give one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from provisioner.traces.bulk import Bulk


class Header(NamedTuple):
    """Names of the columns, stripped of blanks, and the 1-based line they stand on."""

    line: int
    names: tuple[str, ...]


class Columns(NamedTuple):
    """Some rows, column by column: `texts[c][r]` is column *c* of the row on line `lines[r]` (1-based)."""

    lines: Sequence[int]
    texts: tuple[Sequence[str], ...]


class Piece(Protocol):
    """Some rows of a table."""

    def bulk(self) -> Bulk | None:
        """The rows for `bulk`'s quick conversions; None where they are not plain enough for it."""

    def columns(self, places: Sequence[int]) -> Columns:
        """Some columns of the rows as text; rows that are no rows are noted as faults and left out."""


class Table(Protocol):
    """An opened table."""

    @property
    def kind(self) -> str:
        """`CSV`, `JSONL` or `Parquet`."""

    @property
    def header(self) -> Header:
        """Names of the columns."""

    def pieces(self) -> Iterator[Piece]:
        """The rows, once."""
