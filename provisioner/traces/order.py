"""Rows in the order of their arrivals: what is done where time goes back, and which part of the time is wanted."""

from __future__ import annotations

import numpy as np

from provisioner.domain.trace import Floats
from provisioner.errors import FaultList
from provisioner.traces.reading import Unordered
from provisioner.traces.rows import Rows


class Timeline:
    """Looks at one piece of a file after the other, in order, and counts where time goes back.

    Parameters
    ----------
    unordered : str
        See `Reading`. `sort` leaves the order to whoever holds all rows.
    field : str
        Name of the column of arrivals.
    """

    def __init__(self, unordered: Unordered, faults: FaultList, field: str) -> None:
        self._unordered = unordered
        self._faults = faults
        self._field = field
        self._latest = -np.inf
        self._latest_words = ""
        self._ahead_s = 0.0
        self.steps_back = 0
        self.largest_step_back_s = 0.0

    def in_order(self, rows: Rows) -> Floats:
        """Give the rows' arrivals, spliced if that is wanted.

        Where order is required, the first arrival of the file that is earlier than the one before is a
        fault; later ones follow from it. Rows without a time are passed over: they are faults already.
        """
        assert rows.arrival_s is not None
        (sound,) = np.nonzero(np.isfinite(rows.arrival_s))
        if not len(sound):
            return rows.arrival_s
        times = rows.arrival_s[sound]
        step_s = np.diff(times, prepend=self._latest)
        (back,) = np.nonzero(step_s < 0)
        if len(back):
            self._note(rows, sound, int(back[0]))
            self.steps_back += len(back)
            self.largest_step_back_s = max(self.largest_step_back_s, float(-step_s[back].min()))
        self._latest = float(times[-1])
        self._latest_words = f"{rows.time_text(int(sound[-1]))} (line {rows.lines[sound[-1]]})"
        if self._unordered != "splice" or not (len(back) or self._ahead_s):
            return rows.arrival_s
        ahead_s = self._ahead_s + np.cumsum(np.where(step_s < 0, -step_s, 0.0))
        self._ahead_s = float(ahead_s[-1])
        spliced = rows.arrival_s.copy()
        spliced[sound] = times + ahead_s
        return spliced

    def _note(self, rows: Rows, sound: np.ndarray, first: int) -> None:
        if self._unordered != "refuse" or self.steps_back:
            return
        row = int(sound[first])
        before = int(sound[first - 1])
        words = f"{rows.time_text(before)} (line {rows.lines[before]})" if first else self._latest_words
        self._faults.add(
            "the first arrival that goes back in time",
            line=rows.lines[row],
            field=self._field,
            value=rows.time_text(row),
            allowed=f"{words} or later; --unordered sort, or splice where the clock was reset",
        )


class Window:
    """Keeps the arrivals of a part of the time, counted from the first.

    Parameters
    ----------
    part : (float, float) or None
        Seconds, first included and last not; None for all of it.
    """

    def __init__(self, part: tuple[float, float] | None) -> None:
        self._part = part
        self._first: float | None = None

    def keeps(self, arrival_s: Floats) -> np.ndarray:
        """Which of the next arrivals are kept: (n,) bool."""
        if self._part is None or not len(arrival_s):
            return np.ones(len(arrival_s), dtype=np.bool_)
        if self._first is None:
            self._first = float(arrival_s[0])
        since_s = arrival_s - self._first
        return (since_s >= self._part[0]) & (since_s < self._part[1])
