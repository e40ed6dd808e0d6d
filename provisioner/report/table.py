"""Answers as tables, where people look."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.metrics import SloResult
from provisioner.report import resilience
from provisioner.report.answer import miss
from provisioner.report.narrow import FittingTable as Table
from provisioner.report.plain import plain, printable
from provisioner.report.title import titled
from provisioner.search import Certificate, Evaluation, Front, Plan

_TITLES = {"ttft": "TTFT", "tbt": "TBT", "e2e": "E2E", "goodput": "Goodput"}


def of_plan(plan: Plan, title: str) -> RenderableType:
    """The answer of a search: the cluster, its objectives, and the proof."""
    if plan.best is None:
        return Text(f"No cluster: {printable(plan.reason or '')}")
    heading = title if plan.is_feasible else f"{title}: none passes; the nearest miss"
    lines = [*resilience.lines(plan.best), _proof(plan.certificate)]
    if plan.equally_good:
        does = "does" if plan.equally_good == 1 else "do"
        lines.append(f"{plan.equally_good} more {does} as well, with less headroom.")
    if plan.confirmed is not None:
        lines.append(f"On {plan.confirmed[1]} fresh seeds, one at a time, it passes {plan.confirmed[0]} times.")
    if plan.reason:
        lines.append(printable(plan.reason) + ".")
    return Group(of_evaluations([plan.best], heading), objectives(plan.best), Text("\n".join(lines)))


def _proof(certificate: Certificate) -> str:
    simulated = "cluster simulated" if certificate.simulated == 1 else "clusters simulated"
    counts = [
        f"{count:,} {what}"
        for count, what in (
            (certificate.simulated, simulated),
            (certificate.alike, "alike to one of them"),
            (certificate.excluded_by_bound, "excluded by bounds"),
            (certificate.excluded_by_dominance, "dominated"),
            (certificate.uncertain, "uncertain"),
            (certificate.unconfirmed, "not confirmed on fresh seeds"),
        )
        if count or what == simulated
    ]
    return f"{', '.join(counts)}, in {certificate.elapsed_s:.1f} s: {certificate.text}."


def of_evaluation(evaluation: Evaluation, title: str) -> RenderableType:
    """One cluster, its objectives and its verdict."""
    verdict = "every objective is met" if evaluation.is_feasible else miss(evaluation)
    lines = [*resilience.lines(evaluation), f"{verdict}."]
    return Group(of_evaluations([evaluation], title), objectives(evaluation), Text("\n".join(lines)))


def of_evaluations(evaluations: Sequence[Evaluation], title: str) -> RenderableType:
    """Clusters, one a row."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    for column in ("Design", "Cluster"):
        table.add_column(column, no_wrap=True)
    for column in ("n", "USD/h", "kW", "RPS", "Busy"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("Binding", no_wrap=True)
    for evaluation in evaluations:
        cluster = evaluation.cluster
        busy = "/".join(f"{share:.0%}" for name, share in evaluation.utilization.items() if name != "mixed_pool")
        table.add_row(
            plain(cluster.design.short),
            cluster.label,
            str(cluster.machines),
            f"{cluster.cost_usd_per_h:,.2f}",
            f"{cluster.power_kw:,.1f}",
            f"{evaluation.rate_rps:.4g}",
            busy,
            f"{evaluation.binding.limit.name} {room(evaluation)}",
        )
    return titled(title, table)


def room(evaluation: Evaluation) -> str:
    """What is left of the limit that binds; nothing can be said of one that no request, or never all of them, reach."""
    if math.isnan(evaluation.binding.value):
        return "-"
    return f"{evaluation.own_headroom:+.0%}" if math.isfinite(evaluation.own_headroom) else "never"


def of_front(front: Front, title: str) -> RenderableType:
    """Non-dominated clusters, and the proof."""
    proof = Text(_proof(front.certificate))
    if not front.clusters:
        return Group(Text(f"{printable(title)}: none passes. {printable(front.reason or '')}."), proof)
    return Group(of_evaluations(front.clusters, title), proof)


def of_curve(found: Sequence[Evaluation], title: str) -> RenderableType:
    """Achieved values, one cluster and rate a row; those beyond their limits marked."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    for column in ("Design", "Cluster"):
        table.add_column(column, no_wrap=True)
    table.add_column("RPS", justify="right", no_wrap=True)
    for result in found[0].results:
        table.add_column(result.limit.name.replace("_", "\n"), justify="right", no_wrap=True)
    for evaluation in found:
        values = [
            Text(f"{short(result.value)}{' ' if result.met else '!'}", style="" if result.met else "bold red")
            for result in evaluation.results
        ]
        cluster = evaluation.cluster
        table.add_row(plain(cluster.design.short), cluster.label, f"{evaluation.rate_rps:.4g}", *values)
    limits = [f"{result.limit.limit:g} " for result in found[0].results]
    table.add_row("limit", "", "", *limits, style="dim")
    table.caption = "! beyond its limit"
    table.caption_justify = "left"
    return titled(title, table)


def short(value: float) -> str:
    """A number in at most five characters, as long as it is below 10,000."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"  # noqa: PLR2004


def objectives(evaluation: Evaluation) -> Table:
    """Achieved / limit of every objective: metrics down, percentiles across; those not met are marked."""
    percentiles = sorted({result.limit.percentile for result in evaluation.results})
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    table.add_column("Achieved / limit", no_wrap=True)
    for percentile in percentiles:
        table.add_column(f"P{percentile:g} ", justify="right", no_wrap=True)
    rows = dict.fromkeys((result.limit.metric, result.limit.unit) for result in evaluation.results)
    for metric, unit in rows:
        cells = [
            _cell([r for r in evaluation.results if (r.limit.metric, r.limit.unit, r.limit.percentile) == key])
            for key in ((metric, unit, percentile) for percentile in percentiles)
        ]
        table.add_row(f"{_TITLES[metric]} ({unit})", *cells)
    marks = [_MARKS[verdict] for verdict in dict.fromkeys(r.verdict for r in evaluation.results) if verdict != "met"]
    if marks:
        table.caption = "   ".join(f"{mark} {meaning}" for mark, meaning in marks)
        table.caption_justify = "left"
    return table


_MARKS = {"met": (" ", ""), "missed": ("!", "missed"), "uncertain": ("?", "too close to tell")}


def _cell(results: Sequence[SloResult]) -> Text:
    if not results:
        return Text("")
    (result,) = results
    text = f"{brief(result.value, 3)} / {result.limit.limit:g}"
    if result.ci95 is not None:
        text += f" ±{brief((result.ci95[1] - result.ci95[0]) / 2, 2)}"
    return Text(f"{text}{_MARKS[result.verdict][0]}", style="" if result.met else "bold red")


def brief(value: float, digits: int) -> str:
    """So many digits, without an exponent for large numbers; a dash for what no request has."""
    if math.isnan(value):
        return "-"
    return f"{value:.0f}" if 10**digits <= abs(value) < math.inf else f"{value:.{digits}g}"
