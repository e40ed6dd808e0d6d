"""The design space in panels, one a limit (the paper's figure 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Sheet
from matplotlib.ticker import FuncFormatter, MaxNLocator

from provisioner.report.figures.heatmaps import HeatMaps, edges
from provisioner.report.figures.wording import limit_text
from provisioner.report.plots.style import FAINT, INK, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DENSE = 2000
"""More dots are pixels, not shapes: a file of so many shapes is slow to open."""
LEAST, MOST = -2, (2, 5)
"""Ends of the colour scale as powers of two; the upper one is where most cells are below it."""


def draw(figure: HeatMaps) -> Sheet:
    """Colour: achieved / limit, dark is slow; line: the limit; dots: clusters that meet every limit."""
    columns = len({limit.percentile for limit in figure.limits})
    columns = columns if len(figure.limits) % columns == 0 else 3
    rows = -(-len(figure.limits) // columns)
    made = sheet(
        figure.title, f"{figure.note}\nLine: limit of the panel. Dots: every limit is met", 3.1 * columns + 1.2,
        2.35 * rows + 1.0,
    )  # fmt: skip
    grid = made.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    panels = list(grid.flat)
    for axes in panels[len(figure.limits) :]:
        axes.set_axis_off()
    most = _most(figure)
    for index, axes in enumerate(panels[: len(figure.limits)]):
        mesh = _panel(axes, figure, index, most)
        axes.set_title(limit_text(figure.limits[index]))
    made.supylabel(f"Token {figure.unit}s", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel(f"Prompt {figure.unit}s")
    bar = made.colorbar(mesh, ax=panels, extend="both", aspect=40, ticks=range(LEAST, most + 1))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda power, _: f"{2.0**power:g}"))
    bar.set_label("Achieved / limit")
    bar.ax.axhline(0, color=INK, linewidth=1.5)
    return made


def _most(figure: HeatMaps) -> int:
    with np.errstate(divide="ignore"):
        powers = np.log2(figure.ratios[figure.ratios > 0])
    return int(np.clip(np.ceil(np.quantile(powers, 0.8, method="lower")), *MOST)) if len(powers) else MOST[0]


def _panel(axes: Axes, figure: HeatMaps, index: int, most: int) -> Any:
    ratios = figure.ratios[index]
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.log2(np.clip(ratios, 2.0**LEAST, 2.0**most))
    axes.set_facecolor("#ffffff")
    mesh = axes.pcolormesh(
        edges(figure.prompts), edges(figure.tokens), powers, cmap="cividis_r", vmin=LEAST, vmax=most, rasterized=True
    )
    for colour, width in (("white", 3.0), (INK, 1.4)):
        axes.add_collection(LineCollection(figure.boundary(index), color=colour, linewidth=width, capstyle="round"))
    tokens, prompts = np.nonzero(figure.passes)
    size = float(np.clip(400 / max(len(figure.prompts), len(figure.tokens)) ** 1.6, 0.2, 8))
    is_dense = len(prompts) > DENSE
    axes.scatter(
        figure.prompts[prompts], figure.tokens[tokens], s=size, color=INK, linewidths=0, rasterized=is_dense
    )  # fmt: skip
    _mark(axes, figure)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.tick_params(color=FAINT)
    return mesh


def _mark(axes: Axes, figure: HeatMaps) -> None:
    """The optimum as a star with its name, or the nearest misses as crosses."""
    for place, cluster in enumerate(figure.marked):
        x, y = cluster.prompt_machines, cluster.token_machines
        shape: dict[str, Any] = {"marker": "*", "s": 130} if figure.any_passes else {"marker": "X", "s": 45}
        axes.scatter([x], [y], color="#e8000b", edgecolors="white", linewidths=0.8, zorder=3, **shape)
        if place == 0:
            is_right = x > figure.prompts.mean()
            is_high = y > figure.tokens.mean()
            label = axes.annotate(
                cluster.label, (x, y), xytext=(-7 if is_right else 7, -9 if is_high else 9),
                textcoords="offset points", ha="right" if is_right else "left", va="center", fontsize=8,
                fontweight="bold", zorder=4,
            )  # fmt: skip
            label.set_bbox({"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1})
