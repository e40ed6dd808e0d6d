"""Text in bounded pieces of whole lines, with the number of each line.

A line ends with LF or CRLF; the last may lack its end. A byte-order mark at the start, blank lines and lines
that start with `#` are skipped wherever they stand. Bytes are read a few hundred kB at a time, so that a
file of tens of millions of rows needs memory for its numbers only, and a pipe can be read as well as a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from provisioner.errors import FaultList
from provisioner.traces.bounds import LINE_BYTES, Bounds
from provisioner.traces.source import UNREADABLE, Source, add_too_large, add_unreadable

CHUNK_BYTES = 256 * 2**10  # larger ones are slower: their rows leave the processor's cache
_LINE_END = b"\n"[0]
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Lines(NamedTuple):
    """Some whole lines: the 1-based number of the first, and the bytes of all, which are UTF-8."""

    first: int
    data: bytes

    def contents(self) -> list[tuple[int, str]]:
        """Number and stripped text of each line with content."""
        numbered = enumerate(self.data.decode().split("\n"), self.first)
        return [(n, line) for n, raw in numbered if (line := raw.strip()) and not line.startswith("#")]

    def after(self, line: int) -> Lines:
        """What stands below a line of these."""
        data = self.data
        place = -1
        for _ in range(line - self.first + 1):
            place = data.find(b"\n", place + 1)
            if place < 0:
                return Lines(line + 1, b"")
        return Lines(line + 1, data[place + 1 :])


def read_lines(source: Source, faults: FaultList, bounds: Bounds) -> Iterator[Lines]:
    """Give the lines of a source, run after run; what ends them early is noted in `faults`.

    Lines without content count against the bounds too: a gigabyte of line ends is no table.
    """
    line = 1
    for chunk in _chunks(source, faults, bounds):
        lines = Lines(line, chunk.removeprefix(_BYTE_ORDER_MARK) if line == 1 else chunk)
        if not _is_text(lines, faults):
            return
        yield lines
        line += int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) == _LINE_END))
        if line > 2 * bounds.max_rows + 1000:
            faults.add("too many lines", line=line, allowed=f"up to {bounds.max_rows:,} rows")
            return


def _chunks(source: Source, faults: FaultList, bounds: Bounds) -> Iterator[bytes]:
    """Pieces of the file that end where a line ends."""
    total = 0
    try:
        while chunk := source.stream.read(CHUNK_BYTES):
            end = source.stream.readline(LINE_BYTES)
            total += len(chunk) + len(end)
            if total > bounds.max_bytes:  # a file was checked when opened; a pipe, or what is packed, has no size
                add_too_large(faults, bounds)
                return
            if len(end) == LINE_BYTES and not end.endswith(b"\n"):
                faults.add("a line is too long", allowed=f"lines of up to {LINE_BYTES:,} bytes")
                return
            yield chunk + end
    except UNREADABLE as error:
        add_unreadable(faults, error)


def _is_text(lines: Lines, faults: FaultList) -> bool:
    data, allowed = lines.data, "text in UTF-8"
    zero = data.find(b"\0")
    if zero >= 0:
        faults.add("not text: a zero byte", line=lines.first + data.count(b"\n", 0, zero), allowed=allowed)
        return False
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = lines.first + data.count(b"\n", 0, error.start)
        faults.add("not UTF-8 text", line=line, value=f"byte 0x{data[error.start]:02x}", allowed=allowed)
        return False
    return True
