r"""A rate that changes by the hour, as a change of clock.

With *s(t)* the rate over its mean, and :math:`S(t) = \int_0^t s`, requests of a constant rate at times *u* become
requests of the changing rate at :math:`S^{-1}(u)`: Poisson ones stay Poisson, gamma gaps stay bursts. *S* maps the
asked time onto itself, so the mean rate is the one asked for, at every rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from provisioner.domain.trace import Floats, RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.traces.demand import Demand

HOUR_S = 3600.0
MOST_HOURS = 24 * 366


@dataclass(frozen=True, eq=False)
class Hourly:
    """Another demand, with a rate that changes by the hour.

    Parameters
    ----------
    demand : Demand
        Of a constant rate.
    rates : sequence of float
        Rate of each hour, over and over; only the proportions matter. Not negative, not all zero; at most 8,784.
    span_s : float
        Seconds over which the mean is taken.

    Raises
    ------
    InputError
        If the rates are none of this, or are all zero within the span.
    """

    demand: Demand
    rates: Sequence[float]
    span_s: float

    def __post_init__(self) -> None:
        rates = np.asarray(self.rates, dtype=np.float64)
        sound = 0 < len(rates) <= MOST_HOURS and bool(np.all(np.isfinite(rates) & (rates >= 0)))
        if not sound or self._passed(self.span_s) <= 0:
            allowed = "up to 8,784 rates, not negative, and one above 0 within the duration, as hourly:1,3,2"
            value = ",".join(f"{rate:g}" for rate in rates[:10])
            raise InputError(Fault(problem="not hourly rates", field="--arrivals", value=value, allowed=allowed))

    @property
    def replications(self) -> int | None:
        """As many as the other has."""
        return self.demand.replications

    def trace(self, replication: int, rate_rps: float, span_s: float) -> RequestTrace:
        """The other's requests, closer together in busy hours."""
        per_s = self.span_s / self._passed(self.span_s)
        trace = self.demand.trace(replication, rate_rps, self._passed(span_s) * per_s)
        arrival_s = self._reached(trace.arrival_s / per_s, span_s)
        return RequestTrace(arrival_s, trace.prompt_tokens, trace.output_tokens)

    def _passed(self, time_s: float) -> float:
        """Integral of the rates up to a time."""
        edges_s, integral = self._table(time_s)
        return float(np.interp(time_s, edges_s, integral))

    def _reached(self, passed: Floats, span_s: float) -> Floats:
        """Times at which the integral of the rates reaches some values; after an hour of no rate, its end."""
        edges_s, integral = self._table(span_s)
        hour = np.minimum(np.searchsorted(integral, passed, side="right") - 1, len(edges_s) - 2)
        rates = np.diff(integral) / HOUR_S
        times = edges_s[hour] + (passed - integral[hour]) / np.where(rates > 0, rates, 1.0)[hour]
        reached: Floats = np.minimum(np.maximum.accumulate(times), np.nextafter(span_s, 0))
        return reached

    def _table(self, time_s: float) -> tuple[Floats, Floats]:
        hours = int(time_s // HOUR_S) + 1
        rates = np.resize(np.asarray(self.rates, dtype=np.float64), hours)
        edges_s = HOUR_S * np.arange(hours + 1, dtype=np.float64)
        return edges_s, np.concatenate(([0.0], np.cumsum(rates * HOUR_S)))
