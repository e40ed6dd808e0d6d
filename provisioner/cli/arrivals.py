"""`--arrivals` in words, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provisioner.cli.ranges import as_number
from provisioner.errors import Fault, InputError

if TYPE_CHECKING:
    from provisioner.traces import ArrivalProcess


@dataclass(frozen=True, slots=True)
class Independent:
    """Arrivals from a process, lengths drawn on their own."""

    process: ArrivalProcess


@dataclass(frozen=True, slots=True)
class AsRecorded:
    """The arrivals of a trace file as they are."""


@dataclass(frozen=True, slots=True)
class InRuns:
    """Runs of requests drawn from a trace file; None for as many requests as arrive in a minute."""

    run: int | None


@dataclass(frozen=True, slots=True)
class ByHour:
    """Poisson arrivals at a rate for each hour."""

    rates: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FromUsers:
    """A closed loop: so many users send so many requests in all, each when the one before is finished."""

    users: int
    requests: int

    @property
    def text(self) -> str:
        """As it is typed."""
        return f"closed:{self.users}:{self.requests}"


Arrivals = Independent | AsRecorded | InRuns | ByHour | FromUsers
LEAST_REQUESTS, EACH_SENDS = 1000, 20
"""Requests of a closed loop of which only the users are given: a thousand, or twenty from each."""


def parse(text: str | None) -> Arrivals | None:
    """What was asked for; None if nothing was.

    Raises
    ------
    InputError
        If it is no arrival process.
    """
    from provisioner.traces import Poisson

    if text is None:
        return None
    name, _, rest = text.partition(":")
    match name:
        case "recorded" if name == text:
            return AsRecorded()
        case "poisson" if name == text:
            return Independent(Poisson())
        case "resampled" if name == text:
            return InRuns(None)
    found = _FORMS[name](rest) if name in _FORMS and rest else None
    if found is None:
        raise InputError(
            Fault(
                problem="unknown arrival process",
                field="--arrivals",
                value=text,
                allowed="poisson, gamma:CV with CV from 0.01 to 100, recorded, resampled[:REQUESTS], "
                "hourly:R1,R2,... (the rate of each hour), closed:USERS[:REQUESTS]",
            )
        )
    return found


def _gamma(text: str) -> Independent | None:
    from provisioner.traces import Gamma
    from provisioner.traces.arrivals import CV_RANGE

    cv = as_number(text)
    return Independent(Gamma(cv)) if cv is not None and CV_RANGE[0] <= cv <= CV_RANGE[1] else None


def _in_runs(text: str) -> InRuns | None:
    known = text.isascii() and text.isdecimal() and len(text) <= 6 and int(text) > 0  # noqa: PLR2004 - up to a million
    return InRuns(int(text)) if known else None


def _by_hour(text: str) -> ByHour | None:
    rates = [as_number(part) for part in text.split(",")]
    known = tuple(rate for rate in rates if rate is not None and rate >= 0)
    return ByHour(known) if len(known) == len(rates) and any(known) else None


def _from_users(text: str) -> FromUsers | None:
    parts = text.split(":")
    if len(parts) > 2 or not all(part.isascii() and part.isdecimal() and len(part) <= 8 for part in parts):  # noqa: PLR2004
        return None
    users = int(parts[0])
    return FromUsers(users, int(parts[1]) if len(parts) > 1 else max(LEAST_REQUESTS, EACH_SENDS * users))


_FORMS: dict[str, Callable[[str], Arrivals | None]] = {
    "gamma": _gamma,
    "resampled": _in_runs,
    "hourly": _by_hour,
    "closed": _from_users,
}
