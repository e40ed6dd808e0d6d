"""A Pareto front with its clusters named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure as Sheet
from matplotlib.lines import Line2D

from provisioner.report.figures.front import Front, Point
from provisioner.report.figures.lines import Axis
from provisioner.report.plots.names import placed
from provisioner.report.plots.style import FAINT, MARKERS, colours, key, legible, set_axis, sheet, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(figure: Front) -> Sheet:
    """Clusters by cost and power, or by cost and throughput: a marker for each design."""
    made = sheet(figure.title, figure.note, 8.2, 5.2)
    axes = made.subplots()
    set_axis(axes.xaxis, Axis(label=figure.x_label), [])
    set_axis(axes.yaxis, Axis(label=figure.y_label), [])
    designs = sorted({point.design for point in figure.points})
    colour_of = dict(zip(designs, colours(len(designs)), strict=True))
    marker_of = {design: MARKERS[(n + n // len(MARKERS)) % len(MARKERS)] for n, design in enumerate(designs)}
    for design, colour in colour_of.items():
        own = [point for point in figure.points if point.design == design]
        _dots(axes, [p for p in own if not p.passes], {"marker": "x", "s": 14, "c": colour, "alpha": 0.5})
        _dots(axes, [p for p in own if p.passes and not p.is_front], {"marker": ".", "s": 16, "c": colour})
        chosen = [p for p in own if p.is_front]
        _dots(axes, chosen, {"marker": marker_of[design], "s": 60, "c": colour, "edgecolors": "white", "zorder": 3})
    front = [point for point in figure.points if point.is_front]
    if figure.is_joined:
        axes.plot([p.x for p in front], [p.y for p in front], color=FAINT, linewidth=0.8, zorder=1)
    if front:
        _zoom(axes, front)
    if len(designs) > 1:
        keys = [Line2D([], [], color=colour_of[d], marker=marker_of[d], linestyle="", label=text(d)) for d in designs]
        key(axes, len(keys), handles=keys)
    made.draw_without_rendering()  # from here on it is known where things stand
    _names(axes, figure, colour_of)
    return made


def _dots(axes: Axes, points: list[Point], style: dict[str, object]) -> None:
    if points:
        axes.scatter([p.x for p in points], [p.y for p in points], **style)  # type: ignore[arg-type]


def _zoom(axes: Axes, front: list[Point]) -> None:
    """The front fills the figure; what is far from it is not shown."""
    for values, limits in (([p.x for p in front], axes.set_xlim), ([p.y for p in front], axes.set_ylim)):
        room = max((max(values) - min(values)) * 0.2, 0.06 * max(values))
        limits(max(min(values) - room, 0), max(values) + room)


def _names(axes: Axes, figure: Front, colour_of: dict[str, str]) -> None:
    """A name beside each, off the line and off other names; none where there is no room."""
    scale = 72 / axes.figure.dpi
    named = figure.named
    middles = [tuple(scale * axes.transData.transform((p.x, p.y))) for p in named]
    names = [text(point.name) for point in named]
    line = middles if figure.is_joined else []
    offsets = placed(middles, names, line=line, is_rising=figure.y_is_wanted)
    for point, name, offset in zip(named, names, offsets, strict=True):
        if offset is not None:
            axes.annotate(
                name, (point.x, point.y), xytext=offset, textcoords="offset points", va="center", fontsize=8,
                ha="left" if offset[0] > 0 else "right", color=legible(colour_of[point.design]), zorder=4,
            ).set_bbox({"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.3})  # fmt: skip
