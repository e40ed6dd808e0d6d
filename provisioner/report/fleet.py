"""A fleet's plan as a table, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.fleet import FleetPlan, LimitUse, Pick, Totals
from provisioner.fleet.answer import NOT_FOUND
from provisioner.report.answer import SCHEMA_VERSION, judged
from provisioner.report.figures.wording import GOAL_UNITS
from provisioner.report.narrow import FittingTable as Table
from provisioner.report.plain import plain, printable
from provisioner.report.title import titled
from provisioner.search import Certificate

UNEXPLAINED = {
    "limits": "what every limit costs",
    "conflict": "whether fewer limits contradict each other",
    "dropped_first": "who else would be dropped",
}


def table(plan: FleetPlan, goal: str, title: str, certificates: Sequence[Certificate]) -> RenderableType:
    """Services, totals, limits, who would be dropped first, and the proof."""
    later = unexplained(plan)
    parts: list[RenderableType | None] = [_dropped(plan), Text(later) if later else None]
    parts.append(Text(_proof(plan, certificates)))
    if plan.is_feasible:
        parts = [_services(plan, title), _limits(plan, goal), *parts]
    else:
        reason = Text(f"{printable(title)}: no fleet; {printable(plan.reason or '')}.")
        parts = [reason, conflict(plan.conflict), *parts]
    return Group(*(part for part in parts if part is not None))


def _services(plan: FleetPlan, title: str) -> RenderableType:
    table = empty(("Service", "Cluster"), ("n", "USD/h", "kW", "RPS", "Served"))
    for pick in plan.picks:
        option = pick.option
        table.add_row(
            plain(pick.offer.service),
            plain(option.label) if option else "dropped",
            str(sum(option.machines.values()) if option else 0),
            f"{pick.cost_usd_per_h:,.2f}",
            f"{pick.power_kw:,.1f}",
            f"{option.rate_rps if option else 0:.4g}",
            f"{pick.share:.0%}",
        )
    totals = plan.totals
    assert totals is not None
    table.add_section()
    table.add_row("together", "", str(totals.machines), f"{totals.cost_usd_per_h:,.2f}", f"{totals.power_kw:,.1f}")
    machines = ", ".join(f"{count} {printable(name)}" for name, count in totals.machines_of.items() if count)
    sunk = f"; {totals.sunk_usd_per_h:,.2f} USD/h are sunk in machines owned" if totals.sunk_usd_per_h else ""
    table.caption, table.caption_justify = f"{machines}{sunk}", "left"
    return titled(title, table)


def _limits(plan: FleetPlan, goal: str) -> Table | None:
    if not plan.limits:
        return None
    table = empty(("Limit",), ("used", "of", "one more buys", "the next step"))
    for use in plan.limits:
        step = "-" if use.enough is None else f"{use.enough.to:,.6g}: {use.enough.gain:,.4g}"
        step = step if use.is_known else "not known"
        table.add_row(
            f"{plain(use.name)} ({use.unit})",
            f"{use.used:,.6g}",
            f"{use.limit:,.6g}",
            f"{use.one_more:,.4g}" if use.binds else "-",
            step,
        )
    if any(use.binds for use in plan.limits):
        table.caption, table.caption_justify = f"gains are {GOAL_UNITS[goal]}", "left"
    return table


def conflict(uses: Sequence[LimitUse]) -> Table | None:
    """Limits that contradict each other, and what would do; None if there are none."""
    if not uses:
        return None
    table = empty(("Limit",), ("is", "enough, others kept"))
    for use in uses:
        enough = "none" if use.enough is None else f"{use.enough.to:,.6g}"
        enough = enough if use.is_known else "not known"
        table.add_row(f"{plain(use.name)} ({use.unit})", f"{use.limit:,.6g}", enough)
    return table


def unexplained(plan: FleetPlan) -> str | None:
    """What there was no time to find out, in words."""
    open_ = " and ".join(UNEXPLAINED[each] for each in plan.unexplained)
    return f"Time ran out before it was known {open_}; see --time-limit." if open_ else None


def _dropped(plan: FleetPlan) -> Text | None:
    if not plan.dropped_first:
        return None
    order = ", then ".join(f"{printable(each.service)} (at {each.at:.0%})" for each in plan.dropped_first)
    return Text(f"With less {printable(plan.rationed or '')}, dropped first: {order}.")


def _proof(plan: FleetPlan, certificates: Sequence[Certificate]) -> str:
    simulated = sum(certificate.simulated for certificate in certificates)
    elapsed_s = plan.elapsed_s + sum(certificate.elapsed_s for certificate in certificates)
    return f"{simulated:,} clusters simulated, in {elapsed_s:.1f} s: {_certificate(plan)}."


def _certificate(plan: FleetPlan) -> str:
    return {
        "optimal": "no choice of clusters is better, and no cluster left out could make a better fleet",
        "feasible": f"time ran out: a better fleet may exist, by {plan.gap:.2%} at most",
        "infeasible": "no choice of clusters is within the limits" if plan.conflict else NOT_FOUND,
    }[plan.status]


def empty(names: Sequence[str], numbers: Sequence[str]) -> Table:
    """A table without rows: columns of names, then of numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    for name in names:
        table.add_column(name, overflow="fold")
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=True)
    return table


