"""A result file as records: JSON, JSON lines or CSV, told apart by content."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from provisioner.errors import FaultList
from provisioner.texts import read_text

MAX_BYTES = 128 * 2**20
MAX_RECORDS = 1_000_000

Form = Literal["JSON", "JSON lines", "CSV"]


@dataclass(frozen=True, slots=True)
class Record:
    """One mapping of a file, and the line it stands in; None where the file is one object."""

    values: dict[str, Any]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A file's records, at least one; and what is wrong with its rows, once its kind is known to be CSV."""

    file: Path
    form: Form
    records: tuple[Record, ...]
    faults: FaultList | None = None

    @property
    def first(self) -> dict[str, Any]:
        """The first record: kinds are told by its keys."""
        return self.records[0].values


def read_source(file: Path) -> Source:
    """Read a result file of at most 128 MiB and a million records.

    Raises
    ------
    InputError
        If it cannot be read, is too large, or is neither JSON nor JSON lines nor CSV.
    """
    text = read_text(file, MAX_BYTES)
    faults = FaultList(file)
    start = text.lstrip()[:1]
    if not start:
        faults.add("empty file", allowed="a benchmark's result")
        raise faults.error()
    if start not in "{[":
        return _csv(text, file, faults)
    source = _json(text, file, faults)
    faults.raise_if_any()
    return source


def _json(text: str, file: Path, faults: FaultList) -> Source:
    """One value; or one a line, where more follows the first."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return _json_lines(text, file, faults)
        faults.add(f"not JSON: {error.msg}", line=error.lineno)
        raise faults.error() from None
    except (RecursionError, ValueError) as error:
        faults.add(f"not JSON: {_reason(error)}")
        raise faults.error() from None
    items = value if isinstance(value, list) else [value]
    records = tuple(_record(item, None, faults) for item in items[:MAX_RECORDS])
    _check_count(len(items), faults)
    return Source(file, "JSON", records)


def _json_lines(text: str, file: Path, faults: FaultList) -> Source:
    records: list[Record] = []
    for number, line in enumerate(io.StringIO(text), start=1):
        if not line.strip():
            continue
        if len(records) == MAX_RECORDS:
            _check_count(MAX_RECORDS + 1, faults)
            break
        try:
            records.append(_record(json.loads(line), number, faults))
        except (RecursionError, ValueError) as error:
            faults.add(f"not JSON: {_reason(error)}", line=number)
    return Source(file, "JSON lines", tuple(records))


def _record(value: object, line: int | None, faults: FaultList) -> Record:
    if isinstance(value, dict):
        return Record(value, line)
    faults.add("not a mapping", line=line, value=value, allowed='{"name": value, ...}')
    return Record({}, line)


def _csv(text: str, file: Path, faults: FaultList) -> Source:
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    records: list[Record] = []
    names: list[str] = []
    try:
        names = [name.strip() for name in rows.fieldnames or ()]
        rows.fieldnames = names
        if len(set(names)) < len(names):
            faults.add("a column is given twice", line=1, value=",".join(names))
        for row in rows:
            if None in row or None in row.values():
                faults.add("wrong number of fields", line=rows.line_num, allowed=str(len(names)))
            if len(records) == MAX_RECORDS:
                _check_count(MAX_RECORDS + 1, faults)
                break
            records.append(Record({name: row.get(name) for name in names}, rows.line_num))
    except csv.Error as error:
        faults.add(f"not CSV: {error}", line=rows.line_num)
    if not records and not len(faults):
        faults.add("no rows", allowed="a header and at least one row, or JSON")
    return Source(file, "CSV", tuple(records) or (Record(dict.fromkeys(names), 1),), faults)


def _check_count(count: int, faults: FaultList) -> None:
    if not count:
        faults.add("no records", allowed="at least one")
    elif count > MAX_RECORDS:
        faults.add("too many records", allowed=f"at most {MAX_RECORDS:,}")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else "a number of very many digits"
