"""What charts share: colours, numbers, axes."""

from __future__ import annotations

import math
from typing import Any

from provisioner.report.figures.lines import Axis

Spec = dict[str, Any]
COLOURS = [f"var(--c{number})" for number in range(1, 9)]
SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left"]
INK, FAINT, LIMIT = "var(--ink)", "var(--faint)", "var(--limit)"
FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'
"""The page's own: Vega measures texts by it."""
TICKS = [float(f"{digit}e{power}") for power in range(-6, 9) for digit in (1, 2, 3, 5, 7)]
"""Of a logarithmic axis, as far as it goes."""
NEVER = 1e6
"""Stands for infinity, which JSON lacks."""
MOST_TEXTS = 60
"""Texts at bars that do not hide each other; the tooltip has all."""
MOST_DOTS = 1500
MOST_CELLS = 2500
"""Marks of a chart that a page still draws at once."""
MOST_POINTS = 2400
"""Points of the lines of a panel."""
ABOVE: Spec = {"orient": "top", "labelLimit": 320, "columns": 4}
"""A legend over the chart."""
WIDE: Spec = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
"""As wide as the page."""


def number(value: float) -> float | None:
    """Five digits of it; JSON has no NaN, and its infinity is large."""
    return None if math.isnan(value) else max(-NEVER, min(NEVER, float(f"{value:.5g}")))


def said(value: float) -> str:
    """In words."""
    return "never" if math.isinf(value) else "-" if math.isnan(value) else f"{value:.3g}"


def colours(count: int) -> list[str]:
    """Colours for so many series."""
    return [COLOURS[place % len(COLOURS)] for place in range(count)]


def shapes(count: int) -> list[str]:
    """Shapes for so many series, of which none has both the colour and the shape of another; up to 64."""
    return [SHAPES[(place + place // len(SHAPES)) % len(SHAPES)] for place in range(count)]


def side(field: str, axis: Axis) -> Spec:
    """An encoding of numbers along an axis."""
    scale: Spec = {"type": "log", "nice": False} if axis.is_log else {"zero": axis.is_share, "nice": True}
    shown: Spec = {"format": ".0%"} if axis.is_share else {"format": ",.6~g", "tickCount": 5}
    if axis.is_log:
        shown |= {"values": TICKS, "grid": False, "labelOverlap": "greedy"}
    if axis.step:
        shown["values"] = {"expr": f"sequence(0, 10000, {axis.step:g})"}
    return {"field": field, "type": "quantitative", "title": axis.label, "scale": scale, "axis": shown}
