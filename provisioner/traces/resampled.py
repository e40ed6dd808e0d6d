"""New traces like a recorded one: runs of consecutive requests, drawn again and again from anywhere in it.

A run keeps its gaps and its lengths together, so bursts, and lengths that come together, stay as they are within it
(the circular block bootstrap of Politis and Romano, 1992). So a recording, of which there is only one, has
replications, and its percentiles have intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from provisioner.domain.trace import Floats, Ints, RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.traces.arrivals import Recorded
from provisioner.traces.demand import Sequenced
from provisioner.traces.seeds import streams
from provisioner.traces.sequence import RequestSequence

MOST_RUN = 1_000_000
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Resampled(Sequenced):
    """Demand drawn in runs from a recording.

    Parameters
    ----------
    recorded : RequestTrace
        At least two arrival times.
    seed : int
        See `seeds.streams`.
    run : int
        Requests in a run, 1 to a million: 1 keeps neither bursts nor order, the length of the recording all of it.

    Raises
    ------
    InputError
        If the recording has no rate, or the run is out of range.
    """

    recorded: RequestTrace
    seed: int
    run: int

    def __post_init__(self) -> None:
        _ = Recorded(self.recorded)
        if not 1 <= self.run <= MOST_RUN:
            allowed = f"requests in a run, 1 to {MOST_RUN:,}"
            raise InputError(Fault(problem="out of range", field="--arrivals", value=self.run, allowed=allowed))

    def _sequence(self, replication: int) -> RequestSequence:
        drawn = _Runs(self.recorded, self.run, streams(self.seed, replication).arrivals)
        return RequestSequence(drawn.unit_arrivals(), drawn.lengths)


class _Runs:
    """One sequence: arrivals at one request a second on average, and the lengths that belong to them."""

    def __init__(self, recorded: RequestTrace, run: int, rng: np.random.Generator) -> None:
        self._recorded = recorded
        self._gap = np.diff(recorded.arrival_s) * Recorded(recorded).rate_rps
        self._run = min(run, len(self._gap))
        self._rng = rng
        self._rows: list[Ints] = []

    def unit_arrivals(self) -> Iterator[Floats]:
        total = 0.0
        while True:
            starts = self._rng.integers(len(self._gap), size=max(1, _BLOCK // self._run))
            gaps = (starts[:, None] + np.arange(self._run)).ravel() % len(self._gap)
            self._rows.append(gaps + 1)  # a gap ends with the arrival of its request
            times = total + np.cumsum(self._gap[gaps])
            total = float(times[-1])
            yield times

    def lengths(self, count: int) -> tuple[Ints, Ints]:
        rows = np.concatenate(self._rows)
        assert len(rows) == count
        self._rows.clear()
        return self._recorded.prompt_tokens[rows], self._recorded.output_tokens[rows]
