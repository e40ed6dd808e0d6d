"""Answers as plain data: what JSON and CSV carry. Keys never change their meaning (`SCHEMA_VERSION`)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from provisioner.metrics import SloResult
from provisioner.report import resilience
from provisioner.search import Certificate, Evaluation, Plan
from provisioner.search.rows import cluster, number, row, status_of

SCHEMA_VERSION = 1

__all__ = [
    "SCHEMA_VERSION",
    "cluster",
    "judged",
    "miss",
    "of_clusters",
    "of_evaluation",
    "of_plan",
    "row",
    "search",
    "slo",
    "status_of",
    "table_csv",
    "to_csv",
    "to_json",
]


def slo(result: SloResult) -> dict[str, Any]:
    """One objective, as achieved."""
    return {
        "metric": result.limit.metric,
        "percentile": result.limit.percentile,
        "limit": result.limit.limit,
        "unit": result.limit.unit,
        "value": number(result.value),
        "ci95": None if result.ci95 is None else [number(end) for end in result.ci95],
        "met": result.met,
        "verdict": result.verdict,
    }


def judged(evaluation: Evaluation) -> dict[str, Any]:
    """A cluster with its objectives: the part that every answer has."""
    binding = evaluation.binding
    return {
        "cluster": cluster(evaluation),
        "slos": [slo(result) for result in evaluation.results],
        "binding_slo": {
            "metric": binding.limit.metric,
            "percentile": binding.limit.percentile,
            "headroom": number(binding.headroom),
        },
        "utilization": {name: number(share) for name, share in evaluation.utilization.items()},
        "stability": {
            "stable": evaluation.is_stable,
            "load": number(evaluation.load),
            "backlog_growth": number(evaluation.growth),
            "unfinished": evaluation.unfinished,
        },
        **resilience.data(evaluation),
    }


def of_plan(plan: Plan, inputs: Mapping[str, Any], goal: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a search."""
    best = (
        {"cluster": None, "slos": [], "binding_slo": None, "utilization": {}, "stability": None}
        if plan.best is None
        else judged(plan.best)
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "status": plan.status,
        "goal": dict(goal),
        "inputs": dict(inputs),
        **best,
        "search": {**search(plan.certificate), "equally_good": plan.equally_good},
        "confirmation": None
        if plan.confirmed is None
        else {"fresh_seeds": plan.confirmed[1], "passed": plan.confirmed[0]},
        "reason": plan.reason,
        "warnings": [*plan.notes, *(plan.best.warnings if plan.best else ())],
    }


def of_evaluation(evaluation: Evaluation, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of one simulation: the same keys, without a search."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": status_of(evaluation),
        "goal": {"users": evaluation.users} if evaluation.users else {"target_rps": evaluation.rate_rps},
        "inputs": dict(inputs),
        **judged(evaluation),
        "search": None,
        "reason": None if evaluation.is_feasible else miss(evaluation),
        "warnings": list(evaluation.warnings),
    }


def of_clusters(
    found: Sequence[Evaluation],
    inputs: Mapping[str, Any],
    goal: Mapping[str, Any],
    *,
    status: str,
    extra: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The answer of a command with many clusters; `extra` has more to say of each."""
    more = extra if extra is not None else [{}] * len(found)
    return {
        "schema_version": SCHEMA_VERSION,
        "status": status,
        "goal": dict(goal),
        "inputs": dict(inputs),
        "clusters": [
            {"status": status_of(evaluation), **judged(evaluation), "warnings": list(evaluation.warnings), **each}
            for evaluation, each in zip(found, more, strict=True)
        ],
    }


def search(certificate: Certificate) -> dict[str, Any]:
    """How the answer was found, and why nothing better passes."""
    return {
        "simulated": certificate.simulated,
        "alike": certificate.alike,
        "excluded_by_bound": certificate.excluded_by_bound,
        "excluded_by_dominance": certificate.excluded_by_dominance,
        "replications": certificate.replications,
        "replications_spared": certificate.replications_spared,
        "ended_early": certificate.ended_early,
        "uncertain": certificate.uncertain,
        "unconfirmed": certificate.unconfirmed,
        "elapsed_s": round(certificate.elapsed_s, 3),
        "certificate": certificate.text,
    }


def miss(evaluation: Evaluation) -> str:
    """Why a cluster fails, in a sentence."""
    if evaluation.load > 1:
        return f"offered work is {evaluation.load:.2f} of what the cluster could do at best"
    if not evaluation.is_stable:
        return f"the backlog grows by {evaluation.growth:.0%} of the arrivals: a longer trace would be worse"
    trouble = evaluation.worst_trouble
    if trouble is not None and evaluation.binding.met:
        return f"with {trouble}, {miss(trouble.evaluation)}"
    if evaluation.share is not None and not evaluation.share.is_met:
        target = f"less than {evaluation.share.asked.target:.6g}"
        return f"the SLOs hold {resilience.of_share(evaluation.share)} of the time, {target}"
    limit = evaluation.binding.limit
    if evaluation.is_uncertain:
        return f"{limit.name} is {evaluation.binding.value:.3g} against a limit of {limit.limit:g}: too close to tell"
    return f"{limit.name} is {evaluation.binding.value:.3g} against a limit of {limit.limit:g}"


def to_json(answer: Mapping[str, Any]) -> str:
    """JSON text in ASCII, which no terminal takes for a command; no NaN or infinity stands in it."""
    return json.dumps(answer, indent=2, allow_nan=False) + "\n"


def to_csv(evaluations: Iterable[Evaluation]) -> str:
    """One cluster a row: what it is and takes, its objectives as achieved, and their limits."""
    rows = [row(evaluation) for evaluation in evaluations]
    return table_csv(rows)


def table_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """CSV text of rows that share their keys."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _safe(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _safe(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula is quoted."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value
