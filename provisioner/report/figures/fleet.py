"""A fleet's plan: what each service takes of what is limited, and the clusters that it was chosen from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from provisioner.fleet import FleetPlan, LimitUse, Option, Pick
from provisioner.report.figures.bars import Bars, BarSeries
from provisioner.report.figures.front import Front, Point
from provisioner.report.figures.stacks import Part, Stacks
from provisioner.report.figures.wording import AMOUNTS, GOAL_UNITS
from provisioner.search import Evaluation

_Thing = TypeVar("_Thing")
MOST_NAMED = 7
"""Services that have a colour of their own; the others share one."""
TOGETHER = "all services"


def of_fleet(plan: FleetPlan, goal: str, title: str) -> tuple[Stacks | Front | Bars, ...]:
    """What is taken, what there was to choose from, and what is served where that is not everything."""
    if not plan.is_feasible:
        return () if (found := contradiction(plan, title)) is None else (found,)
    is_partly = any(pick.share < 1 for pick in plan.picks)
    return (amounts(plan, goal, title), *([served(plan, title)] if is_partly else []), choices(plan, title))


def amounts(plan: FleetPlan, goal: str, title: str) -> Stacks:
    """Cost, power, machines and whatever else is limited, service by service."""
    assert plan.totals is not None
    uses = {use.name: use for use in plan.limits}
    wholes = {
        "cost": plan.totals.cost_usd_per_h,
        "power": plan.totals.power_kw,
        "machines": float(plan.totals.machines),
        **{name: use.used or 0.0 for name, use in uses.items()},
    }
    groups = _groups(plan.picks)
    scales = {name: (uses[name].limit if name in uses else whole) or 1.0 for name, whole in wholes.items()}
    taken = {
        label: {name: sum(_taken(pick, name) for pick in picks) for name in wholes} for label, picks in groups.items()
    }
    is_split = {name: math.isclose(sum(t[name] for t in taken.values()), wholes[name], rel_tol=1e-6) for name in wholes}
    parts = [
        _part(label, {name: amount if is_split[name] else math.nan for name, amount in own.items()}, scales)
        for label, own in taken.items()
    ]
    if not all(is_split.values()):
        whole = {name: math.nan if is_split[name] else amount for name, amount in wholes.items()}
        parts.append(_part(TOGETHER, whole, scales))
    return Stacks(
        title=title,
        x_label="Share of the limit; of the whole where there is none",
        rows=tuple(_row_name(name, uses.get(name)) for name in wholes),
        parts=tuple(parts),
        is_limited=tuple(name in uses for name in wholes),
        ends=tuple(_end(whole, uses.get(name), goal) for name, whole in wholes.items()),
        note=_note(plan),
    )


def contradiction(plan: FleetPlan, title: str) -> Stacks | None:
    """Limits of which one has to be larger, and what would be enough; None where nothing is known of any."""
    if not plan.conflict:
        return None
    enough = [math.nan if use.enough is None else use.enough.to for use in plan.conflict]
    part = Part(
        label="enough, if the other limits stay",
        lengths=tuple(to / (use.limit or 1.0) for to, use in zip(enough, plan.conflict, strict=True)),
        texts=tuple("" if math.isnan(to) else f"{to:,.6g}" for to in enough),
    )
    return Stacks(
        title=f"{title}: no fleet is within these limits",
        x_label="Share of the limit",
        rows=tuple(_row_name(use.name, use) for use in plan.conflict),
        parts=(part,),
        is_limited=(True,) * len(enough),
        ends=tuple(f"limit {use.limit:,.6g}; {_remedy(use)}" for use in plan.conflict),
        note="Line: the limit; bar: what it would have to be, if the others stay",
    )


def _remedy(use: LimitUse) -> str:
    if use.enough is not None:
        return f"{use.enough.to:,.6g} is enough"
    return "no more of it helps" if use.is_known else "what is enough is not known"


def choices(plan: FleetPlan, title: str) -> Front:
    """The clusters that each service could have, by cost and power, and the one that it gets."""
    points = tuple(
        _point(pick, option, evaluation)
        for pick in plan.picks
        for option in pick.offer.options
        if (evaluation := option.evaluation) is not None
    )
    dropped = sum(pick.option is None for pick in plan.picks)
    return Front(
        title=f"What each service could have, {title[:1].lower()}{title[1:]}",
        x_label=AMOUNTS["cost"],
        y_label=AMOUNTS["power"],
        points=tuple(sorted(points, key=lambda point: (point.x, point.y))),
        note="Named: the cluster that a service gets; dots: others that it could have"
        + (f"; {dropped} dropped" if dropped else ""),
        kinds=("gets", "could have", "misses"),
        is_joined=False,
    )


def served(plan: FleetPlan, title: str) -> Bars:
    """The part of its rate that each service gets."""
    return Bars(
        title=f"Served, {title[:1].lower()}{title[1:]}",
        y_label="Served / asked for",
        groups=tuple(pick.offer.service for pick in plan.picks),
        series=(
            BarSeries(
                label="served",
                values=tuple(pick.share for pick in plan.picks),
                texts=tuple(
                    f"{pick.option.rate_rps if pick.option else 0:.4g} of {pick.offer.target_rps:.4g}"
                    for pick in plan.picks
                ),
            ),
        ),
        reference="all of it",
        note="At each bar: requests/s that are served, of those asked for",
    )


def _groups(picks: Sequence[Pick]) -> dict[str, list[Pick]]:
    """The services that cost the most by themselves, all others together."""
    by_cost = sorted(picks, key=lambda pick: -pick.cost_usd_per_h)
    own = by_themselves(by_cost)
    groups = {pick.offer.service: [pick] for pick in picks if pick in own and pick.option is not None}
    rest = [pick for pick in picks if pick not in own]
    return {**groups, f"{len(rest)} others": rest} if rest else groups


def by_themselves(ordered: Sequence[_Thing]) -> Sequence[_Thing]:
    """The first of an order, which have a colour of their own; all, if only one were left to share the last."""
    return ordered if len(ordered) <= MOST_NAMED + 1 else ordered[:MOST_NAMED]


def _taken(pick: Pick, name: str) -> float:
    """What a service takes of something; nothing is known of racks."""
    machines = pick.option.machines if pick.option else {}
    match name:
        case "cost":
            return pick.cost_usd_per_h
        case "power":
            return pick.power_kw
        case "machines":
            return float(sum(machines.values()))
    return float(machines.get(name.removeprefix("machines of "), 0)) if name.startswith("machines of ") else 0.0


def _part(label: str, amounts: Mapping[str, float], scales: Mapping[str, float]) -> Part:
    return Part(
        label=label,
        lengths=tuple(amount / scales[name] for name, amount in amounts.items()),
        texts=tuple("" if math.isnan(amount) else f"{amount:,.4g}" for amount in amounts.values()),
    )


def _row_name(name: str, use: LimitUse | None) -> str:
    known: Mapping[str, str] = AMOUNTS  # type: ignore[assignment]  # of more names than objectives
    unit = f" ({use.unit})" if use and use.unit not in name else ""
    return known.get(name) or f"{name[:1].upper()}{name[1:]}{unit}"


def _end(whole: float, use: LimitUse | None, goal: str) -> str:
    if use is None:
        return f"{whole:,.6g}, no limit"
    text = f"{whole:,.6g} of {use.limit:,.6g}"
    if use.enough is None or use.enough.gain is None:
        return text
    bought = f"{use.one_more:,.4g}" if use.one_more else "nothing"
    step = f"{use.enough.to:,.6g} {use.unit}: {use.enough.gain:,.4g} {GOAL_UNITS[goal]}"
    return f"{text}\n1 more buys {bought}\n{step}"


def _note(plan: FleetPlan) -> str:
    told = ["Line: the limit"] if plan.limits else []
    if any(use.binds for use in plan.limits):
        told.append("beside it, what one more would buy, and the least limit that buys anything")
    if plan.totals and plan.totals.sunk_usd_per_h:
        told.append(f"without {plan.totals.sunk_usd_per_h:,.2f} USD/h that are sunk in machines owned")
    return "; ".join(told)


def _point(pick: Pick, option: Option, evaluation: Evaluation) -> Point:
    """A cluster that a service could have, at list price."""
    boxes = {machine.name: machine for machine in evaluation.cluster.design.whole_machines}
    cost = sum(count * boxes[name].cost_usd_per_h for name, count in option.machines.items())
    power = sum(count * boxes[name].power_kw for name, count in option.machines.items())
    detail = (
        f"{pick.offer.service}: {option.label}, {sum(option.machines.values())} machines, {cost:,.2f} USD/h, "
        f"{power:,.1f} kW, {option.rate_rps:.4g} requests/s ({pick.offer.share(option):.0%})"
    )
    return Point(
        x=round(cost, 9),
        y=round(power, 9),
        name=option.label,
        design=pick.offer.service,
        detail=detail,
        passes=True,
        is_front=option is pick.option,
    )
