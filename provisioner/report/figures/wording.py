"""How limits and amounts are named in figures: in full, with units."""

from __future__ import annotations

from typing import Protocol

from provisioner.search import Evaluation, Objective


class Limited(Protocol):
    """Whatever an SLO set limits."""

    @property
    def metric(self) -> str:
        """What is measured."""

    @property
    def percentile(self) -> float:
        """Of the requests."""

    @property
    def limit(self) -> float:
        """What it stays at or under."""

    @property
    def unit(self) -> str:
        """What the limit is in."""


GOAL_UNITS = {
    "cost": "USD/h less",
    "power": "kW less",
    "machines": "machines less",
    "throughput": "weighted RPS more",
    "smallest_share": "of the target more",
}
"""What a fleet gains, by what it is to be best in."""
METRICS = {"ttft": "TTFT", "tbt": "TBT", "e2e": "E2E", "goodput": "Goodput"}
AMOUNTS: dict[Objective, str] = {"cost": "Cost (USD/h)", "power": "Power (kW)", "machines": "Machines"}
UNITS = {"slowdown": "Slowdown", "s": "Seconds", "s_per_token": "Seconds per token", "missed": "Share that misses"}
_ENDINGS = {"slowdown": "×", "s": " s", "s_per_token": " s/token", "missed": " missed"}


def limit_name(limit: Limited) -> str:
    """`TTFT P99`."""
    return f"{METRICS[limit.metric]} P{limit.percentile:g}"


def limit_text(limit: Limited) -> str:
    """`TTFT P99 ≤ 6×`, or `≤ 2 s`."""
    return f"{limit_name(limit)} ≤ {limit.limit:g}{_ENDINGS[limit.unit]}"


def cluster_name(evaluation: Evaluation) -> str:
    """`HH 27P+3T`."""
    return f"{evaluation.cluster.design.short} {evaluation.cluster.label}"
