"""Columns of text to arrays of numbers, with a fault for every field that is none.

Each function first converts the whole column at once. Only if that fails does it look field by field for
what is wrong; both ways accept the same texts and give the same values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from provisioner.domain.trace import Floats, Ints
from provisioner.errors import FaultList

Stamps = NDArray[np.datetime64]

MAX_TOKENS = 10_000_000
MAX_SECONDS = 1e9
"""About 32 years. Beyond it stand epoch times, which are no seconds from the start of measuring."""

_STAMP = re.compile(
    r"((?:19[7-9]\d|2[01]\d\d)-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?",
    re.ASCII,
)
_STAMP_ALLOWED = "a time such as 2023-11-16 18:17:03.9799600 or 2024-05-10 00:00:00.009930+00:00"


def whole_numbers(
    texts: Sequence[str], lines: Sequence[int], faults: FaultList, *, field: str, high: int = MAX_TOKENS
) -> Ints:
    """Convert whole numbers from 1 to `high`.

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
    high : int
        Largest number allowed, at most 2**62.

    Returns
    -------
    (n,) int64
        The numbers; 1 in place of a fault.
    """
    try:
        values = np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        values = np.zeros(len(texts), dtype=np.int64)
    if _are_plain(texts) and np.all((values >= 1) & (values <= high)):
        return values
    allowed = f"a whole number from 1 to {high:,}"
    for row, (text, line) in enumerate(zip(texts, lines, strict=True)):
        number = _whole_number(text)
        values[row] = number if number is not None and 1 <= number <= high else 1
        if number != values[row]:
            problem = "not a whole number" if number is None else "out of range"
            faults.add(problem, line=line, field=field, value=text, allowed=allowed)
    return values


def seconds(texts: Sequence[str], lines: Sequence[int], faults: FaultList, *, field: str) -> Floats:
    """Convert seconds from 0 to `MAX_SECONDS`.

    Parameters as for `whole_numbers`.

    Returns
    -------
    (n,) float64
        Seconds; NaN in place of a fault.
    """
    try:
        values = np.array([float(text) for text in texts], dtype=np.float64)
    except ValueError:
        values = np.full(len(texts), np.nan)
    if _are_plain(texts) and np.all((values >= 0) & (values <= MAX_SECONDS)):
        return values
    allowed = f"seconds from 0 to {MAX_SECONDS:,.0f}"
    for row, (text, line) in enumerate(zip(texts, lines, strict=True)):
        number = _number(text)
        values[row] = number if number is not None and 0 <= number <= MAX_SECONDS else np.nan
        if number != values[row]:
            problem = "not a number" if number is None else "out of range" if np.isfinite(number) else "not finite"
            faults.add(problem, line=line, field=field, value=text, allowed=allowed)
    return values


def stamps(
    texts: Sequence[str], lines: Sequence[int], faults: FaultList, *, field: str, zoned: bool | None
) -> tuple[Stamps, bool | None]:
    """Convert dates with times of day, all with an offset from UTC or all without.

    Parameters
    ----------
    texts, lines, faults, field
        As for `whole_numbers`.
    zoned : bool or None
        Whether earlier stamps of the file had an offset; None if there were none.

    Returns
    -------
    (n,) datetime64[ns]
        Times in UTC, or in the file's own zone where it names none; NaT in place of a fault.
    bool or None
        Whether the file's stamps have an offset.
    """
    matches = [_STAMP.fullmatch(text.strip()) for text in texts]
    found = [match for match in matches if match is not None]
    if zoned is None and found:
        zoned = found[0][2] is not None
    if len(found) == len(texts) and all((match[2] is not None) == zoned for match in found):
        try:
            local: Stamps = np.array([match[1] for match in found], dtype="datetime64[ns]")
        except ValueError:  # month 13, or 30 February
            pass
        else:
            return np.subtract(local, _offsets([match[2] for match in found])), zoned
    times = [
        _stamp(match, text, line, faults, field=field, zoned=zoned)
        for match, text, line in zip(matches, texts, lines, strict=True)
    ]
    return np.array(times, dtype="datetime64[ns]"), zoned


def _stamp(
    match: re.Match[str] | None, text: str, line: int, faults: FaultList, *, field: str, zoned: bool | None
) -> np.datetime64:
    problem = "not a date and time"
    if match is not None:
        try:
            time = np.datetime64(match[1], "ns")
        except ValueError:
            pass
        else:
            if (match[2] is not None) == zoned:
                return np.datetime64(time - _offsets([match[2]])[0])
            problem = (
                "no offset from UTC, unlike the rows before" if zoned else "an offset from UTC, unlike the rows before"
            )
    faults.add(problem, line=line, field=field, value=text, allowed=_STAMP_ALLOWED)
    return np.datetime64("NaT", "ns")


def _offsets(zones: Sequence[str | None]) -> NDArray[np.timedelta64]:
    minutes = {zone: _minutes(zone) for zone in set(zones)}
    return np.array([minutes[zone] for zone in zones], dtype="timedelta64[m]").astype("timedelta64[ns]")


def _minutes(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    minutes = 60 * int(zone[1:3]) + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes


def _are_plain(texts: Sequence[str]) -> bool:
    """Whether nothing stands here that Python takes for a part of a number and nobody else does."""
    joined = "".join(texts)
    return joined.isascii() and "_" not in joined


def _whole_number(text: str) -> int | None:
    try:
        return int(text) if _are_plain([text]) else None
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        return float(text) if _are_plain([text]) else None
    except ValueError:
        return None
