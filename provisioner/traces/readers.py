"""Request traces from files, the format found by the columns named in the head line.

| format | columns | arrival times |
|---|---|---|
| plain | `arrival_s`, `prompt_tokens`, `output_tokens` | seconds, as they stand |
| Azure LLM inference 2023, 2024 | `TIMESTAMP`, `ContextTokens`, `GeneratedTokens` | from the first request on |

Columns may stand in any order. Columns that only number the rows (`header.HARMLESS`) are skipped, all others
refused. Text, bounds, comments: see `table`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Protocol

import numpy as np

from provisioner.domain.trace import Floats, RequestTrace
from provisioner.errors import FaultList
from provisioner.traces.fields import Stamps, seconds, stamps, whole_numbers
from provisioner.traces.header import find_columns, likeness
from provisioner.traces.table import MAX_BYTES, MAX_ROWS, Columns, Header, read_table


class Clock(Protocol):
    """Turns one column of text after the other into seconds; NaN in place of a fault."""

    def __call__(self, texts: Sequence[str], lines: Sequence[int], faults: FaultList, *, field: str) -> Floats:
        """Convert the next rows of the file, noting faults."""


class StampClock:
    """Dates and times to seconds from the first of the file."""

    def __init__(self) -> None:
        self._start: np.datetime64 | None = None
        self._zoned: bool | None = None

    def __call__(self, texts: Sequence[str], lines: Sequence[int], faults: FaultList, *, field: str) -> Floats:
        """Convert the next rows of the file, noting faults."""
        times, self._zoned = stamps(texts, lines, faults, field=field, zoned=self._zoned)
        if self._start is None:
            self._start = _first(times)
        if self._start is None:
            return np.full(len(times), np.nan)
        return (times - self._start) / np.timedelta64(1, "s")


def _first(times: Stamps) -> np.datetime64 | None:
    valid = times[~np.isnat(times)]
    return valid[0] if len(valid) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceFormat:
    """A format: its three columns, and how its arrival times are read."""

    name: str
    columns: tuple[str, str, str]
    """Arrival, prompt tokens, output tokens."""
    clock: Callable[[], Clock]


FORMATS = (
    TraceFormat(name="plain", columns=("arrival_s", "prompt_tokens", "output_tokens"), clock=lambda: seconds),
    TraceFormat(name="Azure", columns=("TIMESTAMP", "ContextTokens", "GeneratedTokens"), clock=StampClock),
)


def read_trace(path: str | PathLike[str], *, max_bytes: int = MAX_BYTES, max_rows: int = MAX_ROWS) -> RequestTrace:
    """Read a request trace of any known format.

    Parameters
    ----------
    path : path-like
        A file or a pipe.
    max_bytes, max_rows : int
        Bounds on what is read.

    Raises
    ------
    InputError
        With a fault for each thing that is wrong, the first 20 in full.
    """
    file = Path(path)
    faults = FaultList(file)
    header, pieces = read_table(file, faults, max_bytes=max_bytes, max_rows=max_rows)
    form = _format_of(header, faults)
    places = find_columns(header, form.columns, faults)
    rows = _RowReader(form, places, faults)
    parts = [rows.read(piece) for piece in pieces]
    if not parts and not faults:
        faults.add("no requests below the head line", allowed="at least one row")
    if faults:
        raise faults.error()
    arrival_s, prompt_tokens, output_tokens = (np.concatenate(part) for part in zip(*parts, strict=True))
    return RequestTrace(arrival_s, prompt_tokens, output_tokens)


def _format_of(header: Header, faults: FaultList) -> TraceFormat:
    """Find the format whose columns the head line has, but for one at most."""
    best = max(FORMATS, key=lambda form: likeness(header, form.columns))
    _, near = likeness(header, best.columns)
    if near < len(best.columns) - 1:
        allowed = " or ".join(f"{','.join(form.columns)} ({form.name})" for form in FORMATS)
        faults.add("unknown columns", line=header.line, value=",".join(header.names), allowed=allowed)
        raise faults.error()
    return best


class _RowReader:
    """Reads the rows of one file, remembering the latest arrival."""

    def __init__(self, form: TraceFormat, places: tuple[int, ...], faults: FaultList) -> None:
        self._names = form.columns
        self._clock = form.clock()
        self._places = places
        self._faults = faults
        self._latest = (-np.inf, 0, "")
        self._is_sorted = True

    def read(self, piece: Columns) -> tuple[Floats, np.ndarray, np.ndarray]:
        lines = piece.lines
        arrivals, prompts, outputs = (piece.texts[place] for place in self._places)
        arrival_s = self._clock(arrivals, lines, self._faults, field=self._names[0])
        self._check_order(arrival_s, arrivals, lines)
        prompt_tokens = whole_numbers(prompts, lines, self._faults, field=self._names[1])
        output_tokens = whole_numbers(outputs, lines, self._faults, field=self._names[2])
        return arrival_s, prompt_tokens, output_tokens

    def _check_order(self, arrival_s: Floats, texts: Sequence[str], lines: Sequence[int]) -> None:
        """Note the first arrival of the file that is earlier than the one before; later ones follow from it."""
        (rows,) = np.nonzero(np.isfinite(arrival_s))
        if not self._is_sorted or not len(rows):
            return
        before = np.concatenate(([self._latest[0]], arrival_s[rows[:-1]]))
        (back,) = np.nonzero(arrival_s[rows] < before)
        if len(back):
            self._is_sorted = False
            row, last = rows[back[0]], rows[back[0] - 1]
            _, line, text = (0.0, lines[last], texts[last]) if back[0] else self._latest
            allowed = f"{text} (line {line}) or later; sort the rows by arrival"
            problem = "the first arrival that goes back in time"
            self._faults.add(problem, line=lines[row], field=self._names[0], value=texts[row], allowed=allowed)
        self._latest = (float(arrival_s[rows[-1]]), lines[rows[-1]], texts[rows[-1]])
