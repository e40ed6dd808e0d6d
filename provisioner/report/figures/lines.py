"""Panels of lines: what several figures are made of."""

from __future__ import annotations

from dataclasses import dataclass

from provisioner.domain.trace import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What an axis shows, with its unit."""

    label: str
    is_log: bool = False
    is_share: bool = False
    """From 0 to 1, shown as per cent."""
    is_count: bool = False
    step: float | None = None
    """From one tick to the next, where that is not left to whoever draws."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One line, named where it ends: (k,) float64 each; `low` and `high` are an interval around it."""

    label: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """Lines that share their axes; `limit` is what they should stay below."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    limit: float | None = None
    is_step: bool = False
    """The value holds until the next one."""
    with_points: bool = False
    """Each value was computed or measured; between them is only a line."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """Panels of one figure, `columns` side by side."""

    title: str
    panels: tuple[Panel, ...]
    columns: int = 1
    note: str = ""
