"""What the catalog holds, to look at: machines, models and designs side by side, SLOs, and lengths of workloads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from provisioner.domain.slo import SloSet
from provisioner.report.figures.bars import Bars, BarSeries
from provisioner.report.figures.cdf import of_distributions
from provisioner.report.figures.lines import Lines
from provisioner.report.figures.wording import UNITS, limit_name
from provisioner.report.listing import Entry, lengths, rows
from provisioner.traces import SizeTable

GROUPS = {
    "machines": {
        "cost_usd_per_h": "Cost (USD/h)",
        "power_kw": "Power (kW)",
        "gpu_memory_gb": "GPU memory (GB)",
        "interconnect_gb_per_s": "Interconnect (GB/s)",
    },
    "models": {"weights_gb": "Weights (GB)", "kv_cache_kb_per_token": "KV-cache (kB/token)"},
    "designs": {
        "prompt_machine_usd_per_h": "Prompt machine (USD/h)",
        "token_machine_usd_per_h": "Token machine (USD/h)",
        "prompt_machine_kw": "Prompt machine (kW)",
        "token_machine_kw": "Token machine (kW)",
    },
}
"""What is drawn of a kind, with units."""


def of_catalog(kinds: Mapping[str, Mapping[str, Entry]]) -> tuple[Bars | Lines, ...]:
    """A figure for each kind that has values, by the names of its entries."""
    return tuple(figure for kind, entries in kinds.items() if entries for figure in _figures(kind, entries))


def _figures(kind: str, entries: Mapping[str, Entry]) -> Sequence[Bars | Lines]:
    title = kind.capitalize() if kind != "slos" else "SLOs"
    if kind in GROUPS:
        return [_bars(title, GROUPS[kind], {row["name"]: row for row in rows(entries)})]
    if kind == "slos":
        sets = {name: entry for name, entry in entries.items() if isinstance(entry, SloSet)}
        limits = {name: {_objective(each): each.limit for each in entry.limits} for name, entry in sets.items()}
        groups = {objective: objective for own in limits.values() for objective in own}
        return [_bars(title, groups, limits)]
    found = {name: lengths(entry) for name, entry in entries.items() if isinstance(entry, SizeTable)}
    if not found:
        return []
    quantities = {
        f"{quantity} (tokens)": {name: each[place] for name, each in found.items()}
        for place, quantity in enumerate(("Prompt", "Output"))
    }
    return [of_distributions(quantities, title)]


def _objective(limit: object) -> str:
    return f"{limit_name(limit)}, {UNITS[limit.unit].lower()}"  # type: ignore[arg-type, attr-defined]


def _bars(title: str, groups: Mapping[str, str], amounts: Mapping[str, Mapping[str, float]]) -> Bars:
    """Each amount relative to the largest of its group."""
    largest = {key: max(own.get(key, 0.0) for own in amounts.values()) or 1.0 for key in groups}
    return Bars(
        title=title,
        y_label="Relative to the largest",
        groups=tuple(groups.values()),
        series=tuple(
            BarSeries(
                label=name,
                values=tuple(own[key] / largest[key] if key in own else math.nan for key in groups),
                texts=tuple(f"{own[key]:,.4g}" if key in own else "" for key in groups),
            )
            for name, own in amounts.items()
        ),
        reference="the largest",
    )
