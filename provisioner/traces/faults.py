"""The faults of one file, as they are found: the first few in full, the rest counted."""

from __future__ import annotations

import math
from pathlib import Path

from provisioner.errors import Fault, InputError

SHOWN_FAULTS = 20
SHOWN_CHARACTERS = 80


class FaultList:
    """Faults of one file, in the order found.

    Parameters
    ----------
    file : Path
        Stands in every fault.
    shown : int
        Faults kept in full; later ones are only counted.
    """

    def __init__(self, file: Path, shown: int = SHOWN_FAULTS) -> None:
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
        value: str | None = None,
        allowed: str | None = None,
    ) -> None:
        """Note one fault. A long `value` is shortened."""
        if len(self._faults) >= self._shown:
            self._more += 1
            return
        fault = Fault(
            problem=problem, file=self._file, line=line, field=field, value=_shortened(value), allowed=allowed
        )
        self._faults.append(fault)

    def error(self) -> InputError:
        """Give what was found as one error, by line; a last fault without a line says how many more there were."""
        by_line = sorted(self._faults, key=lambda fault: math.inf if fault.line is None else fault.line)
        more = [Fault(problem=f"and {self._more:,} more", file=self._file)] if self._more else []
        return InputError([*by_line, *more])


def _shortened(value: str | None) -> str | None:
    if value is None or len(value) <= SHOWN_CHARACTERS:
        return value
    return value[: SHOWN_CHARACTERS - 3] + "..."
