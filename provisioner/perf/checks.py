"""What a number or a name of a profile may be."""

from __future__ import annotations

import math

MAX_NAME = 80


def outside(number: float, low: float, high: float) -> str | None:
    """Say what is wrong with a number that should lie from `low` to `high`, if anything."""
    if math.isnan(number):
        return "not a number"
    if number < 0 <= low:
        return "negative"
    if number < low:
        return "too small"
    return "too large" if number > high else None


def is_name(value: object) -> bool:
    """Whether a value can name a model or a machine: 1 to 80 printable characters."""
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME and value.isprintable()
