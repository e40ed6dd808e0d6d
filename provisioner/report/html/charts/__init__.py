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
from provisioner.report.html.charts.common import FONT, INK, MOST_CELLS, MOST_DOTS, MOST_POINTS, Spec
from provisioner.report.plain import printable

CHARTS: Mapping[type, Callable[[Any], Spec]] = {
    HeatMaps: heatmaps.spec,
    Lines: lines.spec,
    Front: front.spec,
    Bars: bars.spec,
    Scatter: scatter.spec,
    Stacks: stacks.spec,
}


def remark(figure: Figure) -> str | None:
    """What a chart leaves out of a figure, so that the page stays small; None for nothing."""
    if isinstance(figure, HeatMaps) and (shared := figure.sharing(MOST_CELLS)) != (1, 1):
        return f"{shared[0]} × {shared[1]} neighbouring clusters share a cell, which shows the best of them"
    if isinstance(figure, Front) and len(figure.points) > MOST_DOTS:
        return f"{MOST_DOTS:,} of {len(figure.points):,} clusters are drawn"
    if isinstance(figure, Scatter):
        most = max(sum(len(cloud.measured_s) for cloud in clouds) for _, clouds in figure.panels)
        return f"every {-(-most // MOST_DOTS)}th run is drawn" if most > MOST_DOTS else None
    if isinstance(figure, Lines):
        most = max((sum(len(series.x) for series in panel.series) for panel in figure.panels), default=0)
        return f"{MOST_POINTS:,} of {most:,} points are drawn" if most > MOST_POINTS else None
    return None


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