def answer(
    plan: FleetPlan, inputs: Mapping[str, Any], goal: Mapping[str, Any], certificates: Sequence[Certificate]
) -> dict[str, Any]:
    """The plan as plain data."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": plan.status,
        "goal": dict(goal),
        "inputs": dict(inputs),
        "services": [_service(pick) for pick in plan.picks],
        "totals": None if plan.totals is None else _totals(plan.totals),
        "value": plan.value,
        "bound": plan.bound,
        "gap": plan.gap,
        "limits": [limit(use) for use in plan.limits],
        "conflict": [limit(use) for use in plan.conflict],
        "dropped_first": [{"service": each.service, "at": each.at} for each in plan.dropped_first],
        "rationed": plan.rationed,
        "unexplained": list(plan.unexplained),
        "search": {
            "certificate": _certificate(plan),
            "simulated": sum(certificate.simulated for certificate in certificates),
            "excluded_by_bound": sum(certificate.excluded_by_bound for certificate in certificates),
            "excluded_by_dominance": sum(certificate.excluded_by_dominance for certificate in certificates),
            "uncertain": sum(certificate.uncertain for certificate in certificates),
            "elapsed_s": round(plan.elapsed_s + sum(certificate.elapsed_s for certificate in certificates), 3),
        },
        "reason": plan.reason,
        "warnings": [
            *sorted({text for pick in plan.picks for text in _warnings(pick)}),
            *([later] if (later := unexplained(plan)) else []),
        ],
    }


def _service(pick: Pick) -> dict[str, Any]:
    evaluation = pick.option.evaluation if pick.option else None
    return {
        **row(pick),
        "options": len(pick.offer.options),
        **({"cluster": None, "slos": [], "binding_slo": None} if evaluation is None else judged(evaluation)),
    }


def _warnings(pick: Pick) -> tuple[str, ...]:
    evaluation = pick.option.evaluation if pick.option else None
    return () if evaluation is None else evaluation.warnings


def _totals(totals: Totals) -> dict[str, Any]:
    return {
        "cost_usd_per_h": totals.cost_usd_per_h,
        "sunk_usd_per_h": totals.sunk_usd_per_h,
        "power_kw": totals.power_kw,
        "machines": totals.machines,
        "machines_of": dict(totals.machines_of),
    }


def limit(use: LimitUse) -> dict[str, Any]:
    """A limit as plain data."""
    enough = None if use.enough is None else {"limit": use.enough.to, "gain": use.enough.gain}
    return {
        "name": use.name,
        "unit": use.unit,
        "limit": use.limit,
        "used": use.used,
        "binds": use.binds,
        "one_more": use.one_more,
        "enough": enough,
        "known": use.is_known,
    }


def row(pick: Pick) -> dict[str, Any]:
    """A service as a row of CSV."""
    option = pick.option
    return {
        "service": pick.offer.service,
        "weight": pick.offer.weight,
        "target_rps": pick.offer.target_rps,
        "served_rps": option.rate_rps if option else 0.0,
        "served_share": round(pick.share, 9),
        "option": option.label if option else None,
        "machines": sum(option.machines.values()) if option else 0,
        "machines_of": "; ".join(f"{n} {name}" for name, n in option.machines.items()) if option else "",
        "cost_usd_per_h": pick.cost_usd_per_h,
        "power_kw": pick.power_kw,
    }
