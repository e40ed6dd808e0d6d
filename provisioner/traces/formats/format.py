"""What a format of traces is: names of columns that it is known by, and a clock for its arrival times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from provisioner.errors import FaultList
from provisioner.traces.clocks import Clock, MakeClock, NumberClock
from provisioner.traces.header import HARMLESS, find_columns
from provisioner.traces.reading import TimeUnit
from provisioner.traces.table import Header


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Where a file has what is wanted of it."""

    name: str
    """Of the format."""
    names: tuple[str, ...]
    """Of the columns: the arrival where there is one, prompt tokens, output tokens, and those that must be 1."""
    places: tuple[int, ...]
    clock: Clock | None
    """None for a list of lengths."""
    unused: tuple[str, ...] = ()
    """Columns that say something which is not taken into account."""
    skipped_times: bool = False
    """Whether there are arrivals, which are not wanted."""

    def without_times(self) -> Layout:
        """The same, with the arrivals left unread."""
        if self.clock is None:
            return self
        return replace(self, names=self.names[1:], places=self.places[1:], clock=None, skipped_times=True)


class Format(Protocol):
    """A kind of trace."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """Columns that it must have."""

    def why_not(self, header: Header) -> str | None:
        """Why a table is not of this format; None if it is."""

    def layout(self, header: Header, unit: TimeUnit | None, faults: FaultList) -> Layout:
        """Where the columns are.

        Raises
        ------
        InputError
            If a column is missing, doubled or unknown, or the unit contradicts the format's own.
        """


def seconds_from_first() -> Clock:
    """The clock of formats that count seconds from a moment of their own."""
    return NumberClock("s", from_first=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedColumns:
    """A format known by the names of its columns.

    Parameters
    ----------
    name : str
        What people call it.
    arrival : str or None
        None for a list of lengths.
    prompt, output : str
        Columns of tokens.
    clock : callable
        Makes the clock, from the unit that was given.
    fixed_unit : str or None
        What the format's own times are, where that is fixed: another unit is refused.
    others : frozenset of str
        Columns that the format may have besides.
    must_be_one : str or None
        A column that the format may have, and in which anything but 1 would be misread.
    """

    name: str
    arrival: str | None
    prompt: str
    output: str
    clock: MakeClock | None = None
    fixed_unit: str | None = None
    others: frozenset[str] = frozenset()
    must_be_one: str | None = None

    @property
    def wanted(self) -> tuple[str, ...]:
        """See `Format`."""
        return tuple(name for name in (self.arrival, self.prompt, self.output) if name is not None)

    def why_not(self, header: Header) -> str | None:
        """See `Format`."""
        missing = [name for name in self.wanted if name not in header.names]
        if missing:
            return f"no {', '.join(missing)}"
        unknown = [name for name in header.names if name not in self._known]
        return f"has {', '.join(unknown)} besides" if unknown else None

    def layout(self, header: Header, unit: TimeUnit | None, faults: FaultList) -> Layout:
        """See `Format`."""
        names = (*self.wanted, *([self.must_be_one] if self.must_be_one in header.names else []))
        places = find_columns(header, self.wanted, faults, others=self._known)
        places = (*places, *(header.names.index(name) for name in names[len(self.wanted) :]))
        if unit is not None and self.fixed_unit not in {None, unit}:
            allowed = f"{self.name} traces have {self.fixed_unit}; leave it out"
            faults.add("not the unit of this format", field="--time-unit", value=unit, allowed=allowed)
            raise faults.error()
        unused = tuple(name for name in header.names if name in self.others)
        clock = None if self.clock is None else self.clock(unit)
        return Layout(name=self.name, names=names, places=places, clock=clock, unused=unused)

    @property
    def _known(self) -> frozenset[str]:
        return HARMLESS | self.others | {*self.wanted, *([self.must_be_one] if self.must_be_one else [])}
