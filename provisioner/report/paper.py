"""The paper's evaluation as tables, JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.report.answer import SCHEMA_VERSION, row
from provisioner.report.narrow import FittingTable as Table
from provisioner.search import OBJECTIVES, UNITS
from provisioner.search.paper import (
    DESIGNS,
    EQUALS,
    ORDERS,
    TARGET_RPS,
    Case,
    Clusters,
    Comparison,
    Experiment,
    Finding,
    Findings,
    Workload,
)

_WHOSE: Mapping[Clusters, str] = {"published": "the paper's", "own": "our"}
_LARGE = 0.10
"""A difference beyond this is marked; docs/paper.md explains it."""


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """The paper's evaluation, done again: what each world shows, and the claims beside it."""

    findings: Mapping[str, Findings]
    """By world."""
    comparisons: Sequence[Comparison]
    workloads: Sequence[Workload]

    @property
    def worlds(self) -> list[str]:
        """The worlds' names."""
        return list(self.findings)

    def finding(self, world: str, case: Case) -> Finding:
        """What was found; nothing where it was not looked for."""
        return self.findings[world].get(case, Finding())

    def has(self, experiment: Experiment, workload: Workload) -> bool:
        """Whether an experiment was made for a workload."""
        return any(
            case.experiment == experiment and case.workload == workload
            for found in self.findings.values()
            for case in found
        )

    def order(self, world: str, experiment: Experiment, workload: Workload) -> dict[str, float]:
        """Each design's requests per second at equal power, fastest first."""
        found = {design: self.finding(world, Case(experiment, workload, design)).value for design in DESIGNS}
        rates = {design: rate for design, rate in found.items() if rate is not None}
        return dict(sorted(rates.items(), key=lambda each: -each[1]))


def tables(evaluated: Evaluated) -> RenderableType:
    """Everything, the claims last."""
    parts: list[RenderableType] = []
    for workload in evaluated.workloads:
        for equal in EQUALS:
            parts.append(_rates(evaluated, workload, Case("published", workload, "", equal), f"Equal {equal}"))
            if equal == "power":
                parts.append(_orders(evaluated, workload))
        if evaluated.has("least", workload):
            parts.append(_least(evaluated, workload))
        parts.append(_changes(evaluated, workload))
        if evaluated.has("batch", workload):
            parts.append(_batch(evaluated))
    parts.append(_claims(evaluated))
    return Group(*parts)


def _titled(title: str, shown: Table) -> RenderableType:
    """A table below its title, which may be wider."""
    return Group(Text(title, style="italic"), shown)


def _table(*columns: str, words: int = 1) -> Table:
    """A table whose first columns are words and whose others are numbers."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, column in enumerate(columns):
        shown.add_column(column, justify="left" if place < words else "right", no_wrap=place != 0)
    return shown


def _shown(value: float | None, format_spec: str = ".1f") -> str:
    return "-" if value is None else format(value, format_spec)


def _label(finding: Finding) -> str:
    return "-" if finding.cluster is None else finding.cluster.label


def _rates(evaluated: Evaluated, workload: Workload, case: Case, title: str) -> RenderableType:
    """Figures 16 and 18: the published cluster of each design, and the best of ours, in requests per second."""
    has_own = evaluated.has("own", workload)
    heads = [
        head for world in evaluated.worlds for head in (f"{world}\nRPS", *(("our\nbest", "\nRPS") if has_own else ()))
    ]
    shown = _table("Design", "paper's\ncluster", *heads, words=2)
    for design in DESIGNS:
        cells = []
        for world in evaluated.worlds:
            given = evaluated.finding(world, Case("published", workload, design, case.by))
            own = evaluated.finding(world, Case("own", workload, design, case.by))
            cells += [_shown(given.value), *((_label(own), _shown(own.value)) if has_own else ())]
        paper = evaluated.finding(evaluated.worlds[0], Case("published", workload, design, case.by))
        shown.add_row(design, _label(paper), *cells)
    return _titled(f"{title}, {workload}: most requests per second", shown)


def _orders(evaluated: Evaluated, workload: Workload) -> RenderableType:
    """The designs by requests per second at equal power, beside what the paper says of them."""
    order = ORDERS[workload]
    shown = _table("Clusters", "order", "as the paper", words=3)
    shown.add_row(f"paper, {order.source}", str(order))
    for world, experiment, rates in _ordered(evaluated, workload):
        agrees = "yes" if order.agrees(rates) else "no"
        shown.add_row(f"{world}, {_WHOSE[experiment]}", " > ".join(rates), agrees)
    return _titled(f"Equal power, {workload}: order by requests per second", shown)


def _ordered(evaluated: Evaluated, workload: Workload) -> list[tuple[str, Clusters, dict[str, float]]]:
    """For each world and whose clusters, the designs' requests per second, fastest first."""
    whose: tuple[Clusters, ...] = ("published", "own")
    ordered = [(world, each, evaluated.order(world, each, workload)) for world in evaluated.worlds for each in whose]
    return [found for found in ordered if found[2]]


