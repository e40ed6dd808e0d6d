"""Faults of one file, collected so that all are told at once."""

from __future__ import annotations

import math
from pathlib import Path

from provisioner.errors import Fault, InputError

MAX_FAULTS = 20
MAX_NAME = 80
_SHOWN_CHARACTERS = 60


class Faults:
    """The faults found in `file`: the first 20, and how many more there were."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: list[Fault] = []
        self.more = 0

    def add(
        self,
        problem: str,
        *,
        line: int | None = None,
        field: str | None = None,
        value: object = None,
        allowed: str | None = None,
    ) -> None:
        """Note a fault; long text values are cut for display."""
        if len(self.found) >= MAX_FAULTS:
            self.more += 1
            return
        if isinstance(value, str) and len(value) > _SHOWN_CHARACTERS:
            value = value[:_SHOWN_CHARACTERS] + "..."
        self.found.append(Fault(problem=problem, file=self.file, line=line, field=field, value=value, allowed=allowed))

    @property
    def count(self) -> int:
        """Faults so far, the ones beyond 20 too."""
        return len(self.found) + self.more

    def raise_if_any(self) -> None:
        """Raise what was found.

        Raises
        ------
        InputError
            If anything was.
        """
        if not self.found:
            return
        more = [Fault(problem=f"and {self.more} more", file=self.file)] if self.more else []
        raise InputError([*self.found, *more])


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
