"""Dates with times of day, as Azure and databases write them, to nanoseconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provisioner.errors import FaultList

Stamps = NDArray[np.datetime64]

_STAMP = re.compile(
    r"((?:19[7-9]\d|2[01]\d\d)-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.(\d{1,9}))?)(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?",
    re.ASCII,
)
_ALLOWED = "a time such as 2023-11-16 18:17:03.9799600 or 2024-05-10 00:00:00.009930+00:00"
_FRACTION = 20
"""Where the digits of the fraction start."""


class Layout(NamedTuple):
    """Where the digits of a stamp stand: date (with its two hyphens left out), hour, minute, second, fraction."""

    parts: tuple[NDArray[np.int64], ...]
    fraction_digits: int
    offset: np.timedelta64
    is_zoned: bool


def looks_like_stamp(text: str) -> bool:
    """Whether a text has the form of a stamp."""
    return _STAMP.fullmatch(text.strip()) is not None


def layout_of(text: str) -> Layout | None:
    """The layout of a stamp; None if the text is none."""
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    digits = len(match[2] or "")
    spans = ((0, 1, 2, 3, 5, 6, 8, 9), (11, 12), (14, 15), (17, 18), range(_FRACTION, _FRACTION + digits))
    parts = tuple(np.array(list(span), dtype=np.int64) for span in spans)
    return Layout(parts, digits, _offsets([match[3]])[0], match[3] is not None)


def date_of(number: int) -> np.datetime64 | None:
    """The day of a number such as 20231116; None if there is no such day."""
    text = f"{number // 10_000:04}-{number // 100 % 100:02}-{number % 100:02}"
    if not looks_like_stamp(f"{text} 00:00:00"):
        return None
    try:
        return np.datetime64(text, "ns")
    except ValueError:
        return None


def stamps(
    texts: Sequence[str], lines: Sequence[int], faults: FaultList, *, field: str, zoned: bool | None
) -> tuple[Stamps, bool | None]:
    """Convert dates with times of day, all with an offset from UTC or all without.

    Parameters
    ----------
    texts, lines, faults, field
        As for `fields.whole_numbers`.
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
        zoned = found[0][3] is not None
    if len(found) == len(texts) and all((match[3] is not None) == zoned for match in found):
        try:
            local: Stamps = np.array([match[1] for match in found], dtype="datetime64[ns]")
        except ValueError:  # month 13, or 30 February
            pass
        else:
            return np.subtract(local, _offsets([match[3] for match in found])), zoned
    times = [
        _stamp(match, text, line, faults, field=field, zoned=zoned)
        for match, text, line in zip(matches, texts, lines, strict=True)
    ]
    return np.array(times, dtype="datetime64[ns]"), zoned


def _other_zone(*, zoned: bool | None) -> str:
    return "no offset from UTC, unlike the rows before" if zoned else "an offset from UTC, unlike the rows before"


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
            if (match[3] is not None) == zoned:
                return np.datetime64(time - _offsets([match[3]])[0])
            problem = _other_zone(zoned=zoned)
    faults.add(problem, line=line, field=field, value=text, allowed=_ALLOWED)
    return np.datetime64("NaT", "ns")


def _offsets(zones: Sequence[str | None]) -> NDArray[np.timedelta64]:
    minutes = {zone: _minutes(zone) for zone in set(zones)}
    return np.array([minutes[zone] for zone in zones], dtype="timedelta64[m]").astype("timedelta64[ns]")


def _minutes(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    minutes = 60 * int(zone[1:3]) + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes
