"""A Pareto front with its clusters named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure as Sheet

from provisioner.report.figures.front import Front, Point
from provisioner.report.figures.lines import Axis
from provisioner.report.plots.style import FAINT, INK, MARKERS, colours, legible, set_axis, sheet, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 24
"""More would hide each other: then every second, third ... is named."""


def draw(figure: Front) -> Sheet:
    """Clusters by cost and power, or by cost and throughput: a marker for each design."""
    made = sheet(figure.title, figure.note, 8.2, 5.2)
    axes = made.subplots()
    set_axis(axes.xaxis, Axis(label=figure.x_label), [])
    set_axis(axes.yaxis, Axis(label=figure.y_label), [])
    designs = sorted({point.design for point in figure.points})
    for design, colour, marker in zip(designs, colours(len(designs)), MARKERS * len(designs), strict=False):
        own = [point for point in figure.points if point.design == design]
        _dots(axes, [p for p in own if not p.passes], {"marker": "x", "s": 9, "c": colour, "alpha": 0.35})
        _dots(axes, [p for p in own if p.passes and not p.is_front], {"marker": ".", "s": 12, "c": colour})
        chosen = [p for p in own if p.is_front]
        _dots(axes, chosen, {"marker": marker, "s": 60, "c": colour, "edgecolors": "white", "zorder": 3})
    front = [point for point in figure.points if point.is_front]
    axes.plot([p.x for p in front], [p.y for p in front], color=FAINT, linewidth=0.8, zorder=1)
    if front:
        _zoom(axes, front)
    _names(axes, front or _nearest(figure), dict(zip(designs, colours(len(designs)), strict=True)))
    return made


def _dots(axes: Axes, points: list[Point], style: dict[str, object]) -> None:
    if points:
        axes.scatter([p.x for p in points], [p.y for p in points], **style)  # type: ignore[arg-type]


def _zoom(axes: Axes, front: list[Point]) -> None:
    """The front fills the figure; what is far from it is not shown."""
    for values, limits in (([p.x for p in front], axes.set_xlim), ([p.y for p in front], axes.set_ylim)):
        room = max((max(values) - min(values)) * 0.35, 0.06 * max(values))
        limits(max(min(values) - room, 0), max(values) + room)


def _nearest(figure: Front) -> list[Point]:
    return sorted(figure.points, key=lambda point: point.x)[:1]


def _names(axes: Axes, front: list[Point], by_design: dict[str, str]) -> None:
    """Names above and below the front by turns, so that neighbours do not meet."""
    step = -(-len(front) // MOST_NAMES)
    for index, point in enumerate(front[::step] if step else ()):
        is_above = index % 2 == 0
        axes.annotate(
            text(point.name), (point.x, point.y), xytext=(6, 9 if is_above else -9), textcoords="offset points",
            ha="left" if is_above else "right", va="center", fontsize=8,
            color=legible(by_design.get(point.design, INK)),
        )  # fmt: skip
