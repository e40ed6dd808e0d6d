"""From a file to a table: what kind of table, its first bytes say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from provisioner.errors import FaultList
from provisioner.traces.bounds import Bounds
from provisioner.traces.csv_table import CsvTable, csv_table
from provisioner.traces.jsonl_table import JsonlTable, jsonl_table
from provisioner.traces.lines import Lines, read_lines
from provisioner.traces.parquet_table import parquet_table
from provisioner.traces.source import Source, Watch, opened, unwatched
from provisioner.traces.table import Table

MAX_COLUMNS = 200


@contextmanager
def opened_table(path: Path, faults: FaultList, bounds: Bounds, watch: Watch = unwatched) -> Iterator[Table]:
    """Open a table of any kind.

    Raises
    ------
    InputError
        If it cannot be opened, is empty, or is no table.
    """
    with opened(path, faults, bounds, watch) as source:
        table = parquet_table(source, faults, bounds) if source.is_parquet else _text_table(source, faults, bounds)
        if len(table.header.names) > MAX_COLUMNS:
            faults.add("too many columns", line=table.header.line, allowed=f"up to {MAX_COLUMNS}")
            raise faults.error()
        yield table


def _text_table(source: Source, faults: FaultList, bounds: Bounds) -> CsvTable | JsonlTable:
    pieces = read_lines(source, faults, bounds)
    for lines in pieces:
        contents = lines.contents()
        if contents:
            return _table_of(contents[0], lines, pieces, faults)
    faults.raise_if_any()
    faults.add("the file is empty", allowed="a head line and at least one row")
    raise faults.error()


def _table_of(head: tuple[int, str], lines: Lines, others: Iterator[Lines], faults: FaultList) -> CsvTable | JsonlTable:
    line, text = head
    if text.startswith("{"):
        return jsonl_table(line, text, lines, others, faults)
    if text.startswith("["):
        faults.add("a JSON list", line=line, value=text, allowed="JSON lines: one object a line, no list around them")
        raise faults.error()
    return csv_table(line, text, lines, others, faults)
