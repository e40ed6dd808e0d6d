"""A Pareto front with all that was simulated."""

from __future__ import annotations

from provisioner.report.figures.front import Front
from provisioner.report.figures.lines import Axis
from provisioner.report.html.charts.common import ABOVE, MOST_DOTS, WIDE, Spec, colours, number, shapes, side


def spec(figure: Front) -> Spec:
    """The front with names, and the others as dots; it can be zoomed."""
    kinds = list(figure.kinds)
    designs = sorted({point.design for point in figure.points})
    shown = sorted(figure.points, key=lambda p: (not p.is_front, not p.passes, p.excess))[:MOST_DOTS]
    named = {id(p) for p in figure.named}
    turn = _turn([p.x for p in shown])
    rows = [
        {
            "x": number(p.x),
            "y": number(p.y),
            "name": p.name,
            "design": p.design,
            "detail": p.detail,
            "kind": figure.kinds[0 if p.is_front else 1 if p.passes else 2],
            "named": id(p) in named,
            "side": "left" if p.x > turn else "right",
        }
        for p in shown
    ]
    x, y = side("x", Axis(label=figure.x_label)), side("y", Axis(label=figure.y_label))
    for axis in (x, y):
        axis["scale"]["padding"] = 24
    of_design: Spec = {"field": "design", "type": "nominal", "title": None, "legend": {**ABOVE, "columns": 6}}
    legend: Spec = {**ABOVE, "symbolType": "circle", "values": [k for k in kinds if any(r["kind"] == k for r in rows)]}
    encoding: Spec = {
        "x": x,
        "y": y,
        "color": {
            **of_design,
            "scale": {"domain": designs, "range": colours(len(designs))},
        },
        "shape": {**of_design, "scale": {"domain": designs, "range": shapes(len(designs))}},
        "size": {
            "field": "kind",
            "type": "ordinal",
            "sort": kinds,
            "scale": {"domain": kinds, "range": [110, 26, 12]},
            "title": None,
            "legend": legend,
        },
        "opacity": {
            "field": "kind",
            "type": "ordinal",
            "sort": kinds,
            "scale": {"domain": kinds, "range": [1, 0.8, 0.35]},
            "title": None,
            "legend": legend,
        },
        "tooltip": [{"field": "name", "title": "cluster"}, {"field": "kind", "title": "verdict"}, {"field": "detail"}],
        "description": {"field": "detail"},
    }
    chosen = [{"filter": f"datum.kind == {figure.kinds[0]!r}"}]
    line: Spec = {
        "transform": chosen,
        "mark": {"type": "line", "color": "var(--faint)", "strokeWidth": 1, "aria": False},
        "encoding": {"x": x, "y": y},
    }
    names: list[Spec] = [
        {
            "transform": [{"filter": f"datum.named && datum.side == {where!r}"}],
            "mark": {"type": "text", "align": align, "dx": dx, "dy": -8, "aria": False},
            "encoding": {"x": x, "y": y, "text": {"field": "name", "type": "nominal"}},
        }
        for where, align, dx in (("right", "left", 9), ("left", "right", -9))
        if any(row["side"] == where and row["named"] for row in rows)
    ]
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "stroke": "var(--page)", "strokeWidth": 0.5},
        "encoding": encoding,
        "params": [{"name": "zoom", "select": "interval", "bind": "scales"}],
    }
    has_front = any(point.is_front for point in shown)
    layer = [*([line] if has_front and figure.is_joined else []), dots, *names]
    return {**WIDE, "height": 380, "data": {"values": rows}, "layer": layer}


def _turn(xs: list[float]) -> float:
    """From there on names stand to the left of their points."""
    return min(xs) + 0.7 * (max(xs) - min(xs))
