"""A Pareto front with all that was simulated."""

from __future__ import annotations

from provisioner.report.figures.front import Front
from provisioner.report.figures.lines import Axis
from provisioner.report.html.charts.common import COLOURS, MOST_DOTS, SHAPES, WIDE, Spec, number, side


def spec(figure: Front) -> Spec:
    """The front with names, and the others as dots; it can be zoomed."""
    kinds = ["not dominated", "passes", "misses"]
    designs = sorted({point.design for point in figure.points})
    shown = sorted(figure.points, key=lambda p: (not p.is_front, not p.passes))[:MOST_DOTS]
    rows = [
        {
            "x": number(p.x),
            "y": number(p.y),
            "name": p.name,
            "design": p.design,
            "detail": p.detail,
            "kind": kinds[0] if p.is_front else kinds[1] if p.passes else kinds[2],
        }
        for p in shown
    ]
    x, y = side("x", Axis(label=figure.x_label)), side("y", Axis(label=figure.y_label))
    for axis in (x, y):
        axis["scale"]["padding"] = 24
    encoding: Spec = {
        "x": x,
        "y": y,
        "color": {"field": "design", "type": "nominal", "scale": {"domain": designs, "range": COLOURS}},
        "shape": {"field": "design", "type": "nominal", "scale": {"domain": designs, "range": SHAPES}},
        "size": {
            "field": "kind",
            "type": "ordinal",
            "sort": kinds,
            "scale": {"domain": kinds, "range": [110, 26, 12]},
            "title": None,
        },
        "opacity": {
            "field": "kind",
            "type": "ordinal",
            "sort": kinds,
            "scale": {"domain": kinds, "range": [1, 0.8, 0.35]},
            "title": None,
        },
        "tooltip": [{"field": "name", "title": "cluster"}, {"field": "kind", "title": "verdict"}, {"field": "detail"}],
        "description": {"field": "detail"},
    }
    chosen = [{"filter": "datum.kind == 'not dominated'"}]
    line: Spec = {
        "transform": chosen,
        "mark": {"type": "line", "color": "var(--faint)", "strokeWidth": 1, "aria": False},
        "encoding": {"x": x, "y": y},
    }
    names: Spec = {
        "transform": chosen,
        "mark": {"type": "text", "align": "left", "dx": 9, "dy": -8, "aria": False},
        "encoding": {"x": x, "y": y, "text": {"field": "name", "type": "nominal"}},
    }
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "stroke": "var(--page)", "strokeWidth": 0.5},
        "encoding": encoding,
        "params": [{"name": "zoom", "select": "interval", "bind": "scales"}],
    }
    has_front = any(point.is_front for point in shown)
    return {**WIDE, "height": 380, "data": {"values": rows}, "layer": [line, dots, names] if has_front else [dots]}
