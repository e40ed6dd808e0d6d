"""What is asked of a cluster: requests at any rate, in as many replications as one likes.

A cluster is compared with others, and with itself at other rates, on the same requests (common random
numbers): replication *r* has the same lengths in the same order at every rate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol

import numpy as np

from provisioner.domain.trace import Ints, RequestTrace
from provisioner.domain.value import remade
from provisioner.traces.arrivals import ArrivalProcess
from provisioner.traces.sequence import RequestSequence
from provisioner.traces.sizes import SizeTable


class Demand(Protocol):
    """Gives the requests of a replication at a rate."""

    @property
    def replications(self) -> int | None:
        """How many replications differ; None if as many as one likes."""

    def trace(self, replication: int, rate_rps: float, span_s: float) -> RequestTrace:
        """The requests of one replication that arrive within `span_s` seconds at `rate_rps`. Thread-safe."""


@dataclass(frozen=True, eq=False)
class Sequenced(ABC):
    """Demand that draws a sequence for each replication, of which every rate has the first requests."""

    _sequences: dict[int, RequestSequence] = field(default_factory=dict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return remade(self)

    @property
    def replications(self) -> int | None:
        """As many as one likes."""
        return None

    def trace(self, replication: int, rate_rps: float, span_s: float) -> RequestTrace:
        """The first requests of the replication's sequence. Thread-safe."""
        with self._lock:
            if replication not in self._sequences:
                self._sequences[replication] = self._sequence(replication)
            return self._sequences[replication].at_rate(rate_rps, span_s)

    @abstractmethod
    def _sequence(self, replication: int) -> RequestSequence:
        """The requests of a replication, drawn as they are asked for."""


@dataclass(frozen=True, eq=False)
class Drawn(Sequenced):
    """Lengths from a table, arrivals from a process."""

    sizes: SizeTable
    seed: int
    arrivals: ArrivalProcess

    def _sequence(self, replication: int) -> RequestSequence:
        return RequestSequence.drawn(self.sizes, seed=self.seed, replication=replication, arrivals=self.arrivals)


@dataclass(frozen=True, eq=False)
class Replayed:
    """A recorded trace: as it is at its own rate, scaled in time at another."""

    recorded: RequestTrace
    own_rate_rps: float

    @property
    def replications(self) -> int | None:
        """Only one: a recording is what it is."""
        return 1

    def trace(self, replication: int, rate_rps: float, span_s: float) -> RequestTrace:  # noqa: ARG002
        """The recorded requests that arrive within the span."""
        trace = self.recorded
        if rate_rps != self.own_rate_rps:
            trace = trace.scaled_in_time(self.own_rate_rps / rate_rps)
        kept = trace.arrival_s < span_s
        return RequestTrace(trace.arrival_s[kept], trace.prompt_tokens[kept], trace.output_tokens[kept])


@dataclass(frozen=True, eq=False)
class Stretched:
    """Another demand with longer or shorter prompts and outputs."""

    demand: Demand
    prompt_factor: float
    output_factor: float

    @property
    def replications(self) -> int | None:
        """As many as the other has."""
        return self.demand.replications

    def trace(self, replication: int, rate_rps: float, span_s: float) -> RequestTrace:
        """The other's requests, their lengths multiplied and rounded, at least one token each."""
        trace = self.demand.trace(replication, rate_rps, span_s)
        return replace(
            trace,
            prompt_tokens=_stretched(trace.prompt_tokens, self.prompt_factor),
            output_tokens=_stretched(trace.output_tokens, self.output_factor),
        )


def _stretched(tokens: Ints, factor: float) -> Ints:
    stretched: Ints = np.maximum(1, np.rint(tokens * factor)).astype(np.int64)
    return stretched
