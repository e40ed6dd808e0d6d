"""Bars relative to something: a baseline's amounts (figures 18 and 19), or limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from provisioner.report.comparison import COLUMNS, Row
from provisioner.report.figures.wording import cluster_name, limit_name, limit_text
from provisioner.search import Evaluation

GROUPS = {
    "throughput_rps": "Throughput (requests/s)",
    "cost_usd_per_h": "Cost (USD/h)",
    "power_kw": "Power (kW)",
    "machines": "Machines",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BarSeries:
    """One colour of bars: a value and a text for each group; NaN draws none."""

    label: str
    values: tuple[float, ...]
    texts: tuple[str, ...]
    """What stands at each bar: its amount, and a mark where it misses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Groups of bars around a reference at 1."""

    title: str
    y_label: str
    groups: tuple[str, ...]
    series: tuple[BarSeries, ...]
    reference: str
    """What 1 is."""
    note: str = ""

    @property
    def has_values(self) -> bool:
        """Whether there is anything to draw."""
        return any(not math.isnan(value) for series in self.series for value in series.values)


def of_designs(rows: Sequence[Row], baseline: str, title: str) -> Bars:
    """Each design's cluster, relative to the baseline design's."""
    is_relative = any(row.evaluation.cluster.design.name == baseline for row in rows)
    scale = {name: max((_amount(row, name) for row in rows), default=1.0) or 1.0 for name in COLUMNS}
    series = tuple(
        BarSeries(
            label=cluster_name(row.evaluation) + ("" if row.evaluation.is_feasible else " (misses an SLO)"),
            values=tuple(_ratio(row, name, scale[name], is_relative=is_relative) for name in COLUMNS),
            texts=tuple(f"{_amount(row, name):,.4g}" for name in COLUMNS),
        )
        for row in rows
    )
    reference = baseline if is_relative else "the largest of each"
    return Bars(
        title=title,
        y_label=f"Relative to {reference}",
        groups=tuple(GROUPS[name] for name in COLUMNS),
        series=series,
        reference=reference,
    )


def _amount(row: Row, name: str) -> float:
    cluster = row.evaluation.cluster
    return {
        "throughput_rps": row.evaluation.rate_rps,
        "cost_usd_per_h": cluster.cost_usd_per_h,
        "power_kw": cluster.power_kw,
        "machines": float(cluster.machines),
    }[name]


def _ratio(row: Row, name: str, largest: float, *, is_relative: bool) -> float:
    ratio = row.ratios[name] if is_relative else _amount(row, name) / largest
    return math.nan if ratio is None else ratio


def of_objectives(named: Sequence[tuple[str, Evaluation]], title: str) -> Bars:
    """Each objective as a share of its limit, of one cluster or of several."""
    limits = [result.limit for result in named[0][1].results]
    series = tuple(
        BarSeries(
            label=name,
            values=tuple(result.value / result.limit.limit for result in evaluation.results),
            texts=tuple(f"{result.value:.3g}{'' if result.met else '!'}" for result in evaluation.results),
        )
        for name, evaluation in named
    )
    return Bars(
        title=title,
        y_label="Achieved / limit",
        groups=tuple(limit_text(limit) for limit in limits),
        series=series,
        reference="the limit",
        note="! beyond its limit" if any(not r.met for _, e in named for r in e.results) else "",
    )


def of_cases(named: Sequence[tuple[str, Evaluation]], title: str) -> Bars:
    """Each objective as a share of its limit, where limits differ from case to case."""
    limits = dict.fromkeys(limit_text(result.limit) for _, e in named for result in e.results)
    if all(len(e.results) == len(limits) for _, e in named):
        return of_objectives(named, title)
    metrics = dict.fromkeys(limit_name(result.limit) for _, e in named for result in e.results)
    found = [(name, {limit_name(result.limit): result for result in e.results}) for name, e in named]
    series = tuple(
        BarSeries(
            label=name,
            values=tuple(r.value / r.limit.limit if (r := of.get(metric)) else math.nan for metric in metrics),
            texts=tuple(f"{r.value:.3g}{'' if r.met else '!'}" if (r := of.get(metric)) else "" for metric in metrics),
        )
        for name, of in found
    )
    return Bars(
        title=title,
        y_label="Achieved / limit of the case",
        groups=tuple(metrics),
        series=series,
        reference="the limit",
        note="Limits differ from case to case; ! beyond its limit",
    )
