"""What a search is for: what to spend least of, or what may be spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from provisioner.domain.cluster import Cluster
from provisioner.domain.design import Design

Objective = Literal["cost", "power", "machines"]
OBJECTIVES: tuple[Objective, ...] = ("cost", "power", "machines")
UNITS: dict[Objective, str] = {"cost": "USD/h", "power": "kW", "machines": "machines"}
MOST_MACHINES = 100_000


def amount(cluster: Cluster, objective: Objective) -> float:
    """What a cluster takes of one thing: USD/h, kW, or machines."""
    match objective:
        case "cost":
            return cluster.cost_usd_per_h
        case "power":
            return cluster.power_kw
        case "machines":
            return float(cluster.machines)


def amounts(cluster: Cluster) -> tuple[float, ...]:
    """What a cluster takes of everything."""
    return tuple(amount(cluster, objective) for objective in OBJECTIVES)


def rank(cluster: Cluster, objective: Objective) -> tuple[float, ...]:
    """Sorting key: the objective first, then cost, power and machines."""
    return (amount(cluster, objective), *amounts(cluster))


@dataclass(frozen=True, slots=True)
class Budget:
    """What a cluster may take: any of cost, power and machines. None is no limit."""

    cost_usd_per_h: float | None = None
    power_kw: float | None = None
    machines: int | None = None

    def __str__(self) -> str:
        limits = zip(self._limits, UNITS.values(), strict=True)
        return ", ".join(f"{limit:g} {unit}" for limit, unit in limits if limit is not None)

    @property
    def _limits(self) -> tuple[float | None, ...]:
        return self.cost_usd_per_h, self.power_kw, self.machines

    def allows(self, cluster: Cluster) -> bool:
        """Whether a cluster is within every limit."""
        return all(
            limit is None or taken <= limit + 1e-9 for limit, taken in zip(self._limits, amounts(cluster), strict=True)
        )

    def clusters(self, design: Design, max_machines: int) -> list[Cluster]:
        """Every cluster of a design within the budget, of at most so many machines."""
        counts = (
            [(count, 0) for count in range(1, max_machines + 1)]
            if design.is_mixed
            else [(p, t) for p in range(1, max_machines) for t in range(1, max_machines - p + 1)]
        )
        made = (Cluster(design=design, prompt_machines=p, token_machines=t) for p, t in counts)
        return [cluster for cluster in made if self.allows(cluster)]

    def largest(self, design: Design) -> list[Cluster]:
        """Every cluster of a design that is within the budget, and with one more machine of any pool is not."""

        def made(prompt: int, token: int) -> Cluster:
            return Cluster(design=design, prompt_machines=prompt, token_machines=token)

        if design.is_mixed:
            most = self._most(lambda count: made(count, 0))
            return [made(most, 0)] if most else []
        found = []
        for prompt in range(1, self._most(lambda count: made(count, 1)) + 1):
            token = self._most(lambda count, prompt=prompt: made(prompt, count))  # type: ignore[misc]
            if not self.allows(made(prompt + 1, token)):
                found.append(made(prompt, token))
        return found

    def _most(self, of: Callable[[int], Cluster]) -> int:
        """The largest count within the budget, 0 if not even one is, by doubling and bisection."""
        low, high = 0, 1
        while high <= MOST_MACHINES and self.allows(of(high)):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.allows(of(middle)) else (low, middle)
        return low
