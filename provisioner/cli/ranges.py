"""Ranges on the command line: `30:100:10` is 30, 40, ... 100."""

from __future__ import annotations

import math

from provisioner.errors import Fault, InputError

MOST_VALUES = 2000


def parse(text: str, option: str) -> list[float]:
    """The numbers of `FIRST:LAST[:STEP]`, or of one number; last included.

    Raises
    ------
    InputError
        If it is no such range, or one of more than 2,000 numbers.
    """
    numbers = [as_number(part) for part in text.split(":")]
    given = [number for number in numbers if number is not None and number > 0]
    if len(given) == len(numbers) and 1 <= len(given) <= 3:  # noqa: PLR2004
        first, last, step = (*given, *(given[0], 1.0)[len(given) - 1 :]) if len(given) < 3 else given  # noqa: PLR2004
        count = int((last - first) / step + 1e-9) + 1
        if last >= first and count <= MOST_VALUES:
            return [round(first + index * step, 9) for index in range(count)]
    raise InputError(
        Fault(
            problem="not a range",
            field=option,
            value=text,
            allowed=f"FIRST:LAST or FIRST:LAST:STEP above 0, of at most {MOST_VALUES} numbers, as 30:100:10",
        )
    )


def parse_counts(text: str, option: str) -> list[int]:
    """The same in whole numbers.

    Raises
    ------
    InputError
        If a number is not whole.
    """
    numbers = parse(text, option)
    if any(number != int(number) for number in numbers):
        raise InputError(Fault(problem="not whole numbers", field=option, value=text, allowed="as 1:39"))
    return [int(number) for number in numbers]


def as_number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
