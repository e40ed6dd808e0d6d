"""Rows of bars in parts, with the limit of each row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure as Sheet
from matplotlib.ticker import PercentFormatter

from provisioner.report.figures.stacks import Stacks
from provisioner.report.plots.style import FAINT, HATCHES, INK, colours, key, sheet, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIMIT = "#c1121f"
FARTHEST = 2.0
"""Bars are cut there: what is twice its limit need not be told from what is ten times."""
LEGIBLE = 0.07
"""A part that is shorter, as a share of the axis, has no text of its own."""


def draw(figure: Stacks) -> Sheet:
    """A row for each thing that is taken, the first one on top; each part carries its amount."""
    made = sheet(figure.title, figure.note, 9.6, 0.62 * len(figure.rows) + 1.7)
    axes = made.subplots()
    places = list(range(len(figure.rows)))
    ends = [0.0] * len(places)
    longest = _longest(figure)
    for index, (part, colour) in enumerate(zip(figure.parts, colours(len(figure.parts)), strict=True)):
        lengths = [0.0 if math.isnan(length) else length for length in part.lengths]
        shown = [max(min(end + length, FARTHEST) - end, 0.0) for end, length in zip(ends, lengths, strict=True)]
        axes.barh(
            places, shown, 0.56, left=ends, color=colour, label=text(part.label), edgecolor="white",
            hatch=HATCHES[index % len(HATCHES)], linewidth=0.8,
        )  # fmt: skip
        for place, start, length, words in zip(places, ends, shown, part.texts, strict=True):
            if length / longest >= LEGIBLE:
                label = axes.text(start + length / 2, place, words, ha="center", va="center", fontsize=7.5)
                label.set_bbox({"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 0.8})
        ends = [end + length for end, length in zip(ends, shown, strict=True)]
    _limits(axes, figure, ends)
    axes.set_yticks(places, [text(row) for row in figure.rows])
    axes.set_ylim(len(places) - 0.5, -0.5)
    axes.set_xlim(0, longest)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel(text(figure.x_label))
    if len(figure.parts) > 1:
        key(axes, len(figure.parts))
    return made


def _longest(figure: Stacks) -> float:
    """Where the axis ends: a little beyond the limits, and beyond what goes over them."""
    totals: list[float] = [
        sum(length for length in lengths if not math.isnan(length))
        for lengths in zip(*(part.lengths for part in figure.parts), strict=True)
    ]
    return 1.02 * min(max(1.0, *totals), FARTHEST)


def _limits(axes: Axes, figure: Stacks, ends: list[float]) -> None:
    """A mark at each limit, and what stands at the end of each row."""
    for place, (is_limited, end, words) in enumerate(zip(figure.is_limited, ends, figure.ends, strict=True)):
        if is_limited:
            axes.plot([1.0, 1.0], [place - 0.42, place + 0.42], color=LIMIT, linewidth=2.0, zorder=3)
        cut = "↦ " if end >= FARTHEST else ""
        axes.annotate(
            f"{cut}{text(words)}", (1.0, place), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", fontsize=8, va="center", color=INK if is_limited else FAINT,
            annotation_clip=False,
        )  # fmt: skip
