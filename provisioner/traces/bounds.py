"""How much is read at most: hostile input ends in a fault, not in a machine without memory."""

from __future__ import annotations

from dataclasses import dataclass

MAX_BYTES = 2 * 2**30
MAX_ROWS = 50_000_000
LINE_BYTES = 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """Bounds on one file.

    Parameters
    ----------
    max_bytes : int
        Of the file, and of what it is unpacked to.
    max_rows : int
        Rows below the head line.
    """

    max_bytes: int = MAX_BYTES
    max_rows: int = MAX_ROWS
