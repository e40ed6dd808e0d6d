"""Errors as data: what was wrong, where, and what would be right.

Nothing below the command line words a message for people; it raises an `InputError` holding one
`Fault` per thing to mend, and `cli` prints a line for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SHOWN_CHARACTERS = 80


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

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Fault, ...]]]:
        return type(self), (self.faults,)


class FaultList:
    """The faults of one file, as they are found: the first few in full, the rest counted.

    Parameters
    ----------
    file : Path
        Stands in every fault.
    shown : int
        Faults kept in full; later ones are only counted.
    """

    def __init__(self, file: Path, shown: int = 20) -> None:
        self._file = file
        self._shown = shown
        self._faults: list[Fault] = []
        self._more = 0

    def __len__(self) -> int:
        return len(self._faults) + self._more

    @property
    def first_line(self) -> int | None:
        """Line of the first fault; None where there is none, or where it is about the whole file."""
        return self._faults[0].line if self._faults else None

    def add(
        self,
        problem: str,
        *,
        line: int | None = None,
        field: str | None = None,
        value: object = None,
        allowed: str | None = None,
    ) -> None:
        """Note one fault. A long text as `value` is shortened."""
        if len(self._faults) >= self._shown:
            self._more += 1
            return
        if isinstance(value, str) and len(value) > SHOWN_CHARACTERS:
            value = value[: SHOWN_CHARACTERS - 3] + "..."
        self._faults.append(
            Fault(problem=problem, file=self._file, line=line, field=field, value=value, allowed=allowed)
        )

    def error(self) -> InputError:
        """Give what was found as one error, by line; a last fault without a line says how many more there were."""
        by_line = sorted(self._faults, key=lambda fault: math.inf if fault.line is None else fault.line)
        more = [Fault(problem=f"and {self._more:,} more", file=self._file)] if self._more else []
        return InputError([*by_line, *more])

    def raise_if_any(self) -> None:
        """Raise what was found, if anything was.

        Raises
        ------
        InputError
            If anything was.
        """
        if self._faults:
            raise self.error()
