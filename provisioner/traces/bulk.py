"""Plain CSV to numbers, column by column: the quick way for files of tens of millions of rows.

The rows are found as positions in the bytes, and a column is converted digit by digit for all rows at once. Whatever
is not plain (quotation marks, comments, blank lines, signs, other widths, letters) gives None, and the caller takes
the careful way, which knows what is wrong. Both ways give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from provisioner.domain.trace import Floats, Ints
from provisioner.traces.lines import Lines
from provisioner.traces.stamps import Stamps, date_of, layout_of

_Bytes = NDArray[np.uint8]
_COMMA, _LINE_END, _RETURN, _ZERO, _POINT = b",\n\r0."
_MOST_DIGITS = 9
_LONGEST_ROW = 10_000
_LONGEST_NUMBER = 25
_LONGEST_STAMP = 40


@dataclass(frozen=True, slots=True, eq=False)
class Bulk:
    """Some rows as positions in their bytes.

    Parameters
    ----------
    lines : Lines
        The rows, each on a line of its own.
    buffer : (b,) uint8
        Their bytes.
    ends : (n, c) int64
        Where each field ends.
    """

    lines: Lines
    buffer: _Bytes
    ends: Ints
    _starts: Ints

    @classmethod
    def of(cls, lines: Lines, width: int) -> Self | None:
        """Find the fields of rows of `width` columns; None if a row is not plain."""
        data = lines.data if lines.data.endswith(b"\n") else lines.data + b"\n"
        if not data.isascii() or any(special in data for special in (b'"', b"#", b"\0")):
            return None
        buffer = np.frombuffer(data, dtype=np.uint8)
        (marks,) = np.nonzero((buffer == _COMMA) | (buffer == _LINE_END))
        if len(marks) % width:
            return None
        ends = marks.reshape(-1, width)
        if np.any(buffer[ends[:, -1]] != _LINE_END) or np.any(buffer[ends[:, :-1]] != _COMMA):
            return None
        starts = np.concatenate(([0], marks[:-1] + 1)).reshape(-1, width)
        if returns := data.count(b"\r"):
            if returns != len(ends) or np.any(buffer[ends[:, -1] - 1] != _RETURN):
                return None
            ends[:, -1] -= 1
        blank = np.any(ends[:, -1] == starts[:, 0])
        return None if blank or np.max(ends[:, -1] - starts[:, 0]) > _LONGEST_ROW else cls(lines, buffer, ends, starts)

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def numbers_of_lines(self) -> range:
        """The 1-based line of each row."""
        return range(self.lines.first, self.lines.first + len(self))

    def text(self, place: int, row: int) -> str:
        """One field."""
        return self.lines.data[self._starts[row, place] : self.ends[row, place]].decode()

    def whole_numbers(self, place: int) -> Ints | None:
        """A column of digits only."""
        starts, ends = self._starts[:, place], self.ends[:, place]
        length = ends - starts
        shortest, longest = int(length.min()), int(length.max())
        if not 1 <= shortest <= longest <= _MOST_DIGITS:
            return None
        values = np.zeros(len(ends), dtype=np.int64)
        for place_value in range(longest):
            digits = self.buffer[ends - 1 - place_value] - np.uint8(_ZERO)  # wraps: what is no digit is above 9
            if place_value >= shortest:
                digits[length <= place_value] = 0
            if digits.max() > 9:  # noqa: PLR2004 - a decimal digit
                return None
            values += digits * np.int64(10**place_value)
        return values

    def decimals(self, place: int) -> Floats | None:
        """A column of digits, each with one decimal point at most."""
        if not self._has_lengths(place, _LONGEST_NUMBER):
            return None
        values = np.empty(len(self))
        for rows, field in self._by_length(place):
            digits = (field >= _ZERO) & (field <= _ZERO + 9)
            if not np.all(digits | (field == _POINT)) or np.any(np.sum(digits, axis=1) < max(1, field.shape[1] - 1)):
                return None
            values[rows] = np.ascontiguousarray(field).view(f"S{field.shape[1]}")[:, 0].astype(np.float64)
        return values

    def stamps(self, place: int) -> tuple[Stamps, bool] | None:
        """A column of dates with times of day, as UTC; and whether they have an offset, all or none."""
        if not self._has_lengths(place, _LONGEST_STAMP):
            return None
        times = np.empty(len(self), dtype="datetime64[ns]")
        zoned = set()
        for rows, field in self._by_length(place):
            found = _stamps(field)
            if found is None:
                return None
            times[rows], zone = found
            zoned.add(zone)
        return (times, zoned.pop()) if len(zoned) == 1 else None

    def _has_lengths(self, place: int, most: int) -> bool:
        length = self.ends[:, place] - self._starts[:, place]
        return 1 <= int(length.min()) <= int(length.max()) <= most

    def _by_length(self, place: int) -> Iterator[tuple[slice | Ints, _Bytes]]:
        """The fields of a column, those of one length together, one a row of an array."""
        starts = self._starts[:, place]
        length = self.ends[:, place] - starts
        shortest, longest = int(length.min()), int(length.max())
        for size in range(shortest, longest + 1):
            rows = slice(None) if shortest == longest else np.nonzero(length == size)[0]
            chosen = starts[rows]
            if len(chosen):
                yield rows, sliding_window_view(self.buffer, size)[chosen]


def _stamps(field: _Bytes) -> tuple[Stamps, bool] | None:
    """Stamps that differ from the first in digits only."""
    layout = layout_of(field[0].tobytes().decode())
    if layout is None:
        return None
    digits = field - np.uint8(_ZERO)
    fixed = np.ones(field.shape[1], dtype=bool)
    for part in layout.parts:
        fixed[part] = False
    if np.any(digits[:, ~fixed] > 9) or np.any(field[:, fixed] != field[0, fixed]):  # noqa: PLR2004 - a decimal digit
        return None
    date, hour, minute, second, fraction = (_number(digits[:, part]) for part in layout.parts)
    if hour.max() >= 24 or minute.max() >= 60 or second.max() >= 60:  # noqa: PLR2004 - a clock
        return None
    distinct, place = (date[:1], 0) if np.all(date == date[0]) else np.unique(date, return_inverse=True)
    days = [date_of(int(each)) for each in distinct]
    if None in days:
        return None
    since = (hour * 3600 + minute * 60 + second) * 10**9 + fraction * 10 ** (9 - layout.fraction_digits)
    midnight = np.array(days, dtype="datetime64[ns]")[place]
    return midnight + since.astype("timedelta64[ns]") - layout.offset, layout.is_zoned


def _number(digits: NDArray[np.uint8]) -> Ints:
    value = np.zeros(len(digits), dtype=np.int64)
    for place in range(digits.shape[1]):
        value = value * 10 + digits[:, place]
    return value
