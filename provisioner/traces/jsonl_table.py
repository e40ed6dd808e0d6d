"""JSON lines: one object a line; the keys of the first are the names of the columns.

Numbers are kept as the text that stands in the file, so that they are checked as those of CSV are, and faults show
them as they stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from provisioner.errors import FaultList
from provisioner.traces.lines import Lines
from provisioner.traces.table import Columns, Header

MAX_KEYS = 200
_DECODE = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).decode


@dataclass(frozen=True, slots=True)
class JsonlTable:
    """A table whose first object has been read."""

    header: Header
    first: Lines
    others: Iterator[Lines]
    faults: FaultList
    kind: str = "JSONL"

    def pieces(self) -> Iterator[JsonlPiece]:
        """The rows, once; the first object is one of them."""
        yield JsonlPiece(self.first, self.header.names, self.faults)
        for lines in self.others:
            yield JsonlPiece(lines, self.header.names, self.faults)


@dataclass(frozen=True, slots=True)
class JsonlPiece:
    """Some rows; see `Piece`."""

    lines: Lines
    names: tuple[str, ...]
    faults: FaultList

    def bulk(self) -> None:
        """There is no quick way here."""

    def columns(self, places: Sequence[int]) -> Columns:
        """See `Piece`. A line that is no object, or lacks a key, is a fault."""
        keys = [self.names[place] for place in places]
        numbers, rows = [], []
        for number, text in self.lines.contents():
            found = _object(number, text, self.faults)
            missing = [key for key in keys if key not in found] if found is not None else []
            for key in missing:
                self.faults.add("the key is missing", line=number, field=key)
            if found is not None and not missing:
                numbers.append(number)
                rows.append([_text(found[key]) for key in keys])
        return Columns(numbers, tuple([row[place] for row in rows] for place in range(len(keys))))


def jsonl_table(line: int, text: str, first: Lines, others: Iterator[Lines], faults: FaultList) -> JsonlTable:
    """Make a table of lines, the first of which with content is `text` on `line`.

    Raises
    ------
    InputError
        If that is no object, or one of too many keys.
    """
    found = _object(line, text, faults)
    if found is None:
        raise faults.error()
    if len(found) > MAX_KEYS:
        faults.add("too many keys", line=line, value=len(found), allowed=f"up to {MAX_KEYS}")
        raise faults.error()
    return JsonlTable(Header(line, tuple(found)), first, others, faults)


def _object(line: int, text: str, faults: FaultList) -> dict[str, Any] | None:
    try:
        found = _DECODE(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    faults.add("not a JSON object", line=line, value=text, allowed="one whole object a line")
    return None


def _text(value: Any) -> str:
    """A number or text as it stands; anything else as JSON, which is a fault wherever a number is wanted."""
    if isinstance(value, str):
        return value
    return "null" if value is None else "a list" if isinstance(value, list) else str(value)
