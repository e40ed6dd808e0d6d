"""What a workload is made of: how its lengths are distributed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from provisioner.report.figures.lines import Axis, Lines, Panel, Series
from provisioner.traces import Description
from provisioner.traces.distribution import Distribution

MOST_POINTS = 1000
"""More would show no more."""


def of_description(description: Description, title: str) -> Lines:
    """Prompts and outputs of a trace."""
    return of_distributions(
        {"Prompt (tokens)": {title: description.prompt}, "Output (tokens)": {title: description.output}}, title
    )


def of_distributions(quantities: Mapping[str, Mapping[str, Distribution]], title: str) -> Lines:
    """One panel for each quantity, as `Prompt (tokens)`; in it the CDF of each named distribution."""
    panels = tuple(
        Panel(
            title=quantity.partition(" (")[0],
            x=Axis(label=quantity, is_log=True),
            y=Axis(label="Share of requests", is_share=True),
            series=tuple(_cdf(name, each) for name, each in named.items()),
            is_step=True,
        )
        for quantity, named in quantities.items()
    )
    return Lines(title=title, panels=panels, columns=len(panels))


def _cdf(label: str, distribution: Distribution) -> Series:
    shares = distribution.counts.cumsum() / distribution.requests
    places = np.unique(np.linspace(0, len(shares) - 1, min(MOST_POINTS, len(shares))).astype(int))
    return Series(label=label, x=distribution.values[places].astype(np.float64), y=shares[places])