def _least(evaluated: Evaluated, workload: Workload) -> RenderableType:
    """Figures 12 and 19."""
    heads = [head for world in evaluated.worlds for head in (f"{world}\ncluster", "\nUSD/h", "\nkW")]
    shown = _table("Design", "least", *heads, words=2)
    for design in DESIGNS:
        rows: dict[tuple[str, ...], list[str]] = {}
        for by in OBJECTIVES:
            cells = []
            for world in evaluated.worlds:
                found = evaluated.finding(world, Case("least", workload, design, by))
                amounts = (
                    (None, None) if found.cluster is None else (found.cluster.cost_usd_per_h, found.cluster.power_kw)
                )
                cells += [_label(found), _shown(amounts[0], ",.0f"), _shown(amounts[1])]
            rows.setdefault(tuple(cells), []).append(by)
        for same, words in rows.items():
            if any(cell != "-" for cell in same):
                shown.add_row(design, ", ".join(words) if len(words) < len(OBJECTIVES) else "any", *same)
    return _titled(f"At {TARGET_RPS:g} RPS, {workload}: the clusters that take least", shown)


def _changes(evaluated: Evaluated, workload: Workload) -> RenderableType:
    """Figure 20: the clusters published for the other workload, and the other model."""
    heads = [head for world in evaluated.worlds for head in (f"{world}\nRPS", "other\ncluster", "Llama2\n70B")]
    shown = _table("Design", *heads)
    for design in DESIGNS:
        cells = []
        for world in evaluated.worlds:
            values = [
                evaluated.finding(world, Case(each, workload, design)).value for each in ("published", "moved", "model")
            ]
            cells += [_shown(values[0]), *(_against(value, values[0]) for value in values[1:])]
        shown.add_row(design, *cells)
    return _titled(f"Changes at equal power, {workload}: most requests per second", shown)


def _against(value: float | None, base: float | None) -> str:
    return _shown(value) if value is None or not base else f"{value:.1f} {value / base - 1:+.0%}"


def _batch(evaluated: Evaluated) -> RenderableType:
    """Section VI-E."""
    shown = _table("Design", *evaluated.worlds)
    for design in DESIGNS:
        case = Case("batch", "conversation", design)
        shown.add_row(design, *(_shown(evaluated.finding(world, case).value, ".3f") for world in evaluated.worlds))
    return _titled("Batch load: requests per second and USD (an hour of one GPU in each machine)", shown)


