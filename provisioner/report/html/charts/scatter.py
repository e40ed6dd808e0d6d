"""Measured against fitted."""

from __future__ import annotations

from collections.abc import Sequence

from provisioner.report.figures.lines import Axis
from provisioner.report.figures.scatter import BAND, Cloud, Scatter
from provisioner.report.html.charts.common import FAINT, MOST_DOTS, Spec, colours, number, shapes, side


def spec(figure: Scatter) -> Spec:
    """One panel for each phase."""
    return {"hconcat": [_cloud(title, clouds) for title, clouds in figure.panels]}


def _cloud(title: str, clouds: Sequence[Cloud]) -> Spec:
    every = [
        {
            "profile": cloud.label,
            "measured": number(1e3 * measured),
            "fitted": number(1e3 * fitted),
            "said": f"{cloud.label}: measured {1e3 * measured:.4g} ms, fitted {1e3 * fitted:.4g} ms",
        }
        for cloud in clouds
        for measured, fitted in zip(cloud.measured_s.tolist(), cloud.fitted_s.tolist(), strict=True)
    ]
    rows = every[:: max(1, -(-len(every) // MOST_DOTS))]
    names = [cloud.label for cloud in clouds]
    x, y = (side(field, Axis(label=f"{field.capitalize()} (ms)", is_log=True)) for field in ("measured", "fitted"))
    colour = {
        "field": "profile",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": colours(len(names))},
        "legend": {"orient": "bottom", "columns": 1, "labelLimit": 320},
    }
    shape = {
        "field": "profile",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": shapes(len(names))},
    }
    tooltip = [
        {"field": "profile"},
        {"field": "measured", "title": "measured (ms)", "format": ".4~g"},
        {"field": "fitted", "title": "fitted (ms)", "format": ".4~g"},
    ]
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "size": 16, "opacity": 0.7},
        "encoding": {
            "x": x,
            "y": y,
            "color": colour,
            "shape": shape,
            "tooltip": tooltip,
            "description": {"field": "said"},
        },
    }
    line: Spec = {
        "mark": {"type": "line", "color": "var(--faint)", "strokeWidth": 1, "aria": False},
        "encoding": {"x": x, "y": {**y, "field": "measured"}},
    }
    times = [1e3 * time for cloud in clouds for time in (*cloud.measured_s.tolist(), *cloud.fitted_s.tolist())]
    ends = [min(times), max(times)] if times else []
    band: Spec = {
        "data": {"values": [{"at": at, "low": (1 - BAND) * at, "high": (1 + BAND) * at} for at in ends]},
        "mark": {"type": "area", "color": FAINT, "opacity": 0.2, "clip": True, "aria": False},
        "encoding": {
            "x": {**x, "field": "at"},
            "y": {**y, "field": "low"},
            "y2": {"field": "high"},
        },
    }
    layer = [band, line, dots] if ends else [line, dots]
    return {"title": title, "width": 320, "height": 320, "data": {"values": rows}, "layer": layer}
