"""Bars around a reference at 1."""

from __future__ import annotations

import math

from provisioner.report.figures.bars import Bars
from provisioner.report.html.charts.common import ABOVE, COLOURS, FAINT, INK, MOST_TEXTS, WIDE, Spec, number, said

MOST_LEVEL = 4
"""Bars of a group whose amounts stand level above them; of more they are turned."""
TWO_LINES = "split(replace(replace(datum.label, ' ≤', '\\n≤'), ', ', ',\\n'), '\\n')"
"""A limit stands below the name of what it limits, and so does what follows a comma."""


def spec(figure: Bars) -> Spec:
    """Bars in groups, each with its amount."""
    names = [series.label for series in figure.series]
    rows = [
        {
            "group": group,
            "series": series.label,
            "value": number(value),
            "text": text,
            "said": f"{series.label}, {group}: {text}, {said(value)} of {figure.reference}",
        }
        for series in figure.series
        for group, value, text in zip(figure.groups, series.values, series.texts, strict=True)
    ]
    x = {
        "field": "group",
        "type": "nominal",
        "title": None,
        "sort": list(figure.groups),
        "axis": {"labelAngle": 0, "labelLimit": 130, "ticks": False, "labelOverlap": False, "labelExpr": TWO_LINES},
    }
    y = {"field": "value", "type": "quantitative", "title": figure.y_label, "scale": {"domainMax": _highest(figure)}}
    place = {"x": x, "xOffset": {"field": "series", "type": "nominal", "sort": names}, "y": y}
    colour = {
        "field": "series",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": COLOURS},
        "legend": ABOVE if len(names) > 1 else None,
    }
    tooltip = [
        {"field": "series", "title": "cluster"},
        {"field": "group", "title": "of"},
        {"field": "text", "title": "is"},
        {"field": "value", "title": figure.y_label, "format": ".3~f"},
    ]
    bars: Spec = {
        "mark": {"type": "bar", "clip": True},
        "encoding": {**place, "color": colour, "tooltip": tooltip, "description": {"field": "said"}},
    }
    is_turned = len(names) > MOST_LEVEL
    placed = {"angle": 270, "align": "left", "baseline": "middle", "dx": 4} if is_turned else {"dy": -6}
    texts: Spec = {
        "mark": {"type": "text", "fontSize": 9, "aria": False, "clip": True, **placed},
        "encoding": {**place, "text": {"field": "text", "type": "nominal"}},
    }
    rule: Spec = {
        "data": {"values": [{"one": 1}]},
        "mark": {"type": "rule", "strokeDash": [5, 3], "color": INK, "aria": False},
        "encoding": {"y": {"field": "one", "type": "quantitative"}},
    }
    if not figure.has_values:
        nothing: Spec = {"type": "text", "text": "no values", "color": FAINT}
        return {**WIDE, "height": 60, "data": {"values": [{}]}, "mark": nothing}
    return {
        **WIDE,
        "height": 320,
        "data": {"values": rows},
        "layer": [bars, rule, *([texts] if len(rows) <= MOST_TEXTS else [])],
    }


def _highest(figure: Bars) -> float:
    values = [v for series in figure.series for v in series.values if math.isfinite(v)]
    return min(max([1.0, *values]) * (1.1 if len(figure.series) <= MOST_LEVEL else 1.25), 3.3)
