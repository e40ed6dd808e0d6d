"""Durations on the command line: `90` seconds, `30m`, `4h`, `1000h`, `60d`."""

from __future__ import annotations

from provisioner.cli.ranges import as_number
from provisioner.errors import Fault, InputError

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
MOST_S = 1e11


def parse(text: str, option: str) -> float:
    """Seconds.

    Raises
    ------
    InputError
        If it is no duration above 0.
    """
    unit = UNITS.get(text[-1:])
    number = as_number(text if unit is None else text[:-1])
    if number is None or not 0 < number * (unit or 1.0) <= MOST_S:
        raise InputError(
            Fault(problem="not a duration", field=option, value=text, allowed="above 0, as 90, 30m, 4h or 60d")
        )
    return number * (unit or 1.0)
