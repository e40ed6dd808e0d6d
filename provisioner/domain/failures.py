"""Machines that fail: when, which, and when they are back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from provisioner.domain.trace import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Failures:
    """Failures in order of time, those of one moment in order of machines.

    Parameters
    ----------
    time_s : (k,) float64
        Seconds from the start of measuring, finite, not negative, not decreasing.
    machine : (k,) int64
        Machine numbers: prompt machines first, then token machines.
    back_s : (k,) float64, optional
        When the machine is back, empty: after it failed, and before it fails again; infinite for never, as
        all are where nothing is given.

    Raises
    ------
    ValueError
        If a condition above does not hold. `of` sorts.
    """

    time_s: Floats
    machine: Ints
    back_s: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not len(self.back_s):
            object.__setattr__(self, "back_s", np.full(len(self.time_s), np.inf))
        if not len(self.time_s) == len(self.machine) == len(self.back_s):
            raise ValueError("times and machines differ in length")
        if not np.all(np.isfinite(self.time_s)) or np.any(self.time_s < 0):
            raise ValueError("failures have a finite time that is not negative")
        if np.any(self.machine < 0):
            raise ValueError("machine numbers start at 0")
        if np.any(np.lexsort((self.machine, self.time_s)) != np.arange(len(self))):
            raise ValueError("failures must be in order of time and machine")
        if not np.all(self.back_s > self.time_s):
            raise ValueError("a machine is back after it failed")
        order = np.lexsort((self.time_s, self.machine))
        is_again = np.diff(self.machine[order]) == 0
        if np.any(self.time_s[order][1:][is_again] <= self.back_s[order][:-1][is_again]):
            raise ValueError("a machine fails only once, unless it is back before it fails again")
        for array in (self.time_s, self.machine, self.back_s):
            array.setflags(write=False)

    def of_parts(self, parts: int) -> Failures:
        """The same failures where each machine is so many, which are numbered together and fail together."""
        if parts == 1:
            return self
        numbers = self.machine[:, None] * parts + np.arange(parts)
        return Failures(np.repeat(self.time_s, parts), numbers.ravel(), np.repeat(self.back_s, parts))

    def changes_s(self, machines: int) -> Floats:
        """(machines, c) float64: when each machine fails, is back, fails again and so on; then infinite."""
        most = int(np.bincount(self.machine, minlength=1).max(initial=0))
        table = np.full((machines, 2 * most + 1), np.inf)
        known = np.zeros(machines, np.int64)
        for time_s, number, back_s in zip(self.time_s, self.machine, self.back_s, strict=True):
            table[number, known[number] : known[number] + 2] = time_s, back_s
            known[number] += 2
        return table

    def __len__(self) -> int:
        return len(self.time_s)

    @classmethod
    def of(cls, failures: Iterable[tuple[float, int]], repair_s: float = np.inf) -> Self:
        """From (time in seconds, machine number), in any order; each machine is back after `repair_s`."""
        ordered = sorted(failures)
        times_s = np.array([time_s for time_s, _ in ordered], np.float64)
        return cls(times_s, np.array([number for _, number in ordered], np.int64), times_s + repair_s)

    @classmethod
    def drawn(cls, machines: int, mtbf_s: float, repair_s: float, span_s: float, random: np.random.Generator) -> Self:
        """Machines that are all up at first, and fail within `span_s` seconds.

        Times up are exponential with mean `mtbf_s`, by machine after machine; each repair takes `repair_s`.
        """
        found = []
        for machine in range(machines):
            time_s = random.exponential(mtbf_s)
            while time_s < span_s:
                found.append((time_s, machine))
                time_s += repair_s + random.exponential(mtbf_s)
        return cls.of(found, repair_s)
