"""Clusters as rows: what CSV, data frames and tables say of each, under the same names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provisioner.metrics import SloResult

if TYPE_CHECKING:
    from provisioner.search.evaluation import Evaluation


def cluster(evaluation: Evaluation) -> dict[str, Any]:
    """What a cluster is, and takes."""
    described = evaluation.cluster
    return {
        "design": described.design.name,
        "prompt_machines": described.prompt_machines,
        "token_machines": described.token_machines,
        "machines": described.machines,
        "cost_usd_per_h": round(described.cost_usd_per_h, 6),
        "power_kw": round(described.power_kw, 6),
        "throughput_rps": evaluation.rate_rps,
        "unit": described.design.unit,
        "gpus": described.gpus,
        "times": evaluation.times,
    }


def row(evaluation: Evaluation) -> dict[str, Any]:
    """A cluster as a row: what it is and takes, its objectives as achieved, and their limits."""
    named = _named(evaluation.results)
    return {
        **cluster(evaluation),
        "status": status_of(evaluation),
        "stable": evaluation.is_stable,
        "replications": evaluation.replications,
        "values": "achieved" if evaluation.is_whole else "at least",
        **{name: number(result.value) for name, result in named.items()},
        **{f"{name}_limit": result.limit.limit for name, result in named.items()},
        "binding_slo": evaluation.binding.limit.name,
        "headroom": number(evaluation.own_headroom),
    }


def status_of(evaluation: Evaluation) -> str:
    """`feasible`, `infeasible`, or `uncertain` where neither is certain at the confidence asked for."""
    if evaluation.is_feasible:
        return "feasible"
    return "uncertain" if evaluation.is_uncertain else "infeasible"


def number(value: float) -> float | None:
    """A finite number to nine digits; None for one that is not."""
    return float(f"{value:.9g}") if math.isfinite(value) else None


def _named(results: Sequence[SloResult]) -> dict[str, SloResult]:
    """Objectives by a name each: that of the metric and percentile, with its unit where another has the same."""
    named: dict[str, SloResult] = {}
    for result in results:
        name = result.limit.name
        named[f"{name}_{result.limit.unit}" if name in named else name] = result
    return named
