"""What there is to see of a result, as plain data: no drawing library is imported, and tests look at it.

`plots` draws figures into files, `html` into a page, `characters` on a terminal.
"""

from provisioner.report.figures.bars import Bars, BarSeries
from provisioner.report.figures.front import Front, Point
from provisioner.report.figures.heatmaps import HeatMaps
from provisioner.report.figures.lines import Axis, Lines, Panel, Series
from provisioner.report.figures.scatter import Cloud, Scatter
from provisioner.report.figures.stacks import Part, Stacks

Figure = HeatMaps | Lines | Front | Bars | Scatter | Stacks

__all__ = [
    "Axis",
    "BarSeries",
    "Bars",
    "Cloud",
    "Figure",
    "Front",
    "HeatMaps",
    "Lines",
    "Panel",
    "Part",
    "Point",
    "Scatter",
    "Series",
    "Stacks",
]
