"""How figures look: colours that differ in lightness too, no frame, names where lines end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure as Sheet
from matplotlib.ticker import (
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    MultipleLocator,
    NullFormatter,
    NullLocator,
    PercentFormatter,
)

from provisioner.report.figures.lines import Axis
from provisioner.report.plain import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as Side

INK, FAINT = "#222222", "#767676"
COLOURS = ("#004488", "#e07b2a", "#007a5a", "#7cc0ec", "#882255", "#b58900", "#111111", "#999999")
"""Told apart by people who see fewer colours, and by lightness in grey; markers and dashes tell the rest."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
GLYPHS = ("●", "■", "▲", "◆", "▼", "✚", "✖", "★")
"""The markers as letters."""
DASHES: tuple[tuple[float, ...] | str, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))  # type: ignore[assignment]
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oooo")
MOST_LIGHT = 0.16
"""Luminance of text on white: a contrast of five to one."""

_STYLE: dict[str, Any] = {
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.dpi": 120,
    "savefig.dpi": 120,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "text.parse_math": False,  # names are text: no dollar sign in them is a formula
    "svg.hashsalt": "provisioner",
    "svg.fonttype": "none",
    "hatch.linewidth": 0.6,
}


@contextmanager
def styled() -> Iterator[None]:
    """The house's style, whatever the user's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)  # type: ignore[arg-type]
        yield


def sheet(title: str, note: str, width: float, height: float) -> Sheet:
    """An empty figure with a title above and a remark below."""
    made = Sheet(figsize=(width, height))
    made.suptitle(text(title), x=0.01, ha="left", fontsize=11, fontweight="bold", wrap=True)
    if note:
        made.supxlabel(text(note), x=0.01, ha="left", fontsize=8, color=FAINT, wrap=True)
    return made


def text(name: str) -> str:
    """A name as it may stand in a figure; the control characters that matter here are escaped."""
    return printable(name) if "\n" not in name else "\n".join(printable(line) for line in name.split("\n"))


def key(axes: Axes, entries: int, **given: Any) -> None:
    """A key above the axes and below the title, in as many columns as have room."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=min(entries, 6), frameon=False, fontsize=8,
        borderaxespad=0.2, columnspacing=1.6, handletextpad=0.6, **given,
    )  # fmt: skip


def colours(count: int) -> list[str]:
    """So many colours, in a fixed order."""
    return list(islice(cycle(COLOURS), count))


def legible(colour: str) -> str:
    """The colour, darkened as far as text on white needs."""
    red, green, blue = to_rgb(colour)
    light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    share = min(1.0, (MOST_LIGHT / light) ** (1 / 2.2)) if light else 1.0
    return to_hex((share * red, share * green, share * blue))


def set_axis(side: Side, axis: Axis, values: Sequence[float]) -> None:
    """Label and scale one side; few ticks, in plain numbers."""
    side.set_label_text(text(axis.label))
    if axis.is_share:
        side.set_major_formatter(PercentFormatter(1.0))
    elif axis.is_log and values:
        side._set_axes_scale("log")  # type: ignore[attr-defined]  # noqa: SLF001 - the axes' methods are two, this is one
        side.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if max(values) < 100 * min(values) else (1.0,)))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        side.set_minor_locator(NullLocator())
        side.set_minor_formatter(NullFormatter())
    else:
        side.set_major_locator(MultipleLocator(axis.step) if axis.step else MaxNLocator(6, integer=axis.is_count))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def name_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Write each line's name at its last point `(x, y, name, colour)`, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    to_height, to_y = axes.transScale.transform, axes.transScale.inverted().transform
    bottom, top = to_height((1, low))[1], to_height((1, high))[1]
    least = (top - bottom) * 0.075
    heights: list[float] = []
    ordered = sorted(ends, key=lambda end: end[1])
    for _, y, _, _ in ordered:
        height = min(max(to_height((1, y))[1], bottom), top)
        heights.append(max(height, heights[-1] + least) if heights else height)
    overflow = max(heights[-1] - top, 0.0) if heights else 0.0
    for (x, _, name, colour), height in zip(ordered, heights, strict=True):
        place = to_y((1, height - overflow))[1]
        axes.annotate(
            text(name), (x, place), xytext=(5, 0), textcoords="offset points", color=legible(colour), va="center",
            fontsize=8, annotation_clip=False,
        )  # fmt: skip
