"""Figures as Vega-Lite: data and what to make of them; the page's script draws them.

Colours are the page's own (`var(--c1)`), so that they follow dark and light. Every mark has a
description, which screen readers read and the arrow keys go through. One module says how one kind of
figure is drawn; `CHARTS` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from provisioner.report.figures import Bars, Figure, Front, HeatMaps, Lines, Scatter, Stacks
from provisioner.report.html.charts import bars, front, heatmaps, lines, scatter, stacks
from provisioner.report.html.charts.common import FONT, INK, Spec
from provisioner.report.plain import printable

CHARTS: Mapping[type, Callable[[Any], Spec]] = {
    HeatMaps: heatmaps.spec,
    Lines: lines.spec,
    Front: front.spec,
    Bars: bars.spec,
    Scatter: scatter.spec,
    Stacks: stacks.spec,
}


def chart(figure: Figure) -> Spec:
    """The specification of a figure."""
    return {"config": _config(), **_printable(CHARTS[type(figure)](figure))}


def _printable(value: Any) -> Any:
    """The same with every text printable, wherever it came from."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {_printable(key): _printable(each) for key, each in value.items()}
    return [_printable(each) for each in value] if isinstance(value, list) else value


def _config() -> Spec:
    text = {
        "labelColor": INK,
        "titleColor": INK,
        "labelFont": FONT,
        "titleFont": FONT,
        "titleFontWeight": 600,
    }
    axis = {**text, "gridColor": "var(--line)", "domainColor": "var(--faint)", "tickColor": "var(--faint)"}
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "legend": {**text, "symbolStrokeWidth": 2, "symbolBaseFillColor": INK, "symbolBaseStrokeColor": INK},
        "header": text,
        "title": {"color": INK, "anchor": "start"},
        "text": {"color": INK},
        "customFormatTypes": False,
    }
