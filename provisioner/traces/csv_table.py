"""CSV with a head line.

Quotation marks are understood as in RFC 4180, except that a quoted field may not hold a line end: no column here needs
one, and so the line of every fault is exact.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from provisioner.errors import FaultList
from provisioner.traces.bulk import Bulk
from provisioner.traces.lines import Lines
from provisioner.traces.table import Columns, Header


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table whose head line has been read."""

    header: Header
    first: Lines
    others: Iterator[Lines]
    faults: FaultList
    kind: str = "CSV"

    def pieces(self) -> Iterator[CsvPiece]:
        """The rows, once."""
        width = len(self.header.names)
        if self.first.data:
            yield CsvPiece(self.first, width, self.faults)
        for lines in self.others:
            yield CsvPiece(lines, width, self.faults)


@dataclass(frozen=True, slots=True)
class CsvPiece:
    """Some rows; see `Piece`."""

    lines: Lines
    width: int
    faults: FaultList

    def bulk(self) -> Bulk | None:
        """See `Piece`."""
        return Bulk.of(self.lines, self.width)

    def columns(self, places: Sequence[int]) -> Columns:
        """See `Piece`. Rows of another width than the head line's are faults."""
        numbers, rows = [], []
        for number, row in _split(self.lines.contents(), self.faults):
            if len(row) == self.width:
                numbers.append(number)
                rows.append(row)
            else:
                problem = f"the row has {len(row)} column{'s' if len(row) > 1 else ''}"
                allowed = f"{self.width} columns, as in the head line"
                self.faults.add(problem, line=number, value=",".join(row), allowed=allowed)
        return Columns(numbers, tuple([row[place] for row in rows] for place in places))


def csv_table(line: int, text: str, first: Lines, others: Iterator[Lines], faults: FaultList) -> CsvTable:
    """Make a table of lines, the first of which with content is `text` on `line`.

    Two whole numbers instead of names are a list of lengths that has no head line.

    Raises
    ------
    InputError
        If the head line is no CSV.
    """
    split = _split([(line, text)], faults)
    if not split:
        raise faults.error()
    names = tuple(name.strip() for name in split[0][1])
    if len(names) == 2 and all(name.isascii() and name.isdecimal() for name in names):  # noqa: PLR2004
        return CsvTable(Header(line, ("prompt_tokens", "output_tokens")), first, others, faults)
    return CsvTable(Header(line, names), first.after(line), others, faults)


def _split(contents: Sequence[tuple[int, str]], faults: FaultList) -> list[tuple[int, list[str]]]:
    """Split lines into fields; a line that is no CSV by itself is a fault."""
    try:
        rows = list(csv.reader((text for _, text in contents), strict=True))
    except csv.Error:
        rows = []
    if len(rows) == len(contents):  # no row took two lines, since each takes at least one
        return [(line, row) for (line, _), row in zip(contents, rows, strict=True)]
    return [(line, row) for line, text in contents if (row := _fields(line, text, faults)) is not None]


def _fields(line: int, text: str, faults: FaultList) -> list[str] | None:
    try:
        return next(csv.reader([text], strict=True))
    except csv.Error:
        allowed = "fields between commas, quotation marks closed on the same line"
        faults.add("the line is no CSV", line=line, value=text, allowed=allowed)
        return None
