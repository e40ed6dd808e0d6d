"""Bars around a reference at 1 (the paper's figures 18 and 19)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure as Sheet

from provisioner.report.figures.bars import Bars
from provisioner.report.plots.style import FAINT, HATCHES, INK, colours, key, sheet, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER_INCHES, UPRIGHT_INCHES = 0.063, 0.13
"""How wide a bar has to be for its amount to stand above it: level, by letters, or upright."""
HIGHEST = 3.0
"""Bars are cut there: what is three times the reference need not be told from what is thirty."""


def draw(figure: Bars) -> Sheet:
    """A cluster of bars for each group, in the order of the series; each bar carries its amount."""
    count = len(figure.series)
    is_wide = len(figure.groups) * count > 8  # noqa: PLR2004
    inches = 11.5 if is_wide else 8.2
    width = 0.84 / count
    longest = max(len(words) for series in figure.series for words in series.texts)
    turn = _turn(0.88 * inches / (len(figure.groups) + 0.2) * width, longest)
    unsaid = [] if turn is not None else ["amounts are in CSV and JSON"]
    made = sheet(figure.title, "; ".join([*([figure.note] if figure.note else []), *unsaid]), inches, 4.6)
    axes = made.subplots()
    tallest = 1.0
    for index, (series, colour) in enumerate(zip(figure.series, colours(count), strict=True)):
        places = [group - 0.42 + width * (index + 0.5) for group in range(len(figure.groups))]
        heights = [0.0 if math.isnan(value) else min(value, HIGHEST) for value in series.values]
        tallest = max(tallest, *heights)
        axes.bar(
            places, heights, width * 0.92, color=colour, label=text(series.label), edgecolor="white",
            hatch=HATCHES[index % len(HATCHES)], linewidth=0,
        )  # fmt: skip
        if turn is not None:
            _texts(axes, places, heights, series.texts, turn)
    axes.axhline(1.0, color=INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=2)
    axes.annotate(
        text(figure.reference), (1.0, 1.0), xycoords=("axes fraction", "data"), xytext=(3, 0),
        textcoords="offset points", fontsize=8, va="center", color=FAINT,
    )  # fmt: skip
    axes.set_ylim(0, tallest * (1.2 if turn else 1.12))
    axes.set_xlim(-0.6, len(figure.groups) - 0.4)
    axes.set_xticks(range(len(figure.groups)), [_two_lines(group) for group in figure.groups])
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(text(figure.y_label))
    if count > 1:
        # Patterns of thin bars need a key: names at the bars would be as wide as ten of them.
        key(axes, count)
    return made


def _turn(inches: float, letters: int) -> int | None:
    """Degrees by which amounts are turned above bars that are so wide; None where there is no room."""
    if inches >= LETTER_INCHES * letters:
        return 0
    return 90 if inches >= UPRIGHT_INCHES else None


def _texts(axes: Axes, places: Sequence[float], heights: Sequence[float], texts: Sequence[str], turn: int) -> None:
    """Each bar's amount above it, with an arrow where the bar is cut."""
    for place, height, words in zip(places, heights, texts, strict=True):
        arrow = ("→" if turn else "↑") if height >= HIGHEST else ""
        axes.annotate(
            text(f"{words} {arrow}".strip()), (place, height), xytext=(0, 3), textcoords="offset points", ha="center",
            va="bottom", fontsize=7.5 if not turn else 7, rotation=turn, zorder=3,
        ).set_bbox({"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 0.5})  # fmt: skip


def _two_lines(group: str) -> str:
    """Names that are long stand on two lines."""
    return text(group.replace(" ≤", "\n≤").replace(", ", ",\n"))
