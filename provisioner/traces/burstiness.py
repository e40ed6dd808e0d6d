"""When requests arrive: rate, burstiness, ties, counted as they come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from provisioner.domain.trace import Floats, Ints

MINUTE_S = 60.0
_FIRST_DECADE, _LAST_DECADE, _BINS_A_DECADE = -9, 9, 20
GAP_EDGES_S = np.concatenate(
    ([0.0], np.logspace(_FIRST_DECADE, _LAST_DECADE, (_LAST_DECADE - _FIRST_DECADE) * _BINS_A_DECADE + 1))
)
"""Edges of the histogram of gaps: zero up to a nanosecond, then twenty bins a decade."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Burstiness:
    """Arrivals in numbers.

    Parameters
    ----------
    span_s : float
        From the first to the last arrival.
    rate_rps : float or None
        Gaps per second of the span; None where all arrive at once.
    gap_cv : float or None
        Coefficient of variation of the gaps: 1 for Poisson, more for bursts. None below two gaps.
    peak_minute : float or None
        Requests in the busiest whole minute over those in the mean one; None below two whole minutes.
    quiet_minutes : float or None
        Share of whole minutes without a request.
    ties : int
        Requests that arrive at the same time as the one before.
    most_at_once : int
        Most requests at one time.
    smallest_gap_s : float or None
        Between different times: how finely the clock, or the rounding, tells them apart.
    per_minute : (m,) int64
        Requests in each minute from the first arrival on; the last minute may be cut short.
    gap_counts : (len(GAP_EDGES_S) - 1,) int64
        Gaps in each bin; their running sum is the distribution function at the upper edges.
    """

    span_s: float
    rate_rps: float | None
    gap_cv: float | None
    peak_minute: float | None
    quiet_minutes: float | None
    ties: int
    most_at_once: int
    smallest_gap_s: float | None
    per_minute: Ints
    gap_counts: Ints


class BurstinessMeter:
    """Takes arrivals piece by piece, never decreasing."""

    def __init__(self) -> None:
        self._first_s: float | None = None
        self._last_s = 0.0
        self._gaps = 0
        self._mean_s = 0.0
        self._squares = 0.0
        self._ties = 0
        self._at_once = 0
        self._most_at_once = 0
        self._smallest_s = np.inf
        self._minutes = np.zeros(64, dtype=np.int32)
        self._bins = np.zeros(len(GAP_EDGES_S) - 1, dtype=np.int64)

    def add(self, arrival_s: Floats) -> None:
        """Take some more: (n,) seconds."""
        if not len(arrival_s):
            return
        if self._first_s is None:
            self._first_s = self._last_s = float(arrival_s[0])
            gap_s = np.diff(arrival_s)
            self._at_once = self._most_at_once = 1
        else:
            gap_s = np.diff(arrival_s, prepend=self._last_s)
        self._last_s = float(arrival_s[-1])
        self._count_minutes(arrival_s - self._first_s)
        if len(gap_s):
            self._add_gaps(gap_s)

    def result(self) -> Burstiness:
        """What has been taken until now; at least one arrival."""
        assert self._first_s is not None
        span_s = self._last_s - self._first_s
        whole = int(span_s // MINUTE_S)
        minutes = self._minutes[:whole]
        enough = whole > 1 and int(minutes.sum()) > 0
        return Burstiness(
            span_s=span_s,
            rate_rps=self._gaps / span_s if span_s > 0 and np.isfinite(self._gaps / span_s) else None,
            gap_cv=float(np.sqrt(self._squares / self._gaps) / self._mean_s)
            if self._gaps > 1 and self._mean_s > 0
            else None,
            peak_minute=float(minutes.max() / minutes.mean()) if enough else None,
            quiet_minutes=float(np.mean(minutes == 0)) if enough else None,
            ties=self._ties,
            most_at_once=self._most_at_once,
            smallest_gap_s=float(self._smallest_s) if np.isfinite(self._smallest_s) else None,
            per_minute=self._minutes[: whole + 1].astype(np.int64),
            gap_counts=self._bins.copy(),
        )

    def _add_gaps(self, gap_s: Floats) -> None:
        """Merge mean and squares of the new gaps into those before (Chan, Golub and LeVeque 1979)."""
        count, mean_s = len(gap_s), float(gap_s.mean())
        step_s = mean_s - self._mean_s
        total = self._gaps + count
        self._squares += float(np.sum((gap_s - mean_s) ** 2)) + step_s**2 * self._gaps * count / total
        self._mean_s += step_s * count / total
        self._gaps = total
        decades = np.log10(np.maximum(gap_s, 0.1 * GAP_EDGES_S[1])) - _FIRST_DECADE
        places = np.floor(decades * _BINS_A_DECADE).astype(np.int64) + 1
        self._bins += np.bincount(np.clip(places, 0, len(self._bins) - 1), minlength=len(self._bins))
        self._count_ties(gap_s)

    def _count_ties(self, gap_s: Floats) -> None:
        (apart,) = np.nonzero(gap_s > 0)
        self._ties += len(gap_s) - len(apart)
        if not len(apart):
            self._at_once += len(gap_s)
            self._most_at_once = max(self._most_at_once, self._at_once)
            return
        self._smallest_s = min(self._smallest_s, float(gap_s[apart].min()))
        runs = np.diff(apart)
        inner = int(runs.max()) if len(runs) else 0
        self._most_at_once = max(self._most_at_once, self._at_once + int(apart[0]), inner, len(gap_s) - int(apart[-1]))
        self._at_once = len(gap_s) - int(apart[-1])

    def _count_minutes(self, since_s: Floats) -> None:
        minutes = (since_s // MINUTE_S).astype(np.int64)
        low, high = int(minutes[0]), int(minutes[-1])
        if high >= len(self._minutes):
            grown = np.zeros(max(high + 1, 2 * len(self._minutes)), dtype=np.int32)
            grown[: len(self._minutes)] = self._minutes
            self._minutes = grown
        self._minutes[low : high + 1] += np.bincount(minutes - low).astype(np.int32)
