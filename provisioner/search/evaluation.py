"""What is known of one cluster at one rate: achieved values, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from provisioner.domain.cluster import Cluster
from provisioner.metrics import SloResult, binding
from provisioner.perf.points import Origin
from provisioner.search.availability import Share
from provisioner.search.notebook import Tabular
from provisioner.search.rows import row, status_of
from provisioner.sim import Simulation

STEADY_GROWTH = 0.05
"""A backlog that grows by more than this share of the arrivals is not one that a longer trace would forgive."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A loss of machines, and what is known of the cluster with it."""

    lost: str
    """As `prompt=1,token=1`."""
    is_during: bool
    """Whether the machines fail in mid-run; otherwise they are gone from the start."""
    evaluation: Evaluation

    def __str__(self) -> str:
        return f"{self.lost} {'lost in mid-run' if self.is_during else 'gone'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation(Tabular):
    """What is known of one cluster at one rate."""

    cluster: Cluster
    rate_rps: float
    """Requests per second: those asked for, or in a closed loop those that were served."""
    results: tuple[SloResult, ...]
    """One for each limit of the SLO set; of the replications that were needed for the verdict."""
    replications: int
    load: float
    """Least share of its time that the cluster needs for the work offered; above 1 it cannot keep up."""
    growth: float = 0.0
    """Growth of the backlog as a share of the arrivals; 0 unless it is beyond noise."""
    unfinished: int = 0
    """Requests of all replications that never finish."""
    utilization: dict[str, float] = field(default_factory=dict)
    times: Origin = "measured"
    """Where the iteration times come from: the least reliable of the design's machines."""
    users: int = 0
    """Of a closed loop."""
    warnings: tuple[str, ...] = ()
    is_whole: bool = True
    """Whether the values are achieved; otherwise a simulation ended with the verdict: they are lower bounds, and of
    growth, unfinished requests, utilisation and warnings nothing is known."""
    used: int | None = None
    """Machines of the first pool up to the last that had anything to do, as far as was simulated; None if not known."""
    troubles: tuple[Trouble, ...] = ()
    """What the cluster was tried with besides, where it must survive a loss of machines."""
    share: Share | None = None
    """The share of the time in which its objectives are met, where one is asked for."""

    @property
    def has_idle(self) -> bool:
        """Whether it holds for any number of machines in the first pool above those that are `used`: see `alike`."""
        return not self.is_whole and self.used is not None and self.used < self.cluster.prompt_machines

    @property
    def is_stable(self) -> bool:
        """Whether the cluster keeps up, percentiles apart."""
        return self.load <= 1.0 and self.growth <= STEADY_GROWTH

    @property
    def is_feasible(self) -> bool:
        """Whether every objective is met and the cluster keeps up, in every trouble too and for long enough."""
        return (
            self.is_stable
            and all(result.verdict == "met" for result in self.results)
            and all(trouble.evaluation.is_feasible for trouble in self.troubles)
            and (self.share is None or self.share.is_met)
        )

    @property
    def is_uncertain(self) -> bool:
        """Whether nothing is missed, but something not decided."""
        return (
            self.is_stable
            and not self.is_feasible
            and all(result.verdict != "missed" for result in self.results)
            and all(each.evaluation.is_feasible or each.evaluation.is_uncertain for each in self.troubles)
            and (self.share is None or self.share.is_met)
        )

    @property
    def binding(self) -> SloResult:
        """The objective with the least headroom."""
        return binding(self.results)

    @property
    def headroom(self) -> float:
        """The least headroom of all objectives, in every trouble too; never positive for one that does not keep up."""
        return min([self.own_headroom, *(trouble.evaluation.headroom for trouble in self.troubles)])

    @property
    def own_headroom(self) -> float:
        """The same with all its machines."""
        headroom = self.binding.headroom
        return headroom if self.is_stable else min(headroom, 0.0)

    @property
    def worst_trouble(self) -> Trouble | None:
        """The trouble with the least headroom, if that is less than without any."""
        worst = min(self.troubles, key=lambda trouble: trouble.evaluation.headroom, default=None)
        return worst if worst is not None and worst.evaluation.headroom < self.own_headroom else None

    def rows(self) -> list[dict[str, Any]]:
        """The cluster alone."""
        return [row(self)]

    def summary(self) -> str:
        """The cluster, its verdict, and what binds."""
        bound = f"{self.binding.limit.name} binds, {self.binding.value:.3g} of {self.binding.limit.limit:g}"
        name = f"{self.cluster.design.name} {self.cluster.label}"
        return f"{name} is {status_of(self)} at {self.rate_rps:.4g} requests/s; {bound}"


def utilization(cluster: Cluster, simulations: Sequence[Simulation], span_s: float) -> dict[str, float]:
    """Share of the time that each pool's machines run iterations, mean over replications.

    `mixed_pool` is the share of all machine time spent on loan to the mixed pool. The time of a
    replication lasts until its last request finishes.
    """
    names = cluster.design.pools
    shares: dict[str, list[float]] = {name: [] for name in (*names, "mixed_pool")}
    for simulation in simulations:
        time_s = max(simulation.makespan_s, span_s)
        for pool, name in enumerate(names):
            busy_s = float(simulation.busy_s[simulation.pool_rows(pool)].mean())
            shares[name].append(busy_s / time_s if time_s > 0 else 0.0)
        on_loan_s = float(simulation.mixed_pool_s.mean())
        shares["mixed_pool"].append(on_loan_s / time_s if time_s > 0 else 0.0)
    return {name: float(np.mean(values)) for name, values in shares.items()}
