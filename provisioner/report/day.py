"""A fleet's plan by the hour as a table, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.fleet.answer import NOT_FOUND
from provisioner.fleet.day import DayPlan
from provisioner.report.answer import SCHEMA_VERSION
from provisioner.report.fleet import conflict, empty, limit
from provisioner.report.plain import plain, printable
from provisioner.report.title import titled

UNITS = {"cost": "USD", "power": "kWh", "machines": "machine-hours"}
"""What is minimised over all hours."""


def table(plan: DayPlan, title: str) -> RenderableType:
    """Hours that are alike together: each service's cluster, what is held, and what that saves."""
    if not plan.is_feasible:
        reason = Text(f"{printable(title)}: no plan; {printable(plan.reason or '')}.")
        return Group(*(part for part in (reason, conflict(plan.conflict)) if part is not None))
    shown = empty(("Hours", "Service", "Cluster"), ("held", "starts"))
    for hours in _alike(plan):
        first, last = hours[0], hours[-1]
        held = str(sum(each.held for each in plan.holdings[first].values()))
        for place, (service, option) in enumerate(zip(plan.services, plan.picks[first], strict=True)):
            when = (f"{first}-{last}" if last > first else str(first)) if place == 0 else ""
            numbers = (held, str(plan.starts[first])) if place == 0 else ("", "")
            shown.add_row(when, plain(service), plain(option.label), *numbers)
    return Group(titled(title, shown), Text("\n".join(_summary(plan))))


def _alike(plan: DayPlan) -> list[list[int]]:
    """Runs of hours with the same clusters and machines."""

    def key(hour: int) -> tuple[Any, ...]:
        return (
            tuple(option.label for option in plan.picks[hour]),
            tuple(each.held for each in plan.holdings[hour].values()),
            plan.starts[hour],
        )

    return [list(run) for _, run in groupby(range(len(plan.picks)), key=key)]


def _summary(plan: DayPlan) -> list[str]:
    hours = len(plan.picks)
    reserved = ", ".join(f"{count} {printable(name)}" for name, count in plan.reserved.items() if count)
    lines = [
        f"{plan.cost_usd:,.2f} USD in {hours} hours, {plan.cost_usd / hours:,.2f} USD/h.",
        f"Reserved: {reserved or 'none'}.",
    ]
    unit = UNITS[plan.minimize]
    if plan.minimize != "cost":
        lines.insert(0, f"{plan.value:,.6g} {unit} in {hours} hours.")
    if plan.peak_value is None:
        lines.append("One fixed fleet for the peak is not within the limits.")
    elif plan.peak_value:
        takes = (
            f"costs {plan.peak_value:,.2f} USD" if plan.minimize == "cost" else f"takes {plan.peak_value:,.6g} {unit}"
        )
        lines.append(f"One fixed fleet for the peak {takes}: the plan saves {plan.saving:.1%}.")
    passing = f"{plan.checked} clusters pass at the rate of their hour"
    lines.append(f"{passing}; in {plan.elapsed_s:.1f} s: {_certificate(plan)}.")
    return lines


def _certificate(plan: DayPlan) -> str:
    return {
        "optimal": f"no plan of these clusters {'costs' if plan.minimize == 'cost' else 'takes'} less",
        "feasible": f"time ran out: {plan.gap:.2%} less at most",
        "infeasible": "no plan is within the limits in every hour" if plan.conflict else NOT_FOUND,
    }[plan.status]


def answer(plan: DayPlan, inputs: Mapping[str, Any], rates: Sequence[Sequence[float]]) -> dict[str, Any]:
    """The plan as plain data."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": plan.status,
        "goal": {"minimize": plan.minimize, "by": "hour"},
        "inputs": dict(inputs),
        "hours": [
            {
                "hour": hour,
                "services": [
                    {
                        "service": name,
                        "rps": rates[place][hour],
                        "option": pick.label,
                        "machines_of": dict(pick.machines),
                    }
                    for place, (name, pick) in enumerate(zip(plan.services, picks, strict=True))
                ],
                "machines": {
                    name: {"held": each.held, "owned": each.owned, "on_demand": each.on_demand, "spot": each.spot}
                    for name, each in plan.holdings[hour].items()
                },
                "starts": plan.starts[hour],
            }
            for hour, picks in enumerate(plan.picks)
        ],
        "reserved": dict(plan.reserved),
        "cost_usd": plan.cost_usd,
        "bound_usd": plan.bound if plan.minimize == "cost" else None,
        "value": plan.value,
        "bound": plan.bound,
        "unit": UNITS[plan.minimize],
        "gap": plan.gap,
        "peak_usd": plan.peak_usd,
        "peak_value": plan.peak_value,
        "saving": plan.saving,
        "conflict": [limit(use) for use in plan.conflict],
        "reason": plan.reason,
        "search": {"certificate": _certificate(plan), "checked": plan.checked, "elapsed_s": round(plan.elapsed_s, 3)},
    }


def rows(plan: DayPlan, rates: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    """An hour of a service a row of CSV."""
    return [
        {
            "hour": hour,
            "service": name,
            "rps": rates[place][hour],
            "option": pick.label,
            "machines": sum(pick.machines.values()),
            "held_in_all": sum(each.held for each in plan.holdings[hour].values()),
            "starts_in_all": plan.starts[hour],
        }
        for hour, picks in enumerate(plan.picks)
        for place, (name, pick) in enumerate(zip(plan.services, picks, strict=True))
    ]
