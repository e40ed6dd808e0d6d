"""Parquet, by way of pyarrow: some thousand rows at a time, as text, so that they are checked as those of CSV are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from provisioner.errors import FaultList
from provisioner.traces.bounds import Bounds
from provisioner.traces.source import Source, add_too_large, pyarrow_module
from provisioner.traces.table import Columns, Header

_BATCH_ROWS = 65_536
_DAMAGED = (ValueError, TypeError, OSError, MemoryError, OverflowError, KeyError, NotImplementedError)
"""What pyarrow raises over damaged bytes; its own errors are kinds of these."""


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """A table whose footer has been read."""

    header: Header
    file: Any
    faults: FaultList
    kind: str = "Parquet"

    def pieces(self) -> Iterator[ParquetPiece]:
        """The rows, once. A row's number stands for its line."""
        row = 1
        try:
            for batch in self.file.iter_batches(batch_size=_BATCH_ROWS, columns=self._readable()):
                yield ParquetPiece(row, batch, self.header.names, self.faults)
                row += batch.num_rows
        except _DAMAGED as error:
            _add_damaged(self.faults, error)

    def _readable(self) -> list[str]:
        """Columns of plain values; lists and structures are not even read."""
        nested = ("list", "struct", "map", "union", "extension")
        return [each.name for each in self.file.schema_arrow if not any(word in str(each.type) for word in nested)]


@dataclass(frozen=True, slots=True)
class ParquetPiece:
    """Some rows; see `Piece`."""

    first: int
    batch: Any
    names: tuple[str, ...]
    faults: FaultList

    def bulk(self) -> None:
        """There is no quick way here."""

    def columns(self, places: Sequence[int]) -> Columns:
        """See `Piece`."""
        count = self.batch.num_rows
        texts = tuple(self._texts(self.names[place]) for place in places)
        return Columns(range(self.first, self.first + count), texts)

    def _texts(self, name: str) -> list[str]:
        if name not in self.batch.schema.names:
            self.faults.add("a column of lists or structures", field=name, allowed="numbers, texts or times")
            raise self.faults.error()
        try:
            found = self.batch.column(name).cast("string").cast("binary").to_pylist()
        except _DAMAGED as error:
            _add_damaged(self.faults, error)
            raise self.faults.error() from error
        # Bytes that are no text become a text that is no number.
        return ["null" if text is None else text.decode(errors="replace") for text in found]


def parquet_table(source: Source, faults: FaultList, bounds: Bounds) -> ParquetTable:
    """Open a Parquet file.

    Raises
    ------
    InputError
        If it is damaged, too large, or pyarrow is not installed.
    """
    parquet = pyarrow_module("pyarrow.parquet", "Parquet", faults)
    try:
        file = parquet.ParquetFile(source.path, thrift_string_size_limit=2**24, thrift_container_size_limit=2**20)
        names = tuple(file.schema_arrow.names)
        groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
        total = sum(group.total_byte_size for group in groups)
    except _DAMAGED as error:
        _add_damaged(faults, error)
        raise faults.error() from error
    if total > bounds.max_bytes:
        add_too_large(faults, bounds)
    if file.metadata.num_rows > bounds.max_rows:
        faults.add("too many rows", allowed=f"up to {bounds.max_rows:,} rows")
    faults.raise_if_any()
    return ParquetTable(Header(1, names), file, faults)


def _add_damaged(faults: FaultList, error: BaseException) -> None:
    words = " ".join(str(error).split()) or type(error).__name__
    faults.add("the Parquet file is damaged", value=words)
