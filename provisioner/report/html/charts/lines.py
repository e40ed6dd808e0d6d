"""Panels of lines with their limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from provisioner.report.figures.lines import Lines, Panel, Series
from provisioner.report.html.charts.common import ABOVE, COLOURS, FAINT, LIMIT, MOST_POINTS, Spec, number, said, side

HOVERED = 120
"""Points of a line that can be hovered over, at most."""


def spec(figure: Lines) -> Spec:
    """The panels side by side, as the figure has them."""
    width = {1: 780, 2: 380}.get(figure.columns, 240)
    return {
        "concat": [_panel(panel, width) for panel in figure.panels],
        "columns": figure.columns,
        "spacing": 24,
        "resolve": {"scale": {"color": _shared(figure), "strokeDash": _shared(figure)}},
    }


def _shared(figure: Lines) -> str:
    """Panels with the same lines have one legend."""
    return "shared" if len({tuple(s.label for s in panel.series) for panel in figure.panels}) == 1 else "independent"


def _panel(panel: Panel, width: int) -> Spec:
    most = max(2, MOST_POINTS // max(len(panel.series), 1))
    rows = [row for series in panel.series for row in _rows(_thinned(series, most), panel)]
    x, y = side("x", panel.x), side("y", panel.y)
    if panel.is_step:
        y["scale"]["zero"] = True
    names = [series.label for series in panel.series]
    legend = {**ABOVE, "symbolType": "stroke", "symbolSize": 400, "symbolOpacity": 1} if len(names) > 1 else None
    colour: Spec = {
        "field": "line",
        "type": "nominal",
        "title": None,
        "legend": legend,
        "scale": {"domain": names, "range": COLOURS},
    }
    at = {"x": x, "y": y, "color": colour}
    step = {"interpolate": "step-after"} if panel.is_step else {}
    dash = {**colour, "scale": {"domain": names}}
    lines: Spec = {
        "mark": {"type": "line", "clip": True, "aria": False, **step},
        "encoding": {**at, "strokeDash": dash},
    }
    layer = [lines, _points(panel, at)]
    if any(series.low is not None for series in panel.series):
        area: Spec = {"type": "area", "opacity": 0.15, "clip": True, "aria": False}
        layer.insert(0, {"mark": area, "encoding": {**at, "y": {**y, "field": "low"}, "y2": {"field": "high"}}})
    known = [row["y"] for row in rows if row["y"] is not None]
    if not known:
        layer = [{"data": {"values": [{}]}, "mark": {"type": "text", "text": "no values", "color": FAINT}}]
    elif panel.limit is not None:
        y["scale"].update({"domainMin": min([*known, panel.limit]) * 0.8, "domainMax": panel.limit * 4})
        layer.append(_limit(panel.limit))
    return {"title": panel.title, "width": width, "height": 190, "data": {"values": rows}, "layer": layer}


def _points(panel: Panel, at: Spec) -> Spec:
    """What can be hovered over and read out."""
    opacity = 1 if panel.with_points else 0
    return {
        "transform": [{"filter": "datum.said"}],
        "mark": {"type": "point", "filled": True, "clip": True, "size": 28, "opacity": opacity},
        "encoding": {
            **at,
            "tooltip": [
                {"field": "line", "title": "of"},
                {"field": "x", "title": panel.x.label, "format": ".5~g"},
                {"field": "y", "title": panel.y.label, "format": ".4~g"},
            ],
            "description": {"field": "said"},
        },
    }


def _limit(limit: float) -> Spec:
    return {
        "data": {"values": [{"limit": limit}]},
        "mark": {"type": "rule", "color": LIMIT, "strokeDash": [5, 3], "strokeWidth": 1.5, "aria": False},
        "encoding": {"y": {"field": "limit", "type": "quantitative"}},
    }


def _thinned(series: Series, most: int) -> Series:
    """At most so many of its points, the first and the last among them."""
    if len(series.x) <= most:
        return series
    kept = np.unique(np.linspace(0, len(series.x) - 1, most).round().astype(int))
    low, high = (None if each is None else each[kept] for each in (series.low, series.high))
    return replace(series, x=series.x[kept], y=series.y[kept], low=low, high=high)


def _rows(series: Series, panel: Panel) -> list[Spec]:
    low = series.y if series.low is None else series.low
    high = series.y if series.high is None else series.high
    every = max(1, -(-len(series.x) // HOVERED))
    lowest = 1e-9 if panel.y.is_log else -math.inf
    values = zip(series.x.tolist(), series.y.tolist(), low.tolist(), high.tolist(), strict=True)
    return [
        {
            "line": series.label,
            "x": number(x),
            "y": number(y),
            **({} if series.low is None else {"low": number(max(least, lowest)), "high": number(max(most, lowest))}),
            **({} if place % every else {"said": _said(series, panel, x, y)}),
        }
        for place, (x, y, least, most) in enumerate(values)
    ]


def _said(series: Series, panel: Panel, x: float, y: float) -> str:
    return f"{series.label}: {panel.y.label} {said(y)} at {panel.x.label} {x:.4g}"
