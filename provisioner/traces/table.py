r"""CSV text with a head line, read in bounded pieces.

One row is one physical line, ended by LF or CRLF; the last may lack its end. A byte-order mark at the start,
blank lines and lines that start with `#` are skipped wherever they stand. Quotation marks are understood as
in RFC 4180, except that a quoted field may not hold a line end: no column here needs one, and so the line
of every fault is exact.

Bytes are read a few hundred kB at a time, so that a file of tens of millions of rows needs memory for its numbers
only, and a pipe can be read as well as a file.
"""

from __future__ import annotations

import csv
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from provisioner.errors import FaultList

MAX_BYTES = 2 * 2**30
MAX_ROWS = 50_000_000
_CHUNK_BYTES = 256 * 2**10  # larger ones are slower: their rows leave the processor's cache
_LINE_BYTES = 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Header(NamedTuple):
    """Names of the columns, stripped of blanks, and the 1-based line they stand on."""

    line: int
    names: tuple[str, ...]


class Columns(NamedTuple):
    """Some rows, column by column: `texts[c][r]` is column *c* of the row on line `lines[r]` (1-based)."""

    lines: Sequence[int]
    texts: tuple[Sequence[str], ...]


class _Rows(NamedTuple):
    lines: Sequence[int]
    rows: list[list[str]]


def read_table(
    path: Path, faults: FaultList, *, max_bytes: int = MAX_BYTES, max_rows: int = MAX_ROWS
) -> tuple[Header, Iterator[Columns]]:
    """Read the head line now and the rows as they are asked for.

    Rows that are no CSV or have another number of columns than the head are noted in `faults` and left
    out. Bytes that are no text, and the bounds, are noted too and end the rows.

    Parameters
    ----------
    path : Path
        A file or a pipe.
    faults : FaultList
        Changed: receives what is wrong.
    max_bytes, max_rows : int
        Bounds on the file and on the rows below the head.

    Raises
    ------
    InputError
        If the file cannot be opened or has no head line.
    """
    pieces = _pieces(path, faults, max_bytes)
    first = next(pieces, None)
    if first is None:
        if not faults:
            faults.add("the file is empty", allowed="a head line and at least one row")
        raise faults.error()
    header = Header(first.lines[0], tuple(name.strip() for name in first.rows[0]))
    if faults.first_line is not None and faults.first_line < header.line:
        raise faults.error()  # the head itself could not be read, and this is a row below it
    rest = _Rows(first.lines[1:], first.rows[1:])
    return header, _columns(rest, pieces, len(header.names), faults, max_rows)


def _columns(first: _Rows, others: Iterator[_Rows], width: int, faults: FaultList, max_rows: int) -> Iterator[Columns]:
    seen = 0
    piece: _Rows | None = first
    while piece is not None:
        seen += len(piece.rows)
        if seen > max_rows:
            line = piece.lines[max_rows - seen]
            faults.add("too many rows", line=line, allowed=f"up to {max_rows:,} rows")
            return
        whole = _of_width(piece, width, faults)
        if whole.rows:
            yield Columns(whole.lines, tuple(zip(*whole.rows, strict=True)))
        piece = next(others, None)


def _of_width(piece: _Rows, width: int, faults: FaultList) -> _Rows:
    if all(len(row) == width for row in piece.rows):
        return piece
    lines, rows = [], []
    for line, row in zip(piece.lines, piece.rows, strict=True):
        if len(row) == width:
            lines.append(line)
            rows.append(row)
        else:
            problem = f"the row has {len(row)} column{'s' if len(row) > 1 else ''}"
            faults.add(problem, line=line, value=",".join(row), allowed=f"{width} columns, as in the head line")
    return _Rows(lines, rows)


def _pieces(path: Path, faults: FaultList, max_bytes: int) -> Iterator[_Rows]:
    """Non-empty runs of rows, the head line included."""
    line = 1
    with _opened(path, faults, max_bytes) as stream:
        for chunk in _chunks(stream, faults, max_bytes):
            text = _decoded(chunk.removeprefix(_BYTE_ORDER_MARK) if line == 1 else chunk, line, faults)
            if text is None:
                return
            kept = [(number, row) for number, raw in enumerate(text.split("\n"), line) if (row := _content(raw))]
            line += chunk.count(b"\n")
            piece = _split(kept, faults)
            if piece.rows:
                yield piece


def _opened(path: Path, faults: FaultList, max_bytes: int) -> BinaryIO:
    """Open the file, or raise the one fault that prevents it."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        faults.add("no such file")
    except IsADirectoryError:
        faults.add("a directory, not a file")
    except OSError as error:
        faults.add(f"the file cannot be opened: {error.strerror}")
    except ValueError:  # a zero byte in the name
        faults.add("not the name of a file")
    else:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size <= max_bytes:
            return stream
        stream.close()
        _add_too_large(faults, max_bytes)
    raise faults.error()


def _chunks(stream: BinaryIO, faults: FaultList, max_bytes: int) -> Iterator[bytes]:
    """Pieces of the file that end where a line ends."""
    total = 0
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            end = stream.readline(_LINE_BYTES)
            total += len(chunk) + len(end)
            if total > max_bytes:  # a file was checked when opened; a pipe has no size
                _add_too_large(faults, max_bytes)
                return
            if len(end) == _LINE_BYTES and not end.endswith(b"\n"):
                faults.add("a line is too long", allowed=f"lines of up to {_LINE_BYTES:,} bytes")
                return
            yield chunk + end
    except OSError as error:
        faults.add(f"the file cannot be read: {error.strerror}")


def _decoded(chunk: bytes, line: int, faults: FaultList) -> str | None:
    """Give the chunk as text, or None where it is none; `line` is the number of its first line."""
    allowed = "CSV in UTF-8"
    zero = chunk.find(b"\0")
    if zero >= 0:
        faults.add("not text: a zero byte", line=line + chunk.count(b"\n", 0, zero), allowed=allowed)
        return None
    try:
        return chunk.decode()
    except UnicodeDecodeError as error:
        at = line + chunk.count(b"\n", 0, error.start)
        faults.add("not UTF-8 text", line=at, value=f"byte 0x{chunk[error.start]:02x}", allowed=allowed)
        return None


def _content(raw: str) -> str:
    """Strip blanks; a comment leaves nothing."""
    text = raw.strip()
    return "" if text.startswith("#") else text


def _split(kept: Sequence[tuple[int, str]], faults: FaultList) -> _Rows:
    """Split lines into fields; a line that is no CSV by itself is a fault."""
    lines = [line for line, _ in kept]
    try:
        rows = list(csv.reader((text for _, text in kept), strict=True))
    except csv.Error:
        rows = []
    if len(rows) == len(lines):  # no row took two lines, since each takes at least one
        return _Rows(lines, rows)
    return _split_singly(kept, faults)


def _split_singly(kept: Sequence[tuple[int, str]], faults: FaultList) -> _Rows:
    lines, rows = [], []
    for line, text in kept:
        try:
            rows.append(next(csv.reader([text], strict=True)))
            lines.append(line)
        except csv.Error:
            allowed = "fields between commas, quotation marks closed on the same line"
            faults.add("the line is no CSV", line=line, value=text, allowed=allowed)
    return _Rows(lines, rows)


def _add_too_large(faults: FaultList, max_bytes: int) -> None:
    faults.add("the file is too large", allowed=f"up to {max_bytes:,} bytes")
