"""What a trace file holds, as a table and as data."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.report.narrow import FittingTable as Table
from provisioner.report.plain import plain, printable
from provisioner.traces import Description
from provisioner.traces.burstiness import Burstiness
from provisioner.traces.distribution import Distribution

_GRID_SHARE = 0.5
"""Share of requests that tie with the one before from which recorded times are called rounded."""


def data(found: Description) -> dict[str, Any]:
    """Everything, for JSON."""
    intake = found.intake
    return {
        "format": intake.format,
        "rows": intake.rows,
        "kept": intake.kept,
        "left_out": [
            {"reason": each.reason, "rows": each.rows, "first_line": each.first_line} for each in intake.left_out
        ],
        "not_used": list(intake.unused),
        "arrivals": None if found.arrivals is None else _arrivals(found),
        "prompt_tokens": _lengths(found.prompt),
        "output_tokens": _lengths(found.output),
        "correlation": {"pearson": _rounded(found.pearson), "spearman": _rounded(found.spearman)},
    }


def rows(found: Description) -> list[dict[str, Any]]:
    """One figure a row, for CSV: nested names joined by points."""
    return [{"what": name, "value": value} for name, value in _flat("", data(found))]


def table(found: Description, title: str, asked_rps: float | None = None) -> RenderableType:
    """What people look for first: what was read, when requests come, how long they are; the rate that was asked for."""
    heading = Text(printable(f"{title}: {found.intake.format}"))
    parts: list[RenderableType] = [heading, _facts(found, asked_rps), _quantiles(found)]
    remark = _remark(found.arrivals)
    return Group(*parts, Text(remark)) if remark else Group(*parts)


def _arrivals(found: Description) -> dict[str, Any]:
    arrivals = found.arrivals
    assert arrivals is not None
    return {
        "span_s": round(arrivals.span_s, 9),
        "rate_rps": _rounded(arrivals.rate_rps),
        "gap_cv": _rounded(arrivals.gap_cv),
        "peak_minute_to_mean": _rounded(arrivals.peak_minute),
        "quiet_minutes": _rounded(arrivals.quiet_minutes),
        "ties": arrivals.ties,
        "most_at_once": arrivals.most_at_once,
        "smallest_gap_s": _rounded(arrivals.smallest_gap_s, 9),
        "steps_back": found.intake.steps_back,
        "largest_step_back_s": round(found.intake.largest_step_back_s, 9),
    }


def _lengths(lengths: Distribution) -> dict[str, Any]:
    cap = lengths.cap
    return {
        "min": int(lengths.values[0]),
        "mean": round(lengths.mean, 6),
        "max": int(lengths.values[-1]),
        "std": round(lengths.std, 6),
        "percentiles": {f"p{percent:g}": round(value, 6) for percent, value in lengths.percentiles().items()},
        "cap": None if cap is None else {"tokens": cap[0], "share": round(cap[1], 6)},
    }


def _facts(found: Description, asked_rps: float | None) -> Table:
    shown = Table(box=None, show_header=False, pad_edge=False)
    shown.add_column(style="dim", no_wrap=True)
    shown.add_column()
    for name, value in _worded(found, asked_rps):
        shown.add_row(name, plain(value))
    return shown


def _worded(found: Description, asked_rps: float | None) -> list[tuple[str, str]]:
    intake, arrivals = found.intake, found.arrivals
    facts = [("rows", f"{intake.rows:,} read, {intake.kept:,} kept")]
    for each in intake.left_out:
        first = "" if each.first_line is None else f" (the first on line {each.first_line:,})"
        facts.append(("left out", f"{each.rows:,}: {each.reason}{first}"))
    if intake.unused:
        facts.append(("not used", ", ".join(intake.unused)))
    if arrivals is None:
        facts.append(("arrivals", "none: a list of lengths, which needs --arrivals and --target-rps"))
    else:
        facts += _worded_arrivals(arrivals, asked_rps)
        back = f"{intake.steps_back:,}, by {intake.largest_step_back_s:,.6g} s at most" if intake.steps_back else "none"
        facts.append(("steps back in time", back))
    for name, lengths in (("prompt", found.prompt), ("output", found.output)):
        if lengths.cap is not None:
            facts.append((f"{name} cap", f"{lengths.cap[0]:,} tokens: {lengths.cap[1]:.2%} of the requests lie there"))
    return [*facts, ("correlation", f"{_short(found.pearson)} (Pearson), {_short(found.spearman)} (Spearman)")]


def _worded_arrivals(arrivals: Burstiness, asked_rps: float | None) -> list[tuple[str, str]]:
    facts = [
        ("span", f"{arrivals.span_s:,.6g} s{_in_hours(arrivals.span_s)}"),
        ("rate", f"{_short(arrivals.rate_rps)} RPS" + (f" (asked for: {asked_rps:.4g})" if asked_rps else "")),
        ("gaps", f"coefficient of variation {_short(arrivals.gap_cv)} (Poisson has 1)"),
    ]
    if arrivals.peak_minute is not None and arrivals.quiet_minutes is not None:
        quiet = f"; {arrivals.quiet_minutes:.1%} of minutes without a request" if arrivals.quiet_minutes else ""
        facts.append(("peak minute", f"{_short(arrivals.peak_minute)} times the mean{quiet}"))
    ties = f"{arrivals.ties:,} arrive with the one before, up to {arrivals.most_at_once:,} at once"
    return [*facts, ("ties", ties if arrivals.ties else "none")]


def _quantiles(found: Description) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("Tokens", no_wrap=True)
    for heading in ("prompt", "output"):
        shown.add_column(heading, justify="right", no_wrap=True)
    lengths = (found.prompt, found.output)
    percentiles = [each.percentiles() for each in lengths]
    shown.add_row("mean", *(f"{each.mean:,.1f}" for each in lengths))
    shown.add_row("least", *(f"{each.values[0]:,}" for each in lengths))
    for percent in percentiles[0]:
        shown.add_row(f"P{percent:g}", *(f"{each[percent]:,.0f}" for each in percentiles))
    shown.add_row("most", *(f"{each.values[-1]:,}" for each in lengths))
    return shown


def _remark(arrivals: Burstiness | None) -> str:
    """What the recorded times cannot show."""
    if arrivals is None or arrivals.smallest_gap_s is None:
        return ""
    requests = 1 + int(arrivals.gap_counts.sum())
    if arrivals.ties < _GRID_SHARE * requests:
        return ""
    return (
        f"Times are rounded to steps of {arrivals.smallest_gap_s:.3g} s or more, so that requests come in bursts which "
        "were none: --arrivals poisson or gamma:CV keeps the lengths only."
    )


def _in_hours(span_s: float) -> str:
    hours = span_s / 3600
    return "" if hours < 1 else f" ({hours:.1f} hours)" if hours < 48 else f" ({hours / 24:.1f} days)"  # noqa: PLR2004


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _rounded(value: float | None, digits: int = 6) -> float | None:
    return None if value is None else round(value, digits)


def _flat(prefix: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [each for key, inner in value.items() for each in _flat(f"{prefix}.{key}" if prefix else key, inner)]
    if isinstance(value, list):
        return [each for place, inner in enumerate(value) for each in _flat(f"{prefix}.{place}", inner)]
    return [(prefix, value)]
