"""Measured times against fitted ones: on the diagonal they agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from provisioner.domain.trace import Floats
from provisioner.perf import Points, fit, plausible

BAND = 0.1
"""Half-width of the band around the diagonal, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cloud:
    """The runs of one profile: (n,) float64 seconds, measured and as the fitted model has them."""

    label: str
    measured_s: Floats
    fitted_s: Floats

    @property
    def within_band(self) -> float:
        """Share of the runs that the model is right about to within the band."""
        if not len(self.measured_s):
            return float("nan")
        return float(np.mean(np.abs(self.fitted_s / self.measured_s - 1) <= BAND))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """A panel for each phase, a cloud for each profile."""

    title: str
    panels: tuple[tuple[str, tuple[Cloud, ...]], ...]
    note: str


def of_points(profiles: Iterable[Points], title: str) -> Scatter:
    """Fit each profile to all its plausible runs, and hold them against the fit."""
    prefill: list[Cloud] = []
    decode: list[Cloud] = []
    for points in profiles:
        kept = points.at(plausible(points))
        model = fit(kept)
        label = f"{kept.model} on {kept.machine}, TP {kept.tensor_parallel}"
        prefill.append(_cloud(label, kept.prefill_s, model.prefill_s(kept.total_tokens)))
        decode.append(_cloud(label, kept.decode_s, model.decode_s(kept.batch, kept.context_tokens)))
    return Scatter(
        title=title,
        panels=(("Prefill iteration", tuple(prefill)), ("Decode iteration", tuple(decode))),
        note=f"Shaded: within {BAND:.0%}. Each dot is one measured run",
    )


def _cloud(label: str, measured_s: Floats, fitted_s: Floats) -> Cloud:
    known = ~np.isnan(measured_s)
    return Cloud(label=label, measured_s=measured_s[known], fitted_s=fitted_s[known])
