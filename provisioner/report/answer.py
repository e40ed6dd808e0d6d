"""Answers as plain data: what JSON and CSV carry. Keys never change their meaning (`SCHEMA_VERSION`)."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from provisioner.metrics import SloResult
from provisioner.search import Evaluation, Plan

SCHEMA_VERSION = 1


def cluster(evaluation: Evaluation, throughput_rps: float) -> dict[str, Any]:
    """What a cluster is, and takes."""
    described = evaluation.cluster
    return {
        "design": described.design.name,
        "prompt_machines": described.prompt_machines,
        "token_machines": described.token_machines,
        "machines": described.machines,
        "cost_usd_per_h": round(described.cost_usd_per_h, 6),
        "power_kw": round(described.power_kw, 6),
        "throughput_rps": throughput_rps,
    }


def slo(result: SloResult) -> dict[str, Any]:
    """One objective, as achieved."""
    return {
        "metric": result.limit.metric,
        "percentile": result.limit.percentile,
        "limit": result.limit.limit,
        "unit": result.limit.unit,
        "value": _number(result.value),
        "ci95": None if result.ci95 is None else [_number(end) for end in result.ci95],
        "met": result.met,
    }


def judged(evaluation: Evaluation, throughput_rps: float) -> dict[str, Any]:
    """A cluster with its objectives: the part that every answer has."""
    binding = evaluation.binding
    return {
        "cluster": cluster(evaluation, throughput_rps),
        "slos": [slo(result) for result in evaluation.results],
        "binding_slo": {
            "metric": binding.limit.metric,
            "percentile": binding.limit.percentile,
            "headroom": _number(binding.headroom),
        },
        "utilization": {name: _number(share) for name, share in evaluation.utilization.items()},
        "stability": {
            "stable": evaluation.is_stable,
            "load": _number(evaluation.load),
            "backlog_growth": _number(evaluation.growth),
            "unfinished": evaluation.unfinished,
        },
    }


def of_plan(plan: Plan, inputs: Mapping[str, Any], goal: Mapping[str, Any], rate_rps: float) -> dict[str, Any]:
    """The answer of a search."""
    best = (
        {"cluster": None, "slos": [], "binding_slo": None, "utilization": {}, "stability": None}
        if plan.best is None
        else judged(plan.best, rate_rps)
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "status": plan.status,
        "goal": dict(goal),
        "inputs": dict(inputs),
        **best,
        "search": {
            "simulated": plan.certificate.simulated,
            "excluded_by_bound": plan.certificate.excluded_by_bound,
            "equally_good": plan.equally_good,
            "elapsed_s": round(plan.certificate.elapsed_s, 3),
            "certificate": plan.certificate.text,
        },
        "reason": plan.reason,
        "warnings": list(plan.best.warnings) if plan.best else [],
    }


def of_evaluation(evaluation: Evaluation, inputs: Mapping[str, Any], rate_rps: float) -> dict[str, Any]:
    """The answer of one simulation: the same keys, without a search."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": "feasible" if evaluation.is_feasible else "infeasible",
        "goal": {"target_rps": rate_rps},
        "inputs": dict(inputs),
        **judged(evaluation, rate_rps),
        "search": None,
        "reason": None if evaluation.is_feasible else miss(evaluation),
        "warnings": list(evaluation.warnings),
    }


def miss(evaluation: Evaluation) -> str:
    """Why a cluster fails, in a sentence."""
    if evaluation.load > 1:
        return f"offered work is {evaluation.load:.2f} of what the cluster could do at best"
    if not evaluation.is_stable:
        return f"the backlog grows by {evaluation.growth:.0%} of the arrivals: a longer trace would be worse"
    limit = evaluation.binding.limit
    return f"{limit.name} is {evaluation.binding.value:.3g} against a limit of {limit.limit:g}"


def to_json(answer: Mapping[str, Any]) -> str:
    """JSON text; no NaN or infinity stands in it."""
    return json.dumps(answer, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def to_csv(evaluations: Iterable[Evaluation], throughput_rps: float) -> str:
    """One cluster a row: what it is and takes, its objectives as achieved, and their limits."""
    rows = [_row(evaluation, throughput_rps) for evaluation in evaluations]
    return table_csv(rows)


def table_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """CSV text of rows that share their keys."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _safe(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _row(evaluation: Evaluation, throughput_rps: float) -> dict[str, Any]:
    return {
        **cluster(evaluation, throughput_rps),
        "status": "feasible" if evaluation.is_feasible else "infeasible",
        "stable": evaluation.is_stable,
        "replications": evaluation.replications,
        **{result.limit.name: _number(result.value) for result in evaluation.results},
        **{f"{result.limit.name}_limit": result.limit.limit for result in evaluation.results},
        "binding_slo": evaluation.binding.limit.name,
        "headroom": _number(evaluation.headroom),
    }


def _safe(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula is quoted."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value


def _number(value: float) -> float | None:
    """A finite number to nine digits; None for one that is not."""
    return float(f"{value:.9g}") if math.isfinite(value) else None
