"""Arrival times of a file to seconds: dates, numbers of a known unit, or whichever of the two stands there.

A clock is asked for one piece of the file after the other, in order, and remembers where the file starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from provisioner.domain.trace import Floats
from provisioner.errors import FaultList
from provisioner.traces.bulk import Bulk
from provisioner.traces.fields import MAX_SECONDS, decimals
from provisioner.traces.reading import PER_SECOND, WORDS, TimeUnit
from provisioner.traces.stamps import looks_like_stamp, stamps
from provisioner.traces.table import Columns

MAX_EPOCH_S = 1e10
"""Seconds since 1970 that a number may stand for: until the year 2286."""


class Clock(Protocol):
    """Turns one column into seconds."""

    def careful(self, column: Columns, faults: FaultList, *, field: str) -> Floats:
        """Convert the next rows, noting faults; NaN in place of each."""

    def quick(self, bulk: Bulk, place: int) -> Floats | None:
        """Convert the next rows; None, with nothing remembered, where they are not plain."""


class NumberClock:
    """Numbers of one unit.

    Parameters
    ----------
    unit : str
        `s`, `ms`, `us`, `ns`.
    from_first : bool
        Count from the first row, which may stand anywhere since 1970; else from zero, as the numbers stand.
    """

    def __init__(self, unit: TimeUnit, *, from_first: bool) -> None:
        self._per_s = PER_SECOND[unit]
        self._high = MAX_EPOCH_S if from_first else MAX_SECONDS
        self._allowed = f"{WORDS[unit]} from 0 to {self._high * self._per_s:,.0f}"
        self._start = None if from_first else 0.0

    def careful(self, column: Columns, faults: FaultList, *, field: str) -> Floats:
        """See `Clock`."""
        high = self._high * self._per_s
        numbers = decimals(column.texts[0], column.lines, faults, field=field, high=high, allowed=self._allowed)
        return self._seconds(numbers)

    def quick(self, bulk: Bulk, place: int) -> Floats | None:
        """See `Clock`."""
        whole = bulk.whole_numbers(place)
        numbers = bulk.decimals(place) if whole is None else whole.astype(np.float64)
        if numbers is None or numbers.max() > self._high * self._per_s:
            return None
        return self._seconds(numbers)

    def _seconds(self, numbers: Floats) -> Floats:
        if self._start is None:
            sound = numbers[np.isfinite(numbers)]
            self._start = float(sound[0]) if len(sound) else None
        return (numbers - (self._start or 0.0)) / self._per_s


class StampClock:
    """Dates with times of day, counted from the first of the file."""

    def __init__(self) -> None:
        self._start: np.datetime64 | None = None
        self._zoned: bool | None = None

    def careful(self, column: Columns, faults: FaultList, *, field: str) -> Floats:
        """See `Clock`."""
        times, self._zoned = stamps(column.texts[0], column.lines, faults, field=field, zoned=self._zoned)
        return self._seconds(times)

    def quick(self, bulk: Bulk, place: int) -> Floats | None:
        """See `Clock`."""
        found = bulk.stamps(place)
        if found is None or self._zoned not in {None, found[1]}:
            return None
        self._zoned = found[1]
        return self._seconds(found[0])

    def _seconds(self, times: np.ndarray) -> Floats:
        if self._start is None:
            sound = times[~np.isnat(times)]
            self._start = sound[0] if len(sound) else None
        if self._start is None:
            return np.full(len(times), np.nan)
        return np.asarray((times - self._start) / np.timedelta64(1, "s"))


class OpenClock:
    """Dates or numbers, as the first row has it; the unit of numbers must have been given.

    Parameters
    ----------
    unit : str, optional
        What was given.
    """

    def __init__(self, unit: TimeUnit | None) -> None:
        self._unit = unit
        self._chosen: Clock | None = None

    def careful(self, column: Columns, faults: FaultList, *, field: str) -> Floats:
        """See `Clock`.

        Raises
        ------
        InputError
            If these are numbers without a unit, or dates with one.
        """
        if self._chosen is None:
            first = next(iter(column.texts[0]), "")
            self._chosen = self._choice(first, faults, field=field)
        return self._chosen.careful(column, faults, field=field)

    def quick(self, bulk: Bulk, place: int) -> Floats | None:
        """See `Clock`. The first piece is always left to the careful way."""
        return None if self._chosen is None else self._chosen.quick(bulk, place)

    def _choice(self, first: str, faults: FaultList, *, field: str) -> Clock:
        if looks_like_stamp(first):
            if self._unit is not None:
                faults.add("the times are dates, which have no unit", field="--time-unit", value=self._unit)
                raise faults.error()
            return StampClock()
        if self._unit is None:
            faults.add(
                f"the file does not say in which unit {field} counts, and writers differ",
                field="--time-unit",
                value=first,
                allowed=", ".join(PER_SECOND),
            )
            raise faults.error()
        return NumberClock(self._unit, from_first=True)


MakeClock = Callable[[TimeUnit | None], Clock]
"""Makes the clock of one file, given the unit that was asked for."""
