"""Rows of bars in parts: what each takes of something that is limited."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One colour: in each row its length, and its amount as a text; NaN draws none."""

    label: str
    lengths: tuple[float, ...]
    """As a share of the row's limit; of the whole where it has none."""
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacks:
    """Rows of parts, one after the other, with a mark at 1 where a row has a limit."""

    title: str
    x_label: str
    rows: tuple[str, ...]
    """What each row is of, with its unit."""
    parts: tuple[Part, ...]
    is_limited: tuple[bool, ...]
    ends: tuple[str, ...]
    """What stands at the end of each row."""
    note: str = ""
