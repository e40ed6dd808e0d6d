"""The design space as one map, of whichever limit is chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence

from provisioner.domain.trace import Ints
from provisioner.report.figures.heatmaps import HeatMaps, Segment, edges
from provisioner.report.figures.wording import limit_text
from provisioner.report.html.charts.common import MOST_CELLS, WIDE, Spec, number, said

_SILENT: Spec = {"aria": False, "tooltip": None}
"""Marks that repeat what the cells say."""
WORST = "all limits, the worst"
STAR = "M0,-1L0.23,-0.31L0.95,-0.31L0.36,0.12L0.59,0.81L0,0.38L-0.59,0.81L-0.36,0.12L-0.95,-0.31L-0.23,-0.31Z"


def spec(figure: HeatMaps) -> Spec:
    """Cells with their tooltips, the boundary of the limit, dots where every limit is met, and the optimum."""
    names = [limit_text(limit) for limit in figure.limits]
    at = {
        "x": _counts("p", f"Prompt {figure.unit}s", figure.prompts),
        "y": _counts("t", f"Token {figure.unit}s", figure.tokens),
    }
    passing = [
        {"p": int(figure.prompts[p]), "t": int(figure.tokens[t])}
        for t, p, _ in figure.cells(MOST_CELLS)
        if figure.passes[t, p]
    ]
    dots: Spec = {"type": "point", "filled": True, "size": 7, "color": "#000", "opacity": 1, **_SILENT}
    return {
        **WIDE,
        "params": [
            {
                "name": "shown",
                "value": WORST,
                "bind": {"input": "select", "name": "Limit shown ", "options": [WORST, *names]},
            }
        ],
        "height": 380,
        "layer": [
            _map(figure, names),
            _border(figure, names),
            {"data": {"values": passing}, "mark": dots, "encoding": at},
            *_marks(figure, at),
        ],
    }


def _map(figure: HeatMaps, names: Sequence[str]) -> Spec:
    colour = {
        "field": "ratio",
        "type": "quantitative",
        "title": "achieved / limit",
        "scale": {"type": "log", "base": 2, "domain": [0.25, 4], "clamp": True, "scheme": "cividis", "reverse": True},
        "legend": {"format": ".2~f", "values": [0.25, 0.5, 1, 2, 4]},
    }
    return {
        "data": {"values": _cells(figure, names)},
        "transform": [
            {"calculate": f"shown == {WORST!r} ? datum.worst : datum.r[indexof({list(names)!r}, shown)]", "as": "ratio"}
        ],
        "mark": {"type": "rect", "cursor": "crosshair"},
        "encoding": {
            "x": _counts("x0", f"Prompt {figure.unit}s", figure.prompts),
            "x2": {"field": "x1"},
            "y": _counts("y0", f"Token {figure.unit}s", figure.tokens),
            "y2": {"field": "y1"},
            "color": colour,
            "tooltip": [{"field": "cluster"}, {"field": "verdict"}, *({"field": name} for name in names)],
            "description": {"field": "said"},
        },
    }


def _counts(field: str, title: str, counts: Ints) -> Spec:
    """An axis from the first cell to the last, whatever else is drawn."""
    ends = edges(counts)
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [float(ends[0]), float(ends[-1])], "nice": False},
        "axis": {"format": "d", "tickMinStep": 1, "grid": False},
    }


def _border(figure: HeatMaps, names: Sequence[str]) -> Spec:
    """Where the limit that is shown is just met; of all limits, where the worst is."""
    segments = [
        {"limit": name, "x": a[0], "y": a[1], "x2": b[0], "y2": b[1]}
        for index, name in enumerate([*names, WORST])
        for a, b in _joined(figure.boundary(index if index < len(names) else None))
    ]
    return {
        "data": {"values": segments},
        "transform": [{"filter": "datum.limit == shown"}],
        "mark": {"type": "rule", "color": "#000", "strokeWidth": 2.5, **_SILENT},
        "encoding": {
            "x": _counts("x", f"Prompt {figure.unit}s", figure.prompts),
            "x2": {"field": "x2"},
            "y": _counts("y", f"Token {figure.unit}s", figure.tokens),
            "y2": {"field": "y2"},
        },
    }


def _joined(segments: Sequence[Segment]) -> list[Segment]:
    """Segments that go on where another ends, in the same direction, as one."""

    def place(segment: Segment) -> tuple[int, float, float]:
        (x, y), (other, _) = segment
        return (0, x, y) if x == other else (1, y, x)

    found: list[Segment] = []
    for segment in sorted(segments, key=place):
        if found and found[-1][1] == segment[0] and place(found[-1])[:2] == place(segment)[:2]:
            found[-1] = (found[-1][0], segment[1])
        else:
            found.append(segment)
    return found


def _cells(figure: HeatMaps, names: Sequence[str]) -> list[Spec]:
    found = []
    for t, p, (left, right, low, high) in figure.cells(MOST_CELLS):
        ratios = figure.ratios[:, t, p].tolist()
        worst = max(ratio for ratio in ratios if not math.isnan(ratio))
        cluster = f"{figure.prompts[p]}P+{figure.tokens[t]}T"
        verdict = "passes" if figure.passes[t, p] else "misses"
        found.append(
            {
                "x0": left,
                "x1": right,
                "y0": low,
                "y1": high,
                "cluster": cluster,
                "verdict": verdict,
                "worst": number(worst),
                "r": [number(ratio) for ratio in ratios],
                "said": f"{cluster} {verdict}; the worst is {said(worst)} of its limit",
                **{name: f"{said(ratio)} of it" for name, ratio in zip(names, ratios, strict=True)},
            }
        )
    return found


def _marks(figure: HeatMaps, at: Spec) -> list[Spec]:
    """The optimum as a star, or the nearest misses as crosses, named."""
    values = [
        {"p": cluster.prompt_machines, "t": cluster.token_machines, "name": cluster.label} for cluster in figure.marked
    ]
    style = {"filled": True, "size": 240, "color": "#e8000b", "stroke": "#fff", "strokeWidth": 1, "opacity": 1}
    shape = STAR if figure.any_passes else "cross"
    text = {"type": "text", "align": "left", "dx": 12, "dy": -10, "fontWeight": "bold", "color": "#000", **_SILENT}
    encoding = {**at, "text": {"field": "name", "type": "nominal"}}
    outline = {**text, "stroke": "#fff", "strokeWidth": 3, "strokeOpacity": 0.85}
    return [
        {"data": {"values": values}, "mark": {"type": "point", "shape": shape, **style, **_SILENT}, "encoding": at},
        {"data": {"values": values[:1]}, "mark": outline, "encoding": encoding},
        {"data": {"values": values[:1]}, "mark": text, "encoding": encoding},
    ]
