"""The answer to a question, with the proof: what was simulated, what was excluded, and why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from provisioner.search.alike import apart
from provisioner.search.evaluate import Judge
from provisioner.search.evaluation import Evaluation
from provisioner.search.notebook import Tabular
from provisioner.search.rows import row

Status = Literal["optimal", "feasible", "infeasible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Why nothing better passes, as far as it is known."""

    simulated: int
    """Clusters simulated; in a search over rates or cases, each cluster counts at each rate or in each case."""
    excluded_by_bound: int
    """Clusters that cannot keep up, whatever their schedulers do."""
    elapsed_s: float
    text: str
    replications: int = 0
    """Replications simulated of these clusters."""
    replications_spared: int = 0
    """Those that were not, since the verdict was certain."""
    ended_early: int = 0
    """Simulations that ended as soon as the verdict was certain."""
    excluded_by_dominance: int = 0
    """Clusters that would take more than one that passes."""
    alike: int = 0
    """Clusters that do, machine for machine, as one that was simulated: those that they have more stay idle."""
    uncertain: int = 0
    """Better clusters of which neither passing nor missing is certain."""
    unconfirmed: int = 0
    """Better clusters that passed, but not on enough of the fresh seeds."""

    @classmethod
    def of(
        cls,
        tried: Sequence[Sequence[Evaluation]],
        judges: Sequence[Judge],
        started: float,
        text: str,
        *,
        excluded_by_bound: int,
        **counts: int,
    ) -> Certificate:
        """The certificate of a search that tried these clusters, and started at that time of `perf_counter`.

        Those of different workloads or models stand apart in `tried`: a cluster may be tried in several.
        """
        planned = max((judge.precision.least for judge in judges), default=0)
        found = [apart(each) for each in tried]
        simulated = [evaluation for needed, _ in found for evaluation in needed]
        return cls(
            simulated=len(simulated),
            replications=sum(each.replications for each in simulated),
            replications_spared=sum(max(0, planned - each.replications) for each in simulated),
            ended_early=sum(not each.is_whole for each in simulated),
            alike=sum(alike for _, alike in found),
            elapsed_s=time.perf_counter() - started,
            text=text,
            excluded_by_bound=excluded_by_bound,
            **counts,
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(Tabular):
    """The best cluster found, or the nearest miss.

    `best` is None only where no cluster was simulated at all. `evaluations` is the ledger of all
    clusters simulated, in the order of the search; `reason` says why an infeasible plan is.
    """

    status: Status
    best: Evaluation | None
    evaluations: tuple[Evaluation, ...]
    certificate: Certificate
    equally_good: int = 0
    """Other clusters that pass with the same amounts; the best has the most headroom of them."""
    confirmed: tuple[int, int] | None = None
    """Fresh seeds on which the best passes by itself, and how many were tried."""
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_feasible(self) -> bool:
        """Whether the best cluster meets every objective."""
        return self.status != "infeasible"

    def rows(self) -> list[dict[str, Any]]:
        """Every cluster that was simulated, the best first."""
        others = [evaluation for evaluation in self.evaluations if evaluation is not self.best]
        return [row(evaluation) for evaluation in ([self.best, *others] if self.best else others)]

    def summary(self) -> str:
        """What is best, and why."""
        if self.best is None:
            return f"{self.status}: {self.reason}"
        cluster = self.best.cluster
        found = (
            f"{cluster.design.name} {cluster.label}, {cluster.cost_usd_per_h:,.2f} USD/h, {cluster.power_kw:,.1f} kW"
        )
        return f"{self.status}: {found} at {self.best.rate_rps:.4g} requests/s; {self.reason or self.certificate.text}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Front(Tabular):
    """Clusters of which none is better than another in everything."""

    clusters: tuple[Evaluation, ...]
    evaluations: tuple[Evaluation, ...]
    certificate: Certificate
    reason: str | None = None
    """Why there is no cluster, where there is none."""

    def rows(self) -> list[dict[str, Any]]:
        """The clusters of the front."""
        return [row(evaluation) for evaluation in self.clusters]

    def summary(self) -> str:
        """How many there are, and why no others."""
        if self.reason:
            return f"none passes: {self.reason}"
        return f"{len(self.clusters)} clusters are not dominated; {self.certificate.text}"
