"""Panels of lines, named where they end; the limit as a line with its value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure as Sheet

from provisioner.report.figures.lines import Lines, Panel, Series
from provisioner.report.plots.style import DASHES, FAINT, GLYPHS, MARKERS, colours, name_ends, set_axis, sheet, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provisioner.domain.trace import Floats

LIMIT = "#c1121f"
DENSE = 60
"""Lines of more points are not dashed: noise and dashes look alike."""
BEYOND = 4.0
"""Curves are cut where they are so many times beyond their limit: there they say only that it is missed."""


def draw(figure: Lines) -> Sheet:
    """One axes for each panel; names of lines stand in the panels of the last column."""
    rows = -(-len(figure.panels) // figure.columns)
    width = {1: 7.6, 2: 9.2}.get(figure.columns, 3.0 * figure.columns + 1.4)
    made = sheet(figure.title, figure.note, width, (2.1 if rows > 1 else 3.0) * rows + 0.9)
    grid = made.subplots(rows, figure.columns, squeeze=False, sharex=rows > 1)
    for index, axes in enumerate(grid.flat):
        if index >= len(figure.panels):
            axes.set_axis_off()
            continue
        panel = figure.panels[index]
        is_last = (index + 1) % figure.columns == 0 or index + 1 == len(figure.panels)
        _panel(axes, panel, is_named=is_last or not _same_names(figure))
        if index < (rows - 1) * figure.columns:
            axes.set_xlabel("")
        if index % figure.columns and panel.y == figure.panels[index - 1].y:
            axes.set_ylabel("")
    return made


def _same_names(figure: Lines) -> bool:
    return len({tuple(series.label for series in panel.series) for panel in figure.panels}) == 1


def _panel(axes: Axes, panel: Panel, *, is_named: bool) -> None:
    axes.set_title(text(panel.title))
    shown = [value for series in panel.series for value in _shown(series.y, panel.limit).tolist() if value > 0]
    set_axis(axes.xaxis, panel.x, [x for series in panel.series for x in series.x.tolist() if x > 0])
    set_axis(axes.yaxis, panel.y, [*shown, *([panel.limit] if panel.limit else [])])
    ends: list[tuple[float, float, str, str]] = []
    for index, (series, colour) in enumerate(zip(panel.series, colours(len(panel.series)), strict=True)):
        end = _line(axes, panel, series, colour, index)
        if end is not None and is_named and len(panel.series) > 1:
            glyph = f"{GLYPHS[index % len(GLYPHS)]} " if panel.with_points else ""
            ends.append((*end, f"{glyph}{series.label}", colour))
    if panel.limit is not None:
        is_falling = any(len(series.y) and series.y[0] > series.y[-1] for series in panel.series)
        axes.axhline(panel.limit, color=LIMIT, linewidth=1.2, linestyle=(0, (4, 2)))
        axes.annotate(
            f"limit {panel.limit:g}", (float(is_falling), panel.limit), xycoords=("axes fraction", "data"),
            xytext=(-3 if is_falling else 3, 2), textcoords="offset points", color=LIMIT, fontsize=8, va="bottom",
            ha="right" if is_falling else "left", zorder=3,
        ).set_bbox({"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.4})  # fmt: skip
        heights = [*shown, panel.limit]
        axes.set_ylim(min(heights) * 0.8, min(max(heights) * 1.3, panel.limit * BEYOND))
    elif panel.y.is_share:
        axes.set_ylim(0, 1.02)
    elif panel.is_step:
        axes.set_ylim(0)
    name_ends(axes, ends)


def _shown(values: Floats, limit: float | None) -> Floats:
    """Finite values, cut far beyond the limit."""
    most = np.inf if limit is None else limit * BEYOND * 1.5
    return np.where(np.isfinite(values) | np.isinf(values), np.minimum(values, most), np.nan)


def _line(axes: Axes, panel: Panel, series: Series, colour: str, index: int) -> tuple[float, float] | None:
    """Draw one; returns where it ends."""
    y = _shown(series.y, panel.limit)
    style = "steps-post" if panel.is_step else "default"
    marker = MARKERS[index % len(MARKERS)] if panel.with_points else None
    axes.plot(
        series.x, y, color=colour, linewidth=1.5, drawstyle=style, marker=marker, markersize=3.5,
        linestyle=DASHES[index % len(DASHES)] if len(y) <= DENSE or panel.is_step else "-",
    )  # fmt: skip
    if series.low is not None and series.high is not None:
        low, high = _shown(series.low, panel.limit), _shown(series.high, panel.limit)
        axes.fill_between(series.x, np.maximum(low, 1e-9), high, color=colour, alpha=0.18, linewidth=0)
    known = np.flatnonzero(np.isfinite(y))
    if not len(known):
        axes.annotate("no values", (0.5, 0.5), xycoords="axes fraction", color=FAINT)
        return None
    # What is dense is noise, and its last value no place for a name.
    height = y[known[-1]] if len(y) <= DENSE or panel.is_step else np.median(y[known])
    return float(series.x[known[-1]]), float(height)
