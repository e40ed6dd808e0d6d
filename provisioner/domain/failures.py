"""Machines that fail: when, and which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from provisioner.domain.trace import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Failures:
    """Failures in order of time, those of one moment in order of machines; no machine fails twice.

    Parameters
    ----------
    time_s : (k,) float64
        Seconds from the start of measuring, finite, not negative, not decreasing.
    machine : (k,) int64
        Machine numbers: prompt machines first, then token machines.

    Raises
    ------
    ValueError
        If a condition above does not hold. `of` sorts.
    """

    time_s: Floats
    machine: Ints

    def __post_init__(self) -> None:
        if len(self.time_s) != len(self.machine):
            raise ValueError("times and machines differ in length")
        if not np.all(np.isfinite(self.time_s)) or np.any(self.time_s < 0):
            raise ValueError("failures have a finite time that is not negative")
        if np.any(self.machine < 0):
            raise ValueError("machine numbers start at 0")
        if np.any(np.lexsort((self.machine, self.time_s)) != np.arange(len(self))):
            raise ValueError("failures must be in order of time and machine")
        if len(np.unique(self.machine)) < len(self):
            raise ValueError("a machine fails only once")
        for array in (self.time_s, self.machine):
            array.setflags(write=False)

    def of_parts(self, parts: int) -> Failures:
        """The same failures where each machine is so many, which are numbered together and fail together."""
        if parts == 1:
            return self
        numbers = self.machine[:, None] * parts + np.arange(parts)
        return Failures(np.repeat(self.time_s, parts), numbers.ravel())

    def __len__(self) -> int:
        return len(self.time_s)

    @classmethod
    def of(cls, failures: Iterable[tuple[float, int]]) -> Self:
        """From (time in seconds, machine number), in any order."""
        ordered = sorted(failures)
        times_s, machines = [time_s for time_s, _ in ordered], [number for _, number in ordered]
        return cls(np.array(times_s, np.float64), np.array(machines, np.int64))
