"""What a workload is made of: how its lengths and gaps are distributed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from provisioner.domain.trace import Floats
from provisioner.report.figures.lines import Axis, Lines, Panel, Series

MOST_POINTS = 1000
"""More would show no more."""


def of_samples(samples: Mapping[str, Mapping[str, Floats]], title: str) -> Lines:
    """One panel for each quantity, as `Prompt (tokens)`; in it one CDF for each named sample."""
    panels = tuple(
        Panel(
            title=quantity.partition(" (")[0],
            x=Axis(label=quantity, is_log=True),
            y=Axis(label="Share of requests", is_share=True),
            series=tuple(_cdf(name, values) for name, values in named.items()),
            is_step=True,
        )
        for quantity, named in samples.items()
    )
    return Lines(title=title, panels=panels, columns=len(panels))


def _cdf(label: str, values: Floats) -> Series:
    ordered = np.sort(values[values > 0]).astype(np.float64)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(MOST_POINTS, len(ordered))).astype(int))
    return Series(label=label, x=ordered[places], y=(places + 1) / max(len(ordered), 1))
