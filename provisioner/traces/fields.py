"""Columns of text to arrays of numbers, with a fault for every field that is none.

Each function first converts the whole column at once. Only if that fails does it look field by field for
what is wrong; both ways accept the same texts and give the same values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from provisioner.domain.trace import Floats, Ints
from provisioner.errors import FaultList

MAX_TOKENS = 10_000_000
MAX_SECONDS = 1e9
"""About 32 years: no trace is longer."""

_WHOLE = re.compile(r"\s*([+-]?\d+)(?:\.0*)?\s*", re.ASCII)
"""With a point, too: tables that once had a hole write 472.0."""


def whole_numbers(
    texts: Sequence[str],
    lines: Sequence[int],
    faults: FaultList,
    *,
    field: str,
    low: int = 1,
    high: int = MAX_TOKENS,
) -> Ints:
    """Convert whole numbers from `low` to `high`.

    Parameters
    ----------
    texts : sequence of str, length n
        The fields of one column.
    lines : sequence of int, length n
        Where they stand.
    faults : FaultList
        Changed: receives what is wrong.
    field : str
        Name of the column.
    low, high : int
        Smallest and largest number allowed, from 0 to 2**62.

    Returns
    -------
    (n,) int64
        The numbers; 1 in place of a fault.
    """
    try:
        values = np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        values = np.full(len(texts), low - 1, dtype=np.int64)
    if _are_plain(texts) and np.all((values >= low) & (values <= high)):
        return values
    allowed = f"a whole number from {low} to {high:,}"
    for row, (text, line) in enumerate(zip(texts, lines, strict=True)):
        number = _whole_number(text)
        values[row] = number if number is not None and low <= number <= high else 1
        if number != values[row]:
            problem = "not a whole number" if number is None else "out of range"
            faults.add(problem, line=line, field=field, value=text, allowed=allowed)
    return values


def decimals(
    texts: Sequence[str], lines: Sequence[int], faults: FaultList, *, field: str, high: float, allowed: str
) -> Floats:
    """Convert numbers from 0 to `high`.

    Parameters
    ----------
    texts, lines, faults, field
        As for `whole_numbers`.
    high : float
        Largest number allowed.
    allowed : str
        What is allowed, in words.

    Returns
    -------
    (n,) float64
        The numbers; NaN in place of a fault.
    """
    try:
        values = np.array([float(text) for text in texts], dtype=np.float64)
    except ValueError:
        values = np.full(len(texts), np.nan)
    if _are_plain(texts) and np.all((values >= 0) & (values <= high)):
        return values
    for row, (text, line) in enumerate(zip(texts, lines, strict=True)):
        number = _number(text)
        values[row] = number if number is not None and 0 <= number <= high else np.nan
        if number != values[row]:
            problem = "not a number" if number is None else "out of range" if np.isfinite(number) else "not finite"
            faults.add(problem, line=line, field=field, value=text, allowed=allowed)
    return values


def _are_plain(texts: Sequence[str]) -> bool:
    """Whether nothing stands here that Python takes for a part of a number and nobody else does."""
    joined = "".join(texts)
    return joined.isascii() and "_" not in joined


def _whole_number(text: str) -> int | None:
    match = _WHOLE.fullmatch(text)
    try:
        return int(match[1]) if match else None
    except ValueError:  # thousands of digits
        return None


def _number(text: str) -> float | None:
    try:
        return float(text) if _are_plain([text]) else None
    except ValueError:
        return None
