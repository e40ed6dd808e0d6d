"""Figures into files, by matplotlib, which is imported only when something is drawn.

One module draws one kind of figure; `DRAWERS` says which.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from provisioner.report.figures import Bars, Figure, Front, HeatMaps, Lines, Scatter, Stacks

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

SUFFIXES = (".png", ".svg", ".pdf")
_SAME_BYTES: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""Metadata without the time of day: the same figure is the same file."""


def _drawers() -> dict[type, Callable[[Any], Sheet]]:
    from provisioner.report.plots import bars, front, heatmaps, lines, scatter, stacks

    return {
        HeatMaps: heatmaps.draw,
        Lines: lines.draw,
        Front: front.draw,
        Bars: bars.draw,
        Scatter: scatter.draw,
        Stacks: stacks.draw,
    }


def draw(figure: Figure) -> Sheet:
    """Draw a figure in the house's style."""
    from provisioner.report.plots.style import styled

    with styled():
        return _drawers()[type(figure)](figure)


def image(figure: Figure, suffix: str) -> bytes:
    """The figure as the content of a file of that suffix, one of `SUFFIXES`."""
    from provisioner.report.plots.style import styled

    content = io.BytesIO()
    with styled(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name may have letters that the font lacks: boxes are drawn for them
        draw(figure).savefig(content, format=suffix[1:], metadata=_SAME_BYTES[suffix])
    return content.getvalue()
