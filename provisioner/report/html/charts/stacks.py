"""Rows of bars in parts, with the limit of each row."""

from __future__ import annotations

import math

from provisioner.report.figures.stacks import Stacks
from provisioner.report.html.charts.common import ABOVE, COLOURS, INK, LIMIT, WIDE, Spec, number, said

FARTHEST = 2.0
"""Bars are cut there."""
LEGIBLE = 0.07
"""A part that is shorter, as a share of the axis, has no text of its own."""


def spec(figure: Stacks) -> Spec:
    """Parts one after the other; at the end of each row what it amounts to."""
    y: Spec = {
        "field": "row",
        "type": "nominal",
        "title": None,
        "sort": list(figure.rows),
        "axis": {"ticks": False, "labelLimit": 150, "labelOverlap": False},
    }
    rows = _parts(figure)
    most = min(max([1.0, *(row["to"] for row in rows)]), FARTHEST)
    x: Spec = {
        "field": "from",
        "type": "quantitative",
        "title": figure.x_label,
        "scale": {"domain": [0, most * 1.02], "nice": False},
        "axis": {"format": ".0%", "tickCount": 5, "grid": False},
    }
    names = [part.label for part in figure.parts]
    colour = {"field": "part", "type": "nominal", "title": None, "scale": {"domain": names, "range": COLOURS}}
    tooltip = [{"field": "part"}, {"field": "row", "title": "of"}, {"field": "text", "title": "is"}]
    bars: Spec = {
        "mark": {"type": "bar", "clip": True, "height": {"band": 0.45}, "yOffset": 6, "stroke": "var(--page)"},
        "encoding": {
            "x": x,
            "x2": {"field": "to"},
            "y": y,
            "color": {**colour, "legend": ABOVE if len(names) > 1 else None},
            "tooltip": tooltip,
            "description": {"field": "said"},
        },
    }
    told = [{"row": row, "end": _line(end)} for row, end in zip(figure.rows, figure.ends, strict=True)]
    ends: Spec = {
        "data": {"values": told},
        "mark": {"type": "text", "align": "left", "x": 2, "dy": -15, "aria": False, "color": INK},
        "encoding": {"y": y, "text": {"field": "end", "type": "nominal"}},
    }
    return {
        **WIDE,
        "height": 54 * len(figure.rows),
        "data": {"values": rows},
        "layer": [bars, *_texts(y, most), _limits(figure, x, y), ends],
    }


def _texts(y: Spec, most: float) -> list[Spec]:
    """Amounts in those parts that are long enough for them."""
    text: Spec = {"type": "text", "yOffset": 6, "fontSize": 10, "aria": False, "clip": True}
    at: Spec = {
        "x": {"field": "middle", "type": "quantitative"},
        "y": y,
        "text": {"field": "text", "type": "nominal"},
    }
    roomy = [{"filter": f"datum.to - datum.from > {LEGIBLE * most:g}"}]
    outline = {**text, "stroke": "var(--page)", "strokeWidth": 4, "strokeJoin": "round"}
    return [{"transform": roomy, "mark": mark, "encoding": at} for mark in (outline, {**text, "color": INK})]


def _line(end: str) -> str:
    return end.replace("\n", "; ")


def _limits(figure: Stacks, x: Spec, y: Spec) -> Spec:
    limited = [row for row, is_limited in zip(figure.rows, figure.is_limited, strict=True) if is_limited]
    return {
        "data": {"values": [{"row": row, "from": 1} for row in limited]},
        "mark": {"type": "tick", "color": LIMIT, "thickness": 3, "height": {"band": 0.6}, "yOffset": 6, "aria": False},
        "encoding": {"x": x, "y": y},
    }


def _parts(figure: Stacks) -> list[Spec]:
    found: list[Spec] = []
    ends = [0.0] * len(figure.rows)
    for part in figure.parts:
        for place, (row, length, text) in enumerate(zip(figure.rows, part.lengths, part.texts, strict=True)):
            if math.isnan(length):
                continue
            start, ends[place] = ends[place], ends[place] + length
            found.append(
                {
                    "row": row,
                    "part": part.label,
                    "from": number(start),
                    "to": number(ends[place]),
                    "middle": number(start + length / 2),
                    "text": text,
                    "said": f"{row}: {part.label} {text}, {said(length)} of the limit",
                }
            )
    return found
