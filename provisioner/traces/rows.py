"""Rows of numbers, and the tally of those that were left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.trace import Floats, Ints

FAILED = "no prompt and no output tokens (a failed request)"
NO_PROMPT = "no prompt tokens"
NO_OUTPUT = "no output tokens (failed, or stopped at once)"
OUTSIDE = "an arrival outside the window"


class Rows(NamedTuple):
    """Some rows of a trace file.

    Parameters
    ----------
    lines : sequence of int, length n
        Where they stand, 1-based.
    arrival_s : (n,) float64 or None
        NaN in place of a fault; None where arrivals are not there or not wanted.
    prompt_tokens, output_tokens : (n,) int64
        At least 0.
    time_text : callable
        The arrival of a row as it stands in the file.
    """

    lines: Sequence[int]
    arrival_s: Floats | None
    prompt_tokens: Ints
    output_tokens: Ints
    time_text: Callable[[int], str]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows left out for one reason: how many, and the line of the first (None if they were sorted before)."""

    reason: str
    rows: int
    first_line: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Intake:
    """What was read of a file.

    Parameters
    ----------
    format : str
        Name of the format, and of what it is written in.
    has_times : bool
        Whether the file has arrival times, used or not; a list of lengths has none.
    rows : int
        Rows read, those left out included.
    left_out : tuple of LeftOut
        By reason.
    unused : tuple of str
        Columns that say something which is not taken into account.
    steps_back : int
        Rows that arrive before the row above: resets of a clock, or rows out of order.
    largest_step_back_s : float
        The largest of these steps.
    """

    format: str
    has_times: bool
    rows: int
    left_out: tuple[LeftOut, ...]
    unused: tuple[str, ...]
    steps_back: int
    largest_step_back_s: float

    @classmethod
    def of_drawn(cls, rows: int) -> Self:
        """Of requests that come from no file."""
        return cls(
            format="drawn", has_times=True, rows=rows, left_out=(), unused=(), steps_back=0, largest_step_back_s=0.0
        )

    @property
    def kept(self) -> int:
        """Rows that were not left out."""
        return self.rows - sum(each.rows for each in self.left_out)


class Tally:
    """Counts rows, and those left out by reason."""

    def __init__(self) -> None:
        self.rows = 0
        self._left_out: dict[str, LeftOut] = {}

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What has been left out until now."""
        return tuple(self._left_out.values())

    def usable(self, rows: Rows) -> NDArray[np.bool_]:
        """Which rows have a prompt and an output: (n,) bool."""
        self.rows += len(rows.lines)
        no_prompt, no_output = rows.prompt_tokens == 0, rows.output_tokens == 0
        self.leave_out(FAILED, no_prompt & no_output, rows.lines)
        self.leave_out(NO_PROMPT, no_prompt & ~no_output, rows.lines)
        self.leave_out(NO_OUTPUT, no_output & ~no_prompt, rows.lines)
        usable: NDArray[np.bool_] = ~(no_prompt | no_output)
        return usable

    def leave_out(self, reason: str, these: NDArray[np.bool_], lines: Sequence[int] | None) -> None:
        """Count rows to leave out.

        Parameters
        ----------
        reason : str
            Why.
        these : (n,) bool
            Which.
        lines : sequence of int, length n, or None
            Where they stand, if that is known.
        """
        count = int(np.count_nonzero(these))
        if not count:
            return
        before = self._left_out.get(reason)
        first = before.first_line if before else None if lines is None else lines[int(np.argmax(these))]
        self._left_out[reason] = LeftOut(reason, count + (before.rows if before else 0), first)
