"""Measured points beside what the model fitted to them says: for a table, or for a plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from provisioner.perf.fit import fit, plausible, pooled
from provisioner.perf.model import PerformanceModel
from provisioner.perf.points import Points

Floats = NDArray[np.float64]
Phase = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """One phase of a profile, one shape a row: (n,) float64 each.

    `size` is prompt tokens in all for prefill and requests in the batch for decode; `context_tokens` is the sum of
    the contexts, half of the outputs included; times are in seconds.
    """

    phase: Phase
    size: Floats
    context_tokens: Floats
    measured_s: Floats
    fitted_s: Floats

    @property
    def error(self) -> Floats:
        """(n,) float64: fitted over measured, less 1."""
        return self.fitted_s / self.measured_s - 1

    @property
    def mape(self) -> float:
        """Mean absolute percentage error, as a fraction: of the fit on its own points, not of a prediction."""
        return float(np.abs(self.error).mean()) if len(self.size) else np.nan

    @property
    def worst(self) -> float:
        """Largest absolute error, as a fraction."""
        return float(np.abs(self.error).max()) if len(self.size) else np.nan


def compare(points: Points, model: PerformanceModel | None = None) -> tuple[Compared, Compared]:
    """Compare points with a model, by default the one fitted to them: prefill, then decode.

    Raises
    ------
    InputError
        If the points cannot be fitted.
    """
    fitted = model or fit(points)
    runs = pooled(points.at(plausible(points)))
    prefill, decode = runs.at(~np.isnan(runs.prefill_s)), runs.at(~np.isnan(runs.decode_s))
    return (
        Compared(
            phase="prefill",
            size=prefill.total_tokens,
            context_tokens=prefill.total_tokens,
            measured_s=prefill.prefill_s,
            fitted_s=fitted.prefill_s(prefill.total_tokens),
        ),
        Compared(
            phase="decode",
            size=decode.batch,
            context_tokens=decode.context_tokens,
            measured_s=decode.decode_s,
            fitted_s=fitted.decode_s(decode.batch, decode.context_tokens),
        ),
    )
