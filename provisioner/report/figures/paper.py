"""The paper's bars: throughput at equal power and cost (figure 18), and what is least at one rate (figure 19)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from provisioner.report.figures.bars import Bars, BarSeries
from provisioner.report.paper import Evaluated
from provisioner.search import OBJECTIVES, UNITS
from provisioner.search.paper import DESIGNS, EQUALS, TARGET_RPS, Case

BASELINE = "H100"


def of_evaluation(evaluated: Evaluated) -> tuple[Bars, ...]:
    """Both figures of each world, relative to the baseline of H100 machines."""
    shown = []
    for world in evaluated.worlds:
        rates = {
            f"{workload}, equal {equal} (requests/s)": [
                Case("published", workload, design, equal) for design in DESIGNS
            ]
            for workload in evaluated.workloads
            for equal in EQUALS
        }
        shown.append(_bars(evaluated, world, rates, f"Throughput of the paper's clusters, profile set {world}"))
        least = {
            f"{workload}, least {by} ({UNITS[by]})": [Case("least", workload, design, by) for design in DESIGNS]
            for workload in evaluated.workloads
            if evaluated.has("least", workload)
            for by in OBJECTIVES
        }
        if least:
            shown.append(_bars(evaluated, world, least, f"Least for {TARGET_RPS:g} requests/s, profile set {world}"))
    return tuple(figure for figure in shown if figure.has_values)


def _bars(evaluated: Evaluated, world: str, groups: Mapping[str, Sequence[Case]], title: str) -> Bars:
    values = {name: [evaluated.finding(world, case).value for case in cases] for name, cases in groups.items()}
    place = DESIGNS.index(BASELINE)
    series = tuple(
        BarSeries(
            label=design,
            values=tuple(_ratio(found[index], found[place]) for found in values.values()),
            texts=tuple("none" if (value := found[index]) is None else f"{value:,.4g}" for found in values.values()),
        )
        for index, design in enumerate(DESIGNS)
    )
    return Bars(
        title=title,
        y_label=f"Relative to Baseline-{BASELINE}",
        groups=tuple(values),
        series=series,
        reference=f"Baseline-{BASELINE}",
    )


def _ratio(value: float | None, base: float | None) -> float:
    return value / base if value is not None and base else math.nan
