"""How limits and amounts are named in figures: in full, with units."""

from __future__ import annotations

from provisioner.domain.slo import Limit
from provisioner.search import Evaluation, Objective

METRICS = {"ttft": "TTFT", "tbt": "TBT", "e2e": "E2E"}
AMOUNTS: dict[Objective, str] = {"cost": "Cost (USD/h)", "power": "Power (kW)", "machines": "Machines"}


def limit_name(limit: Limit) -> str:
    """`TTFT P99`."""
    return f"{METRICS[limit.metric]} P{limit.percentile:g}"


def limit_unit(limit: Limit) -> str:
    """The unit of an axis: how many times as long as alone, or seconds."""
    return "slowdown" if limit.unit == "slowdown" else "s"


def limit_text(limit: Limit) -> str:
    """`TTFT P99 ≤ 6×`, or `≤ 2 s`."""
    return f"{limit_name(limit)} ≤ {limit.limit:g}{'×' if limit.unit == 'slowdown' else ' s'}"


def cluster_name(evaluation: Evaluation) -> str:
    """`HH 27P+3T`."""
    return f"{evaluation.cluster.design.short} {evaluation.cluster.label}"
