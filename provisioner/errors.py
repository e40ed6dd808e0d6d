"""Errors as data: what was wrong, where, and what would be right.

Nothing below the command line words a message for people; it raises an `InputError` holding one
`Fault` per thing to mend, and `cli` prints a line for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class ProvisionError(Exception):
    """The root of every error this package raises on purpose."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One thing that is wrong in an input.

    `file` and `line` (1-based) say where, `field` names the key, column or option, `value` is what
    stands there, and `allowed` says what would be right.
    """

    problem: str
    file: Path | str | None = None
    line: int | None = None
    field: str | None = None
    value: object = None
    allowed: str | None = None


class InputError(ProvisionError):
    """Bad input or usage: every fault found, not only the first."""

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("; ".join(fault.problem for fault in self.faults))