def _claims(evaluated: Evaluated) -> RenderableType:
    """Published, ours, and by how much ours differs; beyond 10 % in bold."""
    shown = _table("Claim", "paper", *evaluated.worlds)
    told = [c for c in evaluated.comparisons if any(value is not None for value in c.values.values())]
    for claim, comparisons in groupby(told, key=lambda comparison: comparison.claim):
        shown.add_row(claim.text)
        for comparison in comparisons:
            published = f"{'> ' if claim.is_bound else ''}{claim.published:.2f}"
            label = f"  {comparison.workload}, {_WHOSE[comparison.clusters]} clusters"
            shown.add_row(label, published, *(_compared(comparison, world) for world in evaluated.worlds))
    return _titled("The paper's claims", shown)


def _compared(comparison: Comparison, world: str) -> Text:
    holds, difference = comparison.holds(world), comparison.difference(world)
    verdict, is_odd = "", False
    if holds is not None:
        verdict, is_odd = "holds" if holds else "fails", not holds
    elif difference is not None:
        verdict, is_odd = f"{difference:+.0%}", abs(difference) > _LARGE
    return Text(f"{_shown(comparison.values.get(world), '.2f')} {verdict:>5}", style="bold" if is_odd else "")


def to_dict(evaluated: Evaluated, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON carries it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": "compared",
        "inputs": dict(inputs),
        "orders": [
            {
                "workload": workload,
                "paper": {"better": list(ORDERS[workload].better), "worse": list(ORDERS[workload].worse)},
                "source": ORDERS[workload].source,
                "ours": [
                    {
                        "profile_set": world,
                        "clusters": experiment,
                        "designs": list(rates),
                        "agrees": ORDERS[workload].agrees(rates),
                    }
                    for world, experiment, rates in _ordered(evaluated, workload)
                ],
            }
            for workload in evaluated.workloads
        ],
        "findings": [_record(world, case, found) for world, case, found in _all(evaluated)],
        "claims": [_comparison(comparison, evaluated.worlds) for comparison in evaluated.comparisons],
    }


def to_rows(evaluated: Evaluated) -> list[dict[str, Any]]:
    """As CSV has it: what was found, one case a row, with the percentiles where a cluster met the SLOs."""
    records = [_record(world, case, found) for world, case, found in _all(evaluated)]
    columns: dict[str, Any] = {name: None for record in records for name in record}
    return [{**columns, **record} for record in records]


def _all(evaluated: Evaluated) -> list[tuple[str, Case, Finding]]:
    return [(world, case, found) for world in evaluated.worlds for case, found in evaluated.findings[world].items()]


def _record(world: str, case: Case, finding: Finding) -> dict[str, Any]:
    cluster = finding.cluster
    match case.experiment:
        case "least":
            unit = UNITS[case.by]
        case "batch":
            unit = "RPS/USD"
        case _:
            unit = "RPS"
    described = {} if finding.evaluation is None else row(finding.evaluation)
    return {
        **described,
        "profile_set": world,
        "experiment": case.experiment,
        "workload": case.workload,
        "short": case.design,
        "by": case.by,
        "value": _number(finding.value),
        "unit": unit,
        "prompt_machines": None if cluster is None else cluster.prompt_machines,
        "token_machines": None if cluster is None else cluster.token_machines,
        "simulated": finding.simulated,
        "fresh_seeds_passed": None if finding.confirmed is None else finding.confirmed[0],
        "fresh_seeds": None if finding.confirmed is None else finding.confirmed[1],
    }


def _comparison(comparison: Comparison, worlds: Sequence[str]) -> dict[str, Any]:
    claim = comparison.claim
    return {
        "claim": claim.text,
        "source": claim.source,
        "workload": comparison.workload,
        "clusters": comparison.clusters,
        "unit": claim.unit,
        "published": claim.published,
        "is_bound": claim.is_bound,
        "ours": {world: _number(comparison.values.get(world)) for world in worlds},
        "difference": {world: _number(comparison.difference(world)) for world in worlds},
        "holds": {world: comparison.holds(world) for world in worlds},
    }


def _number(value: float | None) -> float | None:
    """A finite number to nine digits; None for one that is not."""
    return float(f"{value:.9g}") if value is not None and math.isfinite(value) else None
