"""The usable rows of one file, piece by piece: converted, in order, without failures, and within the window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.trace import Floats, Ints
from provisioner.errors import FaultList
from provisioner.traces.bounds import Bounds
from provisioner.traces.bulk import Bulk
from provisioner.traces.fields import MAX_SECONDS, MAX_TOKENS, whole_numbers
from provisioner.traces.formats import Layout, choose
from provisioner.traces.opening import opened_table
from provisioner.traces.order import Timeline, Window
from provisioner.traces.reading import Reading
from provisioner.traces.rows import OUTSIDE, Intake, Rows, Tally
from provisioner.traces.source import Watch, unwatched
from provisioner.traces.table import Columns, Piece, Table


class Requests(NamedTuple):
    """Some requests: (n,) float64 seconds (None for a list of lengths), (n,) int64 tokens, at least 1 each."""

    arrival_s: Floats | None
    prompt_tokens: Ints
    output_tokens: Ints

    def where(self, keep: NDArray[np.bool_]) -> Requests:
        """Some of them: `keep` is (n,) bool."""
        if keep.all():
            return self
        arrival_s = None if self.arrival_s is None else self.arrival_s[keep]
        return Requests(arrival_s, self.prompt_tokens[keep], self.output_tokens[keep])


def joined(parts: Sequence[Requests]) -> Requests:
    """Several pieces in one; at least one piece."""
    times = [part.arrival_s for part in parts if part.arrival_s is not None]
    return Requests(
        np.concatenate(times) if times else None,
        np.concatenate([part.prompt_tokens for part in parts]),
        np.concatenate([part.output_tokens for part in parts]),
    )


def _where(lines: Sequence[int], keep: NDArray[np.bool_]) -> Sequence[int]:
    return lines if keep.all() else np.asarray(lines)[keep].tolist()


class RequestStream:
    """The requests of one opened file, once. Faults are raised when all of it has been read."""

    def __init__(self, table: Table, layout: Layout, reading: Reading, faults: FaultList, max_rows: int) -> None:
        self._table = table
        self._layout = layout
        self._reading = reading
        self._faults = faults
        self._max_rows = max_rows
        self._tally = Tally()
        self._timeline = Timeline(reading.unordered, faults, layout.names[0])
        self._window = Window(reading.window)

    @property
    def has_times(self) -> bool:
        """Whether there are arrivals."""
        return self._layout.clock is not None

    @property
    def intake(self) -> Intake:
        """What has been read until now."""
        return Intake(
            format=f"{self._layout.name} {self._table.kind}",
            has_times=self.has_times or self._layout.skipped_times,
            rows=self._tally.rows,
            left_out=self._tally.left_out,
            unused=self._layout.unused,
            steps_back=self._timeline.steps_back,
            largest_step_back_s=self._timeline.largest_step_back_s,
        )

    def __iter__(self) -> Iterator[Requests]:
        """Give the requests, piece by piece; in one piece where they have to be sorted.

        Raises
        ------
        InputError
            At the end, with every fault; or if not one row was read.
        """
        if self._reading.unordered == "sort" and self.has_times:
            yield self._sorted(joined(list(self._usable())))
            return
        for requests, lines in self._with_lines():
            yield self._inside(requests, lines)

    def _usable(self) -> Iterator[Requests]:
        return (requests for requests, _ in self._with_lines())

    def _with_lines(self) -> Iterator[tuple[Requests, Sequence[int]]]:
        """Requests of usable rows in the order of the file, and the lines of those rows."""
        for piece in self._table.pieces():
            rows = self._converted(piece)
            if self._tally.rows + len(rows.lines) > self._max_rows:
                line = rows.lines[self._max_rows - self._tally.rows]
                self._faults.add("too many rows", line=line, allowed=f"up to {self._max_rows:,} rows")
                break
            arrival_s = None if rows.arrival_s is None else self._timeline.in_order(rows)
            keep = self._tally.usable(rows)
            if self._faults:
                continue  # there is nothing to give any more, only more faults to find
            yield Requests(arrival_s, rows.prompt_tokens, rows.output_tokens).where(keep), _where(rows.lines, keep)
        if not self._tally.rows and not self._faults:
            self._faults.add("no requests below the head line", allowed="at least one row")
        self._faults.raise_if_any()

    def _inside(self, requests: Requests, lines: Sequence[int] | None) -> Requests:
        if requests.arrival_s is None:
            return requests
        inside = self._window.keeps(requests.arrival_s)
        self._tally.leave_out(OUTSIDE, ~inside, lines)
        return requests.where(inside)

    def _sorted(self, requests: Requests) -> Requests:
        """By arrival, equal ones as they stand; from zero on where the first row was not the first arrival."""
        assert requests.arrival_s is not None
        order = np.argsort(requests.arrival_s, kind="stable")
        arrival_s = requests.arrival_s[order]
        if len(arrival_s) and arrival_s[0] < 0:
            arrival_s -= arrival_s[0]
        return self._inside(Requests(arrival_s, requests.prompt_tokens[order], requests.output_tokens[order]), None)

    def _converted(self, piece: Piece) -> Rows:
        bulk = piece.bulk()
        rows = None if bulk is None else self._quickly(bulk)
        return self._carefully(piece.columns(self._layout.places)) if rows is None else rows

    def _quickly(self, bulk: Bulk) -> Rows | None:
        """Convert plain rows; None, with nothing remembered, if one of them is not plain or has a fault."""
        clock, (*arrival, prompt, output), ones = self._layout.clock, *self._places()
        numbers = [bulk.whole_numbers(place) for place in (prompt, output, *ones)]
        if any(column is None or column.max() > MAX_TOKENS for column in numbers):
            return None
        if any(np.any(column != 1) for column in numbers[2:]):
            return None
        arrival_s = None if clock is None else clock.quick(bulk, arrival[0])
        if clock is not None and (arrival_s is None or np.any(np.abs(arrival_s) > MAX_SECONDS)):
            return None
        prompts, outputs, *_ = numbers
        assert prompts is not None
        assert outputs is not None
        return Rows(bulk.numbers_of_lines, arrival_s, prompts, outputs, lambda row: bulk.text(arrival[0], row))

    def _carefully(self, columns: Columns) -> Rows:
        """Convert any rows, noting faults."""
        lines, texts = columns
        arrival_s, names, left = None, list(self._layout.names), list(texts)
        if self._layout.clock is not None:
            field, column = names.pop(0), Columns(lines, (left.pop(0),))
            arrival_s = self._layout.clock.careful(column, self._faults, field=field)
            self._refuse_far(arrival_s, column, field)
        prompts, outputs, *_ = (
            whole_numbers(
                each, lines, self._faults, field=name, low=int(place > 1), high=1 if place > 1 else MAX_TOKENS
            )
            for place, (name, each) in enumerate(zip(names, left, strict=True))
        )
        return Rows(lines, arrival_s, prompts, outputs, lambda row: texts[0][row])

    def _refuse_far(self, arrival_s: Floats, column: Columns, field: str) -> None:
        """Note arrivals that no trace can span, and take them out."""
        for row in np.nonzero(np.abs(arrival_s) > MAX_SECONDS)[0].tolist():
            self._faults.add(
                "too far from the first arrival",
                line=column.lines[row],
                field=field,
                value=column.texts[0][row],
                allowed=f"up to {MAX_SECONDS:,.0f} s",
            )
            arrival_s[row] = np.nan

    def _places(self) -> tuple[list[int], list[int]]:
        """Columns of arrival, prompt and output, and those that must be 1."""
        wanted = 2 + self.has_times
        return list(self._layout.places[:wanted]), list(self._layout.places[wanted:])


@contextmanager
def opened_stream(
    path: Path,
    reading: Reading,
    *,
    with_times: bool = True,
    bounds: Bounds | None = None,
    watch: Watch = unwatched,
) -> Iterator[RequestStream]:
    """Open a trace file of any format.

    Parameters
    ----------
    path : Path
        A file or a pipe.
    reading : Reading
        What the file cannot say of itself.
    with_times : bool
        False if only lengths are wanted: then no unit is needed, and no order.
    bounds : Bounds, optional
        How much is read at most.
    watch : callable
        Told of the bytes that are read, as they are; not of those of a Parquet file.

    Raises
    ------
    InputError
        If it cannot be opened or has no known format.
    """
    bounds = bounds or Bounds()
    faults = FaultList(path)
    with opened_table(path, faults, bounds, watch) as table:
        layout = choose(table.header, reading, faults)
        if not with_times:
            layout = layout.without_times()
        yield RequestStream(table, layout, reading, faults, bounds.max_rows)
