"""What somebody may have meant by a name that nothing has."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST_NAME = 80
"""Comparing takes the product of two lengths; no name in a catalog is longer."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `, did you mean 'x'?` for the closest of `known`, or nothing where none is close."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name[:_LONGEST_NAME].casefold(), by_folded, n=1)
    return f", did you mean '{by_folded[close[0]]}'?" if close else ""
