"""Latency against load, or against the count of mixed machines: one panel for each limit (figure 16)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from provisioner.report.figures.lines import Axis, Lines, Panel, Series
from provisioner.report.figures.wording import UNITS, Limited, cluster_name, limit_text
from provisioner.search import Evaluation


def against_load(found: Sequence[Evaluation], title: str) -> Lines:
    """Each cluster's achieved values at each rate."""
    return _panels(found, title, Axis(label="Load (requests/s)"), lambda e: e.rate_rps, cluster_name)


def against_machines(found: Sequence[Evaluation], title: str) -> Lines:
    """The achieved values of clusters of mixed machines, which have no second count to make a map of."""
    return _panels(
        found,
        title,
        Axis(label=f"{found[0].cluster.design.unit.capitalize()}s", is_count=True),
        lambda e: float(e.cluster.machines),
        lambda e: e.cluster.design.short,
    )


def _panels(
    found: Sequence[Evaluation],
    title: str,
    x: Axis,
    place: Callable[[Evaluation], float],
    name: Callable[[Evaluation], str],
) -> Lines:
    lines: dict[str, list[Evaluation]] = {}
    for evaluation in sorted(found, key=place):
        lines.setdefault(name(evaluation), []).append(evaluation)
    limits = [result.limit for result in found[0].results]
    panels = tuple(
        Panel(
            title=limit_text(limit),
            x=x,
            y=Axis(label=UNITS[limit.unit], is_log=True),
            series=tuple(_series(label, along, place, index) for label, along in lines.items()),
            limit=limit.limit,
            with_points=True,
        )
        for index, limit in enumerate(limits)
    )
    return Lines(title=title, panels=panels, columns=_columns(limits), note="Shaded: 95 % intervals over replications")


def _columns(limits: Sequence[Limited]) -> int:
    """Percentiles side by side, where each metric has as many of them."""
    percentiles = len({limit.percentile for limit in limits})
    return percentiles if len(limits) % percentiles == 0 else min(3, len(limits))


def _series(label: str, along: Sequence[Evaluation], place: Callable[[Evaluation], float], index: int) -> Series:
    results = [evaluation.results[index] for evaluation in along]
    intervals = [result.ci95 or (result.value, result.value) for result in results]
    return Series(
        label=label,
        x=np.array([place(evaluation) for evaluation in along]),
        y=np.array([result.value for result in results]),
        low=np.array([low for low, _ in intervals]),
        high=np.array([high for _, high in intervals]),
    )
