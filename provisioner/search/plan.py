"""The answer to a question, with the proof: what was simulated, what was excluded, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provisioner.search.evaluate import Evaluation
from provisioner.search.goal import Objective

Status = Literal["optimal", "feasible", "infeasible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Why nothing better passes."""

    simulated: int
    excluded_by_bound: int
    elapsed_s: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The best cluster found, or the nearest miss.

    `best` is None only where no cluster was simulated at all. `evaluations` is the ledger of all
    clusters simulated, in the order of the search; `reason` says why an infeasible plan is.
    """

    status: Status
    objective: Objective | None
    best: Evaluation | None
    evaluations: tuple[Evaluation, ...]
    equally_good: int
    """Other clusters that pass with the same amounts; the best has the most headroom of them."""
    certificate: Certificate
    reason: str | None = None

    @property
    def is_feasible(self) -> bool:
        """Whether the best cluster meets every objective."""
        return self.status != "infeasible"
