"""A Pareto front: the non-dominated clusters with their names, and what they were chosen from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from provisioner.report.figures.wording import AMOUNTS, cluster_name, limit_name
from provisioner.search import Evaluation

NEAREST = 3
"""Misses that are named where nothing passes."""
THROUGHPUT = "Throughput (requests/s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One cluster."""

    x: float
    y: float
    name: str
    design: str
    detail: str
    """Everything about it, in a line."""
    passes: bool
    is_front: bool
    excess: float = 0.0
    """How far it is over the limit that it misses by most, as a share of it; infinite if it does not keep up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Clusters by two of the things that they take or give."""

    title: str
    x_label: str
    y_label: str
    points: tuple[Point, ...]
    note: str
    y_is_wanted: bool = False
    """More of y is better."""
    kinds: tuple[str, str, str] = ("not dominated", "passes", "misses")
    """What points of the front are, others that pass, and those that do not."""
    is_joined: bool = True
    """A line joins the front."""

    @property
    def named(self) -> list[Point]:
        """The front; where nothing passes, the nearest misses."""
        front = [point for point in self.points if point.is_front]
        return front or sorted(self.points, key=lambda point: point.excess)[:NEAREST]

    @classmethod
    def of(
        cls, front: Sequence[Evaluation], others: Sequence[Evaluation], title: str, *, of_rates: bool = False
    ) -> Self:
        """Power against cost at one rate, or throughput against cost `of_rates`; without a front, the misses."""
        y: Callable[[Evaluation], float] = (lambda e: e.rate_rps) if of_rates else (lambda e: e.cluster.power_kw)
        chosen = {id(evaluation) for evaluation in front}
        kept = {(e.cluster.design.name, e.cluster.counts, e.rate_rps): e for e in (*others, *front)}
        points = tuple(
            Point(
                x=e.cluster.cost_usd_per_h,
                y=y(e),
                name=cluster_name(e),
                design=e.cluster.design.short,
                detail=_detail(e),
                passes=e.is_feasible,
                is_front=id(e) in chosen,
                excess=max(-e.headroom, 0.0) if e.is_stable else math.inf,
            )
            for e in sorted(kept.values(), key=lambda e: (e.cluster.cost_usd_per_h, y(e)))
        )
        dots = f"Named: not dominated ({len(front)}); "
        dots += "dots: the highest rate of others" if of_rates else "dots: others that pass; ×: simulated, misses"
        return cls(
            title=title,
            x_label=AMOUNTS["cost"],
            y_label=THROUGHPUT if of_rates else AMOUNTS["power"],
            points=points,
            note=dots if front else "No cluster passes; ×: what was simulated and misses, the nearest misses named",
            y_is_wanted=of_rates,
        )


def _detail(evaluation: Evaluation) -> str:
    cluster = evaluation.cluster
    binding = evaluation.binding
    return (
        f"{cluster.design.name} {cluster.label}: {cluster.machines} machines, {cluster.cost_usd_per_h:,.2f} USD/h, "
        f"{cluster.power_kw:,.1f} kW, {evaluation.rate_rps:.4g} requests/s; {limit_name(binding.limit)} binds "
        f"at {binding.value:.3g} of {binding.limit.limit:g}"
    )
