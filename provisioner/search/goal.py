"""What a search is for."""

from __future__ import annotations

from typing import Literal

from provisioner.domain.cluster import Cluster

Objective = Literal["cost", "power", "machines"]
OBJECTIVES: tuple[Objective, ...] = ("cost", "power", "machines")


def amount(cluster: Cluster, objective: Objective) -> float:
    """What a cluster takes of one thing: USD/h, kW, or machines."""
    match objective:
        case "cost":
            return cluster.cost_usd_per_h
        case "power":
            return cluster.power_kw
        case "machines":
            return float(cluster.machines)


def rank(cluster: Cluster, objective: Objective) -> tuple[float, ...]:
    """Sorting key: the objective first, then cost, power and machines, rounded so that equal sums tie."""
    others = [other for other in OBJECTIVES if other != objective]
    return tuple(round(amount(cluster, each), 9) for each in (objective, *others))
