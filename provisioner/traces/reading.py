"""How a trace file is to be read: what it cannot say of itself, and what of it is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from provisioner.errors import Fault, InputError

TimeUnit = Literal["s", "ms", "us", "ns"]
PER_SECOND: dict[TimeUnit, float] = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
WORDS: dict[TimeUnit, str] = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
Unordered = Literal["refuse", "sort", "splice"]
ROLES = ("arrival", "prompt", "output")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How a trace file is to be read.

    Parameters
    ----------
    columns : mapping, optional
        The file's own names for `prompt`, `output` and perhaps `arrival`; then no format is looked for.
    time_unit : str, optional
        Unit of arrival times that are numbers, where the format does not fix it: `s`, `ms`, `us`, `ns`.
    window : (float, float), optional
        Seconds from the first arrival; requests from the first and before the second are kept.
    unordered : str
        What to do about rows that arrive before the row above: `refuse`, `sort` them, or `splice` (the clock was
        reset: time goes on from where it was).

    Raises
    ------
    InputError
        If an option is none of these, with a fault for each.
    """

    columns: Mapping[str, str] | None = None
    time_unit: TimeUnit | None = None
    window: tuple[float, float] | None = None
    unordered: Unordered = "refuse"

    def __post_init__(self) -> None:
        faults = []
        if self.columns is not None and not {"prompt", "output"} <= set(self.columns) <= set(ROLES):
            allowed = "arrival=NAME,prompt=NAME,output=NAME; arrival may be left out for a list of lengths"
            faults.append(
                Fault(problem="not a column map", field="--columns", value=_pairs(self.columns), allowed=allowed)
            )
        if self.time_unit is not None and self.time_unit not in PER_SECOND:
            faults.append(
                Fault(problem="unknown unit", field="--time-unit", value=self.time_unit, allowed=", ".join(PER_SECOND))
            )
        if self.window is not None and not 0 <= self.window[0] < self.window[1]:
            value = ":".join(f"{end:g}" for end in self.window)
            faults.append(Fault(problem="not a window", field="--window", value=value, allowed="FROM:TO, as 600:1200"))
        if self.unordered not in get_args(Unordered):
            allowed = "sort, splice"
            faults.append(Fault(problem="unknown", field="--unordered", value=self.unordered, allowed=allowed))
        if faults:
            raise InputError(faults)


def _pairs(columns: Mapping[str, str]) -> str:
    return ",".join(f"{role}={name}" for role, name in columns.items())
