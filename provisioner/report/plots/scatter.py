"""Measured against fitted, on equal logarithmic scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure as Sheet

from provisioner.report.figures.lines import Axis
from provisioner.report.figures.scatter import BAND, Cloud, Scatter
from provisioner.report.plots.style import FAINT, MARKERS, colours, set_axis, sheet, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(figure: Scatter) -> Sheet:
    """One panel for each phase."""
    made = sheet(figure.title, figure.note, 4.4 * len(figure.panels) + 3.2, 4.9)
    grid = made.subplots(1, len(figure.panels), squeeze=False)
    for axes, (title, clouds) in zip(grid[0], figure.panels, strict=True):
        _panel(axes, title, clouds)
    names = [text(clouds[0].label + ": " + " / ".join(f"{c.within_band:.0%}" for c in clouds))
             for clouds in zip(*(clouds for _, clouds in figure.panels), strict=True)]  # fmt: skip
    dots = grid[0][0].collections[1:]
    phases = " / ".join(text(title).partition(" ")[0].lower() for title, _ in figure.panels)
    made.legend(
        dots, names, loc="outside right upper", frameon=False, fontsize=7.5, markerscale=2,
        title=f"Within {BAND:.0%} of the fit: {phases}",
        title_fontsize=8, alignment="left",
    )  # fmt: skip
    return made


def _panel(axes: Axes, title: str, clouds: tuple[Cloud, ...]) -> None:
    axes.set_title(text(title))
    times = [1e3 * time for cloud in clouds for time in (*cloud.measured_s.tolist(), *cloud.fitted_s.tolist())]
    low, high = (min(times) / 1.2, max(times) * 1.2) if times else (1.0, 10.0)
    set_axis(axes.xaxis, Axis(label="Measured (ms)", is_log=True), times)
    set_axis(axes.yaxis, Axis(label="Fitted (ms)", is_log=True), times)
    ends = [low, high]
    axes.fill_between(ends, [(1 - BAND) * e for e in ends], [(1 + BAND) * e for e in ends], color="#e6e6e6", zorder=0)
    axes.plot(ends, ends, color=FAINT, linewidth=0.8, zorder=1)
    for index, (cloud, colour) in enumerate(zip(clouds, colours(len(clouds)), strict=True)):
        axes.scatter(
            1e3 * cloud.measured_s, 1e3 * cloud.fitted_s, s=9, color=colour, alpha=0.6, linewidths=0,
            marker=MARKERS[(index + index // len(MARKERS)) % len(MARKERS)],
        )  # fmt: skip
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    axes.set_aspect("equal")
