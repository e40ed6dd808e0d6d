"""A closed loop: so many users, each of whom sends a request as soon as the one before is finished.

The rate is no input: it follows from how fast the cluster answers. Every cluster gets the same lengths in the same
order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from provisioner.domain.trace import RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.traces.seeds import streams
from provisioner.traces.sizes import SizeTable

MOST_USERS = 100_000
MOST_REQUESTS = 10_000_000


@dataclass(frozen=True, eq=False)
class Closed:
    """Lengths from a table, arrivals from the ends of other requests.

    Parameters
    ----------
    sizes : SizeTable
        Lengths.
    seed : int
        See `seeds.streams`.
    users : int
        Requests under way at any time, 1 to 100,000.
    requests : int
        Requests in all, at least as many, at most ten million.

    Raises
    ------
    InputError
        If a number is out of range.
    """

    sizes: SizeTable
    seed: int
    users: int
    requests: int

    def __post_init__(self) -> None:
        if not (1 <= self.users <= MOST_USERS and self.users <= self.requests <= MOST_REQUESTS):
            allowed = (
                f"closed:USERS or closed:USERS:REQUESTS, up to {MOST_USERS:,} users and {MOST_REQUESTS:,} requests"
            )
            value = f"closed:{self.users}:{self.requests}"
            raise InputError(Fault(problem="out of range", field="--arrivals", value=value, allowed=allowed))

    @property
    def replications(self) -> int | None:
        """As many as one likes."""
        return None

    def trace(self, replication: int, rate_rps: float, span_s: float) -> RequestTrace:  # noqa: ARG002 - there is no rate
        """The requests of one replication; when those behind the first arrive, the simulation says."""
        prompts, outputs = self.sizes.sample(self.requests, streams(self.seed, replication).lengths)
        return RequestTrace(np.zeros(self.requests), prompts, outputs, self.users)
